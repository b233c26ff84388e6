// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What programs of the compiler say of themselves.
#ifndef TAYLOR_CODEGEN_DRIVER_COMMANDLINE_H
#define TAYLOR_CODEGEN_DRIVER_COMMANDLINE_H
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace taylor {

/// Has LLVM's fatal errors printed as messages of the program: output that cannot be written, and faults that
/// no specification should cause. Called once, first in main; `program` must outlive it.
void reportFatalErrors(const char *program);

/// For a program whose command line MLIR parses: `--version` prints ours, and `--help` leaves out every
/// option that is registered by now, which are the hundreds of LLVM's code generators; `--help-hidden` lists
/// those. To be called before options or passes of the program's own are registered.
void prepareCommandLine(llvm::StringRef program);

/// Says which argument, the program's name left out, names no registered option, and which one it may mean;
/// empty where all do. LLVM's parser takes `--headdim` for `-h` followed by other options of one letter.
std::string findUnknownOption(llvm::ArrayRef<const char *> arguments);

/// `PROGRAM 0.1.0 (commit 0123456789ab), LLVM 22.1.0`: also part of an artifact's hash.
std::string getVersion(llvm::StringRef program);

} // namespace taylor
#endif
