// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TEXT_PREPARECOMMAND_H
#define TAYLOR_TRAINER_TEXT_PREPARECOMMAND_H
#include "trainer/text/Preparation.h"
#include <CLI/CLI.hpp>

namespace taylor::trainer {

/// `taylor-train prepare`: its options and their help. `options` must outlive the parse.
CLI::App *addPrepareCommand(CLI::App &app, PreparationOptions &options);

} // namespace taylor::trainer
#endif
