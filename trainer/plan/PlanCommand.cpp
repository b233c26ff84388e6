// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/Commands.h"
#include "trainer/model/AttentionKernel.h"
#include "trainer/plan/Plan.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/support/Numbers.h"
#include "trainer/text/PreparedText.h"
#include "trainer/text/Tokenizer.h"
#include <cmath>
#include <filesystem>

namespace fs = std::filesystem;

namespace taylor::trainer {

static constexpr const char *kFooter = R"(
Examples:
  taylor-train plan examples/experiments/paper/fineweb-large-norm.toml --gpu A100 --gpus 4
  taylor-train plan examples/experiments/quickstart.toml --attention examples/specs/softmax.mlir

Parameters, operations and tokens are counted.

Memory is an estimate of the bytes that a device holds at once, without those that the allocator and the driver keep.
--set train.micro_batch=N, --set train.activation_checkpointing=true and, for several GPUs, --set optimizer.shard=true
lower it.

Time is the operations, with those that activation checkpointing repeats, over a share of the GPU's peak (--share; 0.4
is usual). If the tokenizer's file does not exist yet, Llama-2's 32,000 pieces are assumed.)";

CLI::App *addPlanCommand(CLI::App &app, PlanOptions &options) {
  CLI::App *command =
      app.add_subcommand("plan", "say what a run needs before it runs: parameters, memory, operations, time");
  command->footer(kFooter);
  command->add_option("--config,CONFIG", options.configs, "TOML file of settings (repeatable)")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--set", options.overrides, "setting (repeatable)")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--attention", options.attention, "specification (attention.specification)")
      ->type_name("SPEC")
      ->take_last();
  command->add_option("--gpu", options.gpu, "GPU's name, or a part of it")
      ->type_name("NAME")
      ->take_last()
      ->capture_default_str();
  command->add_option("--gpus", options.gpus, "GPUs that share each batch")
      ->check(kWholeNumber)
      ->type_name("N")
      ->take_last()
      ->capture_default_str();
  command->add_option("--share", options.share, "share of the GPU's peak that the run reaches, in (0, 1]")
      ->take_last()
      ->capture_default_str();
  return command;
}

static int64_t vocabularyOf(const DataConfig &data, std::string &note) {
  if (!data.path.empty() && isPreparedText(data.path)) {
    fs::path own = fs::path(data.path) / "tokenizer.model";
    return Tokenizer(readFile(own), own).vocabulary();
  }
  if (data.tokenizer.empty())
    return data.vocabulary;
  if (fs::is_regular_file(data.tokenizer))
    return Tokenizer(readFile(data.tokenizer), data.tokenizer).vocabulary();
  note = text(" ('", data.tokenizer, "' is not there: 32,000 pieces are assumed)");
  return 32000;
}

/// "8.34 GB", "20.30 MB": powers of 1000, as GPUs' memories are sold.
static std::string decimalBytes(double bytes) {
  return formatCount(std::llround(bytes)) + (bytes < 1000 ? " B" : "B");
}

void printPlan(const PlanOptions &options) {
  std::vector<std::string> overrides = options.overrides;
  if (!options.attention.empty())
    overrides.push_back("attention.specification=" + options.attention);
  Config config = readConfig(options.configs, overrides);
  config.check();
  requireChosenCode(config);
  const Gpu *gpu = findGpu(options.gpu);
  if (!gpu) {
    std::string names;
    for (const Gpu &known : knownGpus())
      names += (names.empty() ? "" : ", ") + known.name;
    fail("unsupported --gpu '", options.gpu, "'; expected one of ", names);
  }
  if (!(options.share > 0 && options.share <= 1))
    fail("expected --share to be in (0, 1], but got ", formatExactly(options.share));
  std::string note;
  int64_t vocabulary = vocabularyOf(config.data, note);
  bool bf16 = config.train.precision == "bf16";
  AttentionFunction attention =
      compileAttention(config.attention, config.model, bf16, "cpu", config.data.usesDocuments()).function;
  attention.device = at::kMeta;
  ModelConfig one = config.model;
  one.layers = 1; // all others are alike
  Model model(one, vocabulary, attention, bf16, 0);
  Plan plan = makePlan(config, model, vocabulary, options.gpus);

  std::optional<std::string> fits = whatFits(config, model, vocabulary, options.gpus, gpu->memory);

  std::string verdict =
      !fits           ? ": TOO MUCH, whatever the settings; take a smaller model or a GPU of more memory"
      : fits->empty() ? ""
                      : ": TOO MUCH; try " + *fits;
  const MemoryPlan &memory = plan.memory;
  std::printf("parameters        %s: %lld%s\n", formatCount(plan.parameters).c_str(),
              (long long)plan.parameters, note.c_str());
  std::printf("a step            %s tokens, %.3g operations; %lld sequences at once in each of %lld\n",
              formatCount(plan.tokensPerStep).c_str(), plan.operationsPerStep, (long long)plan.microBatch,
              (long long)plan.devices);
  std::printf("the run           %lld steps, %s tokens, %.3g operations\n", (long long)config.train.steps,
              formatCount(plan.tokensPerStep * config.train.steps).c_str(),
              plan.operationsPerStep * config.train.steps);
  std::printf("memory            %s of %s in each %s%s\n", decimalBytes(memory.total()).c_str(),
              decimalBytes(gpu->memory).c_str(), gpu->name.c_str(), verdict.c_str());
  for (auto [name, bytes] : {std::pair{"weights", memory.weights},
                             {"gradients", memory.gradients},
                             {"optimizer", memory.optimizer},
                             {"bf16 copies", memory.halves},
                             {"activations", memory.activations},
                             {"logits", memory.logits}})
    std::printf("  %-16s%s\n", name, decimalBytes(bytes).c_str());
  std::printf("time              %s on %lld %s at %.0f %% of %.0f TFLOP/s\n",
              formatDuration(secondsOf(plan, config, *gpu, options.share)).c_str(), (long long)plan.devices,
              gpu->name.c_str(), 100 * options.share, (bf16 ? gpu->bf16 : gpu->fp32) / 1e12);
  if (plan.operationsPerEvaluation == 0)
    std::printf(
        "                  without %lld evaluations of all of the test text, a third of a step for as "
        "many tokens\n",
        (long long)plan.evaluations);
  if (config.run.device == "cpu")
    std::printf("                  run.device is 'cpu', whose time taylor-train shows as it trains\n");
}

} // namespace taylor::trainer
