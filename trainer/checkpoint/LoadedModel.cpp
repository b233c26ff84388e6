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

namespace {

/// The specification's file of a checkpoint, or the text that config.json has of it, as in a folder that
/// `transformers` wrote.
AttentionConfig attentionOf(const ModelDescription &description, const fs::path &checkpoint,
                            const LoadOptions &options) {
  AttentionConfig config;
  config.parameters = description.attentionParameters;
  config.mask = description.attentionMask;
  config.specification = options.specification;
  if (!options.specification.empty())
    return config;
  fs::path own = checkpoint / description.attention;
  config.specification = own.string();
  if (isNativeCode(config.specification) && !options.allowNativeCode)
    fail("requires --allow-native-code to load '", own.string(),
         "', the compiled specification of this checkpoint: it is a program of whoever made the checkpoint "
         "and runs "
         "with all your rights; or pass --attention SPEC.mlir, the text it was compiled from");
  std::error_code error;
  bool isThere = fs::is_regular_file(own, error);
  if (!isThere && description.text.empty())
    fail("requires the specification of the checkpoint, but '", own.string(),
         "' is not there and config.json has no ", "text of it; copy '", description.attention,
         "' from the checkpoint that this one was made of, or pass it with --attention SPEC.mlir");
  if (!isThere) {
    config.text = description.text;
    return config;
  }
  if (isNativeCode(config.specification))
    return config;
  // The text and not the path: kernels are compiled when they are first called, and a run that goes on may
  // have removed the checkpoint by then.
  config.text = readFile(own);
  if (!description.text.empty() && config.text != description.text)
    fail("expected one specification in '", checkpoint.string(), "', but that of config.json is not '",
         description.attention, "'; say which it is with --attention SPEC.mlir");
  return config;
}

std::string tokenizerPath(const fs::path &checkpoint, const LoadOptions &options) {
  fs::path path = options.tokenizer.empty() ? checkpoint / "tokenizer.model" : fs::path(options.tokenizer);
  std::error_code error;
  if (options.tokenizer.empty() && !fs::exists(path, error))
    fail("requires a tokenizer, but '", path.string(),
         "' is not there; copy it from the checkpoint that this one was made of, or pass it with --tokenizer "
         "FILE");
  return path.string();
}

int64_t requireVocabulary(const ModelDescription &description, const Tokenizer &tokenizer,
                          const fs::path &checkpoint) {
  if (tokenizer.vocabulary() != description.vocabulary)
    fail("expected a tokenizer of vocab_size = ", description.vocabulary, " pieces in '", checkpoint.string(),
         "', but it has ", tokenizer.vocabulary());
  return description.vocabulary;
}

/// Compiled for the model, once that is known to be the one of these weights: sizes come from config.json,
/// which anyone may have written.
AttentionFunction compileFor(const AttentionConfig &attention, const ModelDescription &description,
                             const Weights &weights, const fs::path &checkpoint, const LoadOptions &options) {
  AttentionFunction function =
      compileAttention(attention, description.model, description.bf16, options.device).function;
  AttentionFunction shapes = function;
  shapes.device = at::kMeta;
  try {
    requireWeights(weights, Model(description.model, description.vocabulary, shapes, description.bf16, 0));
  } catch (const Error &error) {
    if (options.specification.empty())
      throw;
    fail(error.what(), "; requires '", options.specification,
         "' to ask for the same modules as the specification ", "that the checkpoint was trained with, '",
         (checkpoint / description.attention).string(), "'");
  }
  if (options.wrap)
    options.wrap(function);
  return function;
}

} // namespace

LoadedModel::LoadedModel(const fs::path &checkpoint, const LoadOptions &options)
    : description(readHuggingFace(checkpoint)), weights(checkpoint),
      tokenizer(readFile(tokenizerPath(checkpoint, options)), tokenizerPath(checkpoint, options)),
      attention(attentionOf(description, checkpoint, options)),
      model(description.model, requireVocabulary(description, tokenizer, checkpoint),
            compileFor(attention, description, weights, checkpoint, options), description.bf16, 0) {
  loadModel(weights, model);
}

LoadedModel loadNewest(const fs::path &folder, const LoadOptions &options) {
  for (int tries = 1;; ++tries) {
    fs::path checkpoint = findCheckpoint(folder);
    try {
      return LoadedModel(checkpoint, options);
    } catch (const Error &) {
      std::error_code error;
      if (tries == 5 || checkpoint == folder || fs::exists(checkpoint / "config.json", error))
        throw;
    }
  }
}

} // namespace taylor::trainer
