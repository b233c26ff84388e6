// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_CODEGEN_DRIVER_COMMANDLINE_H
#define TAYLOR_CODEGEN_DRIVER_COMMANDLINE_H

#include "llvm/ADT/StringRef.h"

namespace taylor {

/// For a program whose command line MLIR parses: `--version` prints ours, and `--help` leaves out every
/// option that is registered by now, which are the hundreds of LLVM's code generators; `--help-hidden` lists
/// those. To be called before options or passes of the program's own are registered.
void prepareCommandLine(llvm::StringRef program);

} // namespace taylor

#endif
