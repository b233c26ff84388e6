// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/generation/Generation.h"
#include "runtime/torch/Parallel.h"
#include "trainer/checkpoint/LoadedModel.h"
#include "trainer/checkpoint/Safetensors.h"
#include "trainer/generation/TextStream.h"
#include "trainer/support/Clock.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/support/Main.h"
#include "trainer/support/Parallel.h"
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <map>
#include <memory>

namespace taylor::trainer {

namespace {

/// A text on its way.
struct Continuation {
  explicit Continuation(const Tokenizer &tokenizer) : stream(tokenizer) {}
  GeneratedText result;
  std::vector<int> tokens; // prompt and continuation, without </s>
  TextStream stream;       // their text
  at::Generator generator;
  Clock::time_point begin = Clock::now();
  size_t streamed = 0; // bytes
  bool ended = false;
};

/// Texts of which the model has seen equally many tokens (any number, where their states can be joined).
struct TextGroup {
  std::vector<std::shared_ptr<Continuation>> texts;
  SequenceGroup memory;
  int64_t seen = 0; // the newest tokens of each text except for `fresh`
  int64_t fresh = 0;
};

void writeLogits(const std::string &path, const std::map<size_t, std::vector<at::Tensor>> &rows) {
  std::map<std::string, TensorView> views;
  std::vector<at::Tensor> alive;
  for (const auto &[number, logits] : rows) {
    alive.push_back(at::stack(logits).contiguous());
    const at::Tensor &all = alive.back();
    views[rows.size() == 1 ? std::string("logits") : text("logits.", number)] = {
        "F32", all.sizes().vec(), static_cast<const char *>(all.const_data_ptr()), all.nbytes()};
  }
  writeSafetensors(path, views, {});
}

LoadedModel load(const GenerationOptions &options) {
  LoadOptions how;
  how.device = options.device;
  how.specification = options.attention;
  how.tokenizer = options.tokenizer;
  how.allowNativeCode = options.allowNativeCode;
  return loadNewest(options.checkpoint, how);
}

class Generator {
public:
  Generator(const GenerationOptions &options, const GenerationListener &listener);
  GenerationSpeed run();

private:
  /// Prompts in the places of texts that ended.
  void admit();
  /// Computes the hidden state of each text's last token, [texts, C], and samples from it.
  void advance(std::vector<TextGroup *> some);
  void append(Continuation &text, const at::Tensor &logits);
  void show(Continuation &text);
  /// Leaves ended texts out, joins what can be, and begins those again that have outgrown the context.
  void regroup();
  TextGroup join(const std::vector<const TextGroup *> &some) const;

