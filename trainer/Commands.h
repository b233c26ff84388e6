// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands of taylor-train besides training. Each `add..Command` adds its options and their help; the
// `options` that it fills must outlive the parse.
#ifndef TAYLOR_TRAINER_COMMANDS_H
#define TAYLOR_TRAINER_COMMANDS_H

#include "trainer/orders/Orders.h"
#include "trainer/text/Preparation.h"
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

/// `taylor-train figure`.
CLI::App *addFigureCommand(CLI::App &app, FigureOptions &options);

/// Trains what the figure lacks and draws it. Returns the exit status. Throws Error.
int makeFigure(const FigureOptions &options);

/// `taylor-train orders`: its options and their help. `options` must outlive the parse.
CLI::App *addOrdersCommand(CLI::App &app, OrdersOptions &options);

struct PlanOptions {
  std::vector<std::string> configs, overrides;
  std::string attention;
  std::string gpu = "A100"; // one of knownGpus(), or a part of its name
  int64_t gpus = 1;
  double share = 0.4; // of the GPU's peak that training reaches
};

/// `taylor-train plan`.
CLI::App *addPlanCommand(CLI::App &app, PlanOptions &options);

/// Prints what the run needs. Throws Error.
void printPlan(const PlanOptions &options);

/// `taylor-train prepare`: its options and their help. `options` must outlive the parse.
CLI::App *addPrepareCommand(CLI::App &app, PreparationOptions &options);

} // namespace taylor::trainer

#endif
