// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_CODEGEN_DRIVER_VERSION_H
#define TAYLOR_CODEGEN_DRIVER_VERSION_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace taylor {

/// `PROGRAM 0.1.0 (commit 0123456789ab), LLVM 22.1.0`: also part of an artifact's hash.
std::string getVersion(llvm::StringRef program);

} // namespace taylor

#endif
