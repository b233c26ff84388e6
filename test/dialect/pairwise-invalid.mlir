// Messages of taylor.pairwise.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @unnamed_formula(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.pairwise' expected 'name = formula' in the block of taylor.pairwise}}
  %o = taylor.pairwise { s = dot(%q, %k), exp(s) } -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @scaled_product(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.pairwise' unsupported function 'dot' in a formula; in taylor.pairwise, an inner product has a name of its own: { s = dot(%q, %k), w = exp(s) }}}
  %o = taylor.pairwise { s = dot(%q, %k) * rsqrt(size(d)) } -> rows(exp(s), %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @two_maxima(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.pairwise' expected at most one maximum(..), but got two}}
  %o = taylor.pairwise { s = dot(%q, %k), m = maximum(s), n = maximum(s) } -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @maximum_of_nothing(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.pairwise' expected maximum(x) or maximum(x, floor)}}
  %o = taylor.pairwise { s = dot(%q, %k), m = maximum() } -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @unknown_output(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.pairwise' expected rows(..), columns(..), diagonals(..), total(..) or maximum, but got 'corners'}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> corners(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @missing_maximum(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.pairwise' requires 'm = maximum(..)' in the block}}
  %o, %m = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v), maximum : !q, !k, !v -> !o, !taylor.array<[b, h, t]>
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @contracted_total(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.pairwise' expected total(F): only rows and columns contract with an array}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> total(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @dot_of_one(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.pairwise' expected dot(%row, %column) of two arrays}}
  %o = taylor.pairwise { s = dot(%q) } -> rows(s, %v) : !q, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @dot_of_rows(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op expected dot(..) of an array with t and an array with u, but got '!taylor.array<[b, h, t, d]>' and '!taylor.array<[b, h, t, d]>'}}
  %o = taylor.pairwise { s = dot(%q, %q) } -> rows(s, %v) : !q, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @dot_of_other_channels(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op expected dot(..) of arrays that share a channel axis, but got '!taylor.array<[b, h, t, d]>' and '!taylor.array<[b, g, u, e]>'}}
  %o = taylor.pairwise { s = dot(%q, %v) } -> rows(s, %v) : !q, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[e, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @dot_beside_a_channel(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op unsupported second channel axis 'd' of an array in dot(..), which sums over 'e' alone: '!taylor.array<[e, h, t, d]>'}}
  %o = taylor.pairwise { s = dot(%q, %v) } -> rows(s, %v) : !q, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d = 8]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @dot_of_sizes(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op expected one size of channel 'd', but got '!taylor.array<[b, h, t, d = 8]>' and '!taylor.array<[b, g, u, d = 4]>'}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @channel_of_a_scalar(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op unsupported channel axis of a scalar: '!taylor.array<[b, g, u, e]>'; a channel may occur only in dot(..) and in outputs}}
  %o = taylor.pairwise { s = dot(%q, %k), w = s + %v } -> rows(w, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @type_count(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.pairwise' expected 3 operand types, one per distinct value in order of appearance, but got 2}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : !q, !k -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @result_count(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.pairwise' expected 2 result types, but got 1}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v), rows(s) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, u, e]>
