// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_FIGURES_FIGURECOMMAND_H
#define TAYLOR_TRAINER_FIGURES_FIGURECOMMAND_H
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace taylor::trainer {

struct FigureOptions {
  std::string name; // "4"
  std::string scale = "tiny";
  std::string experiments = "examples/experiments";
  std::string out; // empty: runs/figure-NAME-SCALE
  int64_t seeds = 1;
  int64_t processes = 1; // that each run is trained with
  std::vector<std::string> overrides;
  bool plotOnly = false, noPlots = false, list = false;
};

CLI::App *addFigureCommand(CLI::App &app, FigureOptions &options);

/// Trains what the figure lacks and draws it. Returns the exit status. Throws Error.
int makeFigure(const FigureOptions &options);

} // namespace taylor::trainer
#endif
