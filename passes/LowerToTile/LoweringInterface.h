// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How operations on arrays become tiles: an interface, and who attaches its models.
#ifndef TAYLOR_PASSES_LOWERTOTILE_LOWERINGINTERFACE_H
#define TAYLOR_PASSES_LOWERTOTILE_LOWERINGINTERFACE_H

#include "passes/LowerToTile/AngleTable.h"

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

class FunctionMemory;
class TileEmitter;
struct Frame;

/// Stores a tile of the value that a kernel computes, at a frame.
using StoreTile = llvm::function_ref<void(mlir::Value tile, Frame &at)>;

} // namespace taylor

#include "passes/LowerToTile/LoweringInterface.h.inc"

namespace taylor {

/// Attaches all models, when the dialect is loaded.
void registerLowering(mlir::DialectRegistry &registry);

/// Each file attaches the models of the operations that it emits.
void attachArrayOps(mlir::MLIRContext *context);
void attachTokenOps(mlir::MLIRContext *context);
void attachPairs(mlir::MLIRContext *context);
void attachStates(mlir::MLIRContext *context);

} // namespace taylor

#endif
