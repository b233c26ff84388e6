// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What blocks read of states:
//
//   read          a loop over panels of features, P = expand(x), y += P^T H
//   contract      the same with dP = H g and dx += its adjoint
//   edge          what an array has where the chunk of a token begins
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_STATEREADS_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_STATEREADS_H

#include "passes/LowerToTile/Emit/StateChunks.h"
#include "passes/LowerToTile/Emit/StatePanels.h"

namespace taylor {

/// Makes tiles of what operations read of states.
class StateReads {
public:
  explicit StateReads(TileEmitter &emitter) : emitter(emitter), builder(emitter.builder), panels(emitter) {}

  mlir::Value emitEdge(EdgeOp op, Frame &frame);
  /// Makes tiles of all results at the frame.
  void emitRead(ReadStatesOp op, Frame &frame);
  mlir::Value emitContract(ContractStatesOp op, Frame &frame);

private:
  /// What the sum of a read begins from, and what it is in the end. With `own`, `into` is added after the
  /// loop. Both may be null.
  mlir::Value beginRead(mlir::Value result, mlir::Value into, mlir::Value own, Frame &frame);
  mlir::Value endRead(mlir::Value sum, mlir::Value into, mlir::Value own, Frame &frame);

  TileEmitter &emitter;
  mlir::OpBuilder &builder;
  StatePanels panels;
};

} // namespace taylor

#endif
