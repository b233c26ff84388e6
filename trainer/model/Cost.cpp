// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/model/Cost.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <unistd.h>

namespace taylor::trainer {

ModelCost costOf(const Model &model, int64_t context, int64_t layers) {
  const ModelConfig &config = model.settings();
  int64_t all = layers ? layers : config.layers;
  ModelCost cost;
  for (const Parameter &parameter : model.parameters()) {
    // Layers that were not made are counted with the first.
    int64_t times = parameter.name.starts_with("model.layers.0.") ? 1 + all - config.layers : 1, count;
    if (__builtin_mul_overflow(parameter.value.numel(), times, &count) ||
        count > kMostTokens - cost.parameters)
      fail("unsupported sizes: the model has more than 2^62 parameters; lower model.layers, model.hidden or ",
           "model.intermediate");
    cost.parameters += count;
    if (parameter.name.ends_with("_proj.weight") || parameter.name == "lm_head.weight")
      cost.multiplied += count;
  }
  cost.attentionPerToken =
      2.0 * (config.headWidth() + config.valueWidth()) * double(context + 1) / 2 * config.heads * all;
  return cost;
}

void requireMemory(const Config &config, int64_t vocabulary, AttentionFunction attention) {
  attention.device = at::kMeta;
  ModelConfig one = config.model;
  one.layers = 1;
  bool bf16 = config.train.precision == "bf16";
  ModelCost cost = costOf(Model(one, vocabulary, std::move(attention), bf16, 0), 1, config.model.layers);
  double needed = (config.optimizer.shard ? 8.0 : 16.0) * double(cost.parameters);
  double there = double(::sysconf(_SC_PHYS_PAGES)) * double(::sysconf(_SC_PAGE_SIZE));
  if (needed > there)
    fail("requires ", formatCount(int64_t(needed)), "B of memory for weights, gradients and moments of ",
         formatCount(cost.parameters), " parameters, but this machine has ", formatCount(int64_t(there)),
         "B; lower model.layers, model.hidden or model.intermediate ('taylor-train plan' tells what a run "
         "needs)");
}

int64_t decodingBytes(const Model &model, int64_t tokens) {
  c10::NoGradGuard noGrad;
  SequenceGroup group;
  group.layers.resize(size_t(model.settings().layers));
  model.extend(at::zeros({1, tokens}, at::TensorOptions(model.device()).dtype(at::kLong)), {&group});
  int64_t bytes = 0;
  for (const Decoder::Memory &memory : group.layers)
    bytes += model.decoder().bytes(memory);
  return bytes;
}

} // namespace taylor::trainer
