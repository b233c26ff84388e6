// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of tokens, ready to train on: training-NNNNN and validation-NNNNN, .tokens and .documents
// (Tokens.h), tokenizer.model, and description.json, which is written last.
#ifndef TAYLOR_TRAINER_TEXT_PREPAREDTEXT_H
#define TAYLOR_TRAINER_TEXT_PREPAREDTEXT_H
#include "trainer/text/Shards.h"
#include "trainer/text/Tokenizer.h"
#include "trainer/text/Tokens.h"
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace taylor::trainer {

struct PreparedText {
  std::string title;         // what was prepared, for messages
  std::string tokenizerHash; // SHA-256 of tokenizer.model
  std::unique_ptr<Tokenizer> tokenizer;
  Tokens training, validation;
};

/// Whether the folder holds a description of prepared text, or what an unfinished preparation left.
bool isPreparedText(const std::filesystem::path &folder);

/// Checks that the tokenizer is the one of the tokens and that every shard has its size; with `verify` the
/// shards' contents too, by their checksums (on some threads). Throws Error that names what is wrong, also
/// where the preparation is unfinished.
PreparedText readPreparedText(const std::filesystem::path &folder, bool verify, int64_t threads);

/// Of a split's finished shards; what the description and the state of a preparation hold.
nlohmann::ordered_json describeShards(const SplitState &state);
/// Throws Error if it is not one; `origin` names the file in messages.
SplitState readShards(const nlohmann::ordered_json &split, const std::string &origin);

/// Writes description.json, over `about`, which has "title" and what else is worth knowing.
void writeDescription(const std::filesystem::path &folder, const nlohmann::ordered_json &about,
                      const Tokenizer &tokenizer, const SplitState &training, const SplitState &validation);

/// The file that an unfinished preparation keeps its state in.
constexpr const char *kProgressFile = ".progress.json";
constexpr const char *kDescriptionFile = "description.json";

} // namespace taylor::trainer
#endif
