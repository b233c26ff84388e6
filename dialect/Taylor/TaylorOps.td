// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_OPS_TD
#define TAYLOR_OPS_TD

include "dialect/Taylor/TaylorAttrs.td"
include "dialect/Taylor/TaylorInterfaces.td"
include "dialect/Taylor/TaylorTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Taylor_Op<string mnemonic, list<Trait> traits = []> : Op<Taylor_Dialect, mnemonic, traits>;

// An operation on arrays: custom syntax (formulas), verified, differentiable.
class Taylor_ArrayOp<string mnemonic, list<Trait> traits = []>
    : Taylor_Op<mnemonic, !listconcat([Pure], traits)> {
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

defvar Differentiable = DeclareOpInterfaceMethods<Taylor_DifferentiableOpInterface>;

// What passes ask of operations on arrays (TaylorInterfaces.td); an operation says what differs from a map.
defvar OfArrays = Taylor_ArrayOpInterface;
defvar HasFormula = Taylor_FormulaOpInterface;

//===----------------------------------------------------------------------===//
// Containers
//===----------------------------------------------------------------------===//

def Taylor_SpecOp : Taylor_Op<"spec", [IsolatedFromAbove, Symbol, SingleBlock,
                                       DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "one attention";
  let description = [{
    The maths of one attention, from named arguments to named results. An argument says where a
    model gets it (`from projection(bias)`, `from parameter(ones)`, `from input`); `from projection`
    is the default of an array with a token axis. `parameters(order : index = 10)` are numbers that
    are free until compilation (`--set order=4`).

    ```mlir
    taylor.spec @softmax(%q: !q, %k: !k, %v: !v) {
      %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
      %o = taylor.map %n / %z : !o, !row
      taylor.yield %o : !o
    }
    ```
    Arguments and results keep their names: a checkpoint's tensors are named after them.

    `prepares_keys`, after the parameters, says that calls see new keys alone, and that its results
    are what later calls read of them: `cache.NAME`, and `final.NAME` where one call goes on in the
    next. Only `taylor-prepare-keys` writes it.

    ```mlir
    taylor.spec @softmax_keys(%k: !k, %v: !v) prepares_keys { .. taylor.yield "cache.v" %v, "cache.key0" %kr : !v, !k }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$arg_names,
                       TypedArrayAttrBase<Taylor_SourceAttr, "list of sources">:$sources,
                       DictionaryAttr:$parameters, UnitAttr:$prepares_keys);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Taylor_FunctionOp : Taylor_Op<"function", [IsolatedFromAbove, Symbol, SingleBlock,
                                               DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a derived function of a specification: its forward or its backward";
  let description = [{
    What `taylor-derive-backward` makes of a specification: `@NAME.forward` from inputs to outputs
    and saved arrays, `@NAME.backward` from inputs, outputs, saved arrays and cotangents to
    gradients. `arg_names` and the names of the yield are the roles of runtime/MANIFEST.md:
    `input:q`, `saved:m`, `cotangent:o`; `output:o`, `gradient:q`. `sources` (forward only) and
    `spec_name` carry what the manifest tells a model. `plan #tile.plan<..>`, after the parameters,
    says how the function becomes a tile program (`taylor-plan-tiles`), and after it
    `form #tile.form<..>` what the manifest tells of that program. `prepares_keys`, the last word
    before the attributes, is the specification's.

    ```mlir
    taylor.function @softmax.forward of @softmax("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [...] {
      ...
      taylor.yield "output:o" %o, "saved:m" %m : !o, !row
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$spec_name, StrArrayAttr:$arg_names,
                       OptionalAttr<TypedArrayAttrBase<Taylor_SourceAttr, "list of sources">>:$sources,
                       DefaultValuedAttr<DictionaryAttr, "{}">:$parameters,
                       OptionalAttr<AnyAttr>:$plan, OptionalAttr<AnyAttr>:$form, UnitAttr:$prepares_keys);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// The part of the name after the specification's: "forward", "forward_chunked".
    ::llvm::StringRef getRole() { return getSymName().rsplit('.').second; }
    /// Whether it is another form of a function of the module (taylor-plan-forms).
    bool isTwin();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Taylor_YieldOp : Taylor_Op<"yield", [Pure, Terminator, ParentOneOf<[
    "SpecOp", "FunctionOp", "MapOp", "ReduceOp", "ScanOp", "RecurrencesOp", "RecurrenceOp", "PairwiseOp"]>]> {
  let summary = "the results of a specification, a function or a region";
  let description = [{
    A specification's results keep the names of their values; in a function each name is written; in
    a region the operands are scalars and have no names.

    ```mlir
    taylor.yield %o : !o                                    // in a specification
    taylor.yield "output:o" %o, "saved:m" %m : !o, !row     // in a function
    taylor.yield %y : f64                                   // in a region
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values, OptionalAttr<StrArrayAttr>:$names);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Sums over keys
//===----------------------------------------------------------------------===//

def Taylor_RecurrencesOp : Taylor_ArrayOp<"recurrences", [AttrSizedOperandSegments]> {
  let summary = "the sum of recurrences over Taylor orders";
  let description = [{
    With s[t,u] = scale * <q[t], k[u]>, x = score(s), and position p = offset + t of query t:

        f(x)   = sum over orders n of c[n] x^n       or the formula of `weight`
        w[t,u] = visible[t,u] * exp(L[p] - L[u]) * f(x[t,u])
        N[t]   = sum_u w[t,u] v[u]      [b, h, t, e]     `numerator`
        Z[t]   = sum_u w[t,u]           [b, h, t]        `mass`
        n[t]   = sum_u visible[t,u]     [b, h, t]        `count`

    (Paper, section 3.1.) Clauses, in any order:

    | clause | meaning | default |
    |---|---|---|
    | `orders(all)`, `orders(a to b)` | which orders; b may be a parameter | one of orders, weight, exponential is required |
    | `coefficients(factorial)`, `coefficients(1.0, 0.5)` | c[n] = 1/n!, or explicit, from order a on | factorial |
    | `weight(F)` | f as a formula in s (after `score`) | |
    | `exponential` | `orders(all) coefficients(factorial) scale(rsqrt(size(d)))` | |
    | `scale(F)` | formula of sizes and parameters | 1 |
    | `score(F)` | formula in s, arrays without channel, t, u, h | s |
    | `decay(%L)` | running log-decay over u | none |
    | `causal`, `bidirectional` | u <= t, in positions; or all | required |
    | `visible(F, ..)` | further conditions; all must hold | |

    ```mlir
    %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to order) scale(rsqrt(size(d))) causal : !q, !k, !v
    %o = taylor.recurrences %q, %k, %v exponential score(s + %bias) causal visible(%dq == %dk) decay(%L)
         : !q, !k, !v, !L, !bias, !docq, !dock
    ```
    Types after the colon: of the query, the key, the value, the decay if there is one (wherever its
    clause stands), then of the arrays in formulas, each once, in order of appearance. Lowers to
    `taylor.pairwise`; a finite sum expands into `taylor.recurrence` operations, one per order.

    Canonical form: unread sums go; so do `scale(1.0)`, `score(s)`, operands that no formula reads,
    and explicit coefficients 0 at either end of the orders.
  }];
  let arguments = (ins Taylor_ArrayType:$query, Taylor_ArrayType:$key, Taylor_ArrayType:$value,
                       Optional<Taylor_ArrayType>:$decay, Variadic<Taylor_ArrayType>:$extras,
                       Taylor_SumArrayAttr:$sums, UnitAttr:$all_orders,
                       OptionalAttr<AnyAttrOf<[I64Attr, StrAttr]>>:$first_order,
                       OptionalAttr<AnyAttrOf<[I64Attr, StrAttr]>>:$last_order,
                       OptionalAttr<F64ArrayAttr>:$coefficients, Taylor_MaskAttr:$mask);
  let results = (outs Variadic<Taylor_ArrayType>:$results);
  let regions = (region AnyRegion:$scale, AnyRegion:$score, AnyRegion:$weight, AnyRegion:$visible);
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Result types for these operands: N has the joined axes of query and value with u gone.
    static ::mlir::FailureOr<::llvm::SmallVector<::mlir::Type>>
    inferResultTypes(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError, ArrayType query, ArrayType key,
                     ArrayType value, ::mlir::ArrayAttr sums);
    /// The result of a sum, or null.
    ::mlir::Value getSum(Sum sum);
  }];
}

def Taylor_RecurrenceOp : Taylor_ArrayOp<"recurrence", [AttrSizedOperandSegments]> {
  let summary = "one recurrence, of one order, with its state";
  let description = [{
    Order n is the linear recurrence with a state of shape [d^n, e] (paper, equation 3 for n = 1):

        H[t] = H[t-1] + (k[t]^(x)n)^T v[t]             H[-1] = state, or 0
        O[t] = coefficient * scale^n * q[t]^(x)n . H[t]

    `mass` is the same with v = 1. The sum `state` is the state after the last key, [b, g, e, f]
    with f = d^n.

    ```mlir
    %n2, %z2 = taylor.recurrence [numerator, mass] %q, %k, %v order(2) coefficient(0.5) scale(rsqrt(size(d))) causal : !q, !k, !v
    ```
    `taylor-expand-recurrences` makes it, `taylor-collect-recurrences` sums it back into
    `taylor.recurrences`.

    Canonical form: unread sums go, and so does `scale(1.0)`.
  }];
  let arguments = (ins Taylor_ArrayType:$query, Taylor_ArrayType:$key, Taylor_ArrayType:$value,
                       Optional<Taylor_ArrayType>:$decay, Optional<Taylor_ArrayType>:$state,
                       Taylor_SumArrayAttr:$sums, I64Attr:$order, F64Attr:$coefficient, Taylor_MaskAttr:$mask);
  let results = (outs Variadic<Taylor_ArrayType>:$results);
  let regions = (region AnyRegion:$scale);
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getSum(Sum sum);
  }];
}

