// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A checkpoint is a folder: a Hugging Face model (HuggingFace.h), model.safetensors, the specification, and
// what training needs to go on exactly where it was: optimizer.safetensors and state.json.
#ifndef TAYLOR_TRAINER_CHECKPOINT_CHECKPOINT_H
#define TAYLOR_TRAINER_CHECKPOINT_CHECKPOINT_H
#include "trainer/checkpoint/HuggingFace.h"
#include "trainer/checkpoint/Weights.h"
#include "trainer/optimization/Evaluation.h"
#include "trainer/optimization/Optimizer.h"
#include "trainer/optimization/Updates.h"
#include <functional>
#include <optional>

namespace taylor::trainer {

/// What must be the same for a continued run to be the same run, and how far it is. The sampler needs no
/// more: it is a function of (seed, step, sequence).
struct TrainingState {
  std::vector<std::pair<std::string, std::string>> settings;   // key and value, as config.toml has them
  std::vector<std::pair<std::string, std::string>> changeable; // so too: those that may change, which is told
  std::vector<std::string> changes; // "optimizer.clip = 1, which was 0", of what was read
  std::string specification, text;  // SHA-256 of its content; of Data::fingerprint()
  int64_t trainingTokens = 0;

  int64_t step = 0;           // updates done
  int64_t learned = 0;        // targets that these learned from
  std::vector<double> losses; // of the last steps, for the mean that is told
  UpdateState updates;
  int64_t evaluatedStep = -1; // of the last evaluation
  EvaluationResult evaluated; // by it
  Evaluation::State evaluations;
};

struct Checkpoint {
  ModelDescription description;
  std::string specification; // content of the file description.attention
  std::string settings;      // the resolved config.toml
  TrainingState state;
};

/// Removes what killed processes left half-written, and the oldest checkpoints beyond `keep` (0: none);
/// `warn` is told of one that cannot be removed.
void removeOldCheckpoints(const std::filesystem::path &folder, int64_t keep,
                          const std::function<void(const std::string &)> &warn);

/// The folder of a step's checkpoint, FOLDER/step-00000N.
std::filesystem::path checkpointOf(const std::filesystem::path &folder, int64_t step);

/// `optimizer`: Optimizer::state(). Writes `checkpointOf` its step: under a hidden name first, every file
/// flushed, then renamed, so that a folder of that name is always whole. Then removes old ones. Throws Error.
void saveCheckpoint(const std::filesystem::path &folder, const Checkpoint &checkpoint, const Model &model,
                    const Optimizer::State &optimizer, const Tokenizer &tokenizer, int64_t keep,
                    const std::function<void(const std::string &)> &warn);

/// The step-N folder with the largest N, if there is one.
std::optional<std::filesystem::path> newestCheckpoint(const std::filesystem::path &folder);

/// Throws Error unless names, shapes and dtypes of the weights are those of the model, which may be one
/// without numbers (on the device `meta`).
void requireWeights(const Weights &weights, const Model &model);
/// So too; then gives the model these weights.
void loadModel(const Weights &weights, const Model &model);

/// What became of another model's weights: names of tensors that the model has and they do not, and the other
/// way round.
struct StartedFrom {
  int64_t taken = 0;
  std::vector<std::string> initial, unused;
};
/// Gives the model those of these weights that have a name of its; the others keep what they have. Embeddings
/// serve as lm_head.weight too where that is not there, as in a model that ties them. Throws Error where one
/// of a name has another shape, or none has a name.
StartedFrom startFrom(const Weights &weights, const Model &model);

/// The optimizer's state, into the tensors of Optimizer::room(), and the random state.
void loadOptimizer(const std::filesystem::path &checkpoint, const Optimizer::State &room);

/// From the content of a checkpoint's state.json. Throws Error, naming `checkpoint`, where what must be the
/// same differs in `expected` from what was saved.
TrainingState readTrainingState(const std::string &content, const std::filesystem::path &checkpoint,
                                const TrainingState &expected);

} // namespace taylor::trainer
#endif
