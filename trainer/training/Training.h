// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TRAINING_TRAINING_H
#define TAYLOR_TRAINER_TRAINING_TRAINING_H
#include "trainer/config/Config.h"
#include "trainer/training/Lockstep.h"

namespace taylor::trainer {

/// What to do with a run folder that holds a run already.
enum class Existing { Refuse, Resume, Overwrite };

/// Trains as the configuration says and leaves in run.folder: config.toml, the specification, metrics.jsonl,
/// events for TensorBoard, checkpoints/ and, at the end, summary.json. Returns the exit status: 0, or 128 + N
/// after signal N, with a checkpoint of the last whole step saved. Throws Error, among others at a loss that
/// is not finite. `lockstep`: each step waits until it is asked for; null: none does.
int train(const Config &config, Existing existing, const Lockstep *lockstep = nullptr);

} // namespace taylor::trainer
#endif
