// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_DIALECT_TILE_TILEOPS_TD
#define TAYLOR_DIALECT_TILE_TILEOPS_TD
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "dialect/Tile/TileFacts.td"
include "dialect/Tile/TileTypes.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

def Tile_ProgramOp : Tile_Op<"program", [Symbol, SymbolTable, IsolatedFromAbove, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "one function of an artifact: arrays, then kernels in sequence";
  let description = [{
    `plan` says how the program was made, if a target made it, and `form` which function it
    computes, for an artifact. Holds `tile.tensor` ops in the order of the manifest's list for this
    function, then `tile.workspace` ops, then `tile.kernel` ops. A kernel starts when all blocks of
    the one before have finished.

    ```mlir
    tile.program @forward {
      %x = tile.tensor "input:x" : !tile.array<[b, h, t], f32>
      %y = tile.tensor "output:y" : !tile.array<[b, h, t], f32>
      tile.kernel @double grid(%b in b, %h in h, %i in ceildiv(t, 64)) {
        %c64 = arith.constant 64 : index
        %t0 = arith.muli %i, %c64 : index
        %v = tile.load %x[b = %b, h = %h, t = %t0] : !tile.array<[b, h, t], f32> -> !tile.tile<[t = 64], f32>
        %w = tile.map (%s = %v) : (!tile.tile<[t = 64], f32>) -> !tile.tile<[t = 64], f32> {
          %r = arith.addf %s, %s : f32
          tile.yield %r : f32
        }
        tile.store %w, %y[b = %b, h = %h, t = %t0] : !tile.tile<[t = 64], f32>, !tile.array<[b, h, t], f32>
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<Tile_PlanAttr>:$plan, OptionalAttr<Tile_FormAttr>:$form);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name (`plan` qualified($plan)^)? (`form` qualified($form)^)? attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, CArg<"::mlir::tile::PlanAttr", "{}">:$plan,
                               CArg<"::mlir::tile::FormAttr", "{}">:$form)>];
  let extraClassDeclaration = [{
    ::mlir::Block *getBlock() { return &getBody().front(); }
    /// That of its form, or without one that of its name; nothing where it has neither.
    std::optional<::taylor::FunctionRole> getRole();
    /// Whether it is a further form of a function, which another program has the name of.
    bool isTwin();
  }];
}

def Tile_TensorOp : Tile_Op<"tensor", [HasParent<"ProgramOp">]> {
  let summary = "an array that the caller brings";
  let description = [{
    `name` is the manifest's, role and name: "input:q", "output:o", "saved:m", "cotangent:o",
    "gradient:q". An optional tensor may be null at run time; then stores to it must not run: put
    them, and the work that serves them alone, under `tile.requested`.

    ```mlir
    %q = tile.tensor "input:q" : !tile.array<[b, h, t, d = 64], bf16>
    %m = tile.tensor "saved:m" optional : !tile.array<[b, h, t], f32>
    ```
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$optional);
  let results = (outs Tile_ArrayType:$result);
  let assemblyFormat = "$name (`optional` $optional^)? attr-dict `:` qualified(type($result))";
}

def Tile_WorkspaceOp : Tile_Op<"workspace", [HasParent<"ProgramOp">]> {
  let summary = "an array that lives between kernels; contents undefined until stored";
  let description = [{
    Counted in the artifact's workspace; `$name` names it in listings. Extents may depend on
    run-time sizes, but must be O(T) in them: no array of a program has both t and u. `because` is
    for readers of programs, of `--explain` and of the manifest: no pass decides by it.

    ```mlir
    %delta = tile.workspace "delta" : !tile.array<[b, h, t], f32>
    %kr = tile.workspace "columns.0" : !tile.array<[b, g, u, d = 64], f32> because "every block of queries reads it"
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<StrAttr>:$because);
  let results = (outs Tile_ArrayType:$result);
  let assemblyFormat = "$name attr-dict `:` qualified(type($result)) (`because` $because^)?";
}

def Tile_KernelOp : Tile_Op<"kernel", [Symbol, HasParent<"ProgramOp">, NoTerminator, SingleBlock]> {
  let summary = "a grid of independent blocks";
  let description = [{
    One block argument of type index per grid dimension, from 0 to below its extent. Blocks run in
    any order and at the same time, so no two may write the same element (except by
    `tile.accumulate .. atomic`).

    ```mlir
    tile.kernel @attend grid(%b in b, %h in h, %i in ceildiv(t, 64)) { .. }
    tile.kernel @attend grid(%b in b, %h in h, %i in ceildiv(t, 64)) longest(last, u * 256) { .. }
    ```

    `longest` says which of the blocks along the last extent take longest, and how much memory they
    read in common (taylor-order-grid); a target may run these first. `launch` is a target's own, as
    layouts of tiles are: what a launch must know besides the grid, such as the threads of a block.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypedArrayAttrBase<Tile_ExtentAttr, "extents">:$grid, OptionalAttr<Tile_LongestAttr>:$longest,
                       OptionalAttr<AnyAttr>:$launch);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::llvm::ArrayRef<::mlir::tile::ExtentAttr>":$grid)>];
  let extraClassDeclaration = [{
    ::mlir::Block *getBlock() { return &getBody().front(); }
    ::mlir::tile::ExtentAttr getExtent(unsigned i) { return ::llvm::cast<::mlir::tile::ExtentAttr>(getGrid()[i]); }
  }];
}

def Tile_SizeOp : Tile_Op<"size", [Pure]> {
  let summary = "run-time size of a role: b, h, g, t, u, lag (T + U + 256), or `offset`, the position of query 0";
  let description = [{
    Channels have constant sizes and are never asked for.

    ```mlir
    %U = tile.size "u"        // number of keys
    ```
  }];
  let arguments = (ins StrAttr:$role);
  let results = (outs Index:$result);
  let assemblyFormat = "$role attr-dict";
  let hasVerifier = 1;
}

def Tile_RequestedOp : Tile_Op<"requested", [Pure]> {
  let summary = "whether the caller brought an optional tensor";
  let description = [{
    False where the pointer is null: a saved tensor or a gradient that the caller does not ask for.
    What computes it stands under an `scf.if` of this value, so that it costs nothing.

    ```mlir
    %wanted = tile.requested %dq : !tile.array<[b, h, t, d = 64], f32>
    ```
  }];
  let arguments = (ins Tile_ArrayType:$array);
  let results = (outs I1:$result);
  let assemblyFormat = "$array attr-dict `:` qualified(type($array))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

class Tile_WindowDescription<string what, string example> {
  string text = "\n    " # what # [{
    A window names array axes: `t = %t0` places the tile's axis t at element %t0 of the array's; an axis that the tile
    does not have takes the one element given; `u as t = %x` places the tile's axis t along the array's axis u. An axis
    of the tile that is not mentioned starts at 0. `lag as t - u = %x` places two axes of the tile along one of the array:
    the tile's element (t, u) is at %x + t - u, so that all of one diagonal are one element.

    ```mlir
    }] # example # [{
    ```
  }];
}

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>, AttrSizedOperandSegments]> {
  let summary = "window of an array as a tile; 0 beyond its bounds";
  let description = Tile_WindowDescription<[{
    Converts the storage type to the tile's (bf16 to f32). `inside`: the program knows that all of the window lies within the array, and no
    element needs to be compared with its bounds. `until(u = %end)`: elements at place %end of the array's axis u, or
    after it, are 0 too; %end is no more than the array has. }],
    "%K = tile.load %k[b = %b, g = %g, u = %j] : !tile.array<[b, g, u, d = 64], bf16> -> !tile.tile<[u = 128, d = 64], f32>">.text;
  let arguments = (ins Tile_ArrayType:$array, StrArrayAttr:$arrayAxes, StrArrayAttr:$tileAxes, Variadic<Index>:$offsets,
                       Optional<Index>:$end, OptionalAttr<StrAttr>:$endAxis, UnitAttr:$inside);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $array custom<Window>($arrayAxes, $tileAxes, $offsets) (`until` `(` custom<Name>($endAxis) `=` $end^ `)`)? (`inside` $inside^)? attr-dict `:` qualified(type($array)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$array, "::mlir::ArrayAttr":$arrayAxes,
                   "::mlir::ArrayAttr":$tileAxes, "::mlir::ValueRange":$offsets, "bool":$inside), [{
      build($_builder, $_state, result, array, arrayAxes, tileAxes, offsets, ::mlir::Value(), ::mlir::StringAttr(),
            inside);
    }]>
  ];
}

