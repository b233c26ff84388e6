// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/optimization/Optimizer.h"
#include <ATen/ATen.h>
#include <algorithm>
#include <array>
#include <c10/core/GradMode.h>

namespace taylor::trainer {

namespace {

/// The moments of a parameter, before the first update.
std::array<at::Tensor, 3> emptyMoments(const at::Tensor &value, at::Device device) {
  at::TensorOptions options = value.options().device(device).requires_grad(false);
  return {at::zeros(value.sizes(), options), at::zeros(value.sizes(), options), at::zeros({}, options)};
}

std::array<std::string, 3> momentNames(const std::string &parameter) {
  return {"exp_avg." + parameter, "exp_avg_sq." + parameter, "step." + parameter};
}

} // namespace

Optimizer::Optimizer(const OptimizerConfig &config, const std::vector<Parameter> &parameters,
                     const Group &group)
    : config(config), group(group) {
  std::vector<int64_t> owned(group.size());
  for (const Parameter &parameter : parameters) {
    Entry entry{
        parameter.name, parameter.value, -1, config.decay == "all" || parameter.value.dim() >= 2, {}, {}, {}};
    if (config.shard && group.size() > 1) {
      entry.owner = std::min_element(owned.begin(), owned.end()) - owned.begin();
      owned[entry.owner] += parameter.value.numel();
    }
    if (owns(entry)) {
      auto [mean, square, step] = emptyMoments(entry.value, entry.value.device());
      entry.mean = mean, entry.square = square, entry.step = step;
    }
    entries.push_back(std::move(entry));
  }
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
  updateOwned(learningRate);
  if (!config.shard || group.size() == 1)
    return;
  for (int64_t owner = 0; owner < group.size(); ++owner) {
    std::vector<at::Tensor> values;
    for (const Entry &entry : entries)
      if (entry.owner == owner)
        values.push_back(entry.value);
    group.broadcast(values, owner);
  }
}

void Optimizer::updateOwned(double learningRate) {
  for (bool decays : {false, true}) {
    std::vector<at::Tensor> values, gradients, means, squares, steps;
    for (const Entry &entry : entries) {
      if (entry.decays != decays || !entry.value.grad().defined() || !owns(entry))
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

Optimizer::State Optimizer::state() const {
  State tensors;
  for (const Entry &entry : entries) {
    std::array<at::Tensor, 3> moments = {entry.mean, entry.square, entry.step};
    if (entry.owner >= 0) {
      if (!owns(entry))
        moments = emptyMoments(entry.value, entry.value.device());
      group.broadcast({moments.begin(), moments.end()}, entry.owner);
      if (!owns(entry) && !group.isFirst())
        continue;
      if (!owns(entry))
        for (at::Tensor &moment : moments)
          moment = moment.cpu();
    }
    for (size_t i = 0; i < moments.size(); ++i)
      tensors[momentNames(entry.name)[i]] = moments[i];
  }
  return tensors;
}

Optimizer::State Optimizer::room() const {
  State tensors;
  for (const Entry &entry : entries) {
    std::array<at::Tensor, 3> moments = emptyMoments(entry.value, at::kCPU);
    for (size_t i = 0; i < moments.size(); ++i)
      tensors[momentNames(entry.name)[i]] = moments[i];
  }
  return tensors;
}

void Optimizer::restore(const State &filled) {
  c10::NoGradGuard noGrad;
  for (Entry &entry : entries) {
    std::array<at::Tensor, 3> moments;
    if (!group.isFirst())
      moments = emptyMoments(entry.value, entry.value.device());
    else
      for (size_t i = 0; i < moments.size(); ++i)
        moments[i] = filled.at(momentNames(entry.name)[i]).to(entry.value.device());
    group.broadcast({moments.begin(), moments.end()});
    if (owns(entry))
      entry.mean = moments[0], entry.square = moments[1], entry.step = moments[2];
  }
}

} // namespace taylor::trainer