  const GenerationOptions &options;
  const GenerationListener &listener;
  LoadedModel loaded;
  const Model &model;
  int64_t context;
  bool joins;
  size_t next = 0; // prompt
  std::vector<TextGroup> groups;
  std::map<size_t, std::vector<at::Tensor>> rows; // of logits
  GenerationSpeed speed;
};

Generator::Generator(const GenerationOptions &options, const GenerationListener &listener)
    : options(options), listener(listener), loaded(load(options)), model(loaded.model),
      context(std::max<int64_t>(loaded.description.context, 2)), joins(model.decoder().joinsAnyLength()) {
  speed.keepsStates = model.decoder().kind() == Decoder::Kind::State;
  for (const std::string &field : loaded.description.passedOver)
    listener.warning(text("warning: '", field,
                          "' of config.json is passed over, since taylor-generate knows no such ",
                          "field of a Llama"));
}

GenerationSpeed Generator::run() {
  while (!interrupted()) {
    admit();
    if (groups.empty())
      break;
    Clock::time_point start = Clock::now();
    // Many tokens of one group at a time, then one of each other text together.
    std::vector<TextGroup *> single;
    for (TextGroup &group : groups) {
      if (group.fresh == 1)
        single.push_back(&group);
      else
        advance({&group});
    }
    bool reads = single.size() < groups.size();
    speed.promptSeconds += reads ? secondsSince(start) : 0;
    start = Clock::now();
    int64_t before = speed.tokens;
    if (!single.empty())
      advance(single);
    speed.stepSeconds += secondsSince(start);
    speed.stepTokens += speed.tokens - before;
    regroup();
  }
  for (TextGroup &group : groups)
    for (auto &text : group.texts) {
      text->ended = true;
      show(*text);
    }
  if (!options.logits.empty() && !rows.empty())
    writeLogits(options.logits, rows);
  return speed;
}

void Generator::admit() {
  size_t active = 0;
  for (const TextGroup &group : groups)
    active += group.texts.size();
  std::map<int64_t, TextGroup> byLength;
  const Tokenizer &tokenizer = loaded.tokenizer;
  for (; active < size_t(options.batch) && next < options.prompts.size(); ++next, ++active) {
    auto text = std::make_shared<Continuation>(tokenizer);
    text->result.number = next;
    text->tokens = tokenizer.encode(options.prompts[next]);
    text->tokens.insert(text->tokens.begin(), tokenizer.beginning());
    text->result.prompt = text->tokens;
    text->generator = at::detail::createCPUGenerator(uint64_t(options.seed) + next);
    text->stream.add(text->tokens);
    speed.promptTokens += int64_t(text->tokens.size());
    int64_t length = int64_t(text->tokens.size()),
            seen = speed.keepsStates ? length : std::min(length, context);
    if (seen < length)
      listener.warning(trainer::text(
          "warning: of prompt ", next + 1, " the newest ", seen, " of ", length,
          " tokens are seen, and not the first ", length - seen,
          ": the model was trained on so many at a time, and this attention keeps keys and values"));
    show(*text);
    byLength[seen].texts.push_back(text);
  }
  for (auto &[length, group] : byLength) {
    group.fresh = length;
    group.memory.size = int64_t(group.texts.size());
    groups.push_back(std::move(group));
  }
}

void Generator::advance(std::vector<TextGroup *> some) {
  std::vector<int64_t> tokens;
  std::vector<SequenceGroup *> memories;
  std::vector<Continuation *> texts;
  int64_t fresh = some[0]->fresh;
  for (TextGroup *group : some) {
    memories.push_back(&group->memory);
    for (auto &text : group->texts) {
      texts.push_back(text.get());
      tokens.insert(tokens.end(), text->tokens.end() - fresh, text->tokens.end());
    }
    group->seen += fresh;
  }
  at::Tensor input = at::tensor(tokens, at::kLong).view({int64_t(texts.size()), fresh}).to(model.device());
  // A prompt that is longer than any sequence of the training comes in pieces of that length: its memory is
  // that of one piece.
  int64_t read = 0;
  for (; fresh - read > context; read += context)
    model.extend(input.narrow(1, read, context), memories);
  at::Tensor hidden = model.extend(input.narrow(1, read, fresh - read), memories).select(1, -1);
  at::Tensor logits = model.logits(hidden).cpu(); // drawn from there on every device: the same choices
  for (size_t i = 0; i < texts.size(); ++i)
    append(*texts[i], logits[int64_t(i)]);
}

void Generator::append(Continuation &text, const at::Tensor &logits) {
  GeneratedText &result = text.result;
  if (!logits.isfinite().all().item<bool>())
    fail("expected finite logits, but token ", result.tokens.size() + 1,
         " got others: the checkpoint's weights are not sound");
  if (!options.logits.empty())
    rows[result.number].push_back(logits.clone());
  int token = sampleToken(logits, options.sampling, text.generator);
  result.tokens.push_back(token);
  ++speed.tokens;
  text.ended = token == loaded.tokenizer.end() || int64_t(result.tokens.size()) == options.tokens;
  if (token != loaded.tokenizer.end()) {
    text.tokens.push_back(token);
    text.stream.add({&token, 1});
  }
  show(text);
}

void Generator::show(Continuation &text) {
  GeneratedText &result = text.result;
  std::string_view shown = text.ended ? text.stream.text() : text.stream.whole();
  if (shown.size() > text.streamed) {
    listener.piece(result.number, std::string(shown.substr(text.streamed)));
    text.streamed = shown.size();
  }
  if (!text.ended)
    return;
  result.text = text.stream.text();
  result.seconds = secondsSince(text.begin);
  listener.finished(result);
}

void Generator::regroup() {
  std::vector<TextGroup> kept;
  if (joins) {
    std::vector<const TextGroup *> all;
    for (const TextGroup &group : groups)
      all.push_back(&group);
    kept.push_back(join(all));
  } else {
    for (const TextGroup &group : groups)
      kept.push_back(join({&group}));
  }
  std::erase_if(kept, [](const TextGroup &group) { return group.texts.empty(); });
  for (TextGroup &group : kept) {
    group.fresh = 1;
    if (!speed.keepsStates && group.seen + 1 > context) {
      group.memory.layers.clear();
      group.seen = 0;
      group.fresh = context / 2;
    }
  }
  groups = std::move(kept);
}

TextGroup Generator::join(const std::vector<const TextGroup *> &some) const {
  std::vector<std::pair<const TextGroup *, int64_t>> places;
  TextGroup result;
  int64_t size = 0;
  for (const TextGroup *group : some) {
    size += group->memory.size;
    result.seen = std::max(result.seen, group->seen);
    for (size_t row = 0; row < group->texts.size(); ++row)
      if (!group->texts[row]->ended) {
        places.push_back({group, int64_t(row)});
        result.texts.push_back(group->texts[row]);
      }
  }
  if (some.size() == 1 && int64_t(places.size()) == size)
    return *some[0];
  result.memory.size = int64_t(places.size());
  for (size_t layer = 0; !places.empty() && layer < some[0]->memory.layers.size(); ++layer) {
    std::vector<Decoder::Place> of;
    for (auto [group, row] : places)
      of.push_back({&group->memory.layers[layer], row});
    result.memory.layers.push_back(model.decoder().gather(of));
  }
  return result;
}

} // namespace

void GenerationOptions::check() const {
  constexpr int64_t mostTokens = 1'000'000'000, mostTexts = 65536;
  if (tokens < 1 || tokens > mostTokens)
    fail("expected --tokens to be between 1 and ", mostTokens, ", but got ", tokens);
  if (batch < 1 || batch > mostTexts)
    fail("expected --batch to be between 1 and ", mostTexts, ", but got ", batch);
  if (!(sampling.temperature >= 0 && sampling.temperature <= 1e6))
    fail("expected --temperature to be between 0 and 1000000, but got ", formatExactly(sampling.temperature));
  if (sampling.topK < 0)
    fail("expected --top-k to be at least 0, but got ", sampling.topK);
  if (!(sampling.topP > 0 && sampling.topP <= 1))
    fail("expected --top-p to be in (0, 1], but got ", formatExactly(sampling.topP));
  if (seed < 0)
    fail("expected --seed to be at least 0, but got ", seed);
  if (threads < 0 || threads > kMostThreads)
    fail("expected --threads to be between 0 and ", kMostThreads, ", but got ", threads);
  requireOneOf(devices(), "--device", device);
  for (const std::string &prompt : prompts)
    if (size_t valid = validUtf8Prefix(prompt); valid != prompt.size())
      fail("expected --prompt to be UTF-8, but byte ", valid, " is not");
}

GenerationSpeed generate(const GenerationOptions &options, const GenerationListener &listener) {
  options.check();
  if (!options.logits.empty())
    requireWritable(options.logits, "--logits FILE");
  if (options.threads)
    at::set_num_threads(options.threads);
  if (std::string warning = warnOfThreads("--threads", options.threads); !warning.empty()) {
    listener.warning(warning);
    silenceThreadWarning();
  }
  c10::NoGradGuard noGrad;
  nowDoing("loading '" + options.checkpoint + "'", "a smaller model needs less");
  Generator generator(options, listener);
  nowDoing("continuing texts, " +
               std::to_string(std::min<size_t>(size_t(options.batch), options.prompts.size())) + " at a time",
           "a smaller --batch, shorter prompts or fewer --tokens need less");
  catchInterrupts();
  return generator.run();
}

} // namespace taylor::trainer
