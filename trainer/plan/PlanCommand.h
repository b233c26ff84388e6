// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_PLAN_PLANCOMMAND_H
#define TAYLOR_TRAINER_PLAN_PLANCOMMAND_H
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace taylor::trainer {

struct PlanOptions {
  std::vector<std::string> configs, overrides;
  std::string attention;
  std::string gpu = "A100"; // one of knownGpus(), or a part of its name
  int64_t gpus = 1;
  double share = 0.4; // of the GPU's peak that training reaches
};

CLI::App *addPlanCommand(CLI::App &app, PlanOptions &options);

/// Prints what the run needs. Throws Error.
void printPlan(const PlanOptions &options);

} // namespace taylor::trainer
#endif
