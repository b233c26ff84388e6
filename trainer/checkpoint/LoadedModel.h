// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_CHECKPOINT_LOADEDMODEL_H
#define TAYLOR_TRAINER_CHECKPOINT_LOADEDMODEL_H
#include "trainer/checkpoint/Checkpoint.h"
#include "trainer/model/AttentionKernel.h"
#include <filesystem>
#include <functional>

namespace taylor::trainer {

/// A checkpoint's folder, or of a run's folder its newest one. Throws Error that says what is missing.
std::filesystem::path findCheckpoint(const std::filesystem::path &folder);

/// How a checkpoint is made a model again.
struct LoadOptions {
  std::string device = "cpu"; // one of devices()
  /// In place of the checkpoint's own, if given: a specification, which must ask for the same modules, and a
  /// SentencePiece model.
  std::string specification, tokenizer;
  /// Whether a compiled specification that the checkpoint brings may run. It is a program of whoever made the
  /// checkpoint; all else in there is data.
  bool allowNativeCode = false;
  /// What a program does to the attention before the model is built around it: watch its calls, which come
  /// from the first layer to the last.
  std::function<void(AttentionFunction &)> wrap;
};

/// A checkpoint, made a model again.
struct LoadedModel {
  /// Nothing of the model's size is allocated before the weights are known to be of it. Throws Error.
  LoadedModel(const std::filesystem::path &checkpoint, const LoadOptions &options);

  ModelDescription description;
  Weights weights;
  Tokenizer tokenizer;
  AttentionConfig attention; // with the specification's path, or its text
  Model model;
};

/// That of findCheckpoint(). Of a run that trains meanwhile the newest checkpoint may become old and be
/// removed before it is read: then the next one is taken.
LoadedModel loadNewest(const std::filesystem::path &folder, const LoadOptions &options);

} // namespace taylor::trainer
#endif
