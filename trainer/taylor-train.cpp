// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TaylorVersion.h"
#include "trainer/Commands.h"
#include "trainer/config/Config.h"
#include "trainer/distributed/Launcher.h"
#include "trainer/distributed/World.h"
#include "trainer/model/AttentionKernel.h"
#include "trainer/support/Error.h"
#include "trainer/support/Main.h"
#include "trainer/training/FromModel.h"
#include "trainer/training/RunFolder.h"
#include "trainer/training/Training.h"
#include <CLI/CLI.hpp>

using namespace taylor::trainer;

static constexpr const char *kDescription =
    R"(Trains a Llama with any attention that is written in the taylor dialect.

  taylor-train --config examples/experiments/quickstart.toml --attention examples/specs/softmax.mlir --out runs/softmax
  taylor-train --config runs/softmax/config.toml --resume --set train.steps=2000
  taylor-train --attention mine.mlir --data ~/books --set order=4 --set train.precision=bf16
  taylor-train --config big.toml --processes 4
  torchrun --nnodes 2 --nproc-per-node 8 .. --no-python taylor-train --config big.toml --set run.device=cuda
  taylor-train plan --config examples/experiments/paper/fineweb-norm.toml --gpu A100 --gpus 2
  taylor-train prepare ~/fineweb --tokenizer tokenizer.model --out tokens/fineweb
  taylor-train orders runs/softmax
  taylor-train figure 4 --scale=tiny

A setting has its default, then its value in the files, in their order, then that of --set and the other options. The
run's folder gets config.toml (all settings as used), metrics.jsonl, events for TensorBoard, checkpoints/ and
summary.json.
)";

static constexpr const char *kFooter = R"(
Exit status: 0 when done; 1 with one message if anything is wrong; 128 + N if signal N stopped the run (Ctrl-C is 2).
A run that a signal stops saves its last step, and --resume goes on from it.)";

namespace {

/// Of a run; the other commands have theirs.
struct Arguments {
  std::string attention, data, out, device;
  std::vector<std::string> configs, overrides;
  int64_t processes = 1;
  bool resume = false, overwrite = false, lockstep = false, helpSettings = false;
};

void addSettings(CLI::App &app, Arguments &arguments) {
  app.add_option("--config", arguments.configs,
                 "TOML file of settings, as in examples/experiments (repeatable)")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--set", arguments.overrides,
                 "setting, such as train.steps=500, or free parameter of the specification, such as order=10 "
                 "(repeatable)")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--attention", arguments.attention, "specification to train with (attention.specification)")
      ->type_name("SPEC")
      ->take_last();
  app.add_option("--data", arguments.data,
                 "text to train on, or a folder that prepare made (data.path; default: LLVM's headers)")
      ->type_name("FILE_OR_FOLDER")
      ->take_last();
  app.add_option("--out", arguments.out, "folder of the run (run.folder)")->type_name("FOLDER")->take_last();
  app.add_option("--device", arguments.device,
                 "device: cpu, cuda (a GPU), or ptx (GPU code in a checking interpreter: slow, needs no GPU) "
                 "(run.device)")
      ->type_name("NAME")
      ->take_last();
}

void addFlags(CLI::App &app, Arguments &arguments) {
  app.add_option(
         "--processes", arguments.processes,
         "processes that train on this machine, one per GPU or sharing its cores; torchrun and srun start "
         "them on several machines")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->take_last();
  app.add_flag("--resume", arguments.resume,
               "go on from the newest checkpoint in the folder, if there is one");
  app.add_flag("--overwrite", arguments.overwrite, "begin anew in a folder that holds a run")
      ->excludes("--resume");
  app.add_flag(
      "--lockstep", arguments.lockstep,
      "make a step for each line 'step' on standard input and print its seconds on standard output, for "
      "taylor-bench train");
  app.add_flag("--help-settings", arguments.helpSettings, "list every setting with its default, and exit");
}

/// CLI11 would take them silently.
void refuseOptionsOfAnotherCommand(const CLI::App &app) {
  for (const CLI::App *command : app.get_subcommands())
    for (const CLI::Option *option : app.get_options())
      if (option->count() > 0)
        fail("unsupported ", option->get_name(), " in front of ", command->get_name(),
             ": its own options come behind it (taylor-train ", command->get_name(), " --help)");
}

/// For each unknown option, the settings with a like name. Other commands than training take no --set.
void nameSettings(const std::vector<std::string> &options) {
  for (const std::string &option : options)
    if (std::vector<std::string> keys = settingsLike(option); option.starts_with("--") && !keys.empty()) {
      std::string named;
      for (const std::string &key : keys)
        named += (named.empty() ? "--set " : " or --set ") + key + "=VALUE";
      std::fprintf(stderr, "%s is a setting: pass %s (taylor-train --help-settings)\n", option.c_str(),
                   named.c_str());
    }
}

int trainAs(const Arguments &arguments, char **argv) {
  std::vector<std::string> overrides = arguments.overrides;
  for (auto [key, value] : {std::pair{"attention.specification=", arguments.attention},
                            {"data.path=", arguments.data},
                            {"run.folder=", arguments.out},
                            {"run.device=", arguments.device}})
    if (!value.empty())
      overrides.push_back(key + value);
  if (arguments.configs.empty() && overrides.empty())
    fail("requires --config FILE.toml or --attention SPEC.mlir; taylor-train --help tells more");
  Config config = readConfig(arguments.configs, overrides);
  requireChosenCode(config);
  takeSizesAndTokenizer(config);
  Existing existing = arguments.resume      ? Existing::Resume
                      : arguments.overwrite ? Existing::Overwrite
                                            : Existing::Refuse;
  if (World world = worldFromEnvironment(); arguments.processes > 1 && !world.launched) {
    config.check();
    RunFolder(config.run.folder, existing); // whose processes would say the same, later
    if (world.size > 1)
      fail("unsupported --processes under torchrun or srun, which start the processes themselves");
    return launchProcesses(arguments.processes, argv);
  }
  Lockstep steps;
  return train(config, existing, arguments.lockstep ? &steps : nullptr);
}

} // namespace

int main(int argc, char **argv) {
  prepareProcess();
  CLI::App app(kDescription, "taylor-train");
  app.footer(kFooter);
  app.get_formatter()->column_width(34);
  Arguments arguments;
  addSettings(app, arguments);
  addFlags(app, arguments);
  OrdersOptions ordersOptions;
  CLI::App *orders = addOrdersCommand(app, ordersOptions);
  PreparationOptions preparationOptions;
  CLI::App *prepare = addPrepareCommand(app, preparationOptions);
  PlanOptions planOptions;
  CLI::App *plan = addPlanCommand(app, planOptions);
  FigureOptions figureOptions;
  CLI::App *figure = addFigureCommand(app, figureOptions);
  app.set_version_flag("--version", "taylor-train " TAYLOR_VERSION " (" TAYLOR_GIT_HASH ")");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    int status = app.exit(error) ? 1 : 0;
    if (dynamic_cast<const CLI::ExtrasError *>(&error) && app.get_subcommands().empty())
      nameSettings(app.remaining(/*recurse=*/true));
    leave(status);
  }

  leave(runGuarded([&] {
    refuseOptionsOfAnotherCommand(app);
    if (*prepare)
      return prepareText(preparationOptions);
    if (*figure)
      return makeFigure(figureOptions);
    if (*orders)
      measureOrders(ordersOptions);
    else if (*plan)
      printPlan(planOptions);
    else if (arguments.helpSettings)
      std::fputs(describeSettings().c_str(), stdout);
    else
      return trainAs(arguments, argv);
    return 0;
  }));
}