def Taylor_PairwiseOp : Taylor_ArrayOp<"pairwise", [AttrSizedOperandSegments, Differentiable]> {
  let summary = "a scalar function of all visible pairs, summed into rows, columns or parameters";
  let description = [{
    For every visible pair (t, u) the region sees inner products of rows with columns, row scalars,
    column scalars, parameters and positions, and yields scalars; each output sums one of them:

    | output | meaning | axes added |
    |---|---|---|
    | `rows(w, %b)`    | y[t,c] = sum_u w b[u,c] | the channel of b |
    | `columns(w, %a)` | y[u,c] = sum_t w a[t,c] | the channel of a |
    | `rows(w)`, `columns(w)`, `total(w)` | sums of scalars into the axes of the result | none |
    | `diagonals(w)` | y[lag] = sum of w over the pairs whose positions differ by lag, t - u | none |
    | `m = maximum(x, floor)` | m[t] = max(floor, max over visible u of x): usable below its line; **a constant to the derivative** | none |

    An operand's axes say what it is: with t a row scalar, with u a column scalar, with lag a scalar
    of the diagonal (read at t - u), with none of them a parameter. A channel axis occurs only in
    `dot` and in outputs. A result type lists the axes that stay; every other of b, h, t, u is
    summed, and h into its group where the result has g. In a tile loop nothing else is needed: the
    derivative of a pairwise operation is a pairwise operation.

    ```mlir
    %N, %Z = taylor.pairwise { s = dot(%q, %k), w = exp(s * 0.125) } visible(u <= t) -> rows(w, %v), rows(w)
             : !q, !k, !v -> !o, !row
    ```
    `chunk(C)` sums over pairs of one chunk only: query t with the keys of positions offset + C
    floor(t / C) and on, below offset + C (floor(t / C) + 1). What it leaves out is read from a
    state (`taylor.read_states`).

    Operands stand in three segments, and an array may stand in several:

    | segment | what it holds | argument of a region |
    |---|---|---|
    | `products` | the arrays of each `dot`: that with t, then that with u | the inner product |
    | `scalars` | each array that formulas read, without channels | its scalar |
    | `weighted` | the array of each sum `rows(w, %b)` or `columns(w, %a)`, in their order | none |

    Regions have these arguments in this order. Where `maximum` is not empty it yields x, or x and
    floor, from the same arguments, and the weight region has one more argument, m, last. `visible`
    has the scalars as arguments only.
  }];
  let arguments = (ins Variadic<Taylor_ArrayType>:$products, Variadic<Taylor_ArrayType>:$scalars,
                       Variadic<Taylor_ArrayType>:$weighted,
                       TypedArrayAttrBase<Taylor_PairSumAttr, "list of pair sums">:$sums,
                       DefaultValuedAttr<I64Attr, "0">:$chunk);
  let results = (outs Variadic<Taylor_ArrayType>:$results);
  let regions = (region AnyRegion:$visible, AnyRegion:$maximum, SizedRegion<1>:$weight);
  let extraClassDeclaration = [{
    int64_t getNumProducts() { return getProducts().size() / 2; }
    /// Operands of product i: the row array (with t) and the column array (with u).
    std::pair<::mlir::Value, ::mlir::Value> getProduct(int64_t i) {
      return {getProducts()[2 * i], getProducts()[2 * i + 1]};
    }
    /// Of a region, how many of the arguments are products.
    int64_t getNumProducts(::mlir::Region &region) { return &region == &getVisible() ? 0 : getNumProducts(); }
    /// The array whose scalar an argument of a region is; null for a product and for the maximum.
    ::mlir::Value getArrayOf(::mlir::BlockArgument argument) {
      int64_t number = int64_t(argument.getArgNumber()) - getNumProducts(*argument.getOwner()->getParent());
      bool isScalar = number >= 0 && number < int64_t(getScalars().size());
      return isScalar ? getScalars()[number] : ::mlir::Value();
    }
    /// The array that output i contracts its weight with; null where it sums the weight alone.
    ::mlir::Value getArrayOfSum(int64_t i);
    /// All operands, each once, in their order.
    ::llvm::SmallVector<::mlir::Value> getArrays();
    /// Of the regions that have it, the argument of product or scalar i.
    ::llvm::SmallVector<::mlir::BlockArgument> getProductArguments(int64_t i);
    ::llvm::SmallVector<::mlir::BlockArgument> getScalarArguments(int64_t i);
    PairSumAttr getSum(int64_t i) { return ::llvm::cast<PairSumAttr>(getSums()[i]); }
    bool hasMaximum() { return !getMaximum().empty(); }
    /// The scalar type of the regions: f64, or f32 after specialisation.
    ::mlir::Type getRealType();
  }];
}

