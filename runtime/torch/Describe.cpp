// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/Describe.h"
#include "runtime/torch/Aten.h"
#include "runtime/torch/Call.h"
#include "runtime/torch/Layout.h"
#include "runtime/torch/Required.h"
#include <ATen/ops/empty_strided.h>
#include <c10/util/Exception.h>

namespace taylor {

/// Laid out as strides of the same rank are, else dense.
static at::Tensor empty(const runtime::TensorInfo &info, const Extents<c10::SymInt> &sizes,
                        c10::SymIntArrayRef like, c10::Device device) {
  Extents<c10::SymInt> strides = denseStrides(sizes, like);
  return at::empty_strided_symint(c10::SymIntArrayRef(sizes.data(), sizes.size()),
                                  c10::SymIntArrayRef(strides.data(), strides.size()),
                                  at::TensorOptions().dtype(scalarType(info.dtype)).device(device));
}

at::Tensor describeResult(const runtime::Manifest &manifest, const runtime::TensorInfo &info,
                          at::TensorList inputs, const at::Tensor *like) {
  Extents<c10::SymInt> sizes;
  for (const runtime::TensorAxis &axis : info.axes) {
    c10::SymInt size = axis.isChannel() ? axis.size : 1;
    bool found = axis.isChannel();
    for (size_t i = 0; i < inputs.size() && !found; ++i) {
      const auto &axes = manifest.inputs[i].axes;
      Required<Aten>::rank(inputs[i], manifest.inputs[i], manifest.inputs[i].name);
      for (size_t j = 0; j < axes.size() && !found; ++j)
        if (axes[j].dim == axis.dim) {
          size = inputs[i].sym_size(int64_t(j));
          found = true;
        }
    }
    sizes.push_back(size);
  }
  return empty(info, sizes, like ? like->sym_strides() : c10::SymIntArrayRef(), inputs[0].device());
}

at::Tensor describeState(const runtime::TensorInfo &info, const at::Tensor &before) {
  Required<Aten>::rank(before, info, info.name, "the state before ");
  Extents<c10::SymInt> sizes;
  for (const c10::SymInt &size : before.sym_sizes())
    sizes.push_back(size);
  return empty(info, sizes, {}, before.device());
}

void appendAbsent(const runtime::Manifest &manifest, std::vector<at::Tensor> &inputs) {
  size_t given = inputs.size();
  for (size_t i = given; i < manifest.inputs.size(); ++i)
    inputs.push_back(
        describeResult(manifest, manifest.inputs[i], at::TensorList(inputs).slice(0, given), nullptr)
            .zero_());
}

} // namespace taylor
