// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_CHECKPOINT_WEIGHTS_H
#define TAYLOR_TRAINER_CHECKPOINT_WEIGHTS_H
#include "trainer/checkpoint/Safetensors.h"
#include <filesystem>

namespace taylor::trainer {

/// The tensors of a model's folder: those of model.safetensors, or of the shards that
/// model.safetensors.index.json names, as `transformers` writes them where a model is large.
class Weights {
public:
  /// Throws Error that names what is missing, and what else is wrong.
  explicit Weights(const std::filesystem::path &folder);

  const std::map<std::string, TensorView> &tensors() const { return all; }
  /// The file that lists the tensors: for messages.
  const std::string &origin() const { return list; }

private:
  void openShards(const std::filesystem::path &folder);

  std::string list;
  std::vector<SafetensorsFile> files;
  std::map<std::string, TensorView> all;
};

} // namespace taylor::trainer
#endif
