// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/checkpoint/LoadedModel.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"

namespace fs = std::filesystem;

namespace taylor::trainer {

fs::path findCheckpoint(const fs::path &folder) {
  if (!fs::is_directory(folder))
    fail("expected a checkpoint, but the folder '", folder.string(), "' does not exist");
  if (fs::exists(folder / "config.json"))
    return folder;
  for (const fs::path &inside : {folder / "checkpoints", folder})
    if (std::optional<fs::path> newest = newestCheckpoint(inside))
      return *newest;
  fail("expected a checkpoint (or a run's folder), but '", folder.string(),
       "' holds neither config.json nor "
       "checkpoints/step-..");
}

static AttentionConfig attentionOf(const ModelDescription &description, const fs::path &checkpoint,
                                   const std::string &specification) {
  AttentionConfig config;
  config.specification =
      specification.empty() ? (checkpoint / description.attention).string() : specification;
  config.parameters = description.attentionParameters;
  config.mask = description.attentionMask;
  return config;
}

static AttentionFunction compileFor(const AttentionConfig &attention, const ModelDescription &description,
                                    const std::string &device, const LoadedModel::Wrap &wrap) {
  AttentionFunction function =
      compileAttention(attention, description.model, description.bf16, device).function;
  if (wrap)
    wrap(function);
  return function;
}

LoadedModel::LoadedModel(const fs::path &checkpoint, const std::string &device,
                         const std::string &specification, const Wrap &wrap)
    : description(readHuggingFace(checkpoint)),
      tokenizer(readFile(checkpoint / "tokenizer.model"), checkpoint / "tokenizer.model"),
      attention(attentionOf(description, checkpoint, specification)),
      model(description.model, description.vocabulary, compileFor(attention, description, device, wrap),
            description.bf16, 0) {
  if (tokenizer.vocabulary() != description.vocabulary)
    fail("expected a tokenizer of vocab_size = ", description.vocabulary, " pieces in '", checkpoint.string(),
         "', but it has ", tokenizer.vocabulary());
  try {
    loadModel(checkpoint, model);
  } catch (const Error &error) {
    if (specification.empty())
      throw;
    fail(error.what(), "; requires '", specification, "' to ask for the same modules as the specification ",
         "that the checkpoint was trained with, '", (checkpoint / description.attention).string(), "'");
  }
}

} // namespace taylor::trainer
