// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_DIALECT_TILE_TILETYPES_TD
#define TAYLOR_DIALECT_TILE_TILETYPES_TD
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "dialect/Tile/TileDialect.td"

def Tile_ExtentAttr : AttrDef<Tile_Dialect, "Extent"> {
  let mnemonic = "extent";
  let summary = "a number of elements or of blocks: `64`, `t`, or `ceildiv(t, 64)`";
  let description = [{
    With an empty role the extent is the constant `size`. Otherwise it is ceil(R / size), R the
    run-time size of the role (one of b, h, g, t, u, lag; lag is T + U + 256); size 1 is the role
    itself. `ceildiv(4, b * g)` is the number of parts into which a block per b and g is cut so that
    there are at least 4 blocks; `ceildiv(16, t)` is how many times T numbers are at least 16. A
    role of size 0 counts as 1 there.
  }];
  let parameters = (ins "::mlir::StringAttr":$role, "int64_t":$size);
  let builders = [
    AttrBuilderWithInferredContext<(ins "::mlir::StringAttr":$role, CArg<"int64_t", "1">:$divisor), [{
      return $_get(role.getContext(), role, divisor);
    }]>,
    AttrBuilder<(ins "int64_t":$size), [{
      return $_get($_ctxt, ::mlir::StringAttr::get($_ctxt, ""), size);
    }]>,
    AttrBuilder<(ins "int64_t":$size, "::llvm::ArrayRef<::taylor::AxisRef>":$divisors), [{
      return $_get($_ctxt, ::mlir::StringAttr::get($_ctxt, getDivisorsText(divisors)), size);
    }]>
  ];
  let extraClassDeclaration = [{
    bool isStatic() const { return getRole().empty(); }
    /// ceildiv(size, x * y), of which `getRole` is "*x*y", or ceildiv(size, x).
    bool isParts() const { return getRole().getValue().starts_with("*"); }
    ::llvm::SmallVector<::llvm::StringRef, 2> getDivisors() const;
    static std::string getDivisorsText(::llvm::ArrayRef<::taylor::AxisRef> roles);
    /// The extent for given run-time sizes.
    int64_t evaluate(::llvm::function_ref<int64_t(::llvm::StringRef role)> sizeOf) const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_End : I32EnumAttr<"End", "an end of a sequence", [I32EnumAttrCase<"first", 0>, I32EnumAttrCase<"last", 1>]> {
  let cppNamespace = "::mlir::tile";
}

def Tile_LongestAttr : AttrDef<Tile_Dialect, "Longest"> {
  let mnemonic = "longest";
  let summary = "which blocks of a kernel take longest, and what neighbours read in common";
  let description = [{
    `longest(last)` of a kernel: of blocks that differ in the last extent of the grid alone, the
    last takes longest, and each one before it no longer than the next; `longest(first)` the other
    way round. `longest(last, u * 256)`: all of them read 256 bytes for each of the U keys (or less,
    where the mask leaves keys out), the same bytes.
  }];
  let parameters = (ins "::mlir::tile::End":$end, "::mlir::StringAttr":$role, "int64_t":$bytes);
  let extraClassDeclaration = [{
    /// Whether a role and its bytes are known.
    bool hasBytes() const { return getBytes() > 0; }
  }];
  let assemblyFormat = "`<` $end `,` $role `,` $bytes `>`";
  let genVerifyDecl = 1;
}

def Tile_PlanAttr : AttrDef<Tile_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "how a function becomes a tile program: sizes of tiles, the form of grids and of loops";
  let description = [{
    What a target's table says of one function (`taylor::TileSizes`, which describes each field).
    `taylor-plan-tiles` gives it to a `taylor.function`, `taylor-lower-to-tile` hands it on to the
    `tile.program`, and each pass between pairs and a tidy program does what it asks. Only fields
    that differ from their defaults are written.

    ```mlir
    #tile.plan<queries = 32, keys = 64, row_sums = separate, products = bf16>
    ```
  }];
  let parameters = (ins "::taylor::TileSizes":$sizes);
  let hasCustomAssemblyFormat = 1;
}

def Tile_ReductionKind : I32EnumAttr<"ReductionKind", "how elements are combined", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>]> {
  let cppNamespace = "::mlir::tile";
}

def Tile_FeaturesAttr : AttrDef<Tile_Dialect, "Features"> {
  let mnemonic = "features";
  let summary = "monomials of a vector: `#tile.features<64, orders 0 to 2>`, in blocks `#tile.features<64, orders 0 to 2, block 8>`";
  let description = [{
    All distinct monomials of 64 components, of the orders given, in the order and with the
    multiplicities of `dialect/Features/Features.h`. The sum over the features f of multiplicity(f)
    q^f k^f, of order n, is <q, k>^n.
  }];
  let parameters = (ins "int64_t":$channels, "int64_t":$first, "int64_t":$last, DefaultValuedParameter<"int64_t", "1">:$block);
  let assemblyFormat = "`<` $channels `,` `orders` $first `to` $last (`,` `block` $block^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::taylor::Features get() const { return {getChannels(), getFirst(), getLast(), getBlock()}; }
    /// How many there are.
    int64_t getCount() const { return *get().count(); }
  }];
}

