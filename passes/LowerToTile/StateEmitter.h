// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States of the chunked form: the kernels that make them, and the loops that read them.
//
//   states        a block per chunk (and group): sum over its tokens of features times values
//   states_pass   a block per panel of features: running sums over the chunks
//   read          in a block of readers: a loop over panels of features, P = expand(x), y += P^T H
//   contract      the same with dP = H g and dx += its adjoint
//   step          a block per group, and part of the features: token after token, adds to each panel of the
//                 states what the token brings and to the rows what it reads
//
// The chunks of keys are aligned with those of queries: chunk c of the keys begins at offset + c C. Slot c of
// a state over keys holds what lies before chunk c (the keys before query 0 are in slot 0), slot c of a state
// over queries what lies in chunk c and after it. Slots of opposite states: over keys what lies behind chunk
// c (those behind the last query are in the last), over queries what lies in chunk c and before it.
#ifndef TAYLOR_PASSES_LOWERTOTILE_STATEEMITTER_H
#define TAYLOR_PASSES_LOWERTOTILE_STATEEMITTER_H

#include "passes/LowerToTile/TileEmitter.h"

namespace taylor {

class StateEmitter {
public:
  explicit StateEmitter(TileEmitter &emitter) : emitter(emitter), builder(emitter.builder) {}

  /// The memory of a state: [b, g, c = ceildiv(t, C), f, e], dense.
  static mlir::tile::ArrayType memoryType(StatesOp op, ArrayType state);
  /// Panels of features of a states operation, `size` features each.
  static int64_t panelsOf(StatesOp op, int64_t size);

  /// The sums of one chunk: frame has b, g (or h) and the chunk's axis, and "panel" where features are on the
  /// grid.
  void emitSums(StatesOp op, Frame &frame, mlir::ValueRange memory);
  /// Running sums over the chunks, for one panel: frame has b, g (or h) and "panel".
  void emitPass(StatesOp op, Frame &frame, mlir::ValueRange memory);

  /// The recurrence of a group (or head), for every `parts`-th panel from frame's "part" on. `rows` and
  /// `states` are memory, [part, b, h, t, e] and [b, g, f, e].
  void emitSteps(StepStatesOp op, Frame &frame, mlir::Value parts, mlir::ValueRange rows,
                 mlir::ValueRange states);

