// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A checkpoint is a folder: a Hugging Face model (HuggingFace.h), model.safetensors, the specification, and
// what training needs to go on exactly where it was: optimizer.safetensors and state.json.
#ifndef TAYLOR_TRAINER_CHECKPOINT_CHECKPOINT_H
#define TAYLOR_TRAINER_CHECKPOINT_CHECKPOINT_H
#include "trainer/checkpoint/HuggingFace.h"
#include "trainer/optimization/Evaluation.h"
#include "trainer/optimization/Optimizer.h"
#include "trainer/optimization/Updates.h"
#include <optional>

namespace taylor::trainer {

// What must be the same for a continued run to be the same run, and how far it is. The sampler needs no more:
// it is a function of (seed, step, sequence).
struct TrainingState {
  int64_t step = 0; // updates done
  int64_t seed = 0, batch = 0, context = 0, groups = 1, pairs = 0, symbols = 0, trainingTokens = 0;
  std::string sampler;
  UpdateState updates;
  Evaluation::State evaluations;
};

struct Checkpoint {
  ModelDescription description;
  std::string specification; // content of the file description.attention
  std::string settings;      // the resolved config.toml
  TrainingState state;
};

// `optimizer`: Optimizer::state(). Writes FOLDER/step-00000N: under a hidden name first, every file flushed,
// then renamed, so that a folder of that name is always whole. Removes the oldest beyond `keep` (0: none).
// Returns its path. Throws Error.
std::filesystem::path saveCheckpoint(const std::filesystem::path &folder, const Checkpoint &checkpoint,
                                     const Model &model, const Optimizer::State &optimizer,
                                     const Tokenizer &tokenizer, int64_t keep);

// The step-N folder with the largest N, if there is one.
std::optional<std::filesystem::path> newestCheckpoint(const std::filesystem::path &folder);

// Throws Error unless names and shapes in model.safetensors are those of the model.
void loadModel(const std::filesystem::path &checkpoint, const Model &model);

// The optimizer's state, into the tensors of Optimizer::room(), and the random state.
void loadOptimizer(const std::filesystem::path &checkpoint, const Optimizer::State &room);

// From the content of a checkpoint's state.json. Throws Error, naming `checkpoint`, where `expected` (its
// step aside) differs from what was saved.
TrainingState readTrainingState(const std::string &content, const std::filesystem::path &checkpoint,
                                const TrainingState &expected);

} // namespace taylor::trainer
#endif
