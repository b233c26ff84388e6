// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What torch's side judges of arguments before `bind` judges the call: each condition and its message once,
// for any interface of torch (CallOf.h says what such an interface has). It is what torch's side needs to
// choose a kernel, to convert tensors and to allocate results, before there is anything to bind.
#ifndef TAYLOR_RUNTIME_TORCH_REQUIRED_H
#define TAYLOR_RUNTIME_TORCH_REQUIRED_H
#include "runtime/Call.h"
#include "runtime/Error.h"
#include "runtime/Manifest.h"
#include "runtime/torch/Dtype.h"
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace taylor {

/// Throws runtime::Error: a call has `given` tensors, and not `required` of these inputs at least.
[[noreturn]] inline void failCount(const std::vector<runtime::TensorInfo> &inputs, size_t required,
                                   size_t given) {
  std::vector<std::string> names;
  for (const runtime::TensorInfo &info : inputs)
    names.push_back(info.name);
  std::string count = std::to_string(names.size());
  if (required < names.size())
    count = std::to_string(required) + " to " + count;
  runtime::fail("expected ", count, " inputs (", runtime::join(names, ", "), "), but got ", given);
}

/// Whether the backward reads any output or saved tensor, so that others need not be kept.
inline bool backwardReads(const runtime::Manifest &manifest, runtime::Role role) {
  int function = manifest.function("backward");
  return function >= 0 && std::ranges::any_of(manifest.functions[size_t(function)].slots,
                                              [&](const runtime::Slot &slot) { return slot.role == role; });
}

/// Each throws runtime::Error where arguments are not what is required; `name` is the tensor's in the
/// manifest.
template <typename Torch> struct Required {
  using Tensor = typename Torch::Tensor;
  using Device = typename Torch::Device;
  using List = std::span<const Tensor>;
  using ScalarType = torch::headeronly::ScalarType;

  /// A tensor, and not none.
  static void given(const Tensor &tensor, std::string_view name) {
    if (!Torch::defined(tensor))
      runtime::fail("requires a tensor for '", name, "', but got none");
  }
  /// As many axes as the manifest says; `before` stands before the name.
  static void rank(const Tensor &tensor, const runtime::TensorInfo &info, std::string_view name,
                   std::string_view before = "") {
    if (Torch::rank(tensor) != int64_t(info.axes.size()))
      runtime::fail("expected rank ", info.axes.size(), " of ", before, "'", name, "', but got rank ",
                    Torch::rank(tensor));
  }
  static void device(const Tensor &tensor, std::string_view name, const Device &device) {
    if (Torch::device(tensor) != device)
      runtime::fail("expected device ", Torch::name(device), " of '", name, "', but got ",
                    Torch::name(Torch::device(tensor)));
  }
  /// `since` says in words since when it has to be that one.
  static void dtype(const Tensor &tensor, const std::string &name, ScalarType wanted,
                    std::string_view since = "") {
    if (ScalarType given = Torch::dtype(tensor); given != wanted)
      runtime::fail("expected dtype ", Torch::name(wanted), " of '", name, "'", since, ", but got ",
                    Torch::name(given), Torch::conversion(name, wanted));
  }
  /// One of the types in which inputs are stored.
  static TaylorDtype storageType(const Tensor &tensor, const std::string &name) {
    ScalarType given = Torch::dtype(tensor), single = scalarType(TAYLOR_F32);
    int32_t found = dtypeOf(given);
    if (found < 0 || found == TAYLOR_I32)
      runtime::fail("expected dtype ", Torch::name(single), ", ", Torch::name(scalarType(TAYLOR_BF16)), ", ",
                    Torch::name(scalarType(TAYLOR_F16)), " or ", Torch::name(scalarType(TAYLOR_F64)), " of '",
                    name, "', but got ", Torch::name(given), Torch::conversion(name, single));
    return TaylorDtype(found);
  }

  /// As many as the manifest's inputs; optional ones at the end may be left out unless the list is to be
  /// `complete`.
  static void count(const runtime::Manifest &manifest, List inputs, bool complete) {
    size_t required = manifest.inputs.size();
    while (!complete && required > 0 && manifest.inputs[required - 1].optional)
      --required;
    if (inputs.size() < required || inputs.size() > manifest.inputs.size())
      failCount(manifest.inputs, required, inputs.size());
  }
  /// The size of a head's axis, which a kernel fixes. It may be a traced symbol; 0 is no size of one.
  static int64_t headSize(const Tensor &tensor, const runtime::TensorInfo &info, size_t axis) {
    int64_t size = Torch::size(tensor, int64_t(axis));
    if (size == 0)
      runtime::fail("expected a size of at least 1 of axis ", info.axes[axis].name, " of '", info.name,
                    "', but got 0");
    return size;
  }
  /// A device that runs kernels; `interpreted`: in the interpreter.
  static void runner(const Device &device, bool interpreted) {
    if (!Torch::isCpu(device) && !Torch::isCuda(device))
      runtime::fail("expected tensors of the processor or a GPU, but got ", Torch::name(device));
    if (interpreted && !Torch::isCpu(device))
      runtime::fail("expected tensors of the processor with --device=ptx, but got ", Torch::name(device));
  }

  /// As many cotangents as outputs, and of outputs and saved tensors those that the backward reads.
  static void backwardLists(const runtime::Manifest &manifest, List outputs, List saved, List cotangents) {
    if (cotangents.size() != manifest.outputs.size())
      runtime::fail("expected ", manifest.outputs.size(), " cotangents, but got ", cotangents.size());
    if ((backwardReads(manifest, runtime::Role::Output) && outputs.size() != manifest.outputs.size()) ||
        (backwardReads(manifest, runtime::Role::Saved) && saved.size() != manifest.saved.size()))
      runtime::fail("expected ", manifest.outputs.size(), " outputs and ", manifest.saved.size(),
                    " saved tensors, but got ", outputs.size(), " and ", saved.size());
  }
  /// An input that has a gradient.
  static void gradient(const runtime::Manifest &manifest, int64_t input) {
    bool exists = input >= 0 && input < int64_t(manifest.inputs.size());
    if (!exists || !manifest.inputs[size_t(input)].gradient)
      runtime::fail("unsupported gradient of ",
                    exists ? "'" + manifest.inputs[size_t(input)].name + "'"
                           : "input " + std::to_string(input),
                    ": the specification gives none");
  }

  /// What is kept of keys, with room for `size` tokens of which `before` are there.
  static void cache(const runtime::Manifest &manifest, List cache, const Device &wanted, int64_t before,
                    int64_t size) {
    if (before < 0)
      runtime::fail("expected at least 0 tokens before the new ones, but got ", before);
    if (cache.size() != manifest.cache.size())
      runtime::fail("expected ", manifest.cache.size(), " tensors of what is kept of keys, but got ",
                    cache.size());
    for (size_t i = 0; i < cache.size(); ++i) {
      const runtime::TensorInfo &info = manifest.cache[i];
      given(cache[i], "cache:" + info.name);
      device(cache[i], info.name, wanted);
      rank(cache[i], info, "cache:" + info.name);
      if (int axis = info.keyAxis(); axis >= 0 && Torch::size(cache[i], axis) < size)
        runtime::fail("expected room for ", size, " tokens along u in 'cache:", info.name, "', but got ",
                      Torch::size(cache[i], axis));
    }
  }
  /// A state that kernels can work on where it is, whatever its strides. One that is missing is refused with
  /// the other inputs.
  static void inPlace(const Tensor &tensor, const runtime::TensorInfo &state, bool aligned16) {
    if (Torch::defined(tensor) && !runtime::isReadable(state, Torch::describe(tensor), aligned16))
      runtime::fail("requires states that the kernel can work on where they are, but '", state.name,
                    "' has other strides or another alignment; give it contiguous");
  }
};

} // namespace taylor

#endif
