// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The recurrent form: token after token, each panel of the states is read, added to, written and contracted
// with what the queries of its heads read, so that it passes through memory once.
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_STATESTEPS_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_STATESTEPS_H

#include "passes/LowerToTile/Emit/SummedTokens.h"

namespace taylor {

/// Emits the recurrence of a group (or head).
class StateSteps {
public:
  /// `rows` and `states` are memory, [part, b, h, t, e] and [b, g, f, e].
  StateSteps(TileEmitter &emitter, StepStatesOp op, mlir::ValueRange rows, mlir::ValueRange states)
      : emitter(emitter), builder(emitter.builder), op(op), rows(rows), states(states), panels(emitter),
        summed(emitter, panels, op) {}

  /// For every `parts`-th panel from the frame's "part" on.
  void emit(Frame &frame, mlir::Value parts);

private:
  /// One token of the recurrence.
  struct Step {
    const Frame &frame;      // of the group, or head, and the part of its panels
    mlir::ValueRange before; // memory of the states that it adds to
    Frame queries, keys;     // at the token
    mlir::Value kept;        // what is left of the states before it; null: all
    bool heads;              // whether the heads of a group read the same states
  };
  /// States come from the memory `before` and go to `states`.
  void emitStep(const Frame &frame, mlir::Value parts, mlir::Value token, mlir::ValueRange before);
  /// The number by which a token multiplies the states from before it.
  mlir::Value loadKept(mlir::Value token, mlir::Value isThere, const Frame &frame);
  /// Calls `body` for each head that reads a step's states.
  void forReaders(Step &step, llvm::function_ref<void(Frame &)> body);
  /// Features of a head's query, from `start` on, for each read: those of equal weights once.
  llvm::SmallVector<mlir::Value> expandReader(Frame &head, mlir::Value start);
  llvm::SmallVector<mlir::Value> loadPanels(mlir::ValueRange memory, const Frame &frame, mlir::Value start);
  /// What is left of a panel of the states before the step.
  llvm::SmallVector<mlir::Value> loadBefore(Step &step, mlir::Value start);
  void readToken(Frame &head, mlir::ValueRange expanded, mlir::ValueRange loaded);
  /// Of a panel, for one token: the first head reads it in the registers where it is added to, the others
  /// where it was stored.
  void stepPanel(Step &step, llvm::ArrayRef<mlir::Value> masked, mlir::Value start);
  /// Of a panel, for a tile of tokens of which the first counts.
  void stepPanelOfTile(Step &step, llvm::ArrayRef<mlir::Value> masked, mlir::Value start);

  TileEmitter &emitter;
  mlir::OpBuilder &builder;
  StepStatesOp op;
  mlir::ValueRange rows, states;
  StatePanels panels;
  SummedTokens summed;
};

} // namespace taylor

#endif
