// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TRAINING_LOCKSTEP_H
#define TAYLOR_TRAINER_TRAINING_LOCKSTEP_H
#include "trainer/config/Config.h"

namespace taylor::trainer {

/// Steps when another process asks for them: `taylor-bench train`, which lets ours and an opponent's take
/// turns. Messages are lines: JSON objects on standard output, `step` on standard input.
class Lockstep {
public:
  /// Says what the run is: sizes of the model and its batches, the optimizer's settings. `startSeconds`:
  /// since the process started.
  void begin(const Config &config, int64_t vocabulary, int64_t parameters, double startSeconds) const;
  /// Returns when a step is asked for. Throws Error at the end of the input.
  void wait() const;
  /// `seconds`: of this step. `memory`: the most bytes that the device has held so far.
  void done(double seconds, double loss, int64_t memory) const;
};

} // namespace taylor::trainer
#endif