class Tile_Type<string name, string mnemonic_> : TypeDef<Tile_Dialect, name> {
  let mnemonic = mnemonic_;
  let parameters = (ins ArrayRefParameter<"::mlir::tile::Axis">:$axes, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_TileType : Tile_Type<"Tile", "tile"> {
  let summary = "a value with named, unordered axes of static size";
  let description = [{
    `!tile.tile<[t = 64, u = 128], f32>`. Axes are a set: they are kept and printed sorted by name,
    and say nothing of a layout. `!tile.tile<[], f32>` is a single element. Element types: f32, f64,
    bf16, f16, i32, i1, index.

    A target may add how it spreads the elements, `!tile.tile<[t = 64, u = 128], f32, #layout>`: its
    own attribute, which no op of this dialect reads. Two tiles that differ in it alone hold the
    same value.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::tile::Axis">:$axes, "::mlir::Type":$elementType, "::mlir::Attribute":$layout);
  let skipDefaultBuilders = 1;
  let builders = [
    TypeBuilder<(ins "::llvm::ArrayRef<::mlir::tile::Axis>":$axes, "::mlir::Type":$elementType,
                     CArg<"::mlir::Attribute", "{}">:$layout), [{
      ::llvm::SmallVector<::mlir::tile::Axis> sorted(axes);
      ::mlir::tile::sortByName(sorted);
      return $_get($_ctxt, ::llvm::ArrayRef<::mlir::tile::Axis>(sorted), elementType, layout);
    }]>
  ];
  let extraClassDeclaration = [{
    /// Size of the axis, or 0 if the tile does not have it.
    int64_t getSize(::taylor::AxisRef axis) const;
    bool hasAxis(::taylor::AxisRef axis) const { return getSize(axis) != 0; }
    int64_t getNumElements() const;
    /// The same axes and layout with another element type.
    TileType withElement(::mlir::Type elementType) const;
    /// The same axes and elements with this layout; null: none.
    TileType withLayout(::mlir::Attribute layout) const;
    /// Without the named axes, and without a layout.
    TileType without(::llvm::ArrayRef<::taylor::AxisRef> names) const;
  }];
}

def Tile_ArrayType : Tile_Type<"Array", "array"> {
  let summary = "memory with named axes, in the order of its layout";
  let description = [{
    `!tile.array<[b, h, t, d = 64], bf16>`: an axis is a role of run-time size (b, h, g, t, u, lag),
    has a constant size, or counts blocks, `i = ceildiv(t, 64)`; `x = t` is an axis named x with the
    size of role t. Strides of tensors are given at run time (the last axis has stride 1 if its size
    is constant); workspace is dense, last axis innermost. Elements are of storage type: f32, f64,
    bf16, f16, i32.
  }];
  let extraClassDeclaration = [{
    /// Position of the axis, or -1.
    int64_t find(::taylor::AxisRef axis) const;
  }];
}
#endif
