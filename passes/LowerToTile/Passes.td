// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_PASSES_LOWERTOTILE_PASSES_TD
#define TAYLOR_PASSES_LOWERTOTILE_PASSES_TD

include "mlir/Pass/PassBase.td"
include "passes/LowerToTile/FusionPasses.td"

def LowerToTilePass : Pass<"taylor-lower-to-tile", "::mlir::ModuleOp"> {
  let summary = "each function of arrays into a tile program: a short sequence of kernels";
  let description = [{
    Requires the function's kernels (`taylor-plan-kernels`).

    Rule: `taylor.function @f.forward` becomes `tile.program @forward`, and each of its
    `fusion.kernel` a `tile.kernel` (two for states). Values that the function keeps are workspace.
    All others are computed in the kernels that read them (README.md). Sums into rows are a loop
    over keys inside a block of queries, sums into columns a loop over queries inside blocks of
    keys. Both split into tiles that need the mask and tiles that do not. The size of tiles and the
    axes on the grid are those of the function's plan (`taylor-plan-tiles`), which the program
    keeps; without a plan, the defaults of TileSizes.h.

    Where less exact instructions give enough, operations say so by a fast-math flag
    (`Precision.cpp`): exponentials of differences from a running maximum or between running sums,
    which are factors of weights, unless a weight has numbers next to exponentials; quotients and
    square roots, unless a floor or a comparison reads them, also in another operation.

    ```mlir
    taylor.function @f.forward of @f("input:q" %q: !q, ..) {
      %n = taylor.pairwise { .. } visible(u <= t) -> rows(w, %v) ..
      fusion.kernel @attend local stage 0 grid(b, h, t) { .. fusion.store %n as ["output:o"] : !o }
      taylor.yield "output:o" %n : !o
    }
    // becomes
    tile.program @forward {
      %0 = tile.tensor "input:q" : ..
      tile.kernel @attend grid(%b in b, %h in h, %i in ceildiv(t, 64)) { .. scf.for .. tile.dot .. tile.store .. }
    }
    ```
  }];
  let statistics = [
    Statistic<"numKernels", "kernels", "kernels">,
    Statistic<"numWorkspaces", "workspaces", "arrays in workspace">
  ];
  let dependentDialects = ["::mlir::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::taylor::fusion::FusionDialect"];
}

def PlanTilesPass : Pass<"taylor-plan-tiles", "::mlir::ModuleOp"> {
  let summary = "a plan for each function: sizes of tiles, the form of grids and of loops";
  let description = [{
    Rule: each `taylor.function` gets `plan #tile.plan<..>` of the option `tiles`, in place of one
    that it has. The passes after it read sizes there, and run on the functions whose plan asks for
    them: one pipeline serves all functions, forms and targets. taylorc takes plans from the
    target's table instead.

    ```mlir
    taylor.function @f.forward of @f(..) { .. }
    // becomes, tiles=queries=32,row-sums=separate
    taylor.function @f.forward of @f(..) plan #tile.plan<queries = 32, row_sums = separate> { .. }
    ```
  }];
  let options = [Option<"tiles", "tiles", "std::string", /*default=*/"\"\"",
    "sizes that differ from the defaults of TileSizes.h, such as 'queries=64,keys=128,row-sums=separate'">];
  let statistics = [Statistic<"numPlanned", "planned", "functions with a plan">];
  let dependentDialects = ["::mlir::tile::TileDialect"];
}

def DescribeProgramsPass : Pass<"taylor-describe-programs", "::mlir::ModuleOp"> {
  let summary = "what the manifest tells of programs, as an attribute of the module";
  let description = [{
    Rule: `tile.programs` of the module lists for each `tile.program` its name, form, arrays and
    kernels, and why arrays of the workspace have memory. It stays where targets make code of the
    programs. A program without `form` counts as the parallel form of the function of its name.

    ```mlir
    module {
      tile.program @forward form #tile.form<parallel of forward> {
        %x = tile.tensor "input:x" : !tile.array<[b, h, t], f32>
        tile.kernel @double grid(%b in b, %h in h, %i in ceildiv(t, 64)) { .. }
    // becomes
    module attributes {tile.programs = [#tile.program_facts<"forward", form = <parallel of forward>,
        tensors = [#tile.named_array<"input:x", !tile.array<[b, h, t], f32>>], kernels = ["double"], workspace = []>]} {
      tile.program @forward form #tile.form<parallel of forward> { .. }
    ```
  }];
  let statistics = [Statistic<"numDescribed", "described", "programs that the module describes">];
  let dependentDialects = ["::mlir::tile::TileDialect"];
}

