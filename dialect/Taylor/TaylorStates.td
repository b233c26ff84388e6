// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over tokens as states: what the chunked and the recurrent form are made of.
#ifndef TAYLOR_STATES_TD
#define TAYLOR_STATES_TD

class Taylor_StateOp<string mnemonic, list<Trait> traits = []> : Taylor_Op<mnemonic, !listconcat([Pure], traits)> {
  let hasVerifier = 1;
}

def Taylor_EdgeOp : Taylor_StateOp<"edge"> {
  let summary = "a key array where each token's chunk begins";
  let description = [{
        y[t] = L[e(floor(t / C))]                              for queries
        y[u] = L[e(max(0, floor((u - offset) / C) + 1))]       for keys: where the chunk after the key's own begins

    e(c) = offset + c C - 1, the last key before the queries of chunk c, at least 0 and at most
    size(u) - 1. `opposite`: where the chunk ends instead of where it begins, and for keys the other
    way round, as `taylor.states` counts:

        y[t] = L[e(floor(t / C) + 1)]
        y[u] = L[e(min(floor((u - offset) / C), ceil(T / C)))]   0 before the keys of chunk 1

    With `query`, L is read at the query next to the edge: at offset + c C, the chunk's first query,
    or with `opposite` at offset + min(c C, T) - 1, the last query before it. Both are at least 0
    and at most size(u) - 1. The document of e(c) itself may have no query.

    The result has the reader's token axis instead of u. A factor exp(L[t] - L[u]) of a key u before
    the chunk of t is exp(L[t] - y[t]) exp(y[u] - L[u]) times the factors between their edges
    (`decay` of `taylor.states`). None of these is above 1 where L falls.

    ```mlir
    %Et = taylor.edge %L chunk(512) : (!col) -> !row
    ```
  }];
  let arguments = (ins Taylor_ArrayType:$array, I64Attr:$chunk, UnitAttr:$opposite, UnitAttr:$query);
  let results = (outs Taylor_ArrayType:$result);
  let assemblyFormat = "$array `chunk` `(` $chunk `)` (`opposite` $opposite^)? (`query` $query^)? attr-dict `:` functional-type(operands, results)";
}

def Taylor_StatesOp : Taylor_StateOp<"states", [AttrSizedOperandSegments, Differentiable]> {
  let summary = "sums of features times values over the tokens before each chunk, or after it";
  let description = [{
    phi(x), of `orders(first to last)`, are the distinct monomials of x
    (`dialect/Features/Features.h`), D of them. Over keys (x has u), for the queries t of chunk c =
    floor(t / C):

        H[c][f, e] = sum over keys u < offset + c C of phi(k[u])[f] v[u, e]            one result per value
        z[c][f]    = sum over keys u < offset + c C of phi(k[u])[f]                    `mass`, the last result

    that is, the states of the recurrences of those orders (paper, equation 3) where a chunk
    begins, without equal entries. Over queries (x has t), for the keys of a chunk j = floor((u -
    offset) / C), j = -1 before query 0: the sum over t >= (j + 1) C. Without `chunk` all tokens
    are summed. With `opposite`, the tokens on the other side of the reader's chunk are summed:
    keys u >= offset + (c + 1) C, also those after the last query; queries t < j C. A value
    without channel axis gives a result without one.

    With `decay(%L)`, L over u, a state is as its edge sees it: the sum up to the edge before is
    multiplied by exp(L[e(c)] - L[e(c - 1)]), e as in `taylor.edge`. Over queries, the sum from the
    next edge on is multiplied by exp(L[e(c + 1)] - L[e(c)]). With `within(%D)`, D over u, that sum
    is kept only where D is equal at both edges: a state ends with its document. With `own(%O)`, O
    over the tokens that are summed, a token where O is 0 adds nothing, even if it holds NaN: it is
    of another document than the edge. It requires `chunk`.

    With `weights`, feature f counts weight(f) times, as in `taylor.read_states`: the derivative of
    a read, by the state.

    Without `chunk` the sum of every state may begin from an array of its type (`initial`): a
    sequence that goes on.

    A result has the reader's token axis, t or u, though it holds one state per chunk: [b, g, t, f,
    e]. Where it has g and operands have h, the heads of a group are added.

    ```mlir
    %H, %z = taylor.states %k, %v mass orders(0 to 2) chunk(512) : (!k, !v) -> (!H, !z)
    ```
  }];
  let arguments = (ins Taylor_ArrayType:$vectors, Variadic<Taylor_ArrayType>:$values, Variadic<Taylor_ArrayType>:$initial,
                       Optional<Taylor_ArrayType>:$decay, Optional<Taylor_ArrayType>:$within, Optional<Taylor_ArrayType>:$own, UnitAttr:$mass, I64Attr:$first, I64Attr:$last,
                       OptionalAttr<F64ArrayAttr>:$weights, DefaultValuedAttr<I64Attr, "1">:$block, DefaultValuedAttr<I64Attr, "0">:$chunk,
                       UnitAttr:$opposite);
  let results = (outs Variadic<Taylor_ArrayType>:$results);
  let assemblyFormat = [{
    $vectors (`,` $values^)? (`initial` $initial^)? (`decay` `(` $decay^ `)`)? (`within` `(` $within^ `)`)? (`own` `(` $own^ `)`)? (`mass` $mass^)? `orders` `(` $first `to` $last `)` (`weights` $weights^)? (`block` `(` $block^ `)`)?
    (`chunk` `(` $chunk^ `)`)? (`opposite` $opposite^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::taylor::Features getFeatures();
    /// The token axis that is summed over, and that of the reader.
    ::llvm::StringRef getToken();
    ::taylor::AxisRef getReader() { return getToken() == AxisRole::Query ? AxisRole::Key : AxisRole::Query; }
    /// One weight per order, from the first on; empty where each feature counts once.
    ::llvm::SmallVector<double> getWeightValues();
  }];
}

