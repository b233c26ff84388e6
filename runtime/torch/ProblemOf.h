// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernel serves a call of the operators, for any interface of torch: CallOf.h says what such an
// interface has.
#ifndef TAYLOR_RUNTIME_TORCH_PROBLEMOF_H
#define TAYLOR_RUNTIME_TORCH_PROBLEMOF_H
#include "runtime/Call.h"
#include "runtime/torch/Dtype.h"
#include "runtime/torch/Gpus.h"
#include "runtime/torch/Registry.h"
#include "runtime/torch/Required.h"
#include <algorithm>
#include <span>

namespace taylor {

/// Which kernel serves a call. Works on tensors without data, too.
template <typename Torch> class ProblemOf {
public:
  using Tensor = typename Torch::Tensor;
  using Device = typename Torch::Device;
  using List = std::span<const Tensor>;
  using Require = Required<Torch>;

  TaylorDtype dtype;
  int64_t d, e; ///< 0 where no input has the axis.

  /// Reads them from the inputs that tell them (Program::dtypeInput, dInput, eInput), none of which is
  /// optional. The list may end after these; where it does not reach them, Required::count throws.
  ProblemOf(const Program &program, List inputs) {
    const runtime::Manifest &signature = program.signature();
    if (int64_t(inputs.size()) <= std::max({program.dInput, program.eInput, program.dtypeInput, 0}))
      Require::count(signature, inputs, /*complete=*/false);
    for (int i : {std::max(program.dtypeInput, 0), program.dInput, program.eInput})
      if (i >= 0 && i < int(inputs.size()))
        Require::given(inputs[i], signature.inputs[i].name);
    for (int i : {program.dInput, program.eInput})
      if (i >= 0)
        Require::rank(inputs[i], signature.inputs[i], signature.inputs[i].name);
    dtype = program.dtypeInput < 0
                ? signature.dtype
                : Require::storageType(inputs[program.dtypeInput], signature.inputs[program.dtypeInput].name);
    d = sizeOf(signature, inputs, program.dInput, AxisRole::Channel);
    e = sizeOf(signature, inputs, program.eInput, AxisRole::ValueChannel);
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
    Require::count(manifest, inputs, /*complete=*/false);
    // One tensor without data makes a call one without data, whose results no one computes.
    for (size_t i = 0; i < inputs.size(); ++i)
      if (Torch::defined(inputs[i]))
        Require::device(inputs[i], manifest.inputs[i].name, device);
    return manifest;
  }

private:
  /// The axis may stand anywhere.
  static int64_t sizeOf(const runtime::Manifest &signature, List inputs, int i, AxisRole axis) {
    if (i < 0)
      return 0;
    const auto &axes = signature.inputs[i].axes;
    for (size_t j = 0; j < axes.size(); ++j)
      if (axes[j].name == axis)
        return Require::headSize(inputs[i], signature.inputs[i], j);
    return 0;
  }
};

} // namespace taylor

#endif
