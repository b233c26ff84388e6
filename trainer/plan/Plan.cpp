// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/plan/Plan.h"
#include "trainer/support/Error.h"
#include <algorithm>

namespace taylor::trainer {

/// Bytes that one layer keeps for its backward, per token, as Model.cpp computes it.
static double activationBytes(const ModelConfig &model, bool bf16) {
  double narrow = bf16 ? 2 : 4, channels = model.hidden, inner = model.intermediate;
  double queries = double(model.heads) * model.headWidth(),
         keys = double(model.keyValueHeads()) * model.headWidth();
  double values = double(model.keyValueHeads()) * model.valueWidth(),
         output = double(model.heads) * model.valueWidth();
  // Two residual streams and two norms in fp32; in bf16 what the projections read.
  double streams = 4 * 4 * channels + (bf16 ? 2 * 2 * channels : 0);
  double attention = narrow * (queries + keys + values + 2 * output);
  double mlp = narrow * 4 * inner; // gate, up, silu(gate), their product
  return streams + attention + mlp;
}

Plan makePlan(const Config &config, const Model &model, int64_t vocabulary, int64_t devices) {
  int64_t batch = config.train.batch;
  if (devices < 1 || batch % devices != 0)
    fail("requires a batch that devices share equally, but train.batch = ", batch, " cannot be cut in ",
         devices);
  bool bf16 = config.train.precision == "bf16";
  int64_t length = config.data.sampler == "documents" ? config.train.context - 1 : config.train.context;
  ModelCost cost = costOf(model, length, config.model.layers);
  Plan plan;
  plan.parameters = cost.parameters;
  plan.devices = devices;
  plan.microBatch = batch / devices;
  if (config.train.microBatch)
    plan.microBatch = std::min(plan.microBatch, config.train.microBatch);
  plan.tokensPerStep = batch * length;
  plan.operationsPerStep = cost.trainingPerToken() * double(plan.tokensPerStep);
  int64_t steps = config.train.steps, every = config.evaluation.every;
  plan.evaluations = every ? (steps + every - 1) / every : 1; // one at the end
  plan.operationsPerEvaluation =
      cost.trainingPerToken() / 3 * double(config.evaluation.sequences) * double(length);

  double tokens = double(plan.microBatch) * double(length), layer = activationBytes(config.model, bf16);
  MemoryPlan &memory = plan.memory;
  memory.weights = memory.gradients = 4.0 * cost.parameters;
  memory.optimizer = 8.0 * cost.parameters / double(config.optimizer.shard ? devices : 1);
  memory.halves = bf16 ? 2.0 * cost.multiplied : 0;
  memory.activations = config.train.activationCheckpointing
                           ? tokens * (4.0 * config.model.hidden * config.model.layers + layer)
                           : tokens * layer * config.model.layers;
  memory.logits = tokens * vocabulary * (bf16 ? 4 + 2 + 4 : 4 + 4);
  if (memory.total() > double(kMostTokens))
    fail("unsupported sizes: ", plan.microBatch, " sequences of ", length,
         " tokens at once take more than 2^62 bytes; ",
         "lower train.micro_batch, train.context or the model's sizes");
  return plan;
}

std::optional<std::string> whatFits(const Config &config, const Model &model, int64_t vocabulary,
                                    int64_t devices, double memory) {
  struct Way {
    bool smaller, again, shard;
  };
  // What costs least time comes first.
  for (Way way :
       {Way{false, false, false}, Way{true, false, false}, Way{false, false, true}, Way{true, false, true},
        Way{false, true, false}, Way{true, true, false}, Way{false, true, true}, Way{true, true, true}}) {
    if (way.smaller && makePlan(config, model, vocabulary, devices).microBatch == 1)
      continue;
    if (way.shard && (devices == 1 || config.optimizer.shard))
      continue;
    Config tried = config;
    std::string settings;
    auto set = [&](const char *setting) {
      settings += (settings.empty() ? "" : ", ") + std::string(setting);
    };
    if (way.smaller) {
      tried.train.microBatch = 1;
      set("a lower train.micro_batch");
    }
    if (way.again && !tried.train.activationCheckpointing) {
      tried.train.activationCheckpointing = true;
      set("train.activation_checkpointing=true");
    }
    if (way.shard) {
      tried.optimizer.shard = true;
      set("optimizer.shard=true");
    }
    if (makePlan(tried, model, vocabulary, devices).memory.total() <= memory)
      return settings;
  }
  return std::nullopt;
}

double secondsOf(const Plan &plan, const Config &config, const Gpu &gpu, double share) {
  double peak = config.train.precision == "bf16" ? gpu.bf16 : gpu.fp32;
  double again = config.train.activationCheckpointing ? 4.0 / 3 : 1;
  double operations = config.train.steps * plan.operationsPerStep * again +
                      double(plan.evaluations) * plan.operationsPerEvaluation;
  return operations / (plan.devices * peak * share);
}

} // namespace taylor::trainer
