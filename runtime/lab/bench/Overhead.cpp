// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Cpu.h"
#include "runtime/Error.h"
#include "runtime/lab/bench/Commands.h"
#include "runtime/taylor.h"
#include "runtime/torch/Call.h"
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/GradMode.h>
#include <chrono>
#include <nlohmann/json.hpp>

namespace taylor::bench {
namespace {

using Json = nlohmann::json;
using runtime::fail;

/// The same kernel by the C interface, with tensors described once.
struct DirectCall {
  TaylorKernel *kernel = nullptr;
  std::vector<at::Tensor> outputs;
  std::vector<TaylorTensor> tensors;
  TaylorRunOptions options = {sizeof(options), nullptr, 1,      nullptr, nullptr, nullptr, 0, 0,
                              nullptr,         nullptr, nullptr};

  DirectCall(const Request &request, const Manifest &manifest, const std::vector<at::Tensor> &inputs) {
    std::vector<std::string> list;
    for (const std::string &setting : request.settings) {
      list.push_back("--set");
      list.push_back(setting);
    }
    if (!request.mask.empty())
      list.push_back("--mask=" + request.mask);
    list.push_back("--dtype=" + request.dtype);
    list.push_back("--head-dim=" + std::to_string(request.shape.d));
    list.push_back("--value-dim=" + std::to_string(request.shape.e));
    std::vector<const char *> pointers;
    for (const std::string &option : list)
      pointers.push_back(option.c_str());
    bool artifact = request.spec.ends_with(".so");
    if (artifact ? taylor_load(request.spec.c_str(), &kernel)
                 : taylor_compile(request.spec.c_str(), pointers.data(), int64_t(pointers.size()), &kernel))
      fail(taylor_last_error());
    for (const TensorInfo &info : manifest.outputs) {
      const int64_t dims[] = {request.shape.b, request.shape.h, request.shape.g, request.shape.t,
                              request.shape.u};
      std::vector<int64_t> sizes;
      for (const TensorAxis &axis : info.axes)
        sizes.push_back(axis.isChannel() ? axis.size : dims[axis.dim]);
      outputs.push_back(at::empty(sizes, inputs[0].options().dtype(scalarType(info.dtype))));
    }
    for (const runtime::Slot &slot : manifest.functions[size_t(manifest.function("forward"))].slots) {
      if (slot.role == runtime::Role::Input)
        tensors.push_back(describe(inputs[size_t(slot.index)]));
      else if (slot.role == runtime::Role::Output)
        tensors.push_back(describe(outputs[size_t(slot.index)]));
      else
        tensors.push_back({});
    }
  }
  ~DirectCall() { taylor_unload(kernel); }

  void operator()() {
    if (taylor_run(kernel, "forward", tensors.data(), int64_t(tensors.size()), &options))
      fail(taylor_last_error());
  }
};

/// Microseconds per call over one batch.
template <typename Call> double batch(Call &&call) {
  constexpr int count = 200;
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i)
    call();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / count;
}

} // namespace

Json benchOverhead(const Request &given) {
  Request request = given;
  request.shape.t = request.shape.u = 1;
  at::set_num_threads(1);
  at::NoGradGuard guard;
  Attention attention(request.attention());
  std::vector<at::Tensor> inputs = makeInputs(attention.manifest(), request);
  DirectCall direct(request, attention.manifest(), inputs);
  auto throughTorch = [&] { attention.call(inputs); };

  std::vector<double> directTimes, torchTimes, differences;
  for (int round = 0; round < 300; ++round) {
    directTimes.push_back(batch(direct));
    torchTimes.push_back(batch(throughTorch));
    differences.push_back(torchTimes.back() - directTimes.back());
  }
  Json row = {{"command", "call-overhead"},         {"spec", request.spec},
              {"shape", request.shape.text()},      {"dtype", request.dtype},
              {"direct_us", median(directTimes)},   {"torch_us", median(torchTimes)},
              {"overhead_us", median(differences)}, {"cpu", runtime::cpuName()}};
  printf("%-28s %-18s %-5s C interface %.2f us, through torch %.2f us: %.2f us more\n", request.spec.c_str(),
         request.shape.text().c_str(), request.dtype.c_str(), median(directTimes), median(torchTimes),
         median(differences));
  return Json::array({row});
}

} // namespace taylor::bench