//===----------------------------------------------------------------------===//
// Local to rows, tokens and channels
//===----------------------------------------------------------------------===//

def Taylor_MapOp : Taylor_ArrayOp<"map", [AttrSizedOperandSegments, Differentiable, OfArrays, HasFormula]> {
  let summary = "a formula over arrays, broadcast by axis name";
  let description = [{
    `y[i..] = F(a[i..], b[i..], ..)`: the result has the union of the operands' axes, in the order
    b, h, g, t, u, lag, d, e, f, free. g meets h by reading the g array at h floordiv (H/G). A bare
    axis in the formula (`t`, `u`, `lag`, `h`, ..) is the index along it, as positions for t and u,
    and adds the axis. `-> type` widens the result.

    ```mlir
    %o = taylor.map sigmoid(%a) * %n / (stop(%z) + 1.0e-4) : !row, !o, !row
    %y = taylor.map { r = exp(%x), r * r + r } : !row
    %e = taylor.map region(%x) { ^bb0(%r: f64): %2 = math.ceil %r : f64  taylor.yield %2 : f64 } : !row
    ```
    `live(%n)`: where a count is 0 the result is 0 and the region does not run (rows that see no
    key). With several counts, none may be 0.

    Canonical form: a map that gives its one operand back, unguarded and of its type, is the
    operand.
  }];
  let arguments = (ins Variadic<Taylor_ArrayType>:$arrays, Variadic<Taylor_ArrayType>:$live);
  let results = (outs Taylor_ArrayType:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasFolder = 1;
}

def Taylor_ReduceOp : Taylor_ArrayOp<"reduce", [AttrSizedOperandSegments, Differentiable, OfArrays, HasFormula]> {
  let summary = "a formula, then a reduction over axes";
  let description = [{
    `y = sum over axes of F(..)`, or `mean`, `max` (whose gradient is shared equally by ties). The
    special axis `group` reduces h into g: the adjoint of reading a g array at h. A specification
    reduces over channels, heads and free axes only; derived operations also over b, t and u (the
    gradient of a learned norm weight).

    ```mlir
    %r = taylor.reduce sum over(e) %n * %n : !o
    %g = taylor.reduce sum over(b, h, t) %x * %y : !o, !o
    ```
  }];
  let arguments = (ins Variadic<Taylor_ArrayType>:$arrays, Variadic<Taylor_ArrayType>:$live,
                       Taylor_ReductionAttr:$kind, StrArrayAttr:$axes);
  let results = (outs Taylor_ArrayType:$result);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    ::taylor::Reach getReach();
  }];
}

