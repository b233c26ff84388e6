// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What taylor.recurrences and taylor.recurrence share: their sums, the clauses after the operands, and the
// checks of both.
#ifndef TAYLOR_DIALECT_TAYLOR_RECURRENCESYNTAX_H
#define TAYLOR_DIALECT_TAYLOR_RECURRENCESYNTAX_H

#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/BodySyntax.h"
#include "dialect/Taylor/Formula.h"

namespace taylor {

/// Types of the sums of q [.., t, d], k [.., u, d], v [.., u, e]; `feature` is the axis of a state. Fails
/// with a message where the three do not fit.
mlir::FailureOr<llvm::SmallVector<mlir::Type>> inferSums(EmitError emitError, ArrayType query, ArrayType key,
                                                         ArrayType value, mlir::ArrayAttr sums,
                                                         AxisRef feature);
/// The result of `op` that is the sum `wanted`; null where it has none.
mlir::Value sumNamed(mlir::Operation *op, mlir::ArrayAttr sums, Sum wanted);

/// `[numerator, mass]`; without it the numerator alone.
mlir::ParseResult parseSums(mlir::OpAsmParser &parser, mlir::ArrayAttr &sums);
void printSums(mlir::OpAsmPrinter &printer, mlir::ArrayAttr sums);
/// Refuses a sum that is named twice.
mlir::LogicalResult verifySums(mlir::Operation *op, mlir::ArrayAttr sums);

/// Refuses an order beyond 256: Horner's rule is a chain of operations as long as the order, and 1/n! is 0 in
/// fp64 from n = 178 on.
mlir::LogicalResult verifyOrder(mlir::Operation *op, int64_t order);

/// Refuses a formula with other arguments, one that yields a number where `clause` takes a condition, or the
/// other way round, and one that has no text.
mlir::LogicalResult verifyClause(mlir::Operation *op, mlir::Region &region, llvm::StringRef clause,
                                 mlir::TypeRange arguments, bool isCondition);
/// A scale multiplies all products alike: it reads sizes and parameters, no positions.
mlir::LogicalResult verifyScale(mlir::Operation *op, mlir::Region &scale);

/// Refuses a running log-decay (null where there is none) that is not one number per batch, head and key u,
/// and one of a bidirectional sum.
mlir::LogicalResult verifyDecay(mlir::Operation *op, mlir::Value decay, Mask mask);

/// The clauses of taylor.recurrences as read, before the types are known.
struct Clauses {
  explicit Clauses(mlir::OpAsmParser &parser) : parser(parser), formulas(parser) {}

  mlir::ParseResult parse();
  /// Refuses combinations that say nothing or two things.
  mlir::ParseResult check();

  mlir::OpAsmParser &parser;
  FormulaParser formulas;
  bool exponential = false, allOrders = false;
  mlir::Attribute first, last;
  std::optional<llvm::SmallVector<double>> coefficients;
  std::optional<Mask> mask;
  std::optional<mlir::OpAsmParser::UnresolvedOperand> decay;
  std::vector<Binding> scale, score, weight, visible;

private:
  mlir::ParseResult parseOrders();
  mlir::ParseResult parseCoefficients();
  mlir::ParseResult parseDecay();
};

/// The formula rsqrt(size(CHANNEL)).
FormulaPtr inverseRootOfChannels(llvm::SMLoc loc, llvm::StringRef channel);
/// ` clause(formula)`, or nothing for an empty region; `names` are those of the region's arguments.
void printFormula(mlir::OpAsmPrinter &printer, llvm::StringRef clause, mlir::Region &region,
                  llvm::ArrayRef<std::string> names);
/// Array types of a type list, or an error.
mlir::FailureOr<llvm::SmallVector<ArrayType>> asArrays(mlir::OpAsmParser &parser, llvm::SMLoc loc,
                                                       llvm::ArrayRef<mlir::Type> types);

} // namespace taylor

#endif
