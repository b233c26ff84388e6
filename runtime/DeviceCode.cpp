// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/DeviceCode.h"
#include "runtime/Error.h"
#include "runtime/Forms.h"
#include <algorithm>
#include <tuple>

namespace taylor::runtime {

WorkspaceLayout::WorkspaceLayout(const FormCode &code, const Dims &dims) {
  arrays = code.workspace;
  for (const WorkspaceInfo &array : arrays) {
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

static TensorType typeOf(TaylorDtype dtype) {
  switch (dtype) {
  case TAYLOR_F32:
    return TensorType::Float32;
  case TAYLOR_F64:
    return TensorType::Float64;
  case TAYLOR_F16:
    return TensorType::Float16;
  case TAYLOR_BF16:
    return TensorType::BFloat16;
  case TAYLOR_I32:
    return TensorType::Int32;
  }
  return TensorType::UInt8;
}

/// The contiguous axis comes first there.
MapArguments describeMap(const KernelMap &map, const KernelArgument &argument, const Manifest &manifest,
                         const FunctionInfo &function, const BoundCall &call, const WorkspaceLayout &layout,
                         uint64_t workspace) {
  size_t rank = map.box.size();
  std::vector<int64_t> sizes(rank), strides(rank);
  TensorMapArguments made{
      .type = {}, .rank = unsigned(rank), .address = 0, .sizes = {}, .strides = {}, .box = {}};
  TaylorDtype dtype = TAYLOR_F32;
  if (argument.workspace >= 0) {
    const auto index = size_t(argument.workspace);
    dtype = layout.arrays[index].dtype;
    made.address = workspace + uint64_t(layout.offsets[index]);
    int64_t stride = 1;
    for (size_t axis = rank; axis-- > 0;) {
      sizes[axis] = layout.arrays[index].sizes[axis].evaluate(call.dims.data());
      strides[axis] = stride;
      stride *= sizes[axis];
    }
  } else {
    const auto slot = size_t(argument.slot);
    const TensorInfo &tensor = manifest.tensor(function.slots[slot]);
    dtype = tensor.dtype;
    made.address = reinterpret_cast<uintptr_t>(call.data[slot]);
    for (size_t axis = 0; axis < rank; ++axis) {
      const TensorAxis &one = tensor.axes[axis];
      sizes[axis] = one.isChannel() ? one.size : call.dims[size_t(one.dim)];
      strides[axis] = call.strides[slot * TAYLOR_MAX_RANK + axis];
    }
  }
  made.type = typeOf(dtype);
  made.swizzle = unsigned(map.swizzle);
  for (size_t d = 0; d < rank; ++d) {
    size_t axis = rank - 1 - d;
    if (sizes[axis] <= 0)
      return std::nullopt;
    made.sizes[d] = uint64_t(sizes[axis]);
    made.box[d] = uint32_t(map.box[axis]);
    // No step is made along an axis of one element, so its stride may be anything.
    if (d > 0)
      made.strides[d - 1] = uint64_t(sizes[axis] == 1 ? 0 : strides[axis]) * uint64_t(dtypeSize(dtype));
  }
  return made;
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
  for (const KernelMap &map : kernel.maps)
    maps.push_back(describeMap(map, kernel.arguments[size_t(map.argument)], manifest, function, call, layout,
                               workspace));
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

bool hasMaps(const TargetInfo &target) {
  for (const TargetFunction &function : target.functions)
    for (const FormCode &form : function.forms)
      for (const KernelInfo &kernel : form.kernels)
        if (!kernel.maps.empty())
          return true;
  return false;
}

static std::vector<cuda::Image> withoutMaps(const Manifest &manifest, std::vector<cuda::Image> images) {
  std::erase_if(images, [&](const cuda::Image &image) { return hasMaps(*manifest.target(image.target)); });
  return images;
}

DeviceCode::DeviceCode(const std::string &name, const Manifest &manifest, std::vector<cuda::Image> given)
    : name(name), manifest(manifest), images(std::move(given)), program(name, images),
      plainProgram(name, withoutMaps(manifest, images)) {}

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

const std::string &DeviceCode::formOf(int function, const BoundCall &call, const Executor &executor) {
  const TargetInfo *target, *first;
  if (executor.device == TAYLOR_PTX) {
    std::tie(target, first) = interpretedTargets(function, call, executor);
  } else {
    auto stream = static_cast<cuda::Stream>(executor.stream);
    target = manifest.target(programFor(function, call, executor).image(stream).target);
    first = manifest.target(program.image(stream).target);
  }
  const std::string &form = codeOf(*target, function, call.dims, executor.form).name;
  if (target == first)
    return form;
  std::lock_guard lock(mutex);
  return *formNames.insert(form + " on " + target->name).first;
}

void DeviceCode::refuse(const TargetInfo &target, const std::string &why) const {
  fail("requires tensors that a tensor map describes, for code of ", target.name, " in '", name, "', but ",
       why, "; copy it to a contiguous tensor, or compile with --target=", target.name,
       ",sm_80, whose second code needs no tensor maps");
}

} // namespace taylor::runtime
