// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/Call.h"
#include "runtime/torch/Aten.h"

namespace taylor {

using Calls = CallOf<Aten>;
using List = Calls::List;

TaylorTensor describe(const at::Tensor &tensor) { return Aten::describe(tensor); }

const runtime::Manifest &manifestFor(Program &program, at::TensorList inputs) {
  return ProblemOf<Aten>::manifestFor(program, inputs);
}

Tensors runForward(Program &program, at::TensorList inputs, std::optional<int64_t> offset, bool save) {
  return Calls::forward(program, inputs, offset, save);
}

Tensors runBackward(Program &program, at::TensorList inputs, at::TensorList outputs, at::TensorList saved,
                    at::TensorList cotangents, std::optional<int64_t> offset, c10::IntArrayRef wanted) {
  return Calls::backward(program, inputs, outputs, saved, cotangents, offset, wanted);
}

Tensors runStep(Program &program, at::TensorList inputs, at::TensorList states,
                std::optional<int64_t> offset) {
  return Calls::step(program, inputs, states, offset);
}

Tensors runDecode(Program &program, at::TensorList inputs, at::TensorList cache, at::TensorList states,
                  int64_t tokens) {
  return Calls::decode(program, inputs, cache, states, tokens);
}

} // namespace taylor
