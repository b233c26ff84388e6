// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/Gpus.h"
#include "runtime/Error.h"
#include "runtime/cuda/Driver.h"
#include <deque>
#include <mutex>

namespace taylor {
namespace {

struct DeviceGpu {
  std::string name, target;
};

/// What to compile for: H100 and H200 have code of their own.
std::string targetOf(int capability) {
  constexpr int hopper = 90;
  return "sm_" + std::to_string(capability) + (capability == hopper ? "a" : "");
}

const DeviceGpu &gpuAt(int index) {
  static std::mutex mutex;
  static std::deque<DeviceGpu> gpus; // in the driver's order, which is libtorch's
  std::lock_guard lock(mutex);
  if (gpus.empty())
    for (const runtime::cuda::DeviceInfo &device : runtime::cuda::DriverApi::get().devices())
      gpus.push_back({device.name, targetOf(device.capability)});
  if (index < 0 || size_t(index) >= gpus.size())
    runtime::fail("expected a GPU from 0 to ", gpus.size() - 1, ", but got ", index);
  return gpus[size_t(index)];
}

} // namespace

const std::string &targetOfGpu(int index) { return gpuAt(index).target; }

const std::string &nameOfGpu(int index) { return gpuAt(index).name; }

} // namespace taylor
