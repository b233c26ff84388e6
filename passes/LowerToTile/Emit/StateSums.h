// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels that make states of the chunked form:
//
//   states        a block per chunk (and group): sum over its tokens of features times values
//   states_pass   a block per panel of features: running sums over the chunks
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_STATESUMS_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_STATESUMS_H

#include "passes/LowerToTile/Emit/StateChunks.h"
#include "passes/LowerToTile/Emit/SummedTokens.h"

namespace taylor {

/// Emits a block of either kernel.
class StateSums {
public:
  /// The states are stored in `memory`.
  StateSums(TileEmitter &emitter, StatesOp op, mlir::ValueRange memory)
      : emitter(emitter), builder(emitter.builder), op(op), memory(memory), chunks(emitter, op),
        panels(emitter), summed(emitter, panels, op) {}

  /// The sums of one chunk: frame has b, g (or h) and the chunk's axis, and "panel" where features are on the
  /// grid.
  void emitSums(Frame &frame);
  /// Running sums over the chunks, for one panel: frame has b, g (or h) and "panel".
  void emitPass(Frame &frame);

private:
  /// What is left at the edge of slot `to` of a sum up to the edge of `from`: below 0 where a document ends
  /// between them. A decay itself may be rounded to 0.
  mlir::Value loadDecay(mlir::Value from, mlir::Value to, const Frame &frame);

  TileEmitter &emitter;
  mlir::OpBuilder &builder;
  StatesOp op;
  mlir::ValueRange memory;
  StateChunks chunks;
  StatePanels panels;
  SummedTokens summed;
};

} // namespace taylor

#endif
