// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_CHECKPOINT_HUGGINGFACE_H
#define TAYLOR_TRAINER_CHECKPOINT_HUGGINGFACE_H
#include "trainer/config/Config.h"
#include "trainer/model/Model.h"
#include "trainer/text/Tokenizer.h"
#include <filesystem>

namespace taylor::trainer {

/// Of the rotary positions of Llama's attention.
constexpr double kRopeTheta = 10000;

/// What a checkpoint's config.json says of the model.
struct ModelDescription {
  ModelConfig model;
  int64_t vocabulary = 0;
  int64_t context = 0;   // tokens it was trained on at a time
  std::string attention; // file of the specification, in the checkpoint's folder
  Parameters attentionParameters;
  std::string attentionMask;
  bool bf16 = false;
  bool isLlama = false; // its attention is Llama's: the folder loads as Hugging Face's LlamaForCausalLM
  /// Read alone: the specification's text, if it is there, and fields that nothing here knows.
  std::string text;
  std::vector<std::string> passedOver;
};

/// The files that make a folder a Hugging Face model: config.json, generation_config.json, tokenizer.model,
/// tokenizer_config.json, special_tokens_map.json; and, where it is no Llama, the Python files with which
/// `transformers` loads it (modeling_taylor.py). `specification`: the content of the file
/// description.attention.
void writeHuggingFace(const std::filesystem::path &folder, const ModelDescription &description,
                      const std::string &specification, const Model &model, const Tokenizer &tokenizer);

/// Reads config.json back. Throws Error that names the field: of one that is missing, no number of the kind
/// and size that it must be, or says another computation than that of this model.
ModelDescription readHuggingFace(const std::filesystem::path &folder);

/// `settings` with the sizes of the layers and the epsilon that the config.json of another model's folder
/// says; which attention it has does not matter. Throws Error that names the field, so too.
ModelConfig readSizes(const std::filesystem::path &folder, const ModelConfig &settings);

/// Whether a specification computes what Llama's attention does (rotary embedding with theta 10000, causal
/// softmax), found by running both on random heads. A name or a text would not tell: the same function can be
/// written many ways.
bool computesLlamaAttention(const AttentionFunction &attention, const ModelConfig &config, bool bf16);

} // namespace taylor::trainer
#endif