taylor.spec @rows_of_keys(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op expected an output of rows without axis 'u', but got '!taylor.array<[b, h, u, e]>'}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @sum_with_a_channel(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op expected an output without channel axis, but got '!taylor.array<[b, h, t, e]>'}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s) : !q, !k -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, d]>
taylor.spec @rows_of_a_row(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op expected rows(w, array) with axis 'u' of the array, but got '!taylor.array<[b, h, t, d]>'}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %q) : !q, !k -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t]>
taylor.spec @lost_channel(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op expected the channel axis 'e' in the output, but got '!taylor.array<[b, h, t]>'}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @number_as_visible(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op expected a condition in visible(..), such as u <= t, but got a number}}
  %o = taylor.pairwise { s = dot(%q, %k) } visible(u - t) -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @condition_as_weight(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op expected numbers from the weight region, but got a condition; write select(condition, 1.0, 0.0)}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s < 1.0, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @diagonals_contract(%q: !q, %k: !k) {
  // expected-error @below {{custom op 'taylor.pairwise' expected diagonals(F): only rows and columns contract with an array}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> diagonals(s, %k) : !q, !k -> !taylor.array<[h, lag]>
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @diagonals_without_lag(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected an output of diagonals with axis 'lag', but got '!taylor.array<[h]>'; a sum over all pairs is total(..)}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> diagonals(s) : !q, !k -> !taylor.array<[h]>
  taylor.yield %o : !taylor.array<[h]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @diagonals_of_rows(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected an output of diagonals without axis 't', but got '!taylor.array<[b, h, t]>'}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> diagonals(s) : !q, !k -> !taylor.array<[b, h, t]>
  taylor.yield %o : !taylor.array<[b, h, t]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @rows_of_lags(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected an output of rows without axis 'lag', but got '!taylor.array<[b, h, lag]>'}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s) : !q, !k -> !taylor.array<[b, h, lag]>
  taylor.yield %q : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @index_of_lag(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op unsupported index 'lag' in a formula over pairs: write t - u}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s * lag) : !q, !k -> !taylor.array<[b, h, t]>
  taylor.yield %o : !taylor.array<[b, h, t]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e = 8]>
!o = !taylor.array<[b, h, t, e = 7]>
taylor.spec @output_of_another_size(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op expected the channel axes of '!taylor.array<[b, g, u, e = 8]>' in the output, but got '!taylor.array<[b, h, t, e = 7]>'}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e, j = 2]>
taylor.spec @output_with_another_axis(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op expected the channel axes of '!taylor.array<[b, g, u, e]>' in the output, but got '!taylor.array<[b, h, t, e, j = 2]>'}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : !q, !k, !v -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!m = !taylor.array<[b, h, t, e]>
taylor.spec @maximum_with_channels(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op expected an output without channel axis, but got '!taylor.array<[b, h, t, e]>'}}
  %o, %m = taylor.pairwise { s = dot(%q, %k), m = maximum(s) } -> rows(s, %v), maximum : !q, !k, !v -> !m, !m
  taylor.yield %o : !m
}

// -----

!q = !taylor.array<[b, h, t, d], f16>
!k = !taylor.array<[b, g, u, d], f16>
!v = !taylor.array<[b, g, u, e], f16>
!o = !taylor.array<[b, h, t, e], f32>
!row = !taylor.array<[b, h, t]>
taylor.spec @outputs_of_two_types(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.pairwise' op expected outputs that are computed in 'f32', as the pairs are, but got '!taylor.array<[b, h, t]>'}}
  %o, %z = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v), rows(s) : !q, !k, !v -> !o, !row
  taylor.yield %o : !o
}

// -----

!document = !taylor.array<[b, u], i32>
!one = !taylor.array<[b, t], f32>
!two = !taylor.array<[b, t], f64>
taylor.spec @counts_of_two_types(%document: !document from input) {
  // expected-error @below {{'taylor.pairwise' op expected outputs that are computed in 'f64', as the pairs are, but got '!taylor.array<[b, t], f32>'}}
  %one, %two = taylor.pairwise {} visible(0 < %document) -> rows(1.0), rows(2.0) : !document -> !one, !two
  taylor.yield %two : !two
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @output_of_whole_numbers(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected outputs that are computed in 'f64', as the pairs are, but got '!taylor.array<[b, h, t], i32>'}}
  %o = taylor.pairwise { s = dot(%q, %k) } -> rows(s) : !q, !k -> !taylor.array<[b, h, t], i32>
  taylor.yield %q : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!o = !taylor.array<[b, h, t, e]>
func.func @foreign_operand(%q: !q, %k: !k, %v: f32) {
  // expected-error @below {{custom op 'taylor.pairwise' expected operands of type !taylor.array, but got 'f32'}}
  %n = taylor.pairwise { s = dot(%q, %k) } -> rows(s, %v) : !q, !k, f32 -> !o
  return
}