def Taylor_ScanOp : Taylor_ArrayOp<"scan", [AttrSizedOperandSegments, Differentiable, OfArrays, HasFormula]> {
  let summary = "a running sum, a running maximum, or a shift, over tokens";
  let description = [{
    `sum over(u) F`: y[u] = sum_{j <= u} F[j]; `exclusive`: j < u; `reverse`: from the end, j >= u
    or j > u. `max over(u) F`: y[u] = max_{j <= u} F[j], and so on; minus infinity where there is no
    j. `shift(n) over(u) F`: y[u] = F[u - n], 0 before the start; `reverse`: F[u + n], 0 past the
    end. `high over(u) F` and `low over(u) F`, of arrays of f32: a running sum as two numbers, which
    have the same operands. The sum is added up in f64; `high` is the f32 number nearest to it,
    `low` the rest. In real numbers `high` is the sum and `low` is 0, as it is next to an infinite
    `high`. Compiled functions have them (taylor-split-running-sums); a specification says `sum`.

    ```mlir
    %D = taylor.scan sum exclusive over(u) %f / 1024.0 : !col
    %m = taylor.scan max over(u) %a : !col
    %w = taylor.map exp(%a - stop(%m)) : !col, !col                 // at most 1
    ```
    `within(%D : type)`, D over the axis and perhaps b: only tokens of the same document count,
    those with the same D. D ascends, so that tokens of a document stand together; sums begin again
    where a document does, and a shift gives 0 across its edge.

    ```mlir
    %L = taylor.scan sum over(u) within(%D : !taylor.array<[b, u]>) log(%gate) : !col
    ```
    `lengths`, of a `max reverse` within documents: what size(u) has become where there are
    documents (taylor-add-documents). A user who reads a refusal of it knows it by that name.

    ```mlir
    %l = taylor.scan max reverse lengths over(u) within(%D : !taylor.array<[b, u]>) %position : !taylor.array<[b, u]>
    ```
    The adjoint of a sum or a shift is the same from the other end. A maximum has none: it is there
    to shift exponents, which changes no result, and `stop(..)` says so; a gradient that reaches it
    is refused.

    Canonical form: `shift(0)` is a `taylor.map`; a shift of a shift in the same direction is one
    shift.
  }];
  let arguments = (ins Variadic<Taylor_ArrayType>:$arrays, Optional<Taylor_ArrayType>:$within, Taylor_ScanKindAttr:$kind, StrAttr:$axis,
                       UnitAttr:$exclusive, UnitAttr:$reverse, DefaultValuedAttr<I64Attr, "0">:$amount, UnitAttr:$lengths);
  let results = (outs Taylor_ArrayType:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    bool isShift() { return getKind() == ScanKind::Shift; }
    /// One of the two numbers that a running sum is split into.
    bool isPart() { return getKind() == ScanKind::High || getKind() == ScanKind::Low; }
    /// The result of no terms: 0, of a maximum minus infinity.
    double getIdentity();
    ::taylor::Reach getReach() {
      return getReverse() ? Reach::After : isShift() ? Reach::Window : Reach::Before;
    }
    int64_t getWindow() { return isShift() ? getAmountAttr().getInt() : 0; }
    ::taylor::AxisRef getToken() { return getAxis(); }
    std::optional<::mlir::MutableOperandRange> getDocuments() { return getWithinMutable(); }
  }];
}