def Tile_LookupOp : Tile_Op<"lookup", [MemoryEffects<[MemRead]>]> {
  let summary = "one element of an array of whole numbers, as an index; 0 beyond its bounds";
  let description = [{
    `x = array[i, ..]`, one place for each of the array's axes, in their order. Bounds of loops are
    read in this way. Kernels before this one have written the array, and this one does not.
    Elements are f32 or f64.

    ```mlir
    %first = tile.lookup %starts[%b, %t0] : !tile.array<[b, u], f32>
    ```
  }];
  let arguments = (ins Tile_ArrayType:$array, Variadic<Index>:$place);
  let results = (outs Index:$result);
  let assemblyFormat = "$array `[` $place `]` attr-dict `:` qualified(type($array))";
  let hasVerifier = 1;
}

class Tile_WriteOp<string mnemonic, list<MemoryEffect> effects> : Tile_Op<mnemonic, [MemoryEffects<effects>]> {
  let arguments = (ins Tile_TileType:$tile, Tile_ArrayType:$array, StrArrayAttr:$arrayAxes, StrArrayAttr:$tileAxes,
                       Variadic<Index>:$offsets);
  let assemblyFormat = [{
    $tile `,` $array custom<Window>($arrayAxes, $tileAxes, $offsets) attr-dict `:` qualified(type($tile)) `,` qualified(type($array))
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_WriteOp<"store", [MemWrite]> {
  let summary = "a tile into a window of an array; nothing happens beyond its bounds";
  let description = Tile_WindowDescription<"Rounds to the storage type. ",
    "tile.store %o, %out[b = %b, h = %h, t = %t0] : !tile.tile<[e = 64, t = 64], f32>, !tile.array<[b, h, t, e = 64], bf16>">.text;
}

def Tile_AccumulateOp : Tile_WriteOp<"accumulate", [MemRead, MemWrite]> {
  let summary = "adds a tile to a window of an array; nothing happens beyond its bounds";
  let description = Tile_WindowDescription<[{
    `array += tile`, in the array's storage type. Within a block additions happen in program order, and no other block
    touches the window, so the result does not depend on threads. Elements of the tile that are one element of the array
    (of a diagonal) are all added, in a fixed order.

    `atomic`: other blocks of the kernel may add to the same elements, each element as if at once. The order of additions is free,
    and with it the last bits of the result. Elements are f32 or f64. }],
    "tile.accumulate %dq, %sums[b = %b, h = %h, t = %i] atomic : !tile.tile<[d = 64, t = 64], f32>, !tile.array<[b, h, t, d = 64], f32>">.text;
  let arguments = (ins Tile_TileType:$tile, Tile_ArrayType:$array, StrArrayAttr:$arrayAxes, StrArrayAttr:$tileAxes,
                       Variadic<Index>:$offsets, UnitAttr:$atomic);
  let assemblyFormat = [{
    $tile `,` $array custom<Window>($arrayAxes, $tileAxes, $offsets) (`atomic` $atomic^)? attr-dict
    `:` qualified(type($tile)) `,` qualified(type($array))
  }];
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "one scalar in every element";
  let description = [{
    `y[i, ..] = x`. The result's element type is x's type.

    ```mlir
    %zeros = tile.splat %zero : f32 -> !tile.tile<[t = 64, e = 64], f32>
    ```
  }];
  let arguments = (ins AnyType:$value);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_PositionOp : Tile_Op<"position", [Pure]> {
  let summary = "start + i along the tile's single axis";
  let description = [{
    ```mlir
    %t = tile.position from %t0 : !tile.tile<[t = 64], index>      // %t0, %t0 + 1, .., %t0 + 63
    ```
  }];
  let arguments = (ins Index:$start);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "`from` $start attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "a scalar region on every element, operands broadcast by axis name";
  let description = [{
    Every result has the union of the operands' axes. The region takes one scalar per operand, may
    read scalars (index, float, i1) from outside, and holds pure ops of arith and math.

    ```mlir
    %w = tile.map (%s = %x, %r = %m) : (!tile.tile<[t = 64, u = 64], f32>, !tile.tile<[t = 64], f32>)
                                       -> !tile.tile<[t = 64, u = 64], f32> {
      %0 = arith.subf %s, %r : f32
      %1 = math.exp %0 : f32
      tile.yield %1 : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_TileType>:$inputs);
  let results = (outs Variadic<Tile_TileType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    // The region is built by `body`, which returns the scalars to yield; result types follow from them.
    OpBuilder<(ins "::mlir::ValueRange":$inputs,
      "::llvm::function_ref<::llvm::SmallVector<::mlir::Value>(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>":$body)>,
    // Result types given, region to be filled by the caller (block and arguments are made).
    OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::ValueRange":$inputs)>
  ];
  let extraClassDeclaration = [{
    ::mlir::Block *getBlock() { return &getBody().front(); }
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, HasParent<"MapOp">]> {
  let summary = "scalars of a map's results";
  let description = [{
    Ends the region of a `tile.map`: one scalar per result, in their order and of their element
    types.

    ```mlir
    tile.yield %sum, %product : f32, f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), "(void)$_builder;">];
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AttrSizedOperandSegments]> {
  let summary = "c + sum over the named axes of a * b";
  let description = [{
    The result has the other axes of a and b, which must be different names. Elements of a and b are
    f32, f64, bf16 or f16; products are accumulated in the result's type, f32 or f64. Where operands
    of f32 may be rounded (`--f32-products=tf32`), those of an `exact` product are not.

    `where`: pairs of elements count where this tile of truth values holds. All others add nothing,
    whatever b holds there. There a must be 0: a target multiplies as ever while b is finite, and
    looks at the mask only where it is not, since 0 times an infinity is not 0. The mask has axes of
    a and b only.

    ```mlir
    %s = tile.dot %q, %k over(d) : !q, !k -> !s
    %n = tile.dot %w, %v over(u) into %c : !s, !v -> !n       // %c : !n
    %x = tile.dot %q, %r over(d) exact : !q, !r -> !x
    %y = tile.dot %w, %v over(u) where %mask : !mask into %c : !s, !v -> !n
    ```
  }];
  let arguments = (ins Tile_TileType:$a, Tile_TileType:$b, Optional<Tile_TileType>:$c, Optional<Tile_TileType>:$where,
                       StrArrayAttr:$over, UnitAttr:$exact);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $a `,` $b `over` `` custom<Names>($over) (`exact` $exact^)? (`where` $where^ `:` qualified(type($where)))? (`into` $c^)? attr-dict
    `:` qualified(type($a)) `,` qualified(type($b)) custom<IntoType>(ref($c), type($c), type($result))
  }];
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b, "::llvm::ArrayRef<::taylor::AxisRef>":$over,
                   CArg<"::mlir::Value", "{}">:$c, CArg<"::mlir::Value", "{}">:$where)>
  ];
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "sum, max or min over the named axes";
  let description = [{
    `y[rest] = sum (max, min) over the named axes of x[rest, named]`, in x's element type. The
    result has the other axes. The order of additions is the target's, but fixed.

    ```mlir
    %m = tile.reduce max %s over(u) : !tile.tile<[t = 64, u = 128], f32> -> !tile.tile<[t = 64], f32>
    ```
  }];
  let arguments = (ins Tile_ReductionKind:$kind, Tile_TileType:$input, StrArrayAttr:$over);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$kind $input `over` `` custom<Names>($over) attr-dict `:` qualified(type($input)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::tile::ReductionKind":$kind, "::mlir::Value":$input, "::llvm::ArrayRef<::taylor::AxisRef>":$over)>
  ];
}

