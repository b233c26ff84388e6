// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/model/Cost.h"
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

namespace taylor::trainer {

ModelCost costOf(const Model &model, int64_t context) {
  ModelCost cost;
  for (const Parameter &parameter : model.parameters()) {
    cost.parameters += parameter.value.numel();
    if (parameter.name.ends_with("_proj.weight") || parameter.name == "lm_head.weight")
      cost.multiplied += parameter.value.numel();
  }
  const ModelConfig &config = model.settings();
  cost.attentionPerToken =
      2.0 * (config.headWidth() + config.valueWidth()) * (context + 1) / 2 * config.heads * config.layers;
  return cost;
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