def Taylor_ReadStatesOp : Taylor_StateOp<"read_states", [AttrSizedOperandSegments, Differentiable]> {
  let summary = "sums over pairs, read from states";
  let description = [{
    With weight(f) = weights[n - first] times the multiplicity of feature f, n its order, or 1
    without `weights` (the derivative of a state, by its values):

        y[t, e] = into[t, e] + sum over f of weight(f) phi(x[t])[f] H[chunk of t][f, e]

    which is `into` plus the sum over the keys u that H holds of p(<x[t], k[u]>) v[u, e], p(s) = sum
    over n of weights[n - first] s^n. One result per state; a state without channel gives a result
    without one. x with u reads states over queries; with `opposite`, the states are `opposite` too.
    `into` is there for all states or for none. A key after which no chunk of queries begins reads
    no state, and neither does a query before whose chunk no key lies (`opposite`: after it): y is
    `into` alone, or 0, also where x is NaN.

    With `own(%O)`, O over the reader's tokens, y is `into` alone where O is 0, even if x or the
    states hold NaN: no token that they sum is of its document. It requires `chunk`.

    ```mlir
    %N, %Z = taylor.read_states %q from %H, %z into %N0, %Z0 orders(0 to 2) weights [1.0, 0.125, 0.0078125] chunk(512)
             : (!q, !H, !z, !o, !row) -> (!o, !row)
    ```
  }];
  let arguments = (ins Taylor_ArrayType:$vectors, Variadic<Taylor_ArrayType>:$states, Variadic<Taylor_ArrayType>:$into,
                       Optional<Taylor_ArrayType>:$own, I64Attr:$first, I64Attr:$last, OptionalAttr<F64ArrayAttr>:$weights,
                       DefaultValuedAttr<I64Attr, "1">:$block, DefaultValuedAttr<I64Attr, "0">:$chunk, UnitAttr:$opposite);
  let results = (outs Variadic<Taylor_ArrayType>:$results);
  let assemblyFormat = [{
    $vectors `from` $states (`into` $into^)? (`own` `(` $own^ `)`)? `orders` `(` $first `to` $last `)` (`weights` $weights^)? (`block` `(` $block^ `)`)?
    (`chunk` `(` $chunk^ `)`)? (`opposite` $opposite^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::taylor::Features getFeatures();
    ::llvm::StringRef getToken();
    /// One weight per order, from the first on; empty where each feature counts once.
    ::llvm::SmallVector<double> getWeightValues();
  }];
}

def Taylor_ContractStatesOp : Taylor_StateOp<"contract_states", [AttrSizedOperandSegments]> {
  let summary = "the derivative of what is read from states, by the vectors that read";
  let description = [{
        y[t, i] = into[t, i] + sum over j, f of <H_j[chunk of t][f], g_j[t]> weight(f) d/dx[t, i] of phi(x[t])[f]

    for states H_j and values g_j over the reader's tokens, weight(f) as in `taylor.read_states`.
    That is the sum over the keys u of p'(<x[t], k[u]>) (sum over j of <v_j[u], g_j[t]>) k[u], which
    is the score's derivative contracted with k. A state without channel has a value without one.
    `own`, and tokens that read no state, are as in `taylor.read_states`.

    ```mlir
    %dq = taylor.contract_states %q from %H, %z with %g, %h orders(1 to 2) weights [0.125, 0.0078125] chunk(512)
          : (!q, !H, !z, !o, !row) -> !q
    ```
  }];
  let arguments = (ins Taylor_ArrayType:$vectors, Variadic<Taylor_ArrayType>:$states, Variadic<Taylor_ArrayType>:$values,
                       Optional<Taylor_ArrayType>:$into, Optional<Taylor_ArrayType>:$own, I64Attr:$first, I64Attr:$last,
                       OptionalAttr<F64ArrayAttr>:$weights, DefaultValuedAttr<I64Attr, "1">:$block, DefaultValuedAttr<I64Attr, "0">:$chunk,
                       UnitAttr:$opposite);
  let results = (outs Taylor_ArrayType:$result);
  let assemblyFormat = [{
    $vectors `from` $states `with` $values (`into` $into^)? (`own` `(` $own^ `)`)? `orders` `(` $first `to` $last `)` (`weights` $weights^)?
    (`block` `(` $block^ `)`)? (`chunk` `(` $chunk^ `)`)? (`opposite` $opposite^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::taylor::Features getFeatures();
    ::llvm::StringRef getToken();
    /// One weight per order, from the first on; empty where each feature counts once.
    ::llvm::SmallVector<double> getWeightValues();
  }];
}

def Taylor_StepStatesOp : Taylor_StateOp<"step_states", [AttrSizedOperandSegments]> {
  let summary = "the recurrence itself: states, token after token, and what each query reads of them";
  let description = [{
    For tokens u = 0, 1, .. that are queries and keys at once (T = U, `offset` 0), with H_j[-1] =
    initial_j:

        H_j[u][f, e] = r[u] H_j[u - 1][f, e] + phi(k[u])[f] v_j[u, e]               one state per value
        z[u][f]      = r[u] z[u - 1][f] + phi(k[u])[f]                              `mass`, the last state
        y_r[t, e]    = sum over f of weight_r(f) phi(q[t])[f] H_j[t][f, e]          j = reads[r]

    (paper, equation 3, without equal entries of its states), with features and weight_r =
    weights[r] as in `taylor.read_states`. r is what a decay `keep(%r)`, over u, leaves of the
    states, or 1. With `documents`, r < 0 says that another document was before: nothing of the
    states is left, not even an infinity or a NaN. A decay that is rounded to 0 leaves a NaN a NaN.
    Results are the rows y and the states after the last token. Work and memory of a token do not
    depend on how many were before. There is no derivative: the forms that have one read states at
    the edges of chunks.

    ```mlir
    %N, %Z, %H1, %z1 = taylor.step_states %q with %k, %v mass from %H, %z reads [0, 1] orders(0 to 1) weights [[1.0, 0.5], [1.0, 0.5]]
                       : (!q, !k, !v, !H, !z) -> (!o, !row, !H, !z)
    ```
  }];
  let arguments = (ins Taylor_ArrayType:$readers, Taylor_ArrayType:$vectors, Variadic<Taylor_ArrayType>:$values, Variadic<Taylor_ArrayType>:$initial,
                       Optional<Taylor_ArrayType>:$keep, UnitAttr:$documents, UnitAttr:$mass, DenseI64ArrayAttr:$reads, I64Attr:$first, I64Attr:$last, ArrayAttr:$weights,
                       DefaultValuedAttr<I64Attr, "1">:$block);
  let results = (outs Variadic<Taylor_ArrayType>:$results);
  let assemblyFormat = [{
    $readers `with` $vectors (`,` $values^)? (`mass` $mass^)? `from` $initial (`keep` `(` $keep^ `)`)? (`documents` $documents^)? `reads` $reads `orders` `(` $first `to` $last `)` `weights` $weights
    (`block` `(` $block^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::taylor::Features getFeatures();
    /// What queries read, and the states after the last token.
    ::mlir::ResultRange getRows() { return getResults().take_front(getReads().size()); }
    ::mlir::ResultRange getStates() { return getResults().drop_front(getReads().size()); }
    /// One weight per order of a read, from the first on.
    ::llvm::SmallVector<double> getWeightValues(size_t read);
  }];
}

#endif
