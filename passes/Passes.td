// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes above the tile level, in pipeline order (passes/Pipelines.h). Each takes and gives valid IR and can run alone.
#ifndef TAYLOR_PASSES_TD
#define TAYLOR_PASSES_TD

include "mlir/Pass/PassBase.td"

def SetParametersPass : Pass<"taylor-set-parameters", "::mlir::ModuleOp"> {
  let summary = "values of free parameters, for every specification";
  let description = [{
    Rule: the default of a named parameter is replaced; it counts where nothing else sets the
    parameter. `taylor-opt --set order=4` is this pass, before all others. A name that a
    specification lacks is an error there.

    ```mlir
    taylor.spec @f(..) parameters(order : index = 10) { .. }
    // with parameters=order=4 becomes
    taylor.spec @f(..) parameters(order : index = 4) { .. }
    ```
  }];
  let options = [Option<"parameters", "parameters", "std::string", /*default=*/"\"\"", "values of free parameters, such as 'order=10,window=5'">];
  let statistics = [Statistic<"numSet", "set", "specifications whose parameters were set">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def AddDocumentsPass : Pass<"taylor-add-documents", "::mlir::ModuleOp"> {
  let summary = "attention within each of the documents of a packed sequence";
  let description = [{
    Rule: every specification gets an input `documents`, i32 over (b, u): the number of each key's
    document. Numbers ascend, gaps are allowed, and every query stands at a key. (A number below one
    before it counts as that one; the runtime refuses it where it sees it.) A document is known by
    the position of its first token. The result is that of each document by itself: pairs of two
    documents are invisible; positions in formulas and of rope count from the document's first
    token; running sums and maxima begin again there; shifts and convolutions see 0 before it. A
    formula over pairs that only compares positions, or reads their difference, keeps them.

    Errors where they stand: an argument `documents`, `size(t)` or `size(u)`, a single recurrence,
    `within(..)`.

    ```mlir
    taylor.spec @f(%q: !q, %k: !k, %v: !v) {
      %qr = taylor.rope %q : !q
      %n = taylor.recurrences %qr, %k, %v exponential causal : !q, !k, !v
    // becomes
    taylor.spec @f(%q: !q, %k: !k, %v: !v, %documents: !taylor.array<[b, u], i32> from input) {
      %d = taylor.scan max over(u) %documents : !taylor.array<[b, u], i32>
      %first = taylor.scan max over(u) select(%d == %before, 0.0, u) : !bu, !bu       // %before: %d shifted by 1
      %p = taylor.map u - stop(%first) : !bu
      %dt = taylor.align %first to t : !bu
      %pt = taylor.align %p to t : !bu
      %qr = taylor.rope %q at %pt : !q, !bt
      %n = taylor.recurrences %qr, %k, %v exponential causal visible(%dt == %first) : !q, !k, !v, !bt, !bu
    ```
  }];
  let statistics = [Statistic<"numDivided", "divided", "specifications with an input of documents">];
  let dependentDialects = ["::taylor::TaylorDialect", "::mlir::arith::ArithDialect"];
}

def SpecializePass : Pass<"taylor-specialize", "::mlir::ModuleOp"> {
  let summary = "fix channel sizes, parameters, mask and types of every specification";
  let description = [{
    Rule: d and e get their sizes; `taylor.parameter` and `size` of a sized axis become numbers;
    orders named by a parameter become numbers; real arrays get the type they are computed in (f32;
    f64 for `dtype=f64`); arguments and results get their storage type `dtype`, learned parameters
    keep f32 in a 16-bit artifact.

    Requires: named parameters that the specification declares, an even head dimension where rope
    rotates it, a causal mask where a decay or a running sum over tokens occurs, masks that do not
    hide every pair whatever the sizes (a window of 0 tokens). Warns of inputs that no result
    depends on, and of a mass that divides and can vanish or be negative: that of a series with an
    odd top order or a negative last coefficient, or of a weight that is a polynomial of odd degree.

    ```mlir
    taylor.spec @f(%q: !taylor.array<[b, h, t, d]>) { .. taylor.map %q * rsqrt(size(d)) .. }
    // with head-dim=64 dtype=bf16 becomes
    taylor.spec @f(%q: !taylor.array<[b, h, t, d = 64], bf16>) { .. taylor.map %q * rsqrt(64.0) .. }
    ```
  }];
  let options = [
    Option<"headDim", "head-dim", "int64_t", /*default=*/"64", "size of d, the channels of a score">,
    Option<"valueDim", "value-dim", "int64_t", /*default=*/"0", "size of e, the channels of a value; 0: as head-dim">,
    Option<"dtype", "dtype", "::taylor::StorageType", /*default=*/"::taylor::StorageType::F32", "storage type",
           [{::taylor::wordsOf<::taylor::StorageType>()}]>,
    Option<"parameters", "parameters", "std::string", /*default=*/"\"\"", "values of free parameters, such as 'order=10,window=5'">,
    Option<"mask", "mask", "::taylor::MaskChoice", /*default=*/"::taylor::MaskChoice::Written", "mask instead of the specification's",
           [{::taylor::wordsOf<::taylor::MaskChoice>()}]>
  ];
  let statistics = [Statistic<"numSpecialized", "specialized", "specifications with sizes and types">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def DeclareInterfacePass : Pass<"taylor-declare-interface", "::mlir::ModuleOp"> {
  let summary = "what callers of the specification must know, as an attribute of the module";
  let description = [{
    Rule: `taylor.interface` of the module says the specification's name, parameters and mask,
    whether keys are read at the positions of queries, and its arguments and results. It stays where
    the specification does not: the manifest reads it. Of a module that has one, arguments and
    results alone are brought up to date (after `taylor-carry-states`): sums that have become pairs
    no longer tell their mask. The module has one specification, except for those of its steps.

    ```mlir
    module {
      taylor.spec @f(%q: !q, %k: !k, %v: !v) { .. }
    // becomes
    module attributes {taylor.interface = #taylor.interface<"f", parameters = {}, mask = causal, inputs = [..], outputs = [..]>} {
      taylor.spec @f(%q: !q, %k: !k, %v: !v) { .. }
    ```
  }];
  let options = [Option<"ascending", "ascending", "std::string", /*default=*/"\"\"", "argument whose elements must ascend along its last axis">];
  let statistics = [Statistic<"numDeclared", "declared", "specifications whose interface the module says">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def ExpandRecurrencesPass : Pass<"taylor-expand-recurrences"> {
  let summary = "a finite sum over orders into one recurrence per order";
  let description = [{
    Rule: `recurrences orders(a to b)` = sum over n of `recurrence order(n) coefficient(c[n])`, for
    the numerator and the mass; the count is that of a series without numerator. Sums over all
    orders, of mapped scores, of `weight` formulas, or with more conditions than the mask have no
    state of finite size and stay.

    ```mlir
    %n = taylor.recurrences %q, %k, %v orders(0 to 1) causal : !q, !k, !v
    // becomes
    %0 = taylor.recurrence [numerator] %q, %k, %v order(0) causal : !q, !k, !v
    %1 = taylor.recurrence [numerator] %q, %k, %v order(1) causal : !q, !k, !v
    %n = taylor.map %0 + %1 : !o, !o
    ```
  }];
  let statistics = [Statistic<"numExpanded", "expanded", "series written order by order">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def SplitSeriesPass : Pass<"taylor-split-series", "::mlir::ModuleOp"> {
  let summary = "a specification cut at its series: what comes before the sum over pairs, and what comes after";
  let description = [{
    Rule, for `N, Z = recurrences q, k, v`: the operations that give scale * q, k, v and the decay
    become the specification NAME_operands, with these as its results. The operations after the sum
    become NAME_rest, with the sums as arguments. Operations that neither needs go. The attribute
    `series` of the first says what is between the two: coefficients from order `first` on (without
    these, 1/n! for all n >= 0), mask, whether there is a decay, and which argument of NAME_rest
    stands for which sum. So a program can sum up orders by itself, each alone or up to any N, and
    still have the specification's own feature maps, masses and norms.

    Requires: one sum over pairs, a `recurrences` whose weights are a power series of one product:
    no `score` or `visible`, and a `weight` only where it is a polynomial of the score.

    ```mlir
    taylor.spec @f(%q: !q, %k: !k, %v: !v) {
      %kr = taylor.rope %k : !k
      %n, %z = taylor.recurrences [numerator, mass] %q, %kr, %v exponential causal : !q, !k, !v
      %o = taylor.map %n / %z : !o, !row
      taylor.yield %o : !o
    }
    // becomes
    taylor.spec @f_operands(%q: !q, %k: !k, %v: !v) series {decay = false, mask = "causal", sums = {mass = "mass", numerator = "numerator"}} {
      %kr = taylor.rope %k : !k
      %s = taylor.map %q * rsqrt(size(d)) : !q
      taylor.yield "query" %s, "key" %kr, "value" %v : !q, !k, !v
    }
    taylor.spec @f_rest(%numerator: !o from input, %mass: !row from input) {
      %o = taylor.map %numerator / %mass : !o, !row
      taylor.yield %o : !o
    }
    ```
  }];
  let statistics = [Statistic<"numSplit", "split", "specifications cut at their series">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def CollectRecurrencesPass : Pass<"taylor-collect-recurrences"> {
  let summary = "a sum of recurrences into one series: the inverse of taylor-expand-recurrences";
  let description = [{
    Rule: recurrences without a given or wanted state, of the same query, key, value, decay, scale
    and mask, whose results are only added up, are `recurrences orders(a to b) coefficients(..)`,
    with 0 for an order that is missing. Terms that cancel are a series each. A numerator and a mass
    over the same orders share one operation.

    ```mlir
    %0 = taylor.recurrence [numerator] %q, %k, %v order(0) causal : !q, !k, !v
    %2 = taylor.recurrence [numerator] %q, %k, %v order(2) coefficient(0.5) causal : !q, !k, !v
    %n = taylor.map %0 + %2 : !o, !o
    // becomes
    %n = taylor.recurrences [numerator] %q, %k, %v orders(0 to 2) coefficients(1.0, 0.0, 0.5) causal : !q, !k, !v
    ```
  }];
  let statistics = [Statistic<"numCollected", "collected", "series made of recurrences">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def ExpandNormalizePass : Pass<"taylor-expand-normalize"> {
  let summary = "norms into reductions and maps";
  let description = [{
    Rule: l2 is `x / sqrt(max(sum x*x, epsilon^2))`, which is x / max(|x|, epsilon) with a
    derivative that is finite at 0; rms is `x * rsqrt(mean x*x + epsilon)`; layer is rms of
    `x - mean x`; then weight and bias.

    ```mlir
    %o = taylor.normalize l2 %x epsilon(1.0e-12) : !o
    // becomes
    %s = taylor.reduce sum over(e) %x * %x : !o
    %o = taylor.map %x / sqrt(max(%s, 1.0e-24)) : !o, !row
    ```
  }];
  let statistics = [Statistic<"numExpanded", "expanded", "norms written as reductions and maps">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def RecurrencesToPairwisePass : Pass<"taylor-recurrences-to-pairwise"> {
  let summary = "sums over keys into taylor.pairwise, with guards on all that depends on them";
  let description = [{
    Rule: with s = dot(q, k) and x = score(scale * s), the weight is exp(x) for all factorial
    orders, a Horner scheme in x for finite orders, else the `weight` formula; a decay L adds
    `align(L to t) - L` to the exponent. Numerator and mass are `rows(w, %v)` and `rows(w)`. The
    count of a causal or bidirectional mask is a formula of the position; with `visible` it is
    `rows(1.0)`. A single `taylor.recurrence` without a state is the sum of one order.

    Every map and reduction that depends on a sum, also on one that the specification writes as
    `taylor.pairwise`, gets the guard `live(%count)`: rows that see no key give 0. Where it joins
    sums with different masks, the guard is the largest of their counts, and a function of some of
    them alone becomes a map with its own guard (dialect/Taylor/README.md, "Empty sums"). A scan
    over tokens and a maximum over heads leave dead rows out: the formula becomes a guarded map, and
    a maximum reads minus infinity where a count is 0. An operation that mixes tokens (a scan, a
    convolution, another sum over keys) is itself alive; a reduction over heads is dead where all
    are.

    A map or reduction over queries that only sums over keys read gets the guard too, if its result
    or its derivative may not be finite (`%q / (t + 1.0)`, a root, a logarithm): products of its
    derivative would have 0 times infinity. If several sums read it, the guard is the `max` of their
    counts. An operation that is finite wherever its arrays are (rotations, relu, norms with an
    epsilon) stays as it is. Requires specialised orders.

    ```mlir
    %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
    %o = taylor.map %n / %z : !o, !row
    // becomes
    %n, %z = taylor.pairwise { s = dot(%q, %k)  w = exp(s * rsqrt(size(d))) } visible(u <= t) -> rows(w, %v), rows(w) : ..
    %c = taylor.map min(max(t + 1.0, 0.0), size(u))
    %o = taylor.map %n / %z live(%c) : !o, !row
    ```
  }];
  let statistics = [Statistic<"numLowered", "lowered", "sums over keys written over pairs">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def FactorExponentialsPass : Pass<"taylor-factor-exponentials"> {
  let summary = "weights that fall like exponentials into an exponential, which has a maximum, and what is left";
  let description = [{
    Rule, in weights of pairs: a formula f of one score x, made of exp, expm1, log, log1p, sigmoid,
    softplus, powers, roots and arithmetic with numbers, that tends to c e^(p x) with p > 0 for
    small x, or to the same of -x for large x, is that exponential beyond an edge, to all digits
    that are computed (24; 53 in f64, 12 where arrays are f16): f(x) = exp(y) * r, with y = p x and
    r = c beyond the edge, and y = 0 and r = f(x) elsewhere. Of formulas that are parts of one
    another the whole one counts. log(1 + v) in it becomes log1p(v).

    `taylor-stabilize` subtracts the largest y of a row: 0 if a score is on this side of the edge,
    and such rows stay as before; the largest p x if all are beyond. A row far out is thus
    softmax's, where the formula as written is 0 / 0.

    This is done only where that maximum cancels without a floor, as in weights over their own mass,
    and no exponential of the formula has a maximum already (the analysis of `taylor-stabilize`
    finds both in a copy). It is not done where e^(-p edge) is near the least number of f32, or
    where the score never passes the edge. A formula that cancels on its way, as 1 + tanh(x), or
    falls on both sides stays as it is written.

    ```mlir
    %n, %z = taylor.pairwise { s = dot(%q, %k)  w = softplus(s) } visible(u <= t) -> rows(w, %v), rows(w) : ..
    %o = taylor.map %n / %z : !o, !row
    // becomes
    %n, %z = taylor.pairwise { s = dot(%q, %k)  c = s < -16.0  w = exp(select(c, s, 0.0)) * select(c, 1.0, softplus(select(c, -16.0, s))) } visible(u <= t) -> rows(w, %v), rows(w) : ..
    %o = taylor.map %n / %z : !o, !row
    ```
  }];
  let statistics = [Statistic<"numFactored", "factored", "formulas written as an exponential and what is left">];
  let dependentDialects = ["::taylor::TaylorDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def MergeExponentsPass : Pass<"taylor-merge-exponents"> {
  let summary = "products, powers and choices of exponentials into one exponential";
  let description = [{
    Rule, in weights of pairs, for exponentials of inner products: products add exponents, quotients
    subtract them, powers multiply them; `pow(2.0, s)` is `exp(s * log(2))`. The smaller or larger
    of two exponentials, and a choice between them, are those of the exponents; so are those of an
    exponential and a number, whose exponent is its logarithm: -infinity for 0. An exponential
    without another reader that a condition multiplies by 0, or does not choose, has the exponent
    -infinity there, whatever else the product has. Products of decays add exponents, too.

    An exponential is merged or hidden only if it has no other reader, and only where all operations
    of an inner product have the same formula: exponents that are equal share a maximum, and must
    stay equal.

    `taylor-stabilize` subtracts the largest exponent of a row. By this pass it is the largest of
    the pairs that count: otherwise all other weights would be 0 next to one that is hidden or
    bounded.

    ```mlir
    %n = taylor.pairwise { s = dot(%q, %k), w = min(exp(s), 1.0) * select(t - u < 4.0, %g, 0.0) } -> rows(w, %v) : ..
    // becomes
    %n = taylor.pairwise { s = dot(%q, %k), c = t - u < 4.0, w = exp(select(c, min(s, 0.0), -infinity())) * select(c, %g, 0.0) } -> rows(w, %v) : ..
    ```
  }];
  let options = [Option<"maxIterations", "max-iterations", "int64_t", /*default=*/"10", "most passes over a formula">];
  let statistics = [Statistic<"numMerged", "merged", "operations over pairs whose exponentials were merged or hidden">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def DeriveBackwardPass : Pass<"taylor-derive-backward", "::mlir::ModuleOp"> {
  let summary = "the forward of each specification, and the vector-Jacobian product of its results, in one function";
  let description = [{
    Rule: `taylor.spec @f` becomes `taylor.function @f.joint` from inputs and cotangents of the
    results to results and gradients. Walks the graph from the results and calls each operation's
    own rule (DifferentiableOpInterface); cotangents of several uses add up; what is identically
    zero is never built. Forward and backward stay together so that the stabilisation sees both;
    `taylor-split-backward` parts them.

    Where an operation with a mask reads x as `x[t] - x[u]` alone, and parameters and places make x,
    the pairs with t == u add nothing to its cotangent, and are left out of the rows and columns
    that it comes from: a slope's gradient keeps its digits.

    Requires operations that have a rule: no `taylor.recurrences`, no `taylor.normalize`. With
    `forward-only` there are no cotangents and no gradients, and none of a specification of a step
    (`@f.step of @f`, taylor-plan-steps).

    ```mlir
    taylor.spec @f(%q: !q, %k: !k, %v: !v) {
      %o = taylor.pairwise { s = dot(%q, %k) } -> rows(exp(s), %v) : ..
      taylor.yield %o : !o
    }
    // becomes
    taylor.function @f.joint of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "cotangent:o" %do: !o) .. {
      %o = taylor.pairwise { s = dot(%q, %k) } -> rows(exp(s), %v) : ..
      %dv, %dq, %dk = taylor.pairwise { s = dot(%q, %k), p = dot(%do, %v), w = exp(s) } -> columns(w, %do), rows(p * w, %k), columns(p * w, %q) : ..
      taylor.yield "output:o" %o, "gradient:q" %dq, "gradient:k" %dk, "gradient:v" %dv : ..
    }
    ```
  }];
  let options = [Option<"forwardOnly", "forward-only", "bool", /*default=*/"false", "leave the derivative out">];
  let statistics = [Statistic<"numDerived", "derived", "specifications with a derivative">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def StabilizePass : Pass<"taylor-stabilize", "::taylor::FunctionOp"> {
  let summary = "shift exponents by their running maximum where that cancels";
  let description = [{
    Rule: an exponential over pairs, exp(x), becomes exp(x - m) with m[t] the maximum of x over the
    visible keys, and each value gets a degree p per maximum, value = exp(p m) value'. Products add
    degrees, quotients subtract, roots halve; sums, extrema and comparisons take the larger degree
    and multiply the other side by exp((q - p) m) <= 1, for which m >= 0 is needed: floor 0 exactly
    when such a factor was made (-40 with storage in f16, whose weights would vanish where all
    exponents of a row are below -17).

    Every value that leaves a row (a result, a sum over rows, an argument of tanh) must have
    degree 0. If its degree is negative, as that of the gradient of what is added to a mass, it is
    multiplied by exp(p m) <= 1. Then nothing of e^m is left, and the function is stable. If it is
    positive, that exponential stays as it was written, unshifted.

    Two sums that are added at unlike degrees share the larger maximum. So do several exponentials
    that each sum of one operation adds up, times numbers of a usual size, as `exp(s) + exp(-s)`;
    sums that have none in common get their own operations before. Otherwise several exponentials
    stay as written, but one that `min`, `max` or a choice holds at a number gives way to one that
    is not held. `expm1(x)` of an inner product is `exp(x) - 1`, shifted, where x >= 1.

    An exponential may be below 1 where a condition holds and 1 elsewhere, as
    `taylor-factor-exponentials` makes it. Then m = 0 in a row with a pair where it is 1, so that it
    stays 1 there. Its factor is computed for each side of the condition, sigmoid and softplus of
    the other side by the same exponential, exp(select(c, x - m, -|x|)).

    A running maximum is constant to the derivative, so the pass follows `taylor-derive-backward`
    and shifts both sides.

    ```mlir
    %n, %z = taylor.pairwise { s = dot(%q, %k)  w = exp(s) } visible(u <= t) -> rows(w, %v), rows(w) : ..
    %o = taylor.map %n / (%z + 1.0) : !o, !row
    // becomes
    %n, %z, %m = taylor.pairwise { s = dot(%q, %k)  m = maximum(s, 0.0)  w = exp(s - m) } visible(u <= t) -> rows(w, %v), rows(w), maximum : ..
    %o = taylor.map %n / (%z + max(exp(-%m), 1.2e-38)) : !o, !row, !row
    ```
  }];
  let statistics = [
    Statistic<"numShifted", "shifted", "exponentials shifted by their maximum">,
    Statistic<"numKept", "kept", "exponentials left as written">
  ];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def CheckHalfWeightsPass : Pass<"taylor-check-half-weights", "::taylor::FunctionOp"> {
  let summary = "refuse weights that may pass the range of f16";
  let description = [{
    Rule: in a forward, each weight of `taylor.pairwise` that multiplies an array must be at most
    65504, the largest number of f16. Intervals over its region decide: inner products are
    unbounded; exp(x - m) with the running maximum m of x is at most 1; `min`, `max`, `tanh`,
    `sigmoid` and `select` bound; an array of f16 holds numbers of f16; a polynomial of an unbounded
    score is unbounded. The pass changes nothing.

    It is for targets whose products take weights in f16, where an overflow is silent. A backward
    computes the forward's weights again; its other factors depend on the cotangents, whose size is
    up to the caller.

    ```mlir
    %n = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : ..
    // becomes an error at its line; these two stay as they are
    %n = taylor.pairwise { s = dot(%q, %k) } -> rows(max(min(s, 8.0), -8.0), %v) : ..
    %n = taylor.pairwise { s = dot(%q, %k)  m = maximum(s) } -> rows(exp(s - m), %v) : ..
    ```
  }];
  let statistics = [Statistic<"numChecked", "checked", "operations over pairs whose weights f16 holds">];
}

def CanonicalizePass : Pass<"taylor-canonicalize"> {
  let summary = "the canonical form of every operation";
  let description = [{
    Rule: the patterns of all operations and dialects are applied until none applies; dead code
    goes, and blocks that are the same become one. It is MLIR's `canonicalize` with an error in
    place of silence where `max-iterations` rounds over the code are not enough.

    ```mlir
    %y = taylor.map 1.0 * %x : !o
    // becomes
    %x
    ```
  }];
  let options = [Option<"maxIterations", "max-iterations", "int64_t", /*default=*/"100", "most rounds over the code">];
  let statistics = [Statistic<"numChanged", "changed", "operations in which something was simplified">];
}

def SimplifyArraysPass : Pass<"taylor-simplify-arrays", "::taylor::FunctionOp"> {
  let summary = "array algebra that makes kernels cheaper";
  let description = [{
    Rules: factors that do not vary along a sum leave it (`rows(c * w, %b)` = `c * rows(w, %b)`,
    likewise `reduce`). A factor that is multiplied and divided cancels. A map with one user becomes
    part of it, where guards allow. Unused outputs and operands of `taylor.pairwise` go, and equal
    operations are shared.

    Out of a sum over pairs only numbers are moved; other factors stay. The gradient of a running
    exponent subtracts the sum of a column from that of a row: both must add up the same rounded
    products to cancel as exactly as eager code's.

    ```mlir
    %n, %unused = taylor.pairwise { s = dot(%q, %k)  w = exp(s) * 0.5 } -> rows(w, %v), rows(w) : ..
    %y = taylor.map %n / %r : !o, !row
    // becomes
    %n = taylor.pairwise { s = dot(%q, %k) } -> rows(exp(s), %v) : ..
    %y = taylor.map %n * 0.5 / %r : !o, !row
    ```
  }];
  let options = [Option<"maxIterations", "max-iterations", "int64_t", /*default=*/"0",
                        "most passes over a function; 0: one for each of its operations, and 10 more">];
  let statistics = [Statistic<"numRewrites", "rewrites", "rewrites of maps, reductions and sums over pairs">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def ReuseOutputsPass : Pass<"taylor-reuse-outputs", "::taylor::FunctionOp"> {
  let summary = "read sums back from outputs in the backward";
  let description = [{
    Rule: where a result is O = a N with a sum N and a factor a without channels, the backward reads
    N as O / a, if a then cancels or divides only what was a divisor before (N / Z gives O * Z).
    Then N need not be saved. Otherwise nothing changes, and also if N is rounded, or compared other
    than by its sign (with a maximum of it).

    If the result is rounded to 16 bits, a sum of finitely many powers is read from it and from
    `%rest`, what its rounding took, rounded in the same way. The rounded result alone would leave
    gradients of positive features with twice the error of bf16: `dO . v - dO . o` cancels, the
    rounding of o does not.

    ```mlir
    %r = taylor.reduce sum over(e) %do * %n      // with %o = taylor.map %n / %z
    // becomes
    %0 = taylor.reduce sum over(e) %do * %o
    %r = taylor.map %z * %0
    ```
  }];
  let statistics = [Statistic<"numReused", "reused", "sums that gradients read from outputs">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def SplitBackwardPass : Pass<"taylor-split-backward", "::mlir::ModuleOp"> {
  let summary = "part a joint function into forward and backward, and choose what is saved";
  let description = [{
    Rule: `@f.joint` becomes `@f.forward` (inputs to outputs and saved arrays) and `@f.backward`
    (inputs, outputs, saved arrays and cotangents to gradients). The saved arrays are the cheapest
    cut between the sums over keys and what the backward reads: bytes per row are the cost, outputs
    are free, and arrays of inputs alone (rotations, feature maps, scans) are computed again. A
    function without gradients has no backward.

    ```mlir
    taylor.function @f.joint of @f(.., "cotangent:o" %do: !o) .. {
      %n, %z = taylor.pairwise { .. } -> rows(w, %v), rows(w) : ..
      %o = taylor.map %n / %z : !o, !row
      %dn = taylor.map %do / %z : !o, !row
      ..  taylor.yield "output:o" %o, "gradient:v" %dv : ..
    }
    // becomes
    taylor.function @f.forward of @f(..) .. { ..  taylor.yield "output:o" %o, "saved:mass" %z : .. }
    taylor.function @f.backward of @f(.., "saved:mass" %z: !row, "cotangent:o" %do: !o) { ..  taylor.yield "gradient:v" %dv : .. }
    ```
  }];
  let statistics = [Statistic<"numSaved", "saved", "arrays that forwards save">];
  let dependentDialects = ["::taylor::TaylorDialect"];
}

def FoldRowFactorsPass : Pass<"taylor-fold-row-factors", "::mlir::ModuleOp"> {
  let summary = "a factor per row moves from an operand into the weights";
  let description = [{
    Rule, of weights with exponentials: let an operand of a `taylor.pairwise` without a maximum be
    x[t,c] a[t], where x is an argument of the function and a >= 0 for all arguments. Then x takes
    the operand's place, every exp of the weights is multiplied by a, and some scalars per row are
    divided by a, if every output keeps its value. If a can be 0 where what would be divided by it
    is not (a gate can; a reciprocal cannot), no scalar may be divided by it. In f16 such an a
    must be at most 1, too. The factor of exp(s - m) goes to where it costs nothing per pair:
    exp(s - (m - log a)).

    Why: products read x as it lies in memory. A derivative has dO / Z instead: read, divided,
    rounded and written again for every tile of queries of every block of keys, in the storage type,
    and f16 has no such number where Z is large. Here the weights are divided, as softmax's should
    be. In rows without keys (the guard gives 0) they are exp(-inf).

    m - log a in one number rounds each weight of a row by eps |m| in the same way, so this is for
    16-bit storage types.

    Of weights without an exponential that could take the factor (series, ReLU): inner products with
    the operand are multiplied by a, and so are the weights that it is summed with, if results are
    linear in these products. The weights of a derivative are: the first multiplication joins an
    addition, and the weights are rounded once, with their factor, where dO / Z was rounded and then
    the weights.

    ```mlir
    %n = taylor.map %do / %z live(%count) : ..
    %c = taylor.map -%r / %z live(%count) : ..
    %dk, %dv = taylor.pairwise { s = dot(%q, %k)  p = dot(%n, %v)  w = exp(s - %m)  ds = (p + %c) * w } -> columns(ds, %q), columns(w, %n) : ..
    // becomes
    %a = taylor.map 1.0 / %z live(%count) : ..
    %d = taylor.map select(%a <= 0.0, 0.0, %c / %a) : ..
    %l = taylor.map select(%a <= 0.0, infinity(), %m - log(%a)) : ..
    %dk, %dv = taylor.pairwise { s = dot(%q, %k)  p = dot(%do, %v)  w = exp(s - %l)  ds = (p + %d) * w } -> columns(ds, %q), columns(w, %do) : ..

    %dk, %dv = taylor.pairwise { s = dot(%q, %k)  p = dot(%n, %v)  ds = p + %c } -> columns(ds, %q), columns(s, %n) : ..
    // becomes
    %dk, %dv = taylor.pairwise { s = dot(%q, %k)  p = dot(%do, %v)  ds = p * %a + %c  w = s * %a } -> columns(ds, %q), columns(w, %do) : ..
    ```
  }];
  let statistics = [Statistic<"numFolded", "folded", "operations whose operand lost its factor">];
  let dependentDialects = ["::taylor::TaylorDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

include "passes/StatePasses.td"

#endif