def Taylor_AlignOp : Taylor_ArrayOp<"align", [Differentiable, OfArrays]> {
  let summary = "read a key array at query positions, or back";
  let description = [{
    `taylor.align %L to t`: y[t] = L[offset + t], u becomes t. `taylor.align %x to u`: y[u] = x[u -
    offset], 0 outside: its adjoint. The only way from u to t.

    ```mlir
    %Lt = taylor.align %L to t : !col       // [b, h, u] -> [b, h, t]
    ```
    Canonical form: `taylor.align` to t of an align to u is the array, since every query stands at a
    key.
  }];
  let arguments = (ins Taylor_ArrayType:$array, StrAttr:$axis);
  let results = (outs Taylor_ArrayType:$result);
  let hasCustomAssemblyFormat = 0;
  let assemblyFormat = "$array `to` custom<TokenAxis>($axis) attr-dict custom<AlignTypes>(ref($axis), type($array), type($result))";
  let hasFolder = 1;
  let extraClassDeclaration = [{
    ::taylor::Reach getReach() { return Reach::Aligned; }
  }];
}

def Taylor_NormalizeOp : Taylor_ArrayOp<"normalize", [AttrSizedOperandSegments, OfArrays]> {
  let summary = "a norm over channels (or another axis)";
  let description = [{
        l2:    x / max(|x|, epsilon)
        rms:   x * rsqrt(mean(x^2) + epsilon) [* weight] [+ bias]
        layer: (x - mean(x)) * rsqrt(mean((x - mean(x))^2) + epsilon) [* weight] [+ bias]

    over e by default, else over the axis named. Expands into `taylor.reduce` and `taylor.map`.

    ```mlir
    %o = taylor.normalize layer %y weight(%w) bias(%b) epsilon(1.0e-5) : !o, !channel, !channel
    %q = taylor.normalize l2 over(d) %q0 epsilon(1.0e-12) : !q
    ```
    Canonical form: a norm of the same kind over the same axis, plain and with epsilon 0, is its own
    norm, so a second one (l2: with an epsilon below 1; rms and layer: with epsilon 0) reads what
    the first reads.
  }];
  let arguments = (ins Taylor_ArrayType:$array, Optional<Taylor_ArrayType>:$weight, Optional<Taylor_ArrayType>:$bias,
                       Taylor_NormAttr:$kind,
                       DefaultValuedAttr<StrAttr, "::taylor::nameOf(::taylor::AxisRole::ValueChannel)">:$axis,
                       F64Attr:$epsilon);
  let results = (outs Taylor_ArrayType:$result);
  let hasCustomAssemblyFormat = 0;
  let assemblyFormat = [{
    custom<Norm>($kind) (`over` `(` custom<AxisName>($axis)^ `)`)? $array (`weight` `(` custom<Given>($weight)^ `)`)?
    (`bias` `(` custom<Given>($bias)^ `)`)? custom<Epsilon>($epsilon) attr-dict
    custom<NormTypes>(ref($weight), ref($bias), type($array), type($weight), type($bias), type($result))
  }];
  let hasCanonicalizeMethod = 1;
}

