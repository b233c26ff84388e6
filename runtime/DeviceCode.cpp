// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/DeviceCode.h"
#include "runtime/Error.h"
#include "runtime/Forms.h"
#include <algorithm>

namespace taylor::runtime {

WorkspaceLayout::WorkspaceLayout(const FormCode &code, const Dims &dims) {
  for (const WorkspaceInfo &array : code.workspace) {
    int64_t count = dtypeSize(array.dtype);
    bool over = false;
    for (const Extent &extent : array.sizes) {
      int64_t elements = extent.evaluate(dims.data());
      over |= elements < 0 || __builtin_mul_overflow(count, elements, &count);
    }
    int64_t end = 0;
    over |= __builtin_add_overflow(count, 63, &end);
    end = end / 64 * 64;
    offsets.push_back(size);
    bytes.push_back(count);
    if (over || __builtin_add_overflow(size, end, &size))
      fail("unsupported sizes: the kernel's workspace would pass 2^63 bytes");
  }
}

KernelLaunch::KernelLaunch(const KernelInfo &kernel, const Manifest &manifest, const FunctionInfo &function,
                           const BoundCall &call, const WorkspaceLayout &layout, uint64_t workspace)
    : kernel(kernel) {
  // A GPU's grid has at most 2^31 - 1 blocks along its first axis.
  constexpr int64_t limit = 2147483647;
  int64_t product = 1;
  bool over = false;
  for (const Extent &extent : kernel.grid) {
    int64_t size = extent.evaluate(call.dims.data());
    over |= size < 0 || __builtin_mul_overflow(product, size, &product);
  }
  if (over || product > limit)
    fail("unsupported sizes: kernel '", kernel.name, "' would need more than ", limit,
         " blocks; use smaller batches");
  blocks = unsigned(product);
  for (int dim = 0; dim <= TAYLOR_DIM_OFFSET; ++dim)
    parameters.push_back(uint64_t(call.dims[size_t(dim)]));
  for (const KernelArgument &argument : kernel.arguments) {
    if (argument.workspace >= 0) {
      parameters.push_back(workspace + uint64_t(layout.offsets[size_t(argument.workspace)]));
      continue;
    }
    auto slot = size_t(argument.slot);
    parameters.push_back(reinterpret_cast<uintptr_t>(call.data[slot]));
    for (size_t axis = 0; axis < manifest.tensor(function.slots[slot]).axes.size(); ++axis)
      parameters.push_back(call.data[slot] ? uint64_t(call.strides[slot * TAYLOR_MAX_RANK + axis]) : 0);
  }
}

DeviceCode::DeviceCode(const std::string &name, const Manifest &manifest, std::vector<cuda::Image> given)
    : name(name), manifest(manifest), images(std::move(given)), program(name, images) {}

const FormCode &DeviceCode::codeOf(const TargetInfo &target, int function, const Dims &dims,
                                   std::string_view form) const {
  const TargetFunction &code = target.functions[size_t(function)];
  return code.forms[size_t(
      chooseForm(code, manifest, dims, form, manifest.functions[size_t(function)].name, target.name))];
}

int64_t DeviceCode::workspaceSize(int function, const Dims &dims, std::string_view form) const {
  int64_t size = 0;
  for (const TargetInfo &target : manifest.targets)
    if (target.kind == TargetInfo::Kind::Ptx)
      size = std::max(size, WorkspaceLayout(codeOf(target, function, dims, form), dims).size);
  return size;
}

const std::string &DeviceCode::formOf(int function, const Dims &dims, const Executor &executor) {
  const TargetInfo &target =
      executor.device == TAYLOR_PTX
          ? *parsed().target
          : *manifest.target(program.image(static_cast<cuda::Stream>(executor.stream)).target);
  return codeOf(target, function, dims, executor.form).name;
}

} // namespace taylor::runtime
