// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run needs, counted before anything runs.
#ifndef TAYLOR_TRAINER_PLAN_PLAN_H
#define TAYLOR_TRAINER_PLAN_PLAN_H
#include "trainer/model/Cost.h"
#include "trainer/model/Gpus.h"
#include <optional>
#include <string>

namespace taylor::trainer {

/// Bytes of one device.
struct MemoryPlan {
  double weights = 0, gradients = 0, optimizer = 0;
  double halves = 0;      // bf16 copies of matrices, which a step keeps for its backward
  double activations = 0; // of the layers: all, or the input of each and one layer's
  double logits = 0;      // those of a micro-batch, in fp32 and in bf16, and their gradient
  double total() const { return weights + gradients + optimizer + halves + activations + logits; }
};

struct Plan {
  int64_t parameters = 0;
  int64_t devices = 1;
  int64_t microBatch = 1;       // sequences of one device at once
  int64_t tokensPerStep = 0;    // positions of all sequences
  double operationsPerStep = 0; // floating-point, of all devices
  int64_t evaluations = 0;
  double operationsPerEvaluation = 0; // 0 where all of the test text is evaluated, whose size no one told
  MemoryPlan memory;
};

/// `devices` share each batch. `model` is that of the configuration, or one of its first layer alone. Throws
/// Error where the batch cannot be shared equally, and for what is more than 2^62 bytes.
Plan makePlan(const Config &config, const Model &model, int64_t vocabulary, int64_t devices);

/// Settings by which the run fits into a memory of so many bytes, for a message: "" where it does as it is,
/// "a lower train.micro_batch, optimizer.shard=true". Nothing where no settings do.
std::optional<std::string> whatFits(const Config &config, const Model &model, int64_t vocabulary,
                                    int64_t devices, double memory);

/// Seconds of a run on `devices` GPUs at a share of their peak: its steps, and its evaluations where their
/// size is known.
double secondsOf(const Plan &plan, const Config &config, const Gpu &gpu, double share);

} // namespace taylor::trainer
#endif
