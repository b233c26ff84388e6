// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run that goes on takes from its newest checkpoint.
#ifndef TAYLOR_TRAINER_TRAINING_RESUME_H
#define TAYLOR_TRAINER_TRAINING_RESUME_H
#include "trainer/checkpoint/Checkpoint.h"
#include "trainer/config/Config.h"
#include "trainer/text/Data.h"

namespace taylor::trainer {

/// What it must have in common with what it began as, and which other settings it tells where they have
/// changed. (Sizes of tensors are compared where these are read.)
TrainingState commonState(const Config &config, const std::string &specification, const Data &data);

/// The content of state.json. Throws Error with a way out, as loadTensors() does.
std::string readState(const std::filesystem::path &checkpoint);

void loadTensors(const std::filesystem::path &checkpoint, const Model &model,
                 const Optimizer::State &moments);

} // namespace taylor::trainer
#endif
