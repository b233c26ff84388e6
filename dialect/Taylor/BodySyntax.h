// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The syntax that operations with one formula share: `F live(%n) : types -> type`.
#ifndef TAYLOR_DIALECT_TAYLOR_BODYSYNTAX_H
#define TAYLOR_DIALECT_TAYLOR_BODYSYNTAX_H

#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/Formula.h"

namespace taylor {

/// Reads `F`, `{ a = F, F }` or `region(%a, ..) { ^bb0(..): .. }`, then `live(%n, ..)`, an attribute
/// dictionary, the types, and adds operands, region and result type to the operation's state.
class BodySyntax {
public:
  BodySyntax(mlir::OpAsmParser &parser, mlir::OperationState &result)
      : parser(parser), result(result), formulas(parser), region(result.addRegion()) {}

  mlir::ParseResult parseBody();
  mlir::ParseResult parseLive();
  /// Types, operands and the region. On return `arrays` and `joined` are set; `result.operands` holds arrays,
  /// then live.
  mlir::ParseResult parseTypes();

  int32_t numArrays() const { return formulas.operands.size(); }
  int32_t numLive() const { return live.size(); }
  llvm::SmallVector<ArrayType> arrays;
  /// The broadcast of the arrays and the axes that the formula names.
  ArrayType joined;
  /// The type after `->`, or null.
  ArrayType explicitResult;

private:
  mlir::ParseResult buildRegion(mlir::Type realType);

  mlir::OpAsmParser &parser;
  mlir::OperationState &result;
  FormulaParser formulas;
  mlir::Region *region;
  std::vector<Binding> bindings;
  bool isRegion = false;
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> live;
};

/// Prints ` F`: the region as a formula where it is one, else as a region. Returns the operands in order of
/// appearance, in which their types are to be printed (and will be read back).
llvm::SmallVector<mlir::Value> printBody(mlir::OpAsmPrinter &printer, mlir::Region &region,
                                         mlir::OperandRange arrays);
/// Prints ` live(..) : types`, and ` -> type` where the result is not the inferred one.
void printLiveAndTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op, llvm::ArrayRef<mlir::Value> arrays,
                       mlir::ValueRange live, ArrayType inferred);

/// Checks that a region is one block of scalar operations: each of one result, without regions and side
/// effects, on values of the block. What is differentiated, compared and copied as a formula must be one. An
/// empty region passes.
mlir::LogicalResult verifyScalars(mlir::Operation *op, mlir::Region &region);
/// The same of a formula over pairs, where a lag has no index of its own: it is t - u.
mlir::LogicalResult verifyPairScalars(mlir::Operation *op, mlir::Region &region);
/// Checks that the region's arguments are the scalars of `arrays` and that it yields one float.
mlir::LogicalResult verifyBody(mlir::Operation *op, mlir::Region &region, mlir::ValueRange arrays);
/// The broadcast of arrays and of the axes a region names.
mlir::FailureOr<ArrayType> joinBody(EmitError emitError, mlir::Region &region, mlir::ValueRange arrays);

} // namespace taylor

#endif
