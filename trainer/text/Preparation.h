// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `taylor-train prepare`: files of text or records to a folder of tokens (PreparedText.h), streaming and in
// parallel.
#ifndef TAYLOR_TRAINER_TEXT_PREPARATION_H
#define TAYLOR_TRAINER_TEXT_PREPARATION_H
#include <cstdint>
#include <string>
#include <vector>

namespace taylor::trainer {

struct PreparationOptions {
  std::vector<std::string> inputs; // files, folders, globs
  std::string out;
  std::string field = "text";
  std::string tokenizer;       // a SentencePiece model, or
  int64_t trainTokenizer = 0;  // pieces of one to train
  std::string validationFiles; // a glob: these files validate; with "" documents do, by their contents
  double validationFraction = 0.01;
  int64_t maxDocumentTokens = 0; // 0: whole documents
  int64_t maxBad = 100;          // records left out before it is an error
  int64_t threads = 0;           // 0: one per core
  int64_t shardTokens = 1 << 28; // 512 MB
  bool overwrite = false;
  std::string verify; // a folder to check, in place of a preparation
  void check() const;
};

/// Prepares, or goes on with what a killed or interrupted process left of the same preparation. The result is
/// a function of files and options alone, whatever the number of threads or interruptions. Returns the
/// program's exit status: 0, or 128 + N after signal N. Throws Error; what was done stays for the next.
int prepareText(const PreparationOptions &options);

} // namespace taylor::trainer
#endif
