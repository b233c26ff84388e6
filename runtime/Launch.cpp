// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function's kernels on a GPU: launches on the caller's stream, and nothing that waits.
#include "runtime/DeviceCode.h"
#include "runtime/Error.h"
#include "runtime/cuda/Memory.h"

namespace taylor::runtime {

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
  for (const KernelInfo &kernel : code.kernels) {
    KernelLaunch launch(kernel, manifest, info, call, layout, reinterpret_cast<uintptr_t>(workspace));
    std::vector<void *> pointers;
    for (uint64_t &parameter : launch.parameters)
      pointers.push_back(&parameter);
    program.launch(kernel.entry,
                   {{launch.blocks, 1, 1}, {unsigned(kernel.threads), 1, 1}, unsigned(kernel.shared)}, stream,
                   pointers.data());
  }
}

} // namespace taylor::runtime
