// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/Commands.h"
#include "trainer/config/Config.h"
#include "trainer/distributed/World.h"
#include "trainer/figures/FigureData.h"
#include "trainer/figures/FigurePoints.h"
#include "trainer/figures/Pictures.h"
#include "trainer/figures/Queue.h"
#include "trainer/report/Gnuplot.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/text/Corpus.h"
#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace fs = std::filesystem;

namespace taylor::trainer {

static constexpr const char *kFooter = R"(
Examples:
  taylor-train figure 4 --scale=tiny
  taylor-train figure 2 --scale=tiny --seeds 5
  taylor-train figure recall
  taylor-train figure 5 --scale=paper --set run.device=cuda --set data.path=/data/fineweb
  taylor-train figure 3 --scale=paper --set run.device=cuda --processes 4

A figure is a list of runs, FOLDER/figures/figure-NAME.toml, each with its own configuration. The settings of the scale,
FOLDER/scales/SCALE.toml, come over those of a run, and --set comes last.

Runs are trained one after the other, each in its own process and folder. A run that is done is not made again, so the
same command goes on after an interruption, and a larger --seeds adds runs. Figures with the same --out share runs of
the same configuration and seed, also while several figures are made: one of them trains each run. A folder with a run
of other settings is refused.

The folder of --out gets the runs and
  figure-NAME.png, .svg  train and test loss against steps, a line per variant, with the range over seeds; of `recall`,
                         accuracy against the order and the state's size
  figure-NAME.csv        the numbers that are drawn
  figure-NAME.txt        a table
  figure-NAME.gp         the gnuplot script)";

CLI::App *addFigureCommand(CLI::App &app, FigureOptions &options) {
  CLI::App *command = app.add_subcommand("figure", "train all runs of a figure of the paper, and draw it");
  command->footer(kFooter);
  command
      ->add_option("FIGURE", options.name,
                   "figure of the paper, 2 to 6, or the name of another figure's file")
      ->required();
  command
      ->add_option("--scale", options.scale,
                   "sizes: tiny (at most three minutes a run on two cores), or paper (the paper's, for GPUs)")
      ->type_name("NAME")
      ->take_last()
      ->capture_default_str();
  command->add_option("--seeds", options.seeds, "runs of each configuration, with the seeds 1 to N")
      ->type_name("N")
      ->take_last()
      ->capture_default_str();
  command
      ->add_option("--processes", options.processes,
                   "processes that train each run on this machine, as in taylor-train --processes")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->take_last()
      ->capture_default_str();
  command->add_option("--experiments", options.experiments, "folder of figures, scales and configurations")
      ->type_name("FOLDER")
      ->take_last()
      ->capture_default_str();
  command->add_option("--out", options.out, "folder of runs and results (default: runs/figure-FIGURE-SCALE)")
      ->type_name("FOLDER")
      ->take_last();
  command
      ->add_option("--set", options.overrides, "setting of every run, such as train.steps=500 (repeatable)")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--list", options.list, "list the runs and whether they are done, and train nothing");
  command->add_flag("--plot-only", options.plotOnly, "draw the runs that are there, and train nothing");
  command->add_flag("--no-plots", options.noPlots, "write tables and CSV only, without gnuplot");
  return command;
}

static fs::path requireFile(const fs::path &path, const char *what) {
  if (fs::is_regular_file(path))
    return path;
  std::string names;
  std::set<std::string> found;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(path.parent_path(), error))
    if (entry.path().extension() == ".toml")
      found.insert(entry.path().stem());
  for (const std::string &name : found)
    names += (names.empty() ? "" : ", ") + name;
  fail("expected ", what, " '", path.string(), "', which does not exist; ",
       names.empty() ? "name the folder of experiments with --experiments FOLDER" : "there is " + names);
}

using Folders = std::vector<std::vector<std::vector<fs::path>>>; // [panel][run][seed]

/// What a figure's folder gets in addition to its runs.
struct Drawn {
  std::string rows, results, script;
};

static Drawn drawCurves(const Figure &figure, const Folders &folders) {
  std::vector<std::vector<Curve>> curves;
  for (size_t p = 0; p < figure.panels.size(); ++p)
    curves.push_back(readCurves(figure.panels[p], folders[p], /*bins=*/100));
  return {printCurves(figure, curves), printResults(figure, curves), printFigurePlot(figure, curves)};
}

