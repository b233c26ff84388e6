// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernel serves a call of the operators, for any interface of torch: CallOf.h says what such an
// interface has.
#ifndef TAYLOR_RUNTIME_TORCH_PROBLEMOF_H
#define TAYLOR_RUNTIME_TORCH_PROBLEMOF_H
#include "runtime/Call.h"
#include "runtime/Error.h"
#include "runtime/torch/Dtype.h"
#include "runtime/torch/Gpus.h"
#include "runtime/torch/Registry.h"
#include <algorithm>
#include <span>

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

/// Which kernel serves a call. Works on tensors without data, too.
template <typename Torch> class ProblemOf {
public:
  using Tensor = typename Torch::Tensor;
  using Device = typename Torch::Device;
  using List = std::span<const Tensor>;

  TaylorDtype dtype;
  int64_t d, e; ///< 0 where no input has the axis.

  /// Reads them from the inputs that tell them (Program::dtypeInput, dInput, eInput), none of which is
  /// optional. The list may end after these; where it does not reach them, checkCount throws.
  ProblemOf(const Program &program, List inputs) {
    const runtime::Manifest &signature = program.signature();
    if (int64_t(inputs.size()) <= std::max({program.dInput, program.eInput, program.dtypeInput, 0}))
      checkCount(signature, inputs, /*complete=*/false);
    for (int i : {std::max(program.dtypeInput, 0), program.dInput, program.eInput})
      if (i >= 0 && i < int(inputs.size()) && !Torch::defined(inputs[i]))
        runtime::fail("requires a tensor for '", signature.inputs[i].name, "', but got none");
    for (int i : {program.dInput, program.eInput})
      if (i >= 0 && Torch::rank(inputs[i]) != int64_t(signature.inputs[i].axes.size()))
        runtime::fail("expected rank ", signature.inputs[i].axes.size(), " of '", signature.inputs[i].name,
                      "', but got rank ", Torch::rank(inputs[i]));
    dtype = signature.dtype;
    if (program.dtypeInput >= 0) {
      auto type = Torch::dtype(inputs[program.dtypeInput]);
      int32_t found = dtypeOf(type);
      if (found < 0 || found == TAYLOR_I32)
        failDtype(signature.inputs[program.dtypeInput].name, type);
      dtype = TaylorDtype(found);
    }
    d = sizeOf(signature, inputs, program.dInput, AxisRole::Channel);
    e = sizeOf(signature, inputs, program.eInput, AxisRole::ValueChannel);
  }

  [[noreturn]] static void failDtype(const std::string &name, torch::headeronly::ScalarType given) {
    auto single = scalarType(TAYLOR_F32);
    runtime::fail("expected dtype ", Torch::name(single), ", ", Torch::name(scalarType(TAYLOR_BF16)), ", ",
                  Torch::name(scalarType(TAYLOR_F16)), " or ", Torch::name(scalarType(TAYLOR_F64)), " of '",
                  name, "', but got ", Torch::name(given), Torch::conversion(name, single));
  }

  /// Optional inputs at the end may be left out unless the list is to be `complete`.
  static void checkCount(const runtime::Manifest &manifest, List inputs, bool complete) {
    size_t required = manifest.inputs.size();
    while (!complete && required > 0 && manifest.inputs[required - 1].optional)
      --required;
    if (inputs.size() < required || inputs.size() > manifest.inputs.size())
      failCount(manifest.inputs, required, inputs.size());
  }

  /// The device of the input that tells what a call is.
  static Device tellingDevice(const Program &program, List inputs) {
    return Torch::device(inputs[std::max(program.dtypeInput, 0)]);
  }

  static KernelPlace placeOf(const Program &program, const Device &device) {
    if (Torch::isCuda(device))
      return {TAYLOR_CUDA, &targetOfGpu(Torch::index(device))};
    return {program.interpreted ? TAYLOR_PTX : TAYLOR_CPU, nullptr};
  }

  static void requireDevice(const Tensor &tensor, const runtime::TensorInfo &info, const Device &device) {
    if (Torch::device(tensor) != device)
      runtime::fail("expected device ", Torch::name(device), " of '", info.name, "', but got ",
                    Torch::name(Torch::device(tensor)));
  }

  /// The manifest of the kernel that serves these inputs: dtype, head sizes and device are read from them.
  /// Compiles what Program::manifest does.
  static const runtime::Manifest &manifestFor(Program &program, List inputs) {
    ProblemOf problem(program, inputs);
    // Tensors without data may stand for those of a GPU that is not there.
    KernelPlace place;
    Device device = tellingDevice(program, inputs);
    if (program.hasStates && !Torch::isMeta(device))
      place = placeOf(program, device);
    const runtime::Manifest &manifest = program.manifest(problem.dtype, problem.d, problem.e, place);
    checkCount(manifest, inputs, /*complete=*/false);
    // One tensor without data makes a call one without data, whose results no one computes.
    for (size_t i = 0; i < inputs.size(); ++i)
      if (Torch::defined(inputs[i]))
        requireDevice(inputs[i], manifest.inputs[i], device);
    return manifest;
  }

private:
  /// The axis may stand anywhere; sizes may be traced symbols, which a kernel fixes. 0 is no size of one.
  static int64_t sizeOf(const runtime::Manifest &signature, List inputs, int i, AxisRole axis) {
    if (i < 0)
      return 0;
    const auto &axes = signature.inputs[i].axes;
    for (size_t j = 0; j < axes.size(); ++j)
      if (axes[j].name == axis) {
        int64_t size = Torch::size(inputs[i], int64_t(j));
        if (size == 0)
          runtime::fail("expected a size of at least 1 of axis ", nameOf(axis), " of '",
                        signature.inputs[i].name, "', but got 0");
        return size;
      }
    return 0;
  }
};

} // namespace taylor

#endif
