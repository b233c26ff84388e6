// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_CHECKPOINT_LOADEDMODEL_H
#define TAYLOR_TRAINER_CHECKPOINT_LOADEDMODEL_H
#include "trainer/checkpoint/Checkpoint.h"
#include "trainer/model/AttentionKernel.h"
#include <filesystem>
#include <functional>

namespace taylor::trainer {

// A checkpoint's folder, or of a run's folder its newest one. Throws Error that says what is missing.
std::filesystem::path findCheckpoint(const std::filesystem::path &folder);

// A checkpoint, made a model again.
struct LoadedModel {
  // What a program does to the attention before the model is built around it: watch its calls, which come
  // from the first layer to the last.
  using Wrap = std::function<void(AttentionFunction &)>;

  // `device` is one of devices(); `specification`, if given, takes the place of the checkpoint's own and must
  // ask for the same modules. Throws Error.
  LoadedModel(const std::filesystem::path &checkpoint, const std::string &device,
              const std::string &specification = {}, const Wrap &wrap = {});

  ModelDescription description;
  Tokenizer tokenizer;
  AttentionConfig attention; // with the specification's path
  Model model;
};

} // namespace taylor::trainer
#endif
