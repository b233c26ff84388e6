// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function's kernels on a GPU: launches on the caller's stream, and nothing that waits.
#include "runtime/DeviceCode.h"
#include "runtime/Error.h"
#include "runtime/cuda/Memory.h"

namespace taylor::runtime {

/// CU_TENSOR_MAP_L2_PROMOTION_L2_128B; whatever lies outside of the tensor is 0.
static constexpr int kPromotion = 2;

/// A tensor map as the driver makes it. Throws Error where it cannot.
static MapBytes encode(const TensorMapArguments &map) {
  const cuda::DriverApi &driver = cuda::DriverApi::get();
  if (!driver.tensorMapEncodeTiled)
    fail("the NVIDIA driver is too old to make it (no cuTensorMapEncodeTiled)");
  alignas(64) MapBytes bytes = {};
  int swizzle = map.swizzle == 128 ? 3 : map.swizzle == 64 ? 2 : map.swizzle == 32 ? 1 : 0;
  driver.check(driver.tensorMapEncodeTiled(&bytes, int(map.type), map.rank, map.address, map.sizes.data(),
                                           map.strides.data(), map.box.data(), map.steps.data(),
                                           /*interleave=*/0, swizzle, kPromotion, /*fill=*/0),
               "cuTensorMapEncodeTiled", "a tensor map");
  return bytes;
}

cuda::DeviceProgram &DeviceCode::programFor(int function, const BoundCall &call, const Executor &executor) {
  auto stream = static_cast<cuda::Stream>(executor.stream);
  const TargetInfo &target = *manifest.target(program.image(stream).target);
  std::string why = findUndescribed(target, function, call, executor, encode);
  if (why.empty())
    return program;
  if (!plainProgram.hasImages())
    refuse(target, why);
  return plainProgram;
}

void DeviceCode::launch(int function, const BoundCall &call, const Executor &executor) {
  const FunctionInfo &info = manifest.functions[size_t(function)];
  size_t first = 0;
  while (first < info.slots.size() && !call.data[first])
    ++first;
  if (first == info.slots.size())
    return; // no tensor has elements
  cuda::ContextScope context(call.data[first], "'" + info.slots[first].label + "'");
  for (size_t i = first + 1; i < info.slots.size(); ++i)
    if (call.data[i])
      context.requireSame(call.data[i], "'" + info.slots[i].label + "'");

  auto stream = static_cast<cuda::Stream>(executor.stream);
  cuda::DeviceProgram &program = programFor(function, call, executor);
  const TargetInfo &target = *manifest.target(program.image(stream).target);
  const FormCode &code = codeOf(target, function, call.dims, executor.form);
  WorkspaceLayout layout(code, call.dims);
  cuda::StreamMemory own;
  void *workspace = chooseWorkspace(layout.size, executor, [&] {
    own = cuda::StreamMemory(size_t(layout.size), stream);
    return own.data();
  });
  if (executor.workspace && layout.size > 0)
    context.requireSame(workspace, "the workspace");
  bool isFirst = true; // of those that have blocks
  for (const KernelInfo &kernel : code.kernels) {
    KernelLaunch launch(kernel, manifest, info, call, layout, reinterpret_cast<uintptr_t>(workspace));
    std::vector<void *> pointers;
    for (uint64_t &parameter : launch.parameters)
      pointers.push_back(&parameter);
    std::vector<MapBytes> maps;
    for (const MapArguments &map : launch.maps)
      maps.push_back(map && map->address ? encode(*map) : MapBytes());
    for (MapBytes &map : maps)
      pointers.push_back(&map);
    program.launch(kernel.entry,
                   {.grid = {launch.blocks, 1, 1},
                    .block = {unsigned(kernel.threads), 1, 1},
                    .sharedBytes = unsigned(kernel.shared),
                    .startsEarly = kernel.startsEarly && !isFirst,
                    .isPersistent = kernel.isPersistent},
                   stream, pointers.data());
    isFirst &= launch.blocks == 0;
  }
}

} // namespace taylor::runtime
