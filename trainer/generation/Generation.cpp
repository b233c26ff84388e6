// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/generation/Generation.h"
#include "trainer/checkpoint/LoadedModel.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/support/Interrupt.h"
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <chrono>

namespace taylor::trainer {

namespace {

// The text without a character that its last tokens begin and do not end. (Pieces may be single bytes; an
// unfinished character is decoded as U+FFFD.)
std::string_view wholeCharacters(std::string_view text) {
  const std::string_view replacement = "\xEF\xBF\xBD";
  while (text.ends_with(replacement))
    text.remove_suffix(replacement.size());
  return text;
}

// A text on its way: what the model keeps of it, and how much of it that is.
class Continuation {
public:
  explicit Continuation(const LoadedModel &loaded)
      : model(loaded.model), context(std::max<int64_t>(loaded.description.context, 2)) {}

  // The hidden state [C] of the last token of a text that the one of the call before begins.
  at::Tensor extend(const std::vector<int> &tokens) {
    auto size = int64_t(tokens.size());
    bool first = memory.empty();
    if (first)
      begin = seen = std::max<int64_t>(size - context, 0);
    else if (model.memoryGrows() && size - begin > context) {
      memory.clear();
      begin = seen = size - context / 2;
    }
    at::Tensor input = at::tensor(at::ArrayRef<int>(tokens).slice(size_t(seen)), at::kLong).unsqueeze(0);
    at::Tensor hidden = model.extend(input.to(model.device()), memory);
    seen = size;
    return hidden.select(1, -1).squeeze(0);
  }

private:
  const Model &model;
  int64_t context, begin = 0, seen = 0; // tokens of the text: seen from `begin` up to `seen`
  std::vector<Decoder::Memory> memory;
};

} // namespace

void GenerationOptions::check() const {
  if (tokens < 1)
    fail("expected --tokens to be at least 1, but got ", tokens);
  if (!(temperature >= 0 && temperature <= 1e6))
    fail("expected --temperature to be at least 0, but got ", temperature);
  if (topK < 0)
    fail("expected --top-k to be at least 0, but got ", topK);
  if (!(topP > 0 && topP <= 1))
    fail("expected --top-p to be in (0, 1], but got ", topP);
  if (seed < 0)
    fail("expected --seed to be at least 0, but got ", seed);
  if (threads < 0)
    fail("expected --threads to be at least 0, but got ", threads);
  requireOneOf(devices(), "--device", device);
  if (size_t valid = validUtf8Prefix(prompt); valid != prompt.size())
    fail("expected --prompt to be UTF-8, but byte ", valid, " is not");
}

int64_t sampleToken(const at::Tensor &logits, const GenerationOptions &options, at::Generator generator) {
  if (options.temperature == 0)
    return logits.argmax().item<int64_t>();
  auto [sorted, order] = (logits / options.temperature).sort(/*dim=*/0, /*descending=*/true);
  int64_t kept = options.topK > 0 ? std::min(options.topK, sorted.size(0)) : sorted.size(0);
  at::Tensor probabilities = sorted.narrow(0, 0, kept).softmax(0);
  if (options.topP < 1) {
    at::Tensor before = probabilities.cumsum(0) - probabilities; // the first is always kept
    probabilities = probabilities.masked_fill(before.ge(options.topP), 0);
  }
  int64_t choice = probabilities.multinomial(1, false, generator).item<int64_t>();
  return order[choice].item<int64_t>();
}

Generated generate(const GenerationOptions &options, const std::function<void(const std::string &)> &stream) {
  options.check();
  if (options.threads)
    at::set_num_threads(options.threads);
  LoadedModel loaded(findCheckpoint(options.checkpoint), options.device);
  const Tokenizer &tokenizer = loaded.tokenizer;

  Generated result;
  result.prompt = tokenizer.encode(options.prompt);
  result.prompt.insert(result.prompt.begin(), tokenizer.beginning());
  std::vector<int> tokens = result.prompt;
  size_t streamed = 0;
  auto show = [&](bool last) {
    result.text = tokenizer.decode(tokens);
    std::string_view shown = last ? result.text : wholeCharacters(result.text);
    if (shown.size() > streamed) {
      stream(std::string(shown.substr(streamed)));
      streamed = shown.size();
    }
  };

  c10::NoGradGuard noGrad;
  at::Generator generator = at::detail::createCPUGenerator(options.seed);
  auto start = std::chrono::steady_clock::now();
  show(false);
  catchInterrupts();
  Continuation continuation(loaded);
  for (int64_t i = 0; i < options.tokens && !interrupted(); ++i) {
    at::Tensor last = continuation.extend(tokens);
    at::Tensor logits = loaded.model.logits(last).cpu(); // drawn from there on every device: the same choices
    if (!logits.isfinite().all().item<bool>())
      fail("expected finite logits, but token ", i + 1,
           " got others: the checkpoint's weights are not sound");
    int token = sampleToken(logits, options, generator);
    result.tokens.push_back(token);
    if (token == tokenizer.end())
      break;
    tokens.push_back(token);
    show(i + 1 == options.tokens);
  }
  show(true);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

} // namespace taylor::trainer
