// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_INTERFACES_TD
#define TAYLOR_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Taylor_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::taylor";
  let description = [{
    An operation on arrays that knows its vector-Jacobian product. The rule stands next to the
    operation (dialect/Taylor/*Derivatives.cpp); the pass that derives a backward only walks the
    graph and calls it.
  }];
  let methods = [
    InterfaceMethod<[{
      Appends to `cotangents` one value per operand: the cotangent, of the operand's axes, or null where it is
      identically zero. `results` holds the cotangent of each result, null where it is zero (never all null).
      The derived operations inherit the guards (`live`) of this one.
    }],
    "::mlir::LogicalResult", "buildVectorJacobianProduct",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$results,
         "::llvm::SmallVectorImpl<::mlir::Value> &":$cotangents)>
  ];
}

def Taylor_DifferentiableScalarOpInterface : OpInterface<"DifferentiableScalarOpInterface"> {
  let cppNamespace = "::taylor";
  let description = [{
    A scalar operation that may stand in a region and knows its derivative. `arith` and `math`
    operations get theirs by external models (dialect/Taylor/ScalarDerivatives.cpp).
  }];
  let methods = [
    InterfaceMethod<[{
      Appends one scalar per operand: its cotangent given that of the result, or null where it is zero (a condition,
      a stopped gradient).
    }],
    "::mlir::LogicalResult", "buildScalarVectorJacobianProduct",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$cotangent,
         "::llvm::SmallVectorImpl<::mlir::Value> &":$cotangents)>
  ];
}

#endif
