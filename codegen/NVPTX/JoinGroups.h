// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups of copies that no wait tells apart.
#ifndef TAYLOR_CODEGEN_NVPTX_JOINGROUPS_H
#define TAYLOR_CODEGEN_NVPTX_JOINGROUPS_H
#include "codegen/NVPTX/Simt/SimtDialect.h"

namespace mlir::simt {

/// Erases the commits of `kernel` without which every wait still waits for all copies that it waited for:
/// their groups join the next ones. Copies, commits and waits have scf.for and scf.if as the only control
/// flow around them.
void joinGroups(tile::KernelOp kernel);

} // namespace mlir::simt
#endif
