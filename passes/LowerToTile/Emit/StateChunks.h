// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which chunk a token is of, and which state it reads.
//
// The chunks of keys are aligned with those of queries: chunk c of the keys begins at offset + c C. Slot c of
// a state over keys holds what lies before chunk c (the keys before query 0 are in slot 0), slot c of a state
// over queries what lies in chunk c and after it. Slots of opposite states: over keys what lies after chunk
// c (those after the last query are in the last), over queries what lies in chunk c and before it.
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_STATECHUNKS_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_STATECHUNKS_H

#include "passes/LowerToTile/Emit/TileEmitter.h"

namespace taylor {

/// Chunks of tokens, and slots of states, of one operation.
class StateChunks {
public:
  /// Of an operation that makes states, reads them or reads what stands at their edges.
  template <typename Op>
  StateChunks(TileEmitter &emitter, Op op)
      : emitter(emitter), builder(emitter.builder), size(op.getChunk()), opposite(op.getOpposite()) {}

  /// The memory of a state: [b, g, c = ceildiv(t, C), f, e], dense.
  static mlir::tile::ArrayType memoryType(StatesOp op, ArrayType state);

  mlir::Value count();
  /// First token of the frame's chunk, and the one past its last.
  std::pair<mlir::Value, mlir::Value> tokensOf(AxisRef token, const Frame &frame);
  /// Calls `body` for each slot that tokens of the frame read, and keeps of what it makes of `carried` what
  /// belongs to tokens of that slot. A block of queries has one slot, one of keys one or two.
  llvm::SmallVector<mlir::Value> forSlots(
      AxisRef token, const Frame &frame, mlir::ValueRange carried,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(const Frame &at, mlir::ValueRange carried)> body) {
    return forSlots(token, frame, carried, /*withStates=*/false, body);
  }
  /// Like forSlots, without slots that have no state: those of keys after which no chunk of queries begins,
  /// and those of queries before whose chunk no key lies (opposite: after it). A state of 0 there would be
  /// multiplied by the token's own numbers, which may be NaN.
  llvm::SmallVector<mlir::Value> forStates(
      AxisRef token, const Frame &frame, mlir::ValueRange carried,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(const Frame &at, mlir::ValueRange carried)> body) {
    return forSlots(token, frame, carried, /*withStates=*/true, body);
  }
  /// The number that an array over keys has at the edge of a slot, or at the query next to it
  /// (`taylor.edge`).
  mlir::Value loadEdge(mlir::Value array, mlir::Value slot, const Frame &frame, bool query = false);

private:
  llvm::SmallVector<mlir::Value> forSlots(
      AxisRef token, const Frame &frame, mlir::ValueRange carried, bool withStates,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(const Frame &at, mlir::ValueRange carried)> body);
  /// The keys whose slot it is: the first, and the one past the last, which may lie after all keys.
  std::pair<mlir::Value, mlir::Value> keysOf(mlir::Value slot);
  /// Whether a state over keys holds any: keys of its slot or of one before it (opposite: after it).
  mlir::Value hasKeys(mlir::Value slot);
  /// The slot that the reader at a token reads; below 0, or their count, where there is none.
  mlir::Value slotOf(AxisRef token, mlir::Value index);

  TileEmitter &emitter;
  mlir::OpBuilder &builder;
  /// Tokens of a chunk; 0: all are one.
  int64_t size;
  bool opposite;
};

} // namespace taylor

#endif