static Drawn drawPoints(const Figure &figure, const Folders &folders) {
  std::vector<std::vector<FigurePoint>> points;
  for (size_t p = 0; p < figure.panels.size(); ++p)
    points.push_back(readPoints(figure.panels[p], folders[p]));
  return {printPoints(figure, points), printPointResults(figure, points), printPointPlot(figure, points)};
}

/// What is to be trained, and where each run of a panel lies.
struct Planned {
  std::vector<QueuedRun> queue;
  Folders folders;
};

/// By its last component, however the path ends.
static std::string nameText(const fs::path &path) {
  return path.empty() ? kHeadersTitle : (path / "").parent_path().filename().string();
}

/// The files of a run's settings, one over the other.
static std::vector<std::string> configsOf(const Figure &figure, const FigurePanel &panel,
                                          const FigureRun &run, const fs::path &scale) {
  std::vector<std::string> configs = {run.config.string()};
  if (figure.scaled)
    configs.push_back(scale.string());
  if (!panel.settings.empty())
    configs.push_back(panel.settings.string());
  return configs;
}

/// By --set data.path runs that read several texts would all read one, and panels would show the same.
static void refuseOneText(const Figure &figure, const FigureOptions &options, const fs::path &scale) {
  auto isPath = [](const std::string &setting) { return setting.starts_with("data.path="); };
  if (std::none_of(options.overrides.begin(), options.overrides.end(), isPath))
    return;
  std::optional<std::string> first;
  for (const FigurePanel &panel : figure.panels)
    for (const FigureRun &run : panel.runs) {
      std::string path = readConfig(configsOf(figure, panel, run, scale), {}).data.path;
      if (first && *first != path)
        fail("unsupported --set data.path in a figure whose runs read several texts, '", *first, "' and '",
             path, "', since all would read one; put the texts, or links to them, there");
      first = path;
    }
}

/// Its title is the label; of a line of points, which has many runs of one label, the run's name.
static QueuedRun planRun(const Figure &figure, const FigurePanel &panel, const FigureRun &run, int64_t seed,
                         const FigureOptions &options, const fs::path &scale, const fs::path &folder) {
  std::vector<std::string> configs = configsOf(figure, panel, run, scale),
                           overrides = {text("run.seed=", seed)};
  overrides.insert(overrides.end(), options.overrides.begin(), options.overrides.end());
  QueuedRun made{text(panel.against.empty() ? run.label : run.name(), ", seed ", seed), seed, folder, {}, {}};
  for (const std::string &name : configs)
    made.arguments.insert(made.arguments.end(), {"--config", name});
  for (const std::string &setting : overrides)
    made.arguments.insert(made.arguments.end(), {"--set", setting});
  if (options.processes > 1)
    made.arguments.insert(made.arguments.end(), {"--processes", text(options.processes)});
  overrides.push_back("run.folder=" + folder.string());
  made.config = readConfig(configs, overrides);
  made.config.check();
  World world;
  world.size = options.processes;
  world.share(made.config.train.batch, "train.batch");
  return made;
}

/// Seed by seed, so that a figure can be drawn as soon as every run has one. Names panels by their text where
/// they have no title. Throws Error for whatever is wrong with any of the configurations.
static Planned planRuns(Figure &figure, const FigureOptions &options, const fs::path &scale,
                        const fs::path &out) {
  Planned planned;
  std::map<fs::path, std::pair<size_t, fs::path>> queued; // by folder: number and configuration
  for (const FigurePanel &panel : figure.panels)
    planned.folders.emplace_back(panel.runs.size());
  for (int64_t seed = 1; seed <= options.seeds; ++seed)
    for (size_t p = 0; p < figure.panels.size(); ++p)
      for (size_t r = 0; r < figure.panels[p].runs.size(); ++r) {
        FigurePanel &panel = figure.panels[p];
        const FigureRun &run = panel.runs[r];
        fs::path folder = out / text(run.name(), "-seed", seed);
        planned.folders[p][r].push_back(folder);
        QueuedRun made = planRun(figure, panel, run, seed, options, scale, folder);
        if (panel.title.empty())
          panel.title = nameText(made.config.data.path);
        auto [found, isNew] = queued.insert({folder, {planned.queue.size(), run.config}});
        const auto &[number, config] = found->second;
        if (isNew)
          planned.queue.push_back(std::move(made));
        else if (auto difference = differenceOf(made.config, planned.queue[number].config))
          fail("expected configurations of one name to be of one run, but '", run.config.string(), "' has ",
               *difference, " in '", config.string(), "'; rename one of them");
      }
  return planned;
}

