// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tokens add to states: features times each value, and features alone as the mass.
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_SUMMEDTOKENS_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_SUMMEDTOKENS_H

#include "passes/LowerToTile/Emit/StatePanels.h"

namespace taylor {

/// The tokens that one operation sums into states.
class SummedTokens {
public:
  SummedTokens(TileEmitter &emitter, StatePanels &panels, StatesOp op);
  SummedTokens(TileEmitter &emitter, StatePanels &panels, StepStatesOp op);

  /// The values in one tile of tokens, and ones for the mass: 0 from `end` on, and where `own` is 0.
  llvm::SmallVector<mlir::Value> mask(Frame &tokens, mlir::Value end);
  /// Makes the frame's tile of the vectors 0 where `own` is: features of other documents' tokens, times
  /// values that are 0 there, may be NaN.
  void clearVectors(Frame &tokens);
  /// What one tile of tokens adds to each state, for one panel.
  llvm::SmallVector<mlir::Value> add(Frame &tokens, mlir::ValueRange masked, mlir::Value start, int64_t size,
                                     mlir::ValueRange sums);
  /// The values of one token, at a window without a size, and 1 for the mass; 0 where there is no such token.
  llvm::SmallVector<mlir::Value> maskOne(Frame &token, mlir::Value isThere);
  /// What it adds to each state, for one panel.
  llvm::SmallVector<mlir::Value> addOne(Frame &token, mlir::ValueRange masked, mlir::Value start,
                                        int64_t size, mlir::ValueRange sums);

private:
  mlir::Value vectors;
  mlir::ValueRange values;
  mlir::Value own; // null: all
  Features features;
  llvm::SmallVector<double> weights;
  bool mass;
  AxisRef token;
  mlir::Type real;
  TileEmitter &emitter;
  StatePanels &panels;
};

} // namespace taylor

#endif
