// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_INTERFACES_TD
#define TAYLOR_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Taylor_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::taylor";
  let description = [{
    An operation on arrays that knows its vector-Jacobian product. The rule stands next to the
    operation (dialect/Taylor/*Derivative*.cpp); the pass that derives a backward only walks the
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

def Taylor_ArrayOpInterface : OpInterface<"ArrayOpInterface"> {
  let cppNamespace = "::taylor";
  let description = [{
    What passes ask of an operation that makes one array of others and is neither a sum over pairs
    nor a state. What no operation says is what is true of `taylor.map`: a token of the result
    depends on this token of the operands alone.
  }];
  let methods = [
    InterfaceMethod<"Which tokens of its operands a token of the result reads.",
    "::taylor::Reach", "getReach", (ins), "", [{ return ::taylor::Reach::Own; }]>,
    InterfaceMethod<"With `Reach::Window`: how many tokens before its own a token reads.",
    "int64_t", "getWindow", (ins), "", [{ return 0; }]>,
    InterfaceMethod<"The token axis along which it works.",
    "::taylor::AxisRef", "getToken", (ins), "", [{ return ::taylor::tokenOf($_op); }]>,
    InterfaceMethod<[{
      Whether each token of the result is that token of the first operand, rotated: linear in it, of
      the same length, and independent of all other tokens.
    }],
    "bool", "isRotation", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      The operand that numbers documents, which may be absent: tokens of other documents are not
      read. Nothing if the operation has no such operand.
    }],
    "std::optional<::mlir::MutableOperandRange>", "getDocuments", (ins), "", [{ return std::nullopt; }]>,
    InterfaceMethod<[{
      The operand that says where tokens stand, if they do not stand where their number says; it may
      be absent. Nothing if the operation has no such operand.
    }],
    "std::optional<::mlir::MutableOperandRange>", "getPlaces", (ins), "", [{ return std::nullopt; }]>,
    InterfaceMethod<"Verifies what is known only when axes have sizes. Reports an error.",
    "::mlir::LogicalResult", "verifySizes", (ins), "", [{ return ::mlir::success(); }]>
  ];
}

def Taylor_FormulaOpInterface : OpInterface<"FormulaOpInterface"> {
  let cppNamespace = "::taylor";
  let description = [{
    An operation on arrays that computes a formula of them at each point: a region with one argument
    per array.
  }];
  let methods = [
    InterfaceMethod<"The arrays that the formula reads.", "::mlir::OperandRange", "getArrays">,
    InterfaceMethod<"The same, to be changed.", "::mlir::MutableOperandRange", "getArraysMutable">,
    InterfaceMethod<"The formula.", "::mlir::Region &", "getBody">
  ];
}

def Taylor_RecurrentOpInterface : OpInterface<"RecurrentOpInterface"> {
  let cppNamespace = "::taylor";
  let description = [{
    An operation of which a token's result is computed from the result of the token before and from
    operands at the token. So a sequence that goes on in another call needs the last result alone.
  }];
  let methods = [
    InterfaceMethod<[{
      Rewrites its operands so that a token continues from `before`: an array of the result's axes
      that holds the result of the token before the call, at the first token, and 0 elsewhere.
    }],
    "void", "continueFrom", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$before)>
  ];
}

#endif
