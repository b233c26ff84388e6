// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that divide sums over keys and hand on what a part leaves: chunks, and calls that follow each other.
#ifndef TAYLOR_STATE_PASSES_TD
#define TAYLOR_STATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitSumsPass : Pass<"taylor-split-sums", "::taylor::FunctionOp"> {
  let summary = "sums into rows, into columns and along diagonals by operations of their own";
  let description = [{
    Rule: a `taylor.pairwise` with sums into rows, with sums into columns (or totals) and with sums
    along diagonals becomes two or three, each with its own outputs and with the products, operands
    and scalars that these need. Totals stay with the columns. With `diagonals-only` rows stay with
    them too.

    Why: for one operation with both, a kernel can finish only one kind in its blocks; the other is
    added up over all blocks. Of two operations, one has blocks of queries on its grid and the other
    blocks of keys, and each block finishes its sums: many blocks, no order to keep, no additions in
    memory. The price: products and scalars that both need are computed twice (for attention seven
    products instead of five). So it is for targets with more blocks to fill than batches and heads
    give.

    An operation with a running maximum stays whole: its other outputs are sums into rows.

    ```mlir
    %dq, %dk, %dv = taylor.pairwise { s = dot(%q, %k)  p = dot(%dn, %v)  w = exp(s)  ds = w * p } visible(u <= t) -> rows(ds, %k), columns(ds, %q), columns(w, %dn) : ..
    // becomes
    %dq = taylor.pairwise { s = dot(%q, %k)  p = dot(%dn, %v) } visible(u <= t) -> rows(exp(s) * p, %k) : ..
    %dk, %dv = taylor.pairwise { s = dot(%q, %k)  p = dot(%dn, %v)  w = exp(s)  ds = w * p } visible(u <= t) -> columns(ds, %q), columns(w, %dn) : ..
    ```
  }];
  let options = [Option<"diagonalsOnly", "diagonals-only", "bool", /*default=*/"false",
                        "split off sums along diagonals only">];
  let statistics = [Statistic<"numSplit", "split", "operations over pairs that became several">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def ChunkSumsPass : Pass<"taylor-chunk-sums", "::mlir::ModuleOp"> {
  let summary = "sums over pairs as sums within chunks and states between them";
  let description = [{
    Rule: let s be one inner product. A sum over the pairs u <= t of sum over n of c[n] s^n * R[t] *
    C[u] * b[u] is the same sum over the pairs of one chunk, plus R[t] times what the query reads
    from the state H = sum over the keys before its chunk of phi(k[u]) C[u] b[u] (`taylor.states`,
    `taylor.read_states`). Each other sum is one of these:

    | sum | is |
    |---|---|
    | into columns | the same with the sides exchanged: states over the queries after a chunk |
    | of s^n k[u], k the score's own keys | the derivative by q of the sum of s^(n+1) / (n+1): `taylor.contract_states` |
    | of s^n p k[u], p = dot(g, v) | that derivative with the state of v, contracted with g |
    | of s^n p, p = dot(g, v) | g . the sum of s^n v[u] |
    | over all pairs | that of rows, added up by `taylor.reduce` |
    | without mask | one state for all queries; no pairs are left |
    | over pairs of one document, numbers D that ascend | values times (D[edge] == D[u]), states that end with their document (`within(D)`), what a query reads times (D[t] == D[edge]), what a key reads times (D[query next to the edge] == D[u]) |
    | over all pairs of one document | that, and the same of the chunks on the other side (`opposite`): after that of a query, before that of a key. The pairs within a chunk have no order |
    | times exp(a[t] - c[u]), a decay | with E the least c up to a chunk's edge (`taylor.edge`): values times exp(E - c[u]), states that `decay(E)`, what is read times exp(a[t] - E) |

    E falls, so the factors of states and values are at most 1, whether c falls or not. A running
    maximum of a[t] - c[u] is a[t] less the least c so far: an array, which needs no pairs. Where
    each query head has its own decay, it has its own states, and what keys read is summed over the
    heads of their group.

    The derived backward needs no rule of its own: its sums are separable where the forward's are.
    The work is linear in the number of tokens, with D = C(d + N, N) features of the orders up to N.

    Requires, with a message at the place that does not hold: weights that are finite sums of powers
    of one inner product, with factors that depend on one side alone, and one decay at most;
    visible(u <= t), one document (the same for all heads), both, or no mask (and a decay only with
    u <= t). A clamp, a select or an exponential of a score and a window are refused, but not
    `select(t == u, x, y)` under a mask: states are of other chunks, where it is y. In a function
    where other sums have the form, such a sum stays over pairs, with a warning. A message about a
    sum comes once, for the forward if it holds there. Of twins (taylor-plan-forms), which no one
    asked for, nothing is said: if one cannot be, all go, and the functions that they are twins of
    keep the reason in `form`.

    ```mlir
    %N, %Z = taylor.pairwise { s0 = dot(%q, %k), x0 = (s0 * 0.5 + 1.0) * s0 + 1.0 } visible(u <= t) -> rows(x0, %v), rows(x0) : ..
    // with chunk=512 becomes
    %N0, %Z0 = taylor.pairwise { .. } visible(u <= t) chunk(512) -> rows(x0, %v), rows(x0) : ..
    %H, %z = taylor.states %k, %v mass orders(0 to 2) chunk(512) : ..
    %N, %Z = taylor.read_states %q from %H, %z into %N0, %Z0 orders(0 to 2) weights [1.0, 1.0, 0.5] chunk(512) : ..
    ```
  }];
  let options = [
    Option<"chunk", "chunk", "int64_t", /*default=*/"0", "queries of a chunk, rounded up to a multiple of unit; 0: such that pairs within chunks cost as much as states">,
    Option<"unit", "unit", "int64_t", /*default=*/"1", "queries of which a chunk is a multiple">,
    Option<"balance", "balance", "int64_t", /*default=*/"10", "operations that the target does in the time of moving a byte of states in its caches">,
    Option<"farBalance", "far-balance", "int64_t", /*default=*/"10", "the same for states larger than near-bytes">,
    Option<"nearBytes", "near-bytes", "int64_t", /*default=*/"0", "most bytes of the states of one sum that the caches hold">,
    Option<"featureBlock", "feature-block", "int64_t", /*default=*/"1", "components that the target multiplies at once; features come in whole blocks of this many">
  ];
  let statistics = [
    Statistic<"numChunked", "chunked", "operations over pairs with states in place of most pairs">,
    Statistic<"numErased", "erased", "functions in the chunked form that no one asked for, and that cannot be">
  ];
  let dependentDialects = ["::taylor::TaylorDialect", "::mlir::tile::TileDialect"];
}

def SplitRunningSumsPass : Pass<"taylor-split-running-sums", "::taylor::FunctionOp"> {
  let summary = "differences of running sums keep the digits of what is left";
  let description = [{
    Rule: let D be a running sum in f32, and let a formula add up terms, some of which are D, or D
    at other tokens (`taylor.align`). Let these, and terms made of D (a running maximum, an edge),
    cancel: one is added for each that is subtracted. Then D becomes two numbers, H + L
    (`taylor.scan high`, `low`). The terms of each such sum are added first, with H in its place,
    then their L, then other terms. Maps without guards that only add up arrays, numbers and choices
    (`select`, which becomes its own map) are read through, also by an `align` to queries. A map may
    add other arrays to D that are as large, such as the sum of earlier calls, or stand next to one
    (an edge of those calls). Where these do not cancel, they are added with their rounding errors
    (two-sum), whether D's terms cancel or not.

    Why: the weight of a decay is exp(D[t] - D[u]), of numbers that grow with the sequence; their
    difference does not. In f32 the difference of two sums near -13000 has an error of 1e-3. So
    after 16384 tokens that decay by 0.8 each, all weights have a relative error of 1e-3. H[t] -
    H[u] is exact where the two are close; L is what rounding took.

    An edge, a running maximum and a choice of D stay one number, made of H: they say how far
    exponents are shifted, and both sides read the same. So forward and backward have both parts or
    neither. An infinite sum has no lower part.

    ```mlir
    %D = taylor.scan sum over(u) %f : !column
    %Dt = taylor.align %D to t : !column
    %n = taylor.pairwise { s = dot(%q, %k), w = exp(s + %Dt - %D) } visible(u <= t) -> rows(w, %v) : ..
    // becomes
    %H = taylor.scan high over(u) %f : !column
    %L = taylor.scan low over(u) %f : !column
    %Ht = taylor.align %H to t : !column
    %Lt = taylor.align %L to t : !column
    %n = taylor.pairwise { s = dot(%q, %k), w = exp(%Ht - %H + (%Lt - %L) + s) } visible(u <= t) -> rows(w, %v) : ..
    ```
  }];
  let statistics = [Statistic<"numSplit", "split", "differences of running sums as two numbers">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def PrepareKeysPass : Pass<"taylor-prepare-keys", "::mlir::ModuleOp"> {
  let summary = "divide a specification in what keys become by themselves and what reads that";
  let description = [{
    Rule: what depends on a key, and on no later key and no query, is the same in every later call.
    A specification of a step over all keys (`form #tile.form<parallel of step>`) becomes two.
    `@NAME_keys` (with a number after it where that name is taken), with the word `prepares_keys`,
    takes the inputs over u and gives arrays `cache.*`; it is for the function `append`, whose calls
    carry `keys`. `@NAME` takes these, over all keys, in place of the inputs that it no longer
    reads.

    | of a key alone | why |
    |---|---|
    | maps, rotations, reductions over channels or heads | they read one token |
    | shifts by up to 64 tokens, convolutions | taylor-carry-states hands on what they read of earlier keys |
    | inputs that the rest reads | kept as they came, under their own name |

    Not of a key alone are running sums and maxima (a sum over all calls would have fewer digits
    with each), what is in reverse or within documents, what reads how many tokens there are, and
    all that is computed from such. Nor is a map kept whose result has more elements than what it
    reads, such as values times a gate of each query head.

    Arrays with a channel have the storage type of the inputs that they come from; of f16 only what
    is rotated has it, since other maps may pass its range. Others have the type in which they are
    computed.

    A specification that would keep its inputs alone stays as it is, and so does one with results
    over u.

    ```mlir
    taylor.spec @softmax.step of @softmax(%q: !q, %k: !k, %v: !v) form #tile.form<parallel of step> carries #taylor.carry<queries> { // of f16
      %qr = taylor.rope %q : !q
      %kr = taylor.rope %k : !k // !k32, of f32
      %n, %z = taylor.pairwise { s = dot(%qr, %kr), .. } .. -> rows(.., %v), .. : !q32, !k32, !v -> ..
      ..
    // becomes
    taylor.spec @softmax.step_keys of @softmax(%k: !k, %v: !v) form #tile.form<parallel of append> carries #taylor.carry<keys> prepares_keys {
      %kr = taylor.rope %k : !k
      %stored = taylor.map %kr : !k32 -> !k
      taylor.yield "cache.v" %v, "cache.key0" %stored : !v, !k
    }
    taylor.spec @softmax.step of @softmax(%q: !q, %cache.v: !v from input, %cache.key0: !k from input) form #tile.form<parallel of step> carries #taylor.carry<queries> {
      %qr = taylor.rope %q : !q
      %n, %z = taylor.pairwise { s = dot(%qr, %cache.key0), .. } .. -> rows(.., %cache.v), .. : !q32, !k, !v -> ..
      ..
    ```
  }];
  let statistics = [Statistic<"numKept", "kept", "arrays that are kept in place of inputs over keys">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def PlanStatesPass : Pass<"taylor-plan-states", "::mlir::ModuleOp"> {
  let summary = "what calls hand on to those that follow, as it is asked for";
  let description = [{
    Rule: each specification that does not say what its calls carry says in `carries` that it is
    this. `taylor-carry-states` makes arguments and results of it.

    ```mlir
    taylor.spec @f(%q: !q, %k: !k, %v: !v) { .. }
    // becomes, mode=pieces block=8
    taylor.spec @f(%q: !q, %k: !k, %v: !v) carries #taylor.carry<pieces, block = 8> { .. }
    ```
  }];
  let options = [
    Option<"mode", "mode", "::taylor::CarryMode", /*default=*/"::taylor::CarryMode::Pieces", "which tokens a call does not have",
           [{::taylor::wordsOf<::taylor::CarryMode>()}]>,
    Option<"block", "block", "int64_t", /*default=*/"1", "components of a block; features come in whole blocks, as in taylor-chunk-sums">
  ];
  let statistics = [Statistic<"numPlanned", "planned", "specifications that say what their calls carry">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def CarryStatesPass : Pass<"taylor-carry-states", "::mlir::ModuleOp"> {
  let summary = "arguments and results by which a sequence goes on where another call ended";
  let description = [{
    Rule: values that depend on the tokens of earlier calls go on from what these left. Arguments
    `initial.NAME` hold them before the call, results `final.NAME` after it:

    | argument | what it is |
    |---|---|
    | `state0`, .. | of each causal sum of finitely many powers of an inner product, the states over earlier keys (`taylor.states` without chunks) |
    | `edge0`, .. | where such sums decay by exp(a[t] - c[u]): the least c so far, E; 0 where a and c are one running sum that nothing else reads, and which then goes on from its distance to E. States are as E sees them: a key counts exp(E - c[u]), a query reads exp(a[t] - E), and a call multiplies them by exp(E' - E) |
    | `sum0`, .. | a running sum, `taylor.scan sum` |
    | `maximum0`, .. | a running maximum |
    | `inputs0`, .. | of a convolution or shift, the last tokens that it reads, the oldest first, along their own axis |
    | `position` | [b], the number of tokens before: places, counts and rotations are those of the whole sequence. Where it is 0, there is no edge or maximum yet, whatever the argument holds |

    All are 0 at the beginning, and arrays like any other: a backward derived after this pass gives
    the gradients of initial ones from those of final ones. An edge and a maximum are constants to
    it, since no result depends on their value. An array without b gets it: each batch has its own
    past. A sequence in pieces, each with what the one before left, gives the results of the whole.
    No factor of a decay is above 1 where a and c fall, at any length.

    What a specification says in `carries` is done; one that says nothing stays as it is.

    | `carries` | |
    |---|---|
    | `pieces` | all of the above |
    | `recurrent` | the same, and sums over all keys are the recurrence itself, token by token (`taylor.step_states`, no derivative) |
    | `queries` | a call has all keys, and its queries are the last of them: only what mixes queries goes on |
    | `keys` | a call has new keys alone: rotations and convolutions go on |

    Of two specifications of one step (taylor-plan-steps) one stays. `@f.step.recurrent` takes the
    place and the name of `@f.step`, and of what prepares its keys, where it can be carried in
    states that are small enough (`#taylor.carry`). Otherwise it is erased, and the `form` of
    `@f.step` says why. Calls of the whole sequence leave what the step goes on from: where `@f`
    does not say what it carries, it is `pieces` with a recurrence and `queries` without.

    Requires, with a message at the place: sums as taylor-chunk-sums takes them, causal, without
    `t == u`, since a state has the query's own key; no scan or convolution in reverse; no shift by
    more than 64 tokens; documents, if any, of taylor-add-documents. Documents go on, too: tokens
    whose document starts before the call read what the earlier calls left, and the call leaves the
    values of its last token's document. Masks still compare where documents start within the call.

    ```mlir
    taylor.spec @linear("q" %q: !q, "k" %k: !k, "v" %v: !v) carries #taylor.carry<pieces> {
      %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : ..
      taylor.yield "o" %n : !o
    }
    // becomes
    taylor.spec @linear(.., "initial.state0" %s: !taylor.array<[b, g, f = 4, e = 5], f32> from input) carries #taylor.carry<pieces> {
      %n0 = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) -> rows(s, %v) : ..
      %n = taylor.read_states %q from %s into %n0 orders(1 to 1) weights [1.0] : ..
      %s1 = taylor.states %k, %v initial %s orders(1 to 1) : ..
      taylor.yield "o" %n, "final.state0" %s1 : ..
    }
    // with #taylor.carry<recurrent> becomes
      %n, %s1 = taylor.step_states %q with %k, %v from %s reads [0] orders(1 to 1) weights [[1.0]] : ..
    ```
  }];
  let statistics = [
    Statistic<"numCarried", "carried", "values that go from call to call">,
    Statistic<"numTwins", "twins", "specifications whose place another one took">
  ];
  let dependentDialects = ["::taylor::TaylorDialect", "::mlir::tile::TileDialect"];
}

#endif
