// Messages of operations local to rows, tokens and channels: formulas, reductions, scans. Those of norms,
// rotations and convolutions are in token-operations-invalid.mlir.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @queries_with_keys(%q: !q, %k: !k) {
  // expected-error @below {{custom op 'taylor.map' unsupported mix of query and key tokens: one operand has t, another u; use taylor.align}}
  %o = taylor.map %q * %k : !q, !k
  taylor.yield %o : !q
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @position_of_keys(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' unsupported mix of query and key tokens: one operand has t, another u; use taylor.align}}
  %o = taylor.map %a + u : !row
  taylor.yield %o : !row
}

// -----

!a = !taylor.array<[b, t, j = 4]>
!b = !taylor.array<[b, t, j = 8]>
taylor.spec @sizes(%a: !a, %b: !b) {
  // expected-error @below {{custom op 'taylor.map' expected one size of axis 'j', but got 4 and 8}}
  %o = taylor.map %a + %b : !a, !b
  taylor.yield %o : !a
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @operand_types(%a: !row, %b: !row) {
  // expected-error @below {{custom op 'taylor.map' expected 2 operand types, one per distinct value in order of appearance, but got 1}}
  %o = taylor.map %a + %b : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @narrowed(%a: !row) {
  // expected-error @below {{'taylor.map' op expected a result with axis 't', but got '!taylor.array<[b, h]>'}}
  %o = taylor.map %a + 1.0 : !row -> !taylor.array<[b, h]>
  taylor.yield %o : !taylor.array<[b, h]>
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @guard(%a: !row, %c: !taylor.array<[b, h, u]>) {
  // expected-error @below {{'taylor.map' op expected a guard with axes of the operands, but got '!taylor.array<[b, h, u]>'}}
  %o = taylor.map %a + 1.0 live(%c) : !row, !taylor.array<[b, h, u]>
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @region_arguments(%a: !row) {
  // expected-error @below {{'taylor.map' op expected region argument 0 of type 'f64', but got 'f32'}}
  %o = taylor.map region(%a) { ^bb0(%x: f32): taylor.yield %x : f32 } : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @region_argument_count(%a: !row) {
  // expected-error @below {{'taylor.map' op expected one region argument per array, but got 2 for 1 arrays}}
  %o = taylor.map region(%a) { ^bb0(%x: f64, %y: f64): taylor.yield %x : f64 } : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @region_of_two(%a: !row) {
  // expected-error @below {{'taylor.map' op expected a region that yields one number}}
  %o = taylor.map region(%a) { ^bb0(%x: f64): taylor.yield %x, %x : f64, f64 } : !row
  taylor.yield %o : !row
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @unknown_reduction(%n: !o) {
  // expected-error @below {{custom op 'taylor.reduce' expected sum, mean or max, but got 'median'}}
  %o = taylor.reduce median over(e) %n : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @missing_axis(%n: !o) {
  // expected-error @below {{custom op 'taylor.reduce' expected an axis of the operands, but got 'd'}}
  %o = taylor.reduce sum over(d) %n : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @no_axis(%n: !o) {
  // expected-error @below {{'taylor.reduce' op requires at least one axis to reduce over}}
  %o = taylor.reduce sum over() %n : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @tokens(%n: !o) {
  // expected-error @below {{'taylor.reduce' op unsupported reduction over 't' in a specification; sums over tokens are taylor.recurrences or taylor.scan}}
  %o = taylor.reduce sum over(t) %n : !o
  taylor.yield %o : !taylor.array<[b, h, e]>
}

// -----

!n = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
taylor.spec @axis_twice(%n: !n) {
  // expected-error @below {{custom op 'taylor.reduce' expected each axis once in over(..), but got 'e' twice}}
  %o = taylor.reduce mean over(e, e) %n : !n
  taylor.yield %o : !row
}

// -----

!n = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
taylor.spec @heads_and_group(%n: !n) {
  // expected-error @below {{custom op 'taylor.reduce' expected over(h) or over(group), but got both: h has the heads of all groups}}
  %o = taylor.reduce mean over(h, group) %n : !n
  taylor.yield %o : !row
}

// -----

!o = !taylor.array<[b, t, e]>
taylor.spec @group_without_heads(%n: !o) {
  // expected-error @below {{custom op 'taylor.reduce' requires axis h to reduce over the group}}
  %o = taylor.reduce sum over(group) %n : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @scan_of_channels(%n: !o) {
  // expected-error @below {{'taylor.scan' op expected a scan over t or u, but got 'e'}}
  %o = taylor.scan sum over(e) %n : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @scan_of_a_missing_axis(%n: !o) {
  // expected-error @below {{'taylor.scan' op requires axis 'u' of an operand, but got '!taylor.array<[b, h, t, e]>'; taylor.align reads an array over u at queries, and one over t at keys}}
  %o = taylor.scan sum over(u) %n : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @unknown_scan(%n: !o) {
  // expected-error @below {{custom op 'taylor.scan' expected sum, max, shift, high or low, but got 'product'}}
  %o = taylor.scan product over(t) %n : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e], f32>
taylor.spec @part_in_a_specification(%n: !o) {
  // expected-error @below {{'taylor.scan' op expected one part of a running sum, 'low', over an array of f32 in a taylor.function, but got '!taylor.array<[b, h, t, e], f32>'; the whole of it is 'sum'}}
  %o = taylor.scan low over(t) %n : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e = 8], f64>
taylor.function @part_of_f64 of @f("input:n" %n: !o) {
  // expected-error @below {{'taylor.scan' op expected one part of a running sum, 'high', over an array of f32 in a taylor.function, but got '!taylor.array<[b, h, t, e = 8]>'; the whole of it is 'sum'}}
  %o = taylor.scan high over(t) %n : !o
  taylor.yield "output:o" %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @negative_shift(%n: !o) {
  // expected-error @below {{'taylor.scan' op expected shift(n) with n >= 0, and not exclusive, but got shift(-1)}}
  %o = taylor.scan shift(-1) over(t) %n : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @exclusive_shift(%n: !o) {
  // expected-error @below {{'taylor.scan' op expected shift(n) with n >= 0, and not exclusive, but got exclusive shift(1)}}
  %o = taylor.scan shift(1) exclusive over(t) %n : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t]>
taylor.spec @guarded_scan(%n: !o) {
  // expected-error @below {{custom op 'taylor.scan' unsupported guard live(..) on a scan}}
  %o = taylor.scan sum over(t) %n live(%n) : !o, !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @align_to_channels(%n: !o) {
  // expected-error @below {{custom op 'taylor.align' expected to align to t or u, but got 'e'}}
  %o = taylor.align %n to e : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @align_where_it_is(%n: !o) {
  // expected-error @below {{'taylor.align' op requires axis 'u' of its operand, but got '!taylor.array<[b, h, t, e]>'}}
  %o = taylor.align %n to t : !o
  taylor.yield %o : !o
}

// -----

!col = !taylor.array<[b, h, u]>
!p = !taylor.array<[b, t]>
taylor.spec @documents_of_queries(%x: !col, %p: !p from input) {
  // expected-error @below {{'taylor.scan' op requires documents over axis 'u', as the array has it, but got '!taylor.array<[b, t]>'}}
  %o = taylor.scan sum over(u) within(%p : !p) %x : !col
  taylor.yield %o : !col
}

// -----

taylor.spec @lags_with_tokens(%x: !taylor.array<[b, h, t]>, %table: !taylor.array<[h, r = 8]> from input) {
  %bias = taylor.reduce sum over(r) select(r == lag, %table, 0.0) : !taylor.array<[h, r = 8]>
  // expected-error @below {{unsupported mix of lags with tokens: one operand has lag, another t or u; an array with lag is read in formulas over pairs}}
  %y = taylor.map %x * %bias : !taylor.array<[b, h, t]>, !taylor.array<[h, lag]>
  taylor.yield %y : !taylor.array<[b, h, t]>
}

// -----

taylor.spec @sum_over_lags(%table: !taylor.array<[h, r = 8]> from input) {
  // expected-error @below {{'taylor.reduce' op unsupported reduction over 'lag' in a specification; sums over tokens are taylor.recurrences or taylor.scan}}
  %y = taylor.reduce sum over(lag) %table * lag : !taylor.array<[h, r = 8]>
  taylor.yield %y : !taylor.array<[h, r = 8]>
}

// -----

taylor.spec @scan_over_lags(%table: !taylor.array<[h, r = 8]> from input) {
  %bias = taylor.reduce sum over(r) select(r == lag, %table, 0.0) : !taylor.array<[h, r = 8]>
  // expected-error @below {{'taylor.scan' op expected a scan over t or u, but got 'lag'}}
  %y = taylor.scan sum over(lag) %bias : !taylor.array<[h, lag]>
  taylor.yield %y : !taylor.array<[h, lag]>
}

// -----

!x = !taylor.array<[b, g, u]>
taylor.spec @misspelt_exclusive(%x: !x) {
  // expected-error @below {{custom op 'taylor.scan' expected exclusive, reverse or over(..), in this order, but got 'exclusiv'; did you mean 'exclusive'?}}
  %o = taylor.scan sum exclusiv over(u) %x : !x
  taylor.yield %o : !x
}

// -----

func.func @foreign_operand(%a: f32) {
  // expected-error @below {{custom op 'taylor.map' expected operands of type !taylor.array, but got 'f32'}}
  %b = taylor.map %a + 1.0 : f32
  return
}

// -----

!x = !taylor.array<[b, u]>
taylor.spec @lengths_from_the_start(%x: !x, %d: !x from input) {
  // expected-error @below {{'taylor.scan' op requires 'max reverse' and within(..) for 'lengths', which counts the tokens of each document; a specification says size(u)}}
  %o = taylor.scan max lengths over(u) within(%d : !x) %x : !x
  taylor.yield %o : !x
}

// -----

!x = !taylor.array<[b, u]>
taylor.spec @lengths_of_no_document(%x: !x) {
  // expected-error @below {{'taylor.scan' op requires 'max reverse' and within(..) for 'lengths', which counts the tokens of each document; a specification says size(u)}}
  %o = taylor.scan max reverse lengths over(u) %x : !x
  taylor.yield %o : !x
}
