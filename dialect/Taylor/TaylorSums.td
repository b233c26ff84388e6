// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over keys.
#ifndef TAYLOR_SUMS_TD
#define TAYLOR_SUMS_TD

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

    Coefficients of 0 at either end are left out, so a score that is NaN does not reach the sum. At
    least one must not be 0.

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
    /// Of `coefficients`, which there must be, those that are terms: without those of 0 at either end. Gives
    /// the order of the first one, where `first` is that of the first coefficient.
    std::pair<int64_t, ::llvm::SmallVector<double>> getTerms(int64_t first);
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

#endif
