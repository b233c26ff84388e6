// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TYPES_TD
#define TAYLOR_TYPES_TD

include "dialect/Taylor/TaylorDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Taylor_ArrayType : TypeDef<Taylor_Dialect, "Array"> {
  let mnemonic = "array";
  let summary = "an array with named axes";
  let description = [{
    `!taylor.array<[b, h, t, d]>`, `!taylor.array<[h, d, j = 4]>`, `!taylor.array<[b, t], i32>`.

    | b | h | g | t | u | lag | d | e | f |
    |---|---|---|---|---|---|---|---|---|
    | batch | query head | key/value head, g divides h | query token | key token | position of a query less that of a key | channel of a score | channel of a value | feature of a state |

    Any other axis is free and carries its size; d, e and f carry theirs after specialisation; b, h,
    g, t, u, lag never do. An array with lag has one number for all pairs of one lag, lags from
    offset - U to offset + T - 1. Without an element type the array is real: f64, until
    specialisation chooses storage types. An array with two of t, u and lag is refused, since no T x
    U buffer is ever materialised.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes, ArrayRefParameter<"int64_t">:$sizes,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kUnknown = ::mlir::ShapedType::kDynamic;
    int64_t getRank() const { return getAxes().size(); }
    /// Position of an axis, or -1.
    int64_t find(::taylor::AxisRef axis) const;
    bool has(::taylor::AxisRef axis) const { return find(axis) >= 0; }
    /// Size of an axis if it is known, else kUnknown.
    int64_t sizeOf(::taylor::AxisRef axis) const;
    /// The scalar type a region sees for this array: f64 for f64, i32 for i32, f32 for narrower floats.
    ::mlir::Type getScalarType() const;
    ArrayType clone(::mlir::Type elementType) const;
    /// The same array without some axes.
    ArrayType without(::llvm::ArrayRef<::taylor::AxisRef> axes) const;
    /// The same array with one axis renamed.
    ArrayType renamed(::taylor::AxisRef from, ::taylor::AxisRef to) const;
  }];
}

#endif