def NarrowProductsPass : Pass<"taylor-narrow-products", "::mlir::ModuleOp"> {
  let summary = "operands of products in a 16-bit type, sums in f32";
  let description = [{
    Rule: an f32 operand of a `tile.dot` between two matrices becomes a bf16 (or f16) tile. A load
    gives that type. A map rounds the operand that it computes, and keeps it in f32 too where
    something else reads it. Workspace that only products read holds the narrow type. Results of
    products stay f32. For targets that multiply 16-bit numbers faster than they multiply f32.

    ```mlir
    %k = tile.load %a [u = %i] : !tile.array<[u, d = 64], bf16> -> !tile.tile<[d = 64, u = 64], f32>
    %s = tile.dot %q, %k over(d) : !tile.tile<[d = 64, t = 64], f32>, !tile.tile<[d = 64, u = 64], f32> -> !tile.tile<[t = 64, u = 64], f32>
    // becomes, type=bf16
    %k = tile.load %a [u = %i] : !tile.array<[u, d = 64], bf16> -> !tile.tile<[d = 64, u = 64], bf16>
    %s = tile.dot %q, %k over(d) : !tile.tile<[d = 64, t = 64], bf16>, !tile.tile<[d = 64, u = 64], bf16> -> !tile.tile<[t = 64, u = 64], f32>
    ```
  }];
  let options = [Option<"type", "type", "::taylor::ProductType", /*default=*/"::taylor::ProductType::BF16", "narrow type", [{::llvm::cl::values(
    clEnumValN(::taylor::ProductType::BF16, "bf16", ""), clEnumValN(::taylor::ProductType::F16, "f16", ""))}]>];
  let statistics = [Statistic<"numNarrowed", "narrowed", "operands of products in a 16-bit type">];
  let dependentDialects = ["::mlir::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def TransposeOperandsPass : Pass<"taylor-transpose-operands", "::mlir::ModuleOp"> {
  let summary = "operands that loops read, with the axis that their products sum contiguous in memory";
  let description = [{
    Rule: let a `tile.dot` in a loop sum along the tokens that come with the loop. One operand is
    loaded there, from an array that ends with channels; the other is computed there from scores
    whose other axis stays through the loop. Then the loaded operand comes from workspace with
    tokens last, which a kernel before the loop's kernel writes once. Nothing writes the array after
    that kernel.

    For matrix units whose left operands have the summed axis contiguous (AMX): without the pass
    each block would transpose each tile again.

    ```mlir
    scf.for %j = .. {
      %v = tile.load %values [u = %j] : !tile.array<[u, e = 64], bf16> -> !tile.tile<[e = 64, u = 128], bf16>
      %o = tile.dot %w, %v over(u) into %sum : ..
    }
    // becomes
    tile.kernel @transpose_0 grid(%i in ceildiv(u, 64)) {
      %x = tile.load %values [u = %u] : !tile.array<[u, e = 64], bf16> -> !tile.tile<[e = 64, u = 64], bf16>
      tile.store %x, %transposed [u = %u] : !tile.tile<[e = 64, u = 64], bf16>, !tile.array<[e = 64, u], bf16>
    }
    scf.for %j = .. {
      %v = tile.load %transposed [u = %j] : !tile.array<[e = 64, u], bf16> -> !tile.tile<[e = 64, u = 128], bf16>
      %o = tile.dot %w, %v over(u) into %sum : ..
    }
    ```
  }];
  let statistics = [Statistic<"numTransposed", "transposed", "arrays that a kernel transposes for others">];
  let dependentDialects = ["::mlir::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def SplitProductsPass : Pass<"taylor-split-products", "::mlir::ModuleOp"> {
  let summary = "operands of products as two numbers of a 16-bit type";
  let description = [{
    Rule: let x be an f32 operand of a `tile.dot` between two matrices, computed or from memory that
    holds f32. Its rest is what rounding to bf16 (or f16) takes from it, x - round(x). After the
    product, a second product of the rest with the other operand is added; if both operands have
    rests, a third of the other's rest. The product of both rests is left out.
    `taylor-narrow-products` comes afterwards and rounds all operands: x becomes the sum of two
    numbers of the narrow type, with twice its digits. An infinite number has no rest, but its
    product with the other operand's rest may be NaN.

    Numbers of the narrow type have no rest: those loaded from such memory, also if a map chooses
    among them (a mask, a ReLU), and also through workspace. Other memory that products alone read
    gets a twin for the rests.

    Why: results that are rounded to bf16 are 1.5e-3 to 1.7e-3 off. Operands rounded to bf16 take
    gradients of sums of finitely many orders to 3e-3 and 6e-3, since scores' cotangents cancel.
    That is less than eager code's error, and the default. Two numbers (`--bf16-products=split`)
    hold outputs and gradients of such sums to 3e-3. Two products of 16-bit numbers cost as much as
    one of tf32, and operands without a rest take half its memory.

    ```mlir
    %o = tile.dot %w, %v over(u) into %c : !tile.tile<[t = 64, u = 64], f32>, !tile.tile<[e = 64, u = 64], bf16> -> !tile.tile<[e = 64, t = 64], f32>
    // becomes, type=bf16
    %0 = tile.dot %w, %v over(u) into %c : ..
    %r = tile.map (%x = %w) { %n = arith.truncf %x, %y = arith.extf %n, %z = arith.subf %x, %y } : ..
    %o = tile.dot %r, %v over(u) into %0 : ..
    ```
  }];
  let options = [Option<"type", "type", "::taylor::ProductType", /*default=*/"::taylor::ProductType::BF16", "narrow type", [{::llvm::cl::values(
    clEnumValN(::taylor::ProductType::BF16, "bf16", ""), clEnumValN(::taylor::ProductType::F16, "f16", ""))}]>];
  let statistics = [Statistic<"numRests", "rests", "products with a rest of an operand">];
  let dependentDialects = ["::mlir::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def WidenProjectionsPass : Pass<"taylor-widen-projections", "::mlir::ModuleOp"> {
  let summary = "f64 for projections of cotangents: the derivatives of norms";
  let description = [{
    Rule: in a `tile.kernel` without products, a reduction that depends on a cotangent and returns
    to an axis it reduced, as in `g - y <g, y>`, is computed in f64, with all that follows from it
    and all that it is computed from. Loads widen and stores narrow. Other readers of the same
    sources keep them in f32, since scores that a backward computes again must round as those of the
    forward did.

    Why: the derivative of a norm is orthogonal to the norm's operand. Gradients of factors to which
    the norm is invariant (a gate, a value that is the only one) are products of the two and cancel;
    most of what is left would be the rounding of several f32 operations. A reduction that does not
    return (<dO, O> of softmax) is no reason. Such a kernel is local to tokens, O(T) of the whole
    O(T^2).

    Kernels that touch a storage type other than f32 stay as they are: inputs in bf16 have fewer
    digits than f32 loses, and f64 needs nothing. So do kernels in which a result enters a loop or a
    condition.

    ```mlir
    %g = tile.load %do [t = %t0] : !tile.array<[t, e = 16], f32> -> !tile.tile<[e = 16, t = 64], f32>   // "cotangent:o"
    %m = tile.reduce sum %g over(e) : !tile.tile<[e = 16, t = 64], f32> -> !tile.tile<[t = 64], f32>
    %x = tile.map (%a = %g, %b = %m) { %c = arith.subf %a, %b : f32 .. }
    // becomes
    %g = tile.load %do [t = %t0] : !tile.array<[t, e = 16], f32> -> !tile.tile<[e = 16, t = 64], f64>
    %m = tile.reduce sum %g over(e) : !tile.tile<[e = 16, t = 64], f64> -> !tile.tile<[t = 64], f64>
    %x = tile.map (%a = %g, %b = %m) { %c = arith.subf %a, %b : f64 .. }
    ```
  }];
  let statistics = [Statistic<"numWidened", "widened", "kernels with f64">];
}

def ReduceFirstPass : Pass<"taylor-reduce-first", "::mlir::ModuleOp"> {
  let summary = "a maximum before a function that rises with its operand";
  let description = [{
    Rule: the maximum over axes of F(x, r), with F rising in x and r without these axes, becomes F
    of the maximum of x. F may multiply by and divide by a positive number, add r, subtract r, and
    take a maximum or minimum with r. The map over the wide tile then has one reader less, often
    none.

    Results have the same bits: each of these operations rounds monotonically, so the largest x
    gives the largest F(x), and NaN comes through both ways. (Where -0 and 0 meet, either may be the
    maximum, before and after.)

    ```mlir
    %x = tile.map (%a = %s) : (!tile.tile<[t = 64, u = 64], f32>) -> !tile.tile<[t = 64, u = 64], f32> { %0 = arith.mulf %a, %scale : f32  tile.yield %0 : f32 }
    %m = tile.reduce max %x over(u) : !tile.tile<[t = 64, u = 64], f32> -> !tile.tile<[t = 64], f32>
    // becomes, %scale a positive constant
    %0 = tile.reduce max %s over(u) : !tile.tile<[t = 64, u = 64], f32> -> !tile.tile<[t = 64], f32>
    %m = tile.map (%a = %0) : (!tile.tile<[t = 64], f32>) -> !tile.tile<[t = 64], f32> { %1 = arith.mulf %a, %scale : f32  tile.yield %1 : f32 }
    ```
  }];
  let statistics = [Statistic<"numMoved", "moved", "maxima before a rising function">];
  let dependentDialects = ["::mlir::tile::TileDialect"];
}

def ShareMapsPass : Pass<"taylor-share-maps", "::mlir::ModuleOp"> {
  let summary = "what an earlier map computed is read and not computed again";
  let description = [{
    Rule: let an earlier `tile.map` of the same block give a tile that took a quotient or a function
    of `math` other than a rounding. Where a later map computes the same from the same tiles, it
    reads that tile, if it then needs one of its own tiles less. A tile that the earlier map masks
    (`select(mask, x, constant)`) serves for x where the later map uses x under the same mask alone.
    Results have the same bits.

    Why: a score's map (a soft cap's tanh) stands under the running maximum and again in the
    weights. A processor kept the scores for the second one, in memory; now it keeps what was made
    of them, in the same place. The forward of softmax-soft-cap is 1.29 times as fast
    (codegen/Targets/CPU/README.md). A GPU's compiler sees both maps as one piece of code.

    ```mlir
    %x = tile.map (%a = %s) : (!tu) -> !tu { %0 = math.tanh %a : f32  tile.yield %0 : f32 }
    %m = tile.reduce max %x over(u) : !tu -> !t
    %w = tile.map (%a = %s, %b = %m) : (!tu, !t) -> !tu { %0 = math.tanh %a : f32  %1 = arith.subf %0, %b : f32  %2 = math.exp %1 : f32  tile.yield %2 : f32 }
    // becomes
    %w = tile.map (%b = %m, %y = %x) : (!t, !tu) -> !tu { %1 = arith.subf %y, %b : f32  %2 = math.exp %1 : f32  tile.yield %2 : f32 }
    ```
  }];
  let dependentDialects = ["::mlir::tile::TileDialect"];
  let statistics = [Statistic<"numShared", "shared", "maps that read what an earlier one computed">];
}

def FormProductsPass : Pass<"taylor-form-products", "::mlir::ModuleOp"> {
  let summary = "sums of the products of two matrices as products of matrices";
  let description = [{
    Rule: the sum over one axis of a map that multiplies two tiles, each with that axis and another
    one, becomes their `tile.dot`. Where a map between puts 0 beyond the last token, both tiles get
    the 0. Elements keep their type, so the pass comes after `taylor-narrow-products`, which rounds
    the products of pairs: learned features and their gradients are as exact as the sums that they
    were, also under `--f32-products=tf32`. All sizes must be multiples of 8, which every target
    multiplies, elements of f32 or f64, and the operands at most product-bytes.

    Why: the map has a number for each of three axes. A processor keeps it in memory. A GPU's thread
    has its part in registers, thousands of instructions one after the other, and ptxas takes a
    minute for them.

    ```mlir
    %p = tile.map (%a = %q, %b = %w) : (!tile.tile<[d = 64, t = 64], f32>, !tile.tile<[d = 64, r = 16], f32>) -> !tile.tile<[d = 64, r = 16, t = 64], f32> { %0 = arith.mulf %a, %b : f32  tile.yield %0 : f32 }
    %x = tile.reduce sum %p over(d) : !tile.tile<[d = 64, r = 16, t = 64], f32> -> !tile.tile<[r = 16, t = 64], f32>
    // becomes
    %x = tile.dot %q, %w over(d) : !tile.tile<[d = 64, t = 64], f32>, !tile.tile<[d = 64, r = 16], f32> -> !tile.tile<[r = 16, t = 64], f32>
    ```
  }];
  let options = [Option<"productBytes", "product-bytes", "int64_t", /*default=*/"0",
                        "most bytes of a product's operands; 0: any">];
  let dependentDialects = ["::mlir::tile::TileDialect"];
  let statistics = [Statistic<"numFormed", "formed", "products formed">];
}

def FoldExponentsPass : Pass<"taylor-fold-exponents", "::mlir::ModuleOp"> {
  let summary = "exp of a scaled and shifted tile as exp2 of one fused multiply-add";
  let description = [{
    Rule: in a `tile.map`, let r have fewer axes than x. Then exp(x * c + r) of f32 becomes
    exp2(fma(x, c log2(e), r log2(e))). Factors that are numbers, signs and summands on fewer axes
    are gathered, and a map on their own axes computes values with fewer axes. Machines have exp2;
    exp costs them a multiplication and the care for its rounding.

    exp of a difference of two tiles on the axes of the map's result, one of them carried (a running
    maximum's exp(before - after)), becomes exp2 of the difference times log2(e). It is 1 where the
    maximum stays, however a target fuses products and sums.

    Error: with m' = m log2(e) rounded once, a weight's exponent is x c' - m', rounded once by the
    fma. The rounding of m' is one factor per row, the same in every weight that m shifts, in the
    forward and in the backward, which reads the same m. It cancels wherever sums are divided by
    sums. Otherwise, and between weights that were added before and after the maximum moved, it is
    2^-24 |m'|, no more than the score's own rounding. The rounding of c' changes the score's scale
    by a factor 1 + 2^-24, less than the score's own rounding does.

    Measured (`taylor-run SPEC --check`, B = 1, H = 2, T = 65, d = 32, all specifications, forward
    and backward): within the contract in bf16 and f32, with logits as they are and 60 times as
    large, by the tile evaluator and by the PTX interpreter. At T = 512, d = 64, with the maximum
    taken first, softmax needs 2.5 instructions per visible pair less in its forward on sm_80, and
    1.25 less in each kernel of its backward.

    ```mlir
    %w = tile.map (%a = %s, %b = %m) : (!tu, !t) -> !tu { %0 = arith.mulf %a, %scale : f32  %1 = arith.subf %0, %b : f32  %2 = math.exp %1 : f32  tile.yield %2 : f32 }
    // becomes, with %scale2 = %scale * log2(e)
    %m2 = tile.map (%b = %m) : (!t) -> !t { %0 = arith.mulf %b, %minus_log2e : f32  tile.yield %0 : f32 }
    %w = tile.map (%a = %s, %b = %m2) : (!tu, !t) -> !tu { %0 = math.fma %a, %scale2, %b : f32  %1 = math.exp2 %0 : f32  tile.yield %1 : f32 }
    ```
  }];
  let statistics = [Statistic<"numFolded", "folded", "exponentials written as exp2">];
  let dependentDialects = ["::mlir::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def FoldScoreScalePass : Pass<"taylor-fold-score-scale", "::mlir::ModuleOp"> {
  let summary = "the scale of a score goes into the coefficients of its polynomials";
  let description = [{
    Rule: let x = s * c in the weights of a `taylor.pairwise`, with a score s and a number c.
    Everything that is computed from x by sums and products is written in s, with the powers of c in
    its numbers, if that has fewer operations: a x^2 becomes (a c^2) s^2. An exponential of x - m
    alone stays: it has no fewer. So does what would have a coefficient outside of 1e-30 to 1e30,
    where f32 has all digits.

    A power s^n without Horner's rule that is over 2^16 times x^n, or under 2^-16, may leave f32
    where x^n does not. So K x^n becomes y^n with y = s (K c^n)^(1/n). Each power of y lies between
    1 and K x^n. The one multiplication of y is in the place of K's.

    Why: a series of order n takes a multiplication and an addition for each order and pair, in one
    instruction; the scale was one more. Coefficients round once, as they did.

    ```mlir
    taylor.pairwise { s = dot(%q, %k), x = s * 0.125, w = (x * 0.5 + 1.0) * x + 1.0 } visible(u <= t) -> rows(w, %v)
    // becomes
    taylor.pairwise { s = dot(%q, %k), w = (s * 0.0078125 + 0.125) * s + 1.0 } visible(u <= t) -> rows(w, %v)
    ```

    ```mlir
    taylor.pairwise { s = dot(%q, %k), x = s * 0.125, x2 = x * x, x4 = x2 * x2, x8 = x4 * x4, w = x8 * x2 * 2.755e-07 + (x * 0.5 + 1.0) * x } visible(u <= t) -> rows(w, %v)
    // becomes
    taylor.pairwise { s = dot(%q, %k), y = s * 0.0276009, y2 = y * y, y4 = y2 * y2, y8 = y4 * y4, w = y8 * y2 + (s * 0.0078125 + 0.125) * s } visible(u <= t) -> rows(w, %v)
    ```
  }];
  let dependentDialects = ["::taylor::TaylorDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numFolded", "folded", "scores without a scale">];
}

def JoinKernelsPass : Pass<"taylor-join-kernels", "::mlir::ModuleOp"> {
  let summary = "two small kernels, over queries and over keys, as one";
  let description = [{
    Rule: two kernels that follow each other, one over blocks of queries and the other over blocks
    of as many keys, become one over the blocks of both where neither writes what the other reads or
    writes, and both work element by element (no loop, product, reduction or sum in memory). The
    grid is that of the role lag, T + U + 256 tokens; blocks past the second kernel's do nothing.
    The tables of angles of queries and of keys (`taylor.rope`) are such a pair: a launch less in
    each call.

    ```mlir
    tile.kernel @angles_t grid(%i in ceildiv(t, 64)) { .. tile.store %x, %cosines_t[t = %t0] .. }
    tile.kernel @angles_u grid(%i in ceildiv(u, 64)) { .. tile.store %y, %cosines_u[u = %u0] .. }
    // becomes
    tile.kernel @angles_t_and_u grid(%n in ceildiv(lag, 64)) {
      %first = arith.ceildivsi %T, %c64 : index
      %is_first = arith.cmpi slt, %n, %first : index
      scf.if %is_first { .. tile.store %x, %cosines_t[t = %t0] .. }
      else { %i = arith.subi %n, %first : index  .. scf.if %is_second { .. tile.store %y, %cosines_u[u = %u0] .. } }
    }
    ```
  }];
  let dependentDialects = ["::mlir::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numJoined", "joined", "pairs of kernels joined">];
}

def OrderGridPass : Pass<"taylor-order-grid", "::mlir::ModuleOp"> {
  let summary = "which blocks of a kernel take longest";
  let description = [{
    Rule: where every loop of a kernel runs for longer in each next block along the last extent of
    the grid (or for as long), the kernel says `longest(last)`, and `longest(first)` where loops run
    for less; also how many bytes of each token these blocks read in common. Bounds are index
    arithmetic on the block's number: sums, minima and maxima, multiples, a choice that is the same
    for all blocks. Nothing is said where all blocks take as long, or where bounds are read from
    memory (documents) or move at both ends (windows). Numbers of blocks and results do not change.

    A target that runs long blocks first has no long one at the end, when most of its processors are
    idle; and with as many heads at a time as its cache holds, what they read in common is read from
    memory once.

    ```mlir
    tile.kernel @attend grid(%b in b, %h in h, %i in ceildiv(t, 128)) {
      %t0 = arith.muli %i, %c128 : index
      %end = arith.addi %t0, %c128 : index
      scf.for %u0 = %c0 to %end step %c64 { %k = tile.load %keys[b = %b, h = %h, u = %u0] : !tile.array<[b, h, u, d = 64], bf16> -> .. }
    }
    // becomes
    tile.kernel @attend grid(%b in b, %h in h, %i in ceildiv(t, 128)) longest(last, u * 128) { .. }
    ```
  }];
  let statistics = [Statistic<"numOrdered", "ordered", "kernels whose longest blocks are known">];
  let dependentDialects = ["::mlir::tile::TileDialect"];
}

#endif
