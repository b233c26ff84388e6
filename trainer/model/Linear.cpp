// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/model/Linear.h"
#include "runtime/Cpu.h"
#include "trainer/support/Error.h"
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>

namespace taylor::trainer {

namespace {

using Scalars = c10::List<std::optional<at::Scalar>>;

// libtorch's one way to oneDNN for plain fp32 tensors. torch.compile emits it; it has no derivative.
using Pointwise = at::Tensor(const at::Tensor &x, const at::Tensor &weight,
                             const std::optional<at::Tensor> &bias, std::string_view attribute,
                             Scalars scalars, std::optional<std::string_view> algorithm);

std::optional<c10::OperatorHandle> findPointwise() {
  if (!at::hasMKLDNN())
    return std::nullopt;
  return c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
}

/// a b^T of matrices in any layout.
at::Tensor product(const at::Tensor &a, const at::Tensor &b) {
  static const auto pointwise = findPointwise().value().typed<Pointwise>();
  return pointwise.call(a, b, std::nullopt, "none", Scalars(), "");
}

struct OneDnnProduct : torch::autograd::Function<OneDnnProduct> {
  static at::Tensor forward(torch::autograd::AutogradContext *context, const at::Tensor &x,
                            const at::Tensor &weight) {
    context->save_for_backward({x, weight});
    return product(x, weight);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext *context,
                                                 torch::autograd::variable_list gradients) {
    torch::autograd::variable_list saved = context->get_saved_variables();
    at::Tensor gradient = gradients[0].contiguous();
    return {context->needs_input_grad(0) ? product(gradient, saved[1].t()) : at::Tensor(),
            context->needs_input_grad(1) ? product(gradient.t(), saved[0].t()) : at::Tensor()};
  }
};

/// Below this one call costs more than it saves (an EPYC with AVX-512, two threads, 2026-11-24: 128 x 64 x 64
/// takes 15 us instead of 9, 128 x 256 x 256 108 instead of 159, 16 x 512 x 1408 332 instead of 176).
bool isLarge(const at::Tensor &x, const at::Tensor &weight) {
  constexpr int64_t leastRows = 128, leastProducts = int64_t(1) << 22;
  int64_t rows = x.numel() / std::max<int64_t>(x.size(-1), 1);
  return rows >= leastRows && rows * weight.numel() >= leastProducts;
}

} // namespace

bool hasOneDnn() { return findPointwise().has_value(); }

bool isSlowForMkl(const std::string &vendor, const std::string &flags) {
  return vendor != "GenuineIntel" && runtime::missingFeature({"avx512f"}, flags).empty();
}

at::Tensor linearByOneDnn(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias) {
  if (!hasOneDnn())
    fail("expected a libtorch with oneDNN, which this one was built without");
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  at::Tensor y = OneDnnProduct::apply(x.reshape({-1, x.size(-1)}), weight).view(shape);
  return bias.defined() ? y + bias : y;
}

at::Tensor linear(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias) {
  static const bool preferred =
      at::hasMKL() && hasOneDnn() && isSlowForMkl(runtime::cpuVendor(), runtime::cpuFlags());
  bool isPlain = x.device().is_cpu() && x.scalar_type() == at::kFloat && weight.scalar_type() == at::kFloat;
  if (preferred && isPlain && isLarge(x, weight))
    return linearByOneDnn(x, weight, bias);
  return at::linear(x, weight, bias);
}

} // namespace taylor::trainer
