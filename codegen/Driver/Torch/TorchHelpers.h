// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that printed specifications call. Those that a part's text calls stand next to that part, those
// of scalar regions and positions in TorchHelpers.cpp.
#ifndef TAYLOR_CODEGEN_DRIVER_TORCH_TORCHHELPERS_H
#define TAYLOR_CODEGEN_DRIVER_TORCH_TORCHHELPERS_H

#include "dialect/Taylor/TaylorDialect.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace taylor {

/// A function that printed specifications call.
struct TorchHelper {
  llvm::StringRef name;
  llvm::StringRef uses; ///< The helper that it calls, or "".
  llvm::StringRef text;
};
/// All of them, each after the one that it calls.
llvm::SmallVector<TorchHelper> getTorchHelpers();

/// The definitions of the helper functions in `names`, in an order in which each is defined before its use.
std::string printTorchHelpers(const llvm::StringSet<> &names);

} // namespace taylor

#endif
