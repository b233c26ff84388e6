// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places: where the tokens of a call are in the whole sequence, and which of the call's tokens is the last.
#ifndef TAYLOR_PASSES_STATES_CARRIEDPLACES_H
#define TAYLOR_PASSES_STATES_CARRIEDPLACES_H

#include "dialect/Taylor/ArrayBuilder.h"
#include "passes/States/CarriedSpec.h"

namespace taylor {

/// Whether two scalars of a region are equal.
mlir::Value buildIsEqual(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);
/// A scalar of a region, as a constant for the derivative.
mlir::Value buildStopped(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange x);

/// The places of one specification's tokens; where calls hand the position on, the argument that says it.
class CarriedPlaces {
public:
  explicit CarriedPlaces(CarriedSpec &carried)
      : carried(carried), builder(carried.builder), loc(carried.loc) {}

  /// How many tokens earlier calls had, [b].
  mlir::Value getPosition();
  /// Places in the whole sequence, [b, token].
  mlir::Value getPlaces(AxisRef token);
  /// The number of a token within the call, as a scalar of a region.
  mlir::Value buildLocalIndex(mlir::OpBuilder &b, mlir::Location loc, AxisRef token);
  /// Replaces places that a formula reads (taylor.index) by places in the whole sequence. Refuses sizes
  /// (taylor.size), which are known only at the sequence's end; a size that only bounds a count is moved too.
  mlir::LogicalResult moveIn(mlir::Region &formula, mlir::MutableOperandRange arrays);
  mlir::LogicalResult checkSize(SizeOp size);
  /// Gives an operation that rotates by places the places in the whole sequence.
  void giveTo(ArrayOpInterface op);
  /// A scalar of a region: `some` if the call has tokens, else `none`.
  mlir::Value buildOrElse(mlir::OpBuilder &b, mlir::Location at, AxisRef token, mlir::Value none,
                          mlir::Value some);
  /// `element` of `arrays` at the call's last token; `rest` of `otherwise` if the call has no tokens.
  mlir::Value buildAtLast(mlir::ValueRange arrays, AxisRef token, mlir::Value otherwise, ScalarBody element,
                          ScalarBody rest);
  /// `array` at the call's last token, `otherwise` if the call has none; a constant for the derivative.
  mlir::Value buildAtLast(mlir::Value array, AxisRef token, mlir::Value otherwise);
  /// If anything read the position, makes it an argument, the last one.
  void finish();

private:
  CarriedSpec &carried;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// Stands for the argument that finish() adds.
  mlir::Value position;
  llvm::StringMap<mlir::Value> known;
};

} // namespace taylor

#endif