def Taylor_RopeOp : Taylor_ArrayOp<"rope", [Differentiable, OfArrays]> {
  let summary = "rotary position embedding";
  let description = [{
    Rotates channel pairs by the angle p * theta^(-2 i / d), p the position of the token plus
    `offset`, i the pair's number (Su et al., RoFormer, equation 34). `layout(half)` pairs channel i
    with i + d/2 (Llama), `layout(interleaved)` 2 i with 2 i + 1. `inverse` rotates back: the
    adjoint. The channel axis is d, or the only channel there is; its size is even.

    Positions are those of the tokens (`taylor.index`), or with `at` an array of real numbers over
    the token axis and perhaps b, which is a constant to the derivative. An input has the storage
    type of its program: 16 bits hold no position above 256 (bf16) or 2048 (f16).

    ```mlir
    %qr = taylor.rope %q : !q
    %kr = taylor.rope %k theta(500000.0) layout(interleaved) offset(16) : !k
    %kp = taylor.rope %k at %p : !k, !taylor.array<[b, u]>
    ```
    Canonical form: a rotation and its inverse, one after the other, are the array.
  }];
  let arguments = (ins Taylor_ArrayType:$array, Optional<Taylor_ArrayType>:$positions, DefaultValuedAttr<F64Attr, "10000.0">:$theta,
                       DefaultValuedAttr<Taylor_RopeLayoutAttr, "::taylor::RopeLayout::Half">:$layout,
                       DefaultValuedAttr<I64Attr, "0">:$offset, UnitAttr:$inverse);
  let results = (outs Taylor_ArrayType:$result);
  let hasCustomAssemblyFormat = 0;
  let assemblyFormat = [{
    $array (`at` custom<Given>($positions)^)? (`theta` `(` custom<Number>($theta)^ `)`)?
    (`layout` `(` custom<RopeLayout>($layout)^ `)`)? (`offset` `(` $offset^ `)`)? (`inverse` $inverse^)? attr-dict
    custom<RopeTypes>(ref($positions), type($array), type($positions), type($result))
  }];
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The channel axis that is rotated.
    ::llvm::StringRef getChannel();
    bool isRotation() { return true; }
    std::optional<::mlir::MutableOperandRange> getPlaces() { return getPositionsMutable(); }
    ::mlir::LogicalResult verifySizes();
  }];
}