def Tile_ScanOp : Tile_Op<"scan", [Pure, SameOperandsAndResultType]> {
  let summary = "running sum, max or min along an axis of the tile";
  let description = [{
    `y[t] = sum (max, min) over t' <= t of x[t']`; exclusive: t' < t, of no elements 0 (-inf, +inf);
    reverse: t' >= t, or t' > t. A sequence of tiles carries its sum in a loop: `carry + scan`, then
    `carry + reduce`. `within(%d)`, of the same type: only elements with the same d, which stand
    together, so that the scan begins again where d changes.

    ```mlir
    %L = tile.scan sum %f over(t) exclusive : !tile.tile<[t = 64], f32>
    %m = tile.scan max %f over(t) : !tile.tile<[t = 64], f32>
    %s = tile.scan sum %f over(t) within(%d) : !tile.tile<[t = 64], f32>
    ```
  }];
  let arguments = (ins Tile_ReductionKind:$kind, Tile_TileType:$input, Optional<Tile_TileType>:$within, StrAttr:$axis, UnitAttr:$exclusive,
                       UnitAttr:$reverse);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $kind $input `over` `(` custom<Name>($axis) `)` (`within` `(` $within^ `)`)? (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_SliceOp : Tile_Op<"slice", [Pure]> {
  let summary = "elements offset, offset + stride, .. of one axis";
  let description = [{
    ```mlir
    %low = tile.slice %x[d = 0, 32] : !tile.tile<[d = 64, t = 64], f32> -> !tile.tile<[d = 32, t = 64], f32>
    %odd = tile.slice %x[d = 1, 32 step 2] : !tile.tile<[d = 64, t = 64], f32> -> !tile.tile<[d = 32, t = 64], f32>
    ```
    The two numbers are offset and size.
  }];
  let arguments = (ins Tile_TileType:$input, StrAttr:$axis, I64Attr:$offset, I64Attr:$size, DefaultValuedAttr<I64Attr, "1">:$stride);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $input `[` custom<Name>($axis) `=` $offset `,` $size (`step` $stride^)? `]` attr-dict `:` qualified(type($input)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_ConcatOp : Tile_Op<"concat", [Pure]> {
  let summary = "two tiles joined along an axis: a before b, or alternating";
  let description = [{
    The tiles agree in all other axes. `interleaved`: a[0], b[0], a[1], b[1], .., for equal sizes.

    ```mlir
    %r = tile.concat %low, %high along d : !tile.tile<[d = 32, t = 64], f32>, !tile.tile<[d = 32, t = 64], f32> -> !tile.tile<[d = 64, t = 64], f32>
    ```
  }];
  let arguments = (ins Tile_TileType:$a, Tile_TileType:$b, StrAttr:$axis, UnitAttr:$interleaved);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $a `,` $b `along` custom<Name>($axis) (`interleaved` $interleaved^)? attr-dict `:` qualified(type($a)) `,` qualified(type($b)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Features: products of a vector's components
//===----------------------------------------------------------------------===//

def Tile_ExpandOp : Tile_Op<"expand", [Pure]> {
  let summary = "monomials of the vectors along an axis, a panel of them";
  let description = [{
    `P[f, rest] = weight(f) * prod over the components i of feature %f0 + f of x[i, rest]`, for as
    many features as the result's axis has; 0 past the last one. Without `weights` weight(f) is 1 (0
    where a feature fills up a block), with them it is weights[n - first] times the multiplicity of
    the feature, n its order: so the product of an expansion with weights and of one without, summed
    over f, is `sum over n of weights[n - first] <x, y>^n`.

    ```mlir
    #pairs = #tile.features<64, orders 0 to 2>              // 1, x0, .., x63, x0 x0, x0 x1, ..
    %P = tile.expand %x over(d) #pairs from %f0 to(f) weights [1.0, 0.125, 0.0078125]
         : !tile.tile<[d = 64, t = 64], f32> -> !tile.tile<[f = 144, t = 64], f32>
    ```
    A target that tells features apart by blocks at compile time needs %f0 and the panel in whole
    blocks.
  }];
  let arguments = (ins Tile_TileType:$input, StrAttr:$axis, Tile_FeaturesAttr:$features, Index:$start, StrAttr:$to,
                       OptionalAttr<F64ArrayAttr>:$weights);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $input `over` `(` custom<Name>($axis) `)` $features `from` $start `to` `(` custom<Name>($to) `)` (`weights` $weights^)?
    attr-dict `:` qualified(type($input)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Weights by order, from the features' first on; empty without.
    ::llvm::SmallVector<double> getWeightValues();
  }];
}

def Tile_ContractOp : Tile_Op<"contract", [Pure]> {
  let summary = "the adjoint of `tile.expand`: from a panel's cotangent to the vectors'";
  let description = [{
    `y[i, rest] = c[i, rest] + sum over the panel's f of dP[f, rest] * d/dx[i, rest] of P[f, rest]`,
    P as in `tile.expand`.

    ```mlir
    %dx1 = tile.contract %dP over(f) #pairs from %f0 at %x over(d) weights [0.0, 0.125, 0.0078125] into %dx
           : !df, !td, !td -> !td                   // !df = !tile.tile<[f = 24, t = 64], f32>, !td = !tile.tile<[d = 64, t = 64], f32>
    ```
  }];
  let arguments = (ins Tile_TileType:$cotangent, StrAttr:$from, Tile_FeaturesAttr:$features, Index:$start, Tile_TileType:$input,
                       StrAttr:$axis, OptionalAttr<F64ArrayAttr>:$weights, Tile_TileType:$c);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $cotangent `over` `(` custom<Name>($from) `)` $features `from` $start `at` $input `over` `(` custom<Name>($axis) `)`
    (`weights` $weights^)? `into` $c attr-dict
    `:` qualified(type($cotangent)) `,` qualified(type($input)) `,` qualified(type($c)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Weights by order, from the features' first on; empty without.
    ::llvm::SmallVector<double> getWeightValues();
  }];
}
#endif
