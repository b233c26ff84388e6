// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TaylorVersion.h"
#include "trainer/generation/Generation.h"
#include "trainer/generation/Prompts.h"
#include "trainer/support/Main.h"
#include "trainer/support/Numbers.h"
#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>

using namespace taylor::trainer;

static constexpr const char *kDescription = R"(Continues texts with a model that taylor-train saved.

  taylor-generate --checkpoint runs/softmax --prompt "// Returns true if"
  taylor-generate --checkpoint runs/softmax/checkpoints/step-000320 --prompt "class" --temperature 0 --json
  taylor-generate --checkpoint runs/softmax --prompts prompts.jsonl --batch 32 --top-p 0.9 --json > texts.jsonl

A text is printed as it is made. Several prompts are computed together; their texts are printed in the prompts' order,
each under a line `==> N <==`.
)";

namespace {

/// Prints texts that grow at the same time, each as it comes once those before it are whole.
class InOrder {
public:
  explicit InOrder(bool titled) : titled(titled) {}
  void piece(size_t number, const std::string &text) {
    waiting[number].text += text;
    print();
  }
  void finished(size_t number) {
    waiting[number].whole = true;
    print();
  }
  /// So that a message begins a line of its own.
  void breakLine() {
    if (inLine)
      std::puts("");
    inLine = false;
    std::fflush(stdout);
  }

private:
  struct Text {
    std::string text;
    bool begun = false, whole = false;
  };
  void print() {
    for (auto first = waiting.begin(); first != waiting.end() && first->first == next;) {
      Text &text = first->second;
      if (titled && !text.begun)
        std::printf("%s==> %zu <==\n", next > 0 ? "\n" : "", next + 1);
      text.begun = true;
      std::fputs(text.text.c_str(), stdout);
      if (!text.text.empty())
        inLine = text.text.back() != '\n';
      text.text.clear();
      if (!text.whole)
        break;
      std::puts("");
      inLine = false;
      first = waiting.erase(first);
      ++next;
    }
    std::fflush(stdout);
  }
  bool titled, inLine = false;
  size_t next = 0;
  std::map<size_t, Text> waiting;
};

void printJson(const GeneratedText &text, double tokensPerSecond) {
  nlohmann::ordered_json object = {{"prompt", text.number},
                                   {"prompt_tokens", text.prompt},
                                   {"tokens", text.tokens},
                                   {"text", text.text},
                                   {"tokens_per_second", tokensPerSecond}};
  std::puts(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

void addOptions(CLI::App &app, GenerationOptions &options, std::string &prompts, bool &json) {
  app.add_option("--checkpoint", options.checkpoint, "checkpoint, or a run's folder for its newest one")
      ->type_name("FOLDER")
      ->required();
  auto *prompt = app.add_option("--prompt", options.prompts,
                                "text to continue (repeatable); without one a new document begins")
                     ->type_name("TEXT")
                     ->allow_extra_args(false);
  app.add_option(
         "--prompts", prompts,
         "file of texts to continue: one a line, or in FILE.jsonl the field \"prompt\" of each object")
      ->type_name("FILE")
      ->excludes(prompt);
  app.add_option("--tokens", options.tokens, "most tokens to sample for each text")
      ->check(kWholeNumber)
      ->capture_default_str();
  app.add_option("--batch", options.batch, "most texts to compute at a time")
      ->check(kWholeNumber)
      ->capture_default_str();
  app.add_option("--temperature", options.sampling.temperature,
                 "temperature; 0: always the likeliest token; 1: as the model was trained")
      ->capture_default_str();
  app.add_option("--top-k", options.sampling.topK, "sample among the K likeliest tokens; 0: all")
      ->check(kWholeNumber)
      ->capture_default_str();
  app.add_option("--top-p", options.sampling.topP,
                 "sample among the likeliest tokens that together have the probability P")
      ->capture_default_str();
  app.add_option("--seed", options.seed,
                 "seed of the random choices; the second prompt draws with SEED + 1, and so on")
      ->check(kWholeNumber)
      ->capture_default_str();
  app.add_option("--threads", options.threads, "threads to compute with; 0: OMP_NUM_THREADS, or one per core")
      ->check(kWholeNumber)
      ->capture_default_str();
  app.add_option("--device", options.device,
                 "device: cpu, cuda (a GPU), or ptx (GPU code in a checking interpreter: slow, needs no GPU)")
      ->capture_default_str();
  app.add_option("--attention", options.attention,
                 "specification instead of the checkpoint's, with the same arguments")
      ->type_name("SPEC");
  app.add_option(
         "--tokenizer", options.tokenizer,
         "SentencePiece model instead of the checkpoint's tokenizer.model, which it lacks if `transformers` "
         "saved the model alone")
      ->type_name("FILE");
  app.add_flag(
      "--allow-native-code", options.allowNativeCode,
      "load the compiled specification (attention.so) that a checkpoint brings; it is a program of the "
      "checkpoint's author and runs with your rights");
  app.add_flag(
      "--json", json,
      "print one JSON object (prompt, prompt_tokens, tokens, text, tokens_per_second) at the end of each "
      "text");
  app.add_option("--logits", options.logits,
                 "file for the logits that each token is drawn from: safetensors, logits [tokens, "
                 "vocabulary], or logits.0 and so on for several texts")
      ->type_name("FILE");
}

/// Prints the texts as they come, or each as JSON when it is whole. Returns the exit status.
int printTexts(const GenerationOptions &options, bool json) {
  InOrder output(options.prompts.size() > 1);
  GenerationListener listener;
  listener.piece = [&](size_t number, const std::string &piece) {
    if (!json)
      output.piece(number, piece);
  };
  listener.finished = [&](const GeneratedText &text) {
    if (json)
      printJson(text, text.tokens.size() / text.seconds);
    else
      output.finished(text.number);
  };
  listener.warning = [&](const std::string &line) {
    output.breakLine();
    std::fprintf(stderr, "%s\n", line.c_str());
  };
  GenerationSpeed speed = [&] {
    try {
      return generate(options, listener);
    } catch (...) {
      output.breakLine();
      throw;
    }
  }();
  std::fprintf(stderr, "%lld tokens of %zu prompt%s in %.3f s, %lld tokens", (long long)speed.promptTokens,
               options.prompts.size(), options.prompts.size() == 1 ? "" : "s", speed.promptSeconds,
               (long long)speed.tokens);
  if (speed.stepTokens > 0)
    std::fprintf(stderr, ", %.1f tokens/s", speed.stepTokens / speed.stepSeconds);
  std::fprintf(stderr, ", from %s\n", speed.keepsStates ? "states" : "keys and values");
  return interrupted() ? 128 + interrupted() : 0;
}

} // namespace

int main(int argc, char **argv) {
  prepareProcess();
  CLI::App app(kDescription, "taylor-generate");
  app.get_formatter()->column_width(34);
  GenerationOptions options;
  std::string prompts;
  bool json = false;
  addOptions(app, options, prompts, json);
  app.set_version_flag("--version", "taylor-generate " TAYLOR_VERSION " (" TAYLOR_GIT_HASH ")");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    leave(app.exit(error) ? 1 : 0);
  }

  leave(runGuarded([&] {
    if (!prompts.empty())
      options.prompts = readPrompts(prompts);
    if (options.prompts.empty())
      options.prompts.emplace_back();
    return printTexts(options, json);
  }));
}