def Taylor_ConvolveOp : Taylor_ArrayOp<"convolve", [Differentiable, OfArrays]> {
  let summary = "causal depthwise convolution over tokens";
  let description = [{
    `y[t] = sum_j w[j] x[t - J + 1 + j]`, x before the start 0; the taps j, at most 64, are the free
    axis of w that x lacks. `reverse` is the adjoint: `y[t] = sum_j w[j] x[t + J - 1 - j]`, x past
    the end 0. `within(%D : type)`: tokens of other documents are 0, too, as in `taylor.scan`.

    ```mlir
    %q1 = taylor.convolve %q, %cq : !q, !taylor.array<[h, d, j = 4]>
    ```
  }];
  let arguments = (ins Taylor_ArrayType:$array, Taylor_ArrayType:$taps, Optional<Taylor_ArrayType>:$within, UnitAttr:$reverse);
  let results = (outs Taylor_ArrayType:$result);
  let hasCustomAssemblyFormat = 0;
  let assemblyFormat = [{
    $array `,` $taps (`within` `(` custom<Given>($within)^ `:` qualified(type($within)) `)`)? (`reverse` $reverse^)?
    attr-dict custom<ConvolveTypes>(type($array), type($taps), type($result))
  }];
  let extraClassDeclaration = [{
    /// The axis of the taps, and their number.
    ::llvm::StringRef getTapAxis();
    int64_t getNumTaps();
    ::taylor::Reach getReach() { return getReverse() ? Reach::After : Reach::Window; }
    int64_t getWindow() { return getNumTaps() - 1; }
    std::optional<::mlir::MutableOperandRange> getDocuments() { return getWithinMutable(); }
  }];
}

