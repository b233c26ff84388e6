// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_GENERATION_GENERATION_H
#define TAYLOR_TRAINER_GENERATION_GENERATION_H
#include "trainer/generation/Sampling.h"
#include <functional>
#include <string>
#include <vector>

namespace taylor::trainer {

struct GenerationOptions {
  std::string checkpoint;           // a checkpoint's folder, or a run's: then its newest
  std::vector<std::string> prompts; // UTF-8; none: one that is empty
  int64_t tokens = 100;             // of each, at most
  int64_t batch = 16;               // texts at a time, at most
  SamplingOptions sampling;
  int64_t seed = 1; // the prompt of number i, from 0, draws with seed + i, whatever else is in its batch
  int64_t threads = 0;
  std::string device = "cpu"; // one of devices()
  /// LoadOptions: in place of the checkpoint's own; whether native code of the checkpoint may run.
  std::string attention, tokenizer;
  bool allowNativeCode = false;
  /// Where to write the logits that tokens were drawn from, as safetensors: "logits" [tokens, V], of several
  /// prompts "logits.I". Empty: nowhere.
  std::string logits;

  void check() const; // throws Error that names the flag
};

struct GeneratedText {
  size_t number = 0;               // of its prompt, from 0
  std::vector<int> prompt, tokens; // the prompt with its <s>; what was sampled, with </s> if it ended so
  std::string text;                // prompt and continuation
  double seconds = 0;              // from the beginning of its first call to the end of its last
};

/// What came of all prompts, and how long it took; a kernel's compilation does not count.
struct GenerationSpeed {
  int64_t promptTokens = 0, tokens = 0; // tokens: all that were sampled
  double promptSeconds = 0;             // of the calls that read prompts, and gave each text its first token
  double stepSeconds = 0;               // of all other calls
  int64_t stepTokens = 0;               // sampled in these
  bool keepsStates = false;             // not keys and values
};

struct GenerationListener {
  /// A text's next whole UTF-8 characters, its prompt first.
  std::function<void(size_t number, const std::string &piece)> piece;
  std::function<void(const GeneratedText &)> finished;
  /// A line of its own about what a user may not expect: "warning: ..".
  std::function<void(const std::string &)> warning;
};

/// Continues each prompt up to `tokens` tokens or the end of the document. A token is computed from what
/// earlier ones left: their states, whose size does not depend on how many there were, or their keys and
/// values. States see all of a prompt. Where keys and values are kept, of a prompt longer than the model was
/// trained on the newest such tokens are seen, which is said, and a text that grows beyond that is begun
/// again from its newest half. Texts of a batch take each step together, whatever their lengths; where one
/// ends, the next prompt takes its place. Ends early after a signal. Throws Error.
GenerationSpeed generate(const GenerationOptions &options, const GenerationListener &listener);

} // namespace taylor::trainer
#endif
