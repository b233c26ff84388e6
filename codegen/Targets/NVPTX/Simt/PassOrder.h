// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What passes take for granted of those before them. Each check fails after an error at the op that is not as
// the pass needs it, which names the pass to run before.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_SIMT_PASSORDER_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_SIMT_PASSORDER_H
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::simt {

/// An error about a whole module, at its first op: a module that stands in no text has no place.
InFlightDiagnostic emitErrorInside(ModuleOp module, const Twine &message);

/// The module has tile programs.
LogicalResult requirePrograms(ModuleOp module);

/// No tile has a layout yet, and nothing is done to buffers: as tile programs are made.
LogicalResult requireNoLayouts(ModuleOp module);

/// The tiles of the op itself, not of ops in its regions, have layouts.
LogicalResult requireLayouts(Operation *op);
/// All tiles in kernels of the module's programs, of which there are some, have layouts.
LogicalResult requireLayoutsOfAll(ModuleOp module);

/// Effects on buffers are in the order of the text: nothing that taylor-simt-schedule-copies, or a pass
/// after it, puts there.
LogicalResult requireUnscheduled(ModuleOp module);

/// The module has the code of one thread and no tile program.
LogicalResult requireThreadCode(ModuleOp module);

} // namespace mlir::simt
#endif