/// What a run reads is there. Said before the first one begins, which may take days.
static void requireFiles(const std::vector<QueuedRun> &runs) {
  for (const QueuedRun &run : runs) {
    const Config &config = run.config;
    auto require = [&](const char *key, const std::string &path, const char *wayOut) {
      if (!path.empty() && !fs::exists(path))
        fail("requires the file or folder ", key, " = '", path, "' of the run '", run.folder.string(),
             "', which does not exist; ", wayOut);
    };
    if (run.isDone())
      continue;
    require("attention.specification", config.attention.specification, "examples/specs has some");
    require("data.path", config.data.path,
            "taylor-train prepare makes one, or --set data.path=.. names another");
    require("data.tokenizer", config.data.tokenizer, "--set data.tokenizer=.. names another");
  }
}

static void listRuns(const std::vector<QueuedRun> &runs) {
  for (const QueuedRun &run : runs) {
    std::optional<std::string> difference = differenceOf(run.folder, run.config);
    std::printf("%-8s%s%s\n",
                difference     ? "differs"
                : run.isDone() ? "done"
                               : "missing",
                run.folder.c_str(), difference ? ("  " + *difference).c_str() : "");
  }
}

/// What is drawn without being trained. `file`: of a run, what is drawn of it.
static void requireRuns(const std::vector<QueuedRun> &runs, const char *file) {
  for (const QueuedRun &run : runs) {
    requireSameRun(run.folder, run.config);
    if (fs::exists(run.folder / file))
      continue;
    fail("requires the run '", run.folder.string(), "' (", run.title, "), which has no ", file,
         "; leave out --plot-only to train it",
         // Seeds come one after the other: of those before this one there are all runs.
         run.seed > 1 ? text(", or draw fewer with --seeds ", run.seed - 1) : "");
  }
}

int makeFigure(const FigureOptions &options) {
  if (options.seeds < 1)
    fail("expected --seeds to be at least 1, but got ", options.seeds);
  for (auto [key, option] : {std::pair{"run.seed", "--seeds N, with the seeds 1 to N"},
                             {"run.folder", "--out FOLDER, with a folder of each run's own"}})
    for (const std::string &setting : options.overrides)
      if (setting.starts_with(text(key, "=")))
        fail("unsupported --set ", key, " in a figure, whose runs have it from ", option);
  fs::path experiments = options.experiments;
  fs::path scale = requireFile(experiments / "scales" / (options.scale + ".toml"), "a scale");
  Figure figure = readFigure(
      requireFile(experiments / "figures" / ("figure-" + options.name + ".toml"), "a figure"), options.scale);
  fs::path out = options.out.empty() ? fs::path("runs") / text("figure-", options.name, "-", options.scale)
                                     : fs::path(options.out);
  if (!options.noPlots && !options.list)
    requireGnuplot();
  if (figure.scaled && options.scale != "paper")
    figure.title += ", at the scale '" + options.scale + "'";
  refuseOneText(figure, options, scale);
  Planned planned = planRuns(figure, options, scale, out);
  if (options.list) {
    listRuns(planned.queue);
    return 0;
  }
  bool curves = figure.panels[0].against.empty();
  if (options.plotOnly) {
    requireRuns(planned.queue, curves ? "metrics.jsonl" : "summary.json");
  } else {
    for (const QueuedRun &run : planned.queue) // before the first that is trained
      requireSameRun(run.folder, run.config);
    requireFiles(planned.queue);
    if (int status = makeRuns(planned.queue))
      return status;
  }

  Drawn drawn = curves ? drawCurves(figure, planned.folders) : drawPoints(figure, planned.folders);
  auto named = [&](const char *ending) { return out / text("figure-", options.name, ending); };
  FileLock lock(out / ".drawing", [] {
    std::fprintf(stderr, "waiting for another process that draws into the same folder\n");
  });
  fs::path table = named(".csv"), results = named(".txt"), script = named(".gp");
  writeDurably(table, drawn.rows);
  writeDurably(results, drawn.results);
  if (!options.noPlots) {
    writeDurably(script, drawn.script);
    for (const char *ending : {".png", ".svg"})
      drawPlot(script, named(ending), table);
  }
  std::printf("%s\n%s\n", figure.title.c_str(), drawn.results.c_str());
  std::fprintf(stderr, "results    %s\n", results.c_str());
  return 0;
}

} // namespace taylor::trainer
