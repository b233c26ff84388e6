// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places: where the tokens of a call are in the whole sequence, and which of the call's tokens is the last.
#ifndef TAYLOR_PASSES_STATES_CARRIEDPLACES_H
#define TAYLOR_PASSES_STATES_CARRIEDPLACES_H

#include "dialect/Taylor/ArrayBuilder.h"
#include "passes/States/CarriedSpec.h"

namespace taylor {

/// In a region, whether two numbers are equal.
mlir::Value buildIsEqual(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);
/// In a region, a number that is a constant to the derivative.
mlir::Value buildStopped(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange x);

/// The places of one specification's tokens.
class CarriedPlaces {
public:
  explicit CarriedPlaces(CarriedSpec &carried)
      : carried(carried), builder(carried.builder), loc(carried.loc) {}

  /// Tokens of the calls before, [b].
  mlir::Value getPosition();
  /// Places in the whole sequence, [b, token].
  mlir::Value getPlaces(AxisRef token);
  /// The number of a token within the call, as a scalar of a region.
  mlir::Value buildLocalIndex(mlir::OpBuilder &b, mlir::Location loc, AxisRef token);
  /// Makes places that a formula over arrays reads those of the whole sequence; refuses sizes, which are
  /// known at its end, except those that bound a count.
  mlir::LogicalResult moveIn(mlir::Region &formula, mlir::MutableOperandRange arrays);
  mlir::LogicalResult checkSize(SizeOp size);
  /// Has an operation that rotates by places do so by those in the whole sequence.
  void giveTo(ArrayOpInterface op);
  /// In a region: `some`, or `none` where the call has no tokens.
  mlir::Value buildOrElse(mlir::OpBuilder &b, mlir::Location at, AxisRef token, mlir::Value none,
                          mlir::Value some);
  /// A formula of arrays at the call's last token or, where it has none, one of `otherwise`.
  mlir::Value buildAtLast(mlir::ValueRange arrays, AxisRef token, mlir::Value otherwise, ScalarBody element,
                          ScalarBody rest);
  /// An array at the call's last token, or `otherwise` where it has none; a constant to the derivative.
  mlir::Value buildAtLast(mlir::Value array, AxisRef token, mlir::Value otherwise);
  /// Where calls hand the position on, makes it an argument, the last one.
  void finish();

private:
  CarriedSpec &carried;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// Where calls hand it on, it stands for an argument that becomes the last.
  mlir::Value position;
  llvm::StringMap<mlir::Value> known;
};

} // namespace taylor

#endif