  mlir::Value emitEdge(EdgeOp op, Frame &frame);
  /// Makes tiles of all results at the frame.
  void emitRead(ReadStatesOp op, Frame &frame);
  mlir::Value emitContract(ContractStatesOp op, Frame &frame);

private:
  /// What the sum of a read begins from, and what it is in the end. With `own`, `into` is added after the
  /// loop. Both may be null.
  mlir::Value beginRead(mlir::Value result, mlir::Value into, mlir::Value own, Frame &frame);
  mlir::Value endRead(mlir::Value sum, mlir::Value into, mlir::Value own, Frame &frame);
  /// Features of a panel that a state is read in.
  int64_t readPanelOf(const Features &features);
  mlir::tile::FeaturesAttr attributeOf(const Features &features);
  mlir::Value expand(mlir::Value vectors, const Features &features, mlir::Value start, int64_t size,
                     llvm::ArrayRef<double> weights);
  /// One panel of a state as a tile.
  mlir::Value loadPanel(mlir::Value memory, const Frame &frame, mlir::Value start, int64_t size);
  Frame panelAt(const Frame &frame, mlir::Value start);
  /// As the operations have them.
  struct Chunks {
    int64_t size;
    bool opposite;
    template <typename Op> static Chunks of(Op op) { return {int64_t(op.getChunk()), op.getOpposite()}; }
  };
  mlir::Value countChunks(int64_t size);
  /// The number that an array over keys has at the edge of a slot (`taylor.edge`).
  mlir::Value loadEdge(mlir::Value array, Chunks chunks, mlir::Value slot, const Frame &frame);
  /// What is left at the edge of slot `to` of a sum up to the edge of `from`.
  mlir::Value loadDecay(StatesOp op, mlir::Value from, mlir::Value to, const Frame &frame);
  /// The slot that the reader at a token reads; below 0, or their count, where there is none.
  mlir::Value slotOf(AxisRef token, Chunks chunks, mlir::Value index);
  /// The keys whose slot it is: the first, and the one past the last, which may lie behind all keys.
  std::pair<mlir::Value, mlir::Value> keysOf(Chunks chunks, mlir::Value slot);
  /// Calls `body` for each slot that tokens of the frame read, and keeps of what it makes of `carried` what
  /// belongs to tokens of that slot. A block of queries reads one slot, one of keys one or two.
  llvm::SmallVector<mlir::Value> forSlots(
      AxisRef token, Chunks chunks, const Frame &frame, mlir::ValueRange carried,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(const Frame &at, mlir::ValueRange carried)> body);
  mlir::Value positionsOf(AxisRef token, const Frame &frame);
  /// First token of a chunk, and the one past its last.
  std::pair<mlir::Value, mlir::Value> tokensOf(StatesOp op, const Frame &frame);
  /// The product over an axis, behind `sum` where there is one; `other` alone has channels or not.
  mlir::Value contract(mlir::Value panel, mlir::Value other, AxisRef over, mlir::Value sum = {});
  /// Element by element.
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  /// What is summed over tokens: features times each value, and features alone as the `mass`.
  struct Summed {
    mlir::Value vectors;
    mlir::ValueRange values;
    mlir::Value own; // null: all
    Features features;
    llvm::SmallVector<double> weights;
    bool mass;
    AxisRef token;
    mlir::Type real;
  };
  static Summed summedBy(StatesOp op);
  static Summed summedBy(StepStatesOp op);
  /// The values in one tile of tokens, and ones for the mass: 0 from `end` on, and where `own` is 0.
  llvm::SmallVector<mlir::Value> maskTokens(const Summed &op, Frame &tokens, mlir::Value end);
  /// Makes the frame's tile of the vectors 0 where `own` is: features of other documents' tokens, times
  /// values that are 0 there, may be NaN.
  void clearVectors(const Summed &op, Frame &tokens);
  /// What one tile of tokens adds to each state, for one panel.
  llvm::SmallVector<mlir::Value> addTokens(const Summed &op, Frame &tokens, mlir::ValueRange masked,
                                           mlir::Value start, int64_t size, mlir::ValueRange sums);
  /// The values of one token, at a window without a size, and 1 for the mass; 0 where there is no such token.
  llvm::SmallVector<mlir::Value> maskToken(const Summed &op, Frame &token, mlir::Value isThere);
  /// What it adds to each state, for one panel.
  llvm::SmallVector<mlir::Value> addToken(const Summed &op, Frame &token, mlir::ValueRange masked,
                                          mlir::Value start, int64_t size, mlir::ValueRange sums);
  /// The number by which a token multiplies the states from before it.
  mlir::Value loadKept(StepStatesOp op, mlir::Value token, mlir::Value isThere, const Frame &frame);
  struct Step;
  /// Calls `body` for each head that reads a step's states.
  void forReaders(Step &step, llvm::function_ref<void(Frame &)> body);
  /// Features of a head's query, from `start` on, for each read: those of equal weights once.
  llvm::SmallVector<mlir::Value> expandReader(StepStatesOp op, Frame &head, mlir::Value start);
  llvm::SmallVector<mlir::Value> loadPanels(mlir::ValueRange memory, const Frame &frame, mlir::Value start);
  llvm::SmallVector<mlir::Value> loadBefore(Step &step, mlir::Value start);
  void readToken(Step &step, Frame &head, mlir::ValueRange expanded, mlir::ValueRange panels);
  void stepPanel(Step &step, llvm::ArrayRef<mlir::Value> masked, mlir::Value start);
  void stepPanelOfTile(Step &step, llvm::ArrayRef<mlir::Value> masked, mlir::Value start);
  /// One token of the recurrence: states come from the memory `before` and go to `states`.
  void emitStep(StepStatesOp op, const Frame &frame, mlir::Value parts, mlir::Value token,
                mlir::ValueRange before, mlir::ValueRange rows, mlir::ValueRange states);
  /// The first head of the frame's group (of all, where it has none), and how many there are.
  std::pair<mlir::Value, mlir::Value> headsOf(const Frame &frame);
  /// Calls `body` for each of them.
  llvm::SmallVector<mlir::Value>
  forHeads(const Frame &frame, mlir::ValueRange carried,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(const Frame &, mlir::ValueRange)> body);
  /// Tiles of one panel of states.
  mlir::tile::TileType panelType(mlir::Value memory, int64_t size);
  llvm::SmallVector<mlir::Value> zeros(mlir::ValueRange memory, int64_t size);

  TileEmitter &emitter;
  mlir::OpBuilder &builder;
};

} // namespace taylor

#endif
