// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/model/Cost.h"
#include <ATen/core/Tensor.h>

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

} // namespace taylor::trainer
