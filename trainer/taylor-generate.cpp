// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TaylorVersion.h"
#include "trainer/generation/Generation.h"
#include "trainer/support/Interrupt.h"
#include "trainer/support/Main.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

using namespace taylor::trainer;

static const char *const description = R"(Continues a text with a model that taylor-train saved.

  taylor-generate --checkpoint runs/softmax --prompt "// Returns true if"
  taylor-generate --checkpoint runs/softmax/checkpoints/step-000320 --prompt "class" --temperature 0 --json
)";

int main(int argc, char **argv) {
  CLI::App app(description, "taylor-generate");
  app.get_formatter()->column_width(34);
  GenerationOptions options;
  bool json = false;
  app.add_option("--checkpoint", options.checkpoint, "a checkpoint, or a run's folder for its newest one")
      ->type_name("FOLDER")
      ->required();
  app.add_option("--prompt", options.prompt, "the text to continue; without one a new document begins")
      ->type_name("TEXT");
  app.add_option("--tokens", options.tokens, "tokens to sample at most")->capture_default_str();
  app.add_option("--temperature", options.temperature, "0: always the likeliest; 1: as the model was trained")
      ->capture_default_str();
  app.add_option("--top-k", options.topK, "only among the K likeliest; 0: all")->capture_default_str();
  app.add_option("--top-p", options.topP, "only among the likeliest that hold a share P together")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the random choices")->capture_default_str();
  app.add_option("--threads", options.threads, "threads to compute with; 0: one per core, or OMP_NUM_THREADS")
      ->capture_default_str();
  app.add_option("--device", options.device,
                 "cpu, cuda (a GPU), or ptx (GPU code in the interpreter: slow, checked, without a GPU)")
      ->capture_default_str();
  app.add_flag("--json", json,
               "print one JSON object (prompt_tokens, tokens, text, tokens_per_second) at the end");
  app.set_version_flag("--version", "taylor-generate " TAYLOR_VERSION " (" TAYLOR_GIT_HASH ")");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? 1 : 0;
  }

  return runGuarded([&] {
    Generated result = generate(options, [&](const std::string &piece) {
      if (!json)
        std::fputs(piece.c_str(), stdout), std::fflush(stdout);
    });
    if (json) {
      nlohmann::ordered_json object = {{"prompt_tokens", result.prompt},
                                       {"tokens", result.tokens},
                                       {"text", result.text},
                                       {"tokens_per_second", result.tokens.size() / result.seconds}};
      std::puts(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    } else {
      std::puts("");
      std::fprintf(stderr, "%zu tokens, %.1f tokens/s\n", result.tokens.size(),
                   result.tokens.size() / result.seconds);
    }
    return interrupted() ? 128 + interrupted() : 0;
  });
}
