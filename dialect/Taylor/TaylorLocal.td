// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that are local to rows, tokens and channels.
#ifndef TAYLOR_LOCAL_TD
#define TAYLOR_LOCAL_TD

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
  let hasCanonicalizer = 1;
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
  let hasCanonicalizer = 1;
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
    attr-dict custom<WeightedTypes>(type($array), type($taps), type($result))
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
  let hasCustomAssemblyFormat = 0;
  let assemblyFormat = [{
    $array `,` $gates (`within` `(` custom<Given>($within)^ `:` qualified(type($within)) `)`)? (`reverse` $reverse^)?
    attr-dict custom<WeightedTypes>(type($array), type($gates), type($result))
  }];
  let extraClassDeclaration = [{
    ::taylor::Reach getReach() { return getReverse() ? Reach::After : Reach::Before; }
    std::optional<::mlir::MutableOperandRange> getDocuments() { return getWithinMutable(); }
  }];
}

#endif
