// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/model/Recompute.h"
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

namespace taylor::trainer {

namespace {

using Part = std::function<at::Tensor(const at::Tensor &)>;

struct PartHolder : torch::CustomClassHolder {
  explicit PartHolder(Part part) : part(std::move(part)) {}
  Part part;
};

struct Recomputed : torch::autograd::Function<Recomputed> {
  /// Called without gradients, as any Function is.
  static at::Tensor forward(torch::autograd::AutogradContext *context, const at::Tensor &x,
                            const c10::intrusive_ptr<PartHolder> &holder) {
    context->save_for_backward({x});
    context->saved_data["part"] = c10::IValue::make_capsule(holder);
    return holder->part(x);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext *context,
                                                 torch::autograd::variable_list gradients) {
    auto holder = c10::static_intrusive_pointer_cast<PartHolder>(context->saved_data["part"].toCapsule());
    c10::AutoGradMode on(true);
    at::Tensor x = context->get_saved_variables()[0].detach().requires_grad_();
    at::Tensor y = holder->part(x);
    torch::autograd::backward({y}, {gradients[0]});
    return {x.grad(), at::Tensor()};
  }
};

} // namespace

at::Tensor recomputed(const at::Tensor &x, Part part) {
  return Recomputed::apply(x, c10::make_intrusive<PartHolder>(std::move(part)));
}

} // namespace taylor::trainer
