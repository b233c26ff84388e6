// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What taylor-run does, from options to tables and files.
#ifndef TAYLOR_CODEGEN_RUN_RUN_H
#define TAYLOR_CODEGEN_RUN_RUN_H

#include "codegen/run/Problem.h"

namespace taylor::run {

/// Whether all that the options ask for can be written, before the work: a message, or nothing.
std::string checkWritten(const RunOptions &options);

/// Runs one case, or all of --cases, and gives the exit status: 1 after one message to stderr, or where a
/// comparison is past what is allowed; TAYLOR_REFUSED (runtime/taylor.h) where nothing failed, and the compiler
/// refused a case.
int run(const RunOptions &options, mlir::MLIRContext *context);

} // namespace taylor::run

#endif
