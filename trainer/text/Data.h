// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Documents to tokens, once.
#ifndef TAYLOR_TRAINER_TEXT_DATA_H
#define TAYLOR_TRAINER_TEXT_DATA_H
#include "trainer/config/Config.h"
#include "trainer/text/Tokenizer.h"
#include "trainer/text/Tokens.h"
#include <memory>

namespace taylor::trainer {

struct Data {
  std::string title;
  std::unique_ptr<Tokenizer> tokenizer;
  Tokens training, validation;
  std::string moreValidation; // how the user gets more text to validate with, for messages

  /// Differs, except by chance, where tokenizer or tokens do: the tokenizer, and tokens here and there.
  std::string fingerprint() const;
};

/// Reads what taylor-train prepare made where the path is such a folder. Otherwise finds the text, trains or
/// loads the tokenizer and tokenizes, or takes all that from the cache, where an entry stands under a hash of
/// the files' names, sizes and times and of the settings. A damaged entry is made again. Throws Error.
Data prepareData(const DataConfig &config, int64_t threads);

} // namespace taylor::trainer
#endif
