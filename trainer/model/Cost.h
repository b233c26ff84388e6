// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a model costs.
#ifndef TAYLOR_TRAINER_MODEL_COST_H
#define TAYLOR_TRAINER_MODEL_COST_H
#include "trainer/model/Model.h"

namespace taylor::trainer {

/// Counted from shapes alone.
struct ModelCost {
  int64_t parameters = 0;
  int64_t multiplied = 0; // parameters that multiply every token: matrices of the layers, and the head
  /// Operations of attention in a forward, of one token and all layers: 2 (d + e) for each pair that a causal
  /// mask leaves, (context + 1) / 2 of them for each head. Every specification is counted as if it were
  /// computed over pairs, so that a share of the peak (mfu) means the same for all.
  double attentionPerToken = 0;

  /// Floating-point operations of a forward and a backward, which is twice a forward; what is computed again
  /// (activation checkpointing) does not count, as is the custom with "model FLOPs utilization" (PaLM, arXiv
  /// 2204.02311, appendix B).
  double trainingPerToken() const { return 3 * (2.0 * multiplied + attentionPerToken); }
};

/// `layers`: of a model like this one with so many of them, all alike, which need not be made to be counted;
/// 0: of this one. Throws Error where the parameters are more than 2^62.
ModelCost costOf(const Model &model, int64_t context, int64_t layers = 0);

/// Throws Error unless this machine has room for what training keeps of each parameter: weight, gradient and,
/// unless processes share them, two moments. `attention`: the model's. For models on the processor.
void requireMemory(const Config &config, int64_t vocabulary, AttentionFunction attention);

/// Bytes that decoding keeps of one sequence after so many tokens, of all layers: states, or keys and
/// values. Compiles the step of decoding.
int64_t decodingBytes(const Model &model, int64_t tokens);

} // namespace taylor::trainer
#endif
