// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_GENERATION_GENERATION_H
#define TAYLOR_TRAINER_GENERATION_GENERATION_H
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace taylor::trainer {

struct GenerationOptions {
  std::string checkpoint; // a checkpoint's folder, or a run's: then its newest
  std::string prompt;
  int64_t tokens = 100;
  double temperature = 0.8; // 0: always the likeliest token
  int64_t topK = 0;         // 0: all
  double topP = 1.0;
  int64_t seed = 1;
  int64_t threads = 0;
  std::string device = "cpu"; // one of devices()

  void check() const; // throws Error that names the flag
};

struct Generated {
  std::vector<int> prompt, tokens; // the prompt with its <s>; what was sampled, with </s> if it ended so
  std::string text;                // prompt and continuation
  double seconds = 0;              // of sampling
};

// Continues the prompt up to `tokens` tokens or the end of the document. `stream` gets the text in order as
// it comes, the prompt first, in whole UTF-8 characters. A token is computed from what earlier ones left:
// their states, whose size does not depend on how many there were, or their keys and values. Of a prompt
// longer than the model was trained on, the newest such tokens are seen; where keys and values are kept, a
// text that grows beyond that is begun again from its newest half. Throws Error.
Generated generate(const GenerationOptions &options, const std::function<void(const std::string &)> &stream);

// One token from logits [V]: those not among the topK largest, and those after the smallest set of likeliest
// ones that holds topP of the probability, are left out.
int64_t sampleToken(const at::Tensor &logits, const GenerationOptions &options, at::Generator generator);

} // namespace taylor::trainer
#endif
