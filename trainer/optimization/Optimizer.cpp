// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/optimization/Optimizer.h"
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace taylor::trainer {

Optimizer::Optimizer(const OptimizerConfig &config, const std::vector<Parameter> &parameters)
    : config(config) {
  for (const Parameter &parameter : parameters)
    entries.push_back({parameter.name, parameter.value, at::zeros_like(parameter.value.detach()),
                       at::zeros_like(parameter.value.detach()), at::zeros({}, parameter.value.options()),
                       config.decay == "all" || parameter.value.dim() >= 2});
}

double Optimizer::clipGradients() {
  c10::NoGradGuard noGrad;
  std::vector<at::Tensor> gradients;
  for (const Entry &entry : entries)
    if (entry.value.grad().defined())
      gradients.push_back(entry.value.grad());
  if (gradients.empty())
    return 0;
  double norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2))).item<double>();
  if (config.clip > 0 && norm > config.clip)
    at::_foreach_mul_(gradients, config.clip / (norm + 1e-6));
  return norm;
}

void Optimizer::step(double learningRate) {
  c10::NoGradGuard noGrad;
  for (bool decays : {false, true}) {
    std::vector<at::Tensor> values, gradients, means, squares, steps;
    for (const Entry &entry : entries) {
      if (entry.decays != decays || !entry.value.grad().defined())
        continue;
      values.push_back(entry.value);
      gradients.push_back(entry.value.grad());
      means.push_back(entry.mean);
      squares.push_back(entry.square);
      steps.push_back(entry.step);
    }
    if (values.empty())
      continue;
    at::_foreach_add_(steps, 1);
    at::_fused_adamw_(values, gradients, means, squares, {}, steps, learningRate, config.beta1, config.beta2,
                      decays ? config.weightDecay : 0.0, config.epsilon, /*amsgrad=*/false,
                      /*maximize=*/false);
  }
}

void Optimizer::zeroGradients() {
  for (Entry &entry : entries)
    entry.value.mutable_grad() = at::Tensor();
}

std::map<std::string, at::Tensor> Optimizer::state() const {
  std::map<std::string, at::Tensor> tensors;
  for (const Entry &entry : entries) {
    tensors["exp_avg." + entry.name] = entry.mean;
    tensors["exp_avg_sq." + entry.name] = entry.square;
    tensors["step." + entry.name] = entry.step;
  }
  return tensors;
}

} // namespace taylor::trainer
