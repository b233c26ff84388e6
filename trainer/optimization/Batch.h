// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_OPTIMIZATION_BATCH_H
#define TAYLOR_TRAINER_OPTIMIZATION_BATCH_H
#include <ATen/core/Tensor.h>
#include <cstdint>

namespace taylor::trainer {

/// A process's share of a step's sequences, on the processor. B sequences of T tokens.
struct Batch {
  at::Tensor inputs, targets; // [B, T] int64; a target of -100 is not learned
  at::Tensor documents;       // [B, T] i32, the number of each token's document; undefined if no one asks
  at::Tensor weights;  // [B] fp32: of each sequence's targets in the mean over all processes' sequences
  int64_t counted = 0; // targets to learn in all of these
};

} // namespace taylor::trainer
#endif
