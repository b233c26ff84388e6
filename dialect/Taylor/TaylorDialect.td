// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_DIALECT_TD
#define TAYLOR_DIALECT_TD

include "mlir/IR/OpBase.td"

def Taylor_Dialect : Dialect {
  let name = "taylor";
  let cppNamespace = "::taylor";
  let summary = "attention as a sum of recurrences, and the pairwise form it lowers to";
  let description = [{
    A specification (`taylor.spec`) states the maths of one attention over arrays with named axes:
    the sum of recurrences over the Taylor orders of a weight function (`taylor.recurrences`), and
    what is local to a row around it (`taylor.map`, `taylor.reduce`, `taylor.normalize`, ...).
    Passes turn the sum into `taylor.pairwise`, which is closed under differentiation, derive the
    backward from it, and lower both to the `tile` dialect.

    Scalar work is written as a formula (`exp(s - m) * %h`), which the parser turns into a region of
    `arith` and `math` operations and the scalar operations of this dialect.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::tile::TileDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
    void registerDerivativeRules();
    /// Of an operation that is none: the error names the nearest that is one.
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef name) const override;
  }];
}

#endif