def Taylor_GatedSumOp : Taylor_ArrayOp<"gated_sum", [Differentiable, OfArrays,
                                                     DeclareOpInterfaceMethods<Taylor_RecurrentOpInterface>]> {
  let summary = "a running sum that gates fade, over tokens";
  let description = [{
    `y[t] = a[t] y[t-1] + x[t]`, y before the start 0: a linear recurrence of each channel by
    itself. The gates a are over axes of x. Without the token axis a is a constant, and y an
    exponential moving average (Ma et al., Mega, equation 1); with it, a is a gate of each token (De
    et al., Griffin, equation 4). Gates may be 0 or negative, which a decay of `taylor.recurrences`
    may not. `reverse` is the adjoint: `y[t] = a[t+1] y[t+1] + x[t]`, y past the end 0.
    `within(%D : type)`: y of another document is 0, as in `taylor.scan`.

    ```mlir
    %x = taylor.map (1.0 - %a) * %k : !k, !k
    %ks = taylor.gated_sum %x, %a : !k, !k
    ```
    A running product is the sum of which the first gate is the only term:

    ```mlir
    %first = taylor.map select(u == 0.0, %a, 0.0) : !a
    %p = taylor.gated_sum %first, %a : !a, !a
    ```
    A kernel goes along the tokens, one after the other, with all channels of a head at a time.
  }];
  let arguments = (ins Taylor_ArrayType:$array, Taylor_ArrayType:$gates, Optional<Taylor_ArrayType>:$within, UnitAttr:$reverse);
  let results = (outs Taylor_ArrayType:$result);
  let extraClassDeclaration = [{
    ::taylor::Reach getReach() { return getReverse() ? Reach::After : Reach::Before; }
    std::optional<::mlir::MutableOperandRange> getDocuments() { return getWithinMutable(); }
  }];
}

//===----------------------------------------------------------------------===//
// Scalars, inside regions
//===----------------------------------------------------------------------===//

class Taylor_ScalarOp<string mnemonic, list<Trait> traits = []>
    : Taylor_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<Taylor_DifferentiableScalarOpInterface>], traits)>;

class Taylor_UnaryScalarOp<string mnemonic> : Taylor_ScalarOp<mnemonic, [SameOperandsAndResultType]> {
  let arguments = (ins AnyFloat:$operand);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Taylor_SigmoidOp : Taylor_UnaryScalarOp<"sigmoid"> {
  let summary = "1 / (1 + exp(-x))";
  let description = [{ Derivative y (1 - y), finite for every x. `%y = taylor.sigmoid %x : f64`. }];
}

def Taylor_SoftplusOp : Taylor_UnaryScalarOp<"softplus"> {
  let summary = "log(1 + exp(x))";
  let description = [{ max(x, 0) + log1p(exp(-|x|)); derivative sigmoid(x). `%y = taylor.softplus %x : f64`. }];
}

def Taylor_StopGradientOp : Taylor_UnaryScalarOp<"stop_gradient"> {
  let summary = "x, a constant to the derivative";
  let description = [{ `stop(x)` in a formula. `%y = taylor.stop_gradient %x : f64`. Canonical form: `stop(stop(x))` is `stop(x)`, and of a number the number. }];
  let hasFolder = 1;
}

def Taylor_IndexOp : Taylor_ScalarOp<"index"> {
  let summary = "the index along an axis; for t and u the position, for lag their difference";
  let description = [{
    A bare axis name in a formula. Query t stands at offset + t, key u at u; a lag is a query's
    position less a key's, from offset - U to offset + T - 1; h, g, d, e, b and free axes count
    from 0. `%p = taylor.index "t" : f64`.
  }];
  let arguments = (ins StrAttr:$axis);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Taylor_SizeOp : Taylor_ScalarOp<"size"> {
  let summary = "the size of an axis";
  let description = [{ `size(d)` in a formula. `%d = taylor.size "d" : f64`. }];
  let arguments = (ins StrAttr:$axis);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Taylor_ParameterOp : Taylor_ScalarOp<"parameter"> {
  let summary = "a free parameter of the specification";
  let description = [{ A bare name declared in `parameters(..)`. Specialisation replaces it by its value. `%w = taylor.parameter "window" : f64`. }];
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}

include "dialect/Taylor/TaylorStates.td"

#endif
