// Messages of operations local to rows, tokens and channels.
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
  // expected-error @below {{'taylor.scan' op requires axis 'u' of an operand}}
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

!o = !taylor.array<[b, h, t, e]>
taylor.spec @unknown_norm(%n: !o) {
  // expected-error @below {{custom op 'taylor.normalize' expected l2, rms or layer, but got 'l3'}}
  %o = taylor.normalize l3 %n epsilon(1.0e-5) : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @epsilon_without_a_point(%n: !o) {
  // expected-error @below {{custom op 'taylor.normalize' expected a point in a number with an exponent, but got '1e-5'; write for example 1.0e-4}}
  %o = taylor.normalize l2 %n epsilon(1e-5) : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @epsilon_of_a_name(%n: !o) {
  // expected-error @below {{custom op 'taylor.normalize' expected a number, but got 'small'}}
  %o = taylor.normalize l2 %n epsilon(small) : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @norm_without_epsilon(%n: !o) {
  // expected-error @below {{custom op 'taylor.normalize' requires epsilon(..), for example epsilon(1.0e-5)}}
  %o = taylor.normalize l2 %n : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @negative_epsilon(%n: !o) {
  // expected-error @below {{'taylor.normalize' op expected epsilon >= 0, but got -1.0}}
  %o = taylor.normalize l2 %n epsilon(-1.0) : !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
taylor.spec @norm_of_a_missing_axis(%q: !q) {
  // expected-error @below {{'taylor.normalize' op requires axis 'e' of its operand, but got '!taylor.array<[b, h, t, d]>'; name another with over(..)}}
  %o = taylor.normalize l2 %q epsilon(1.0e-12) : !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
taylor.spec @norm_over_tokens(%q: !q) {
  // expected-error @below {{'taylor.normalize' op unsupported norm over 't'; a norm reduces channels, heads or a free axis}}
  %o = taylor.normalize l2 over(t) %q epsilon(1.0e-12) : !q
  taylor.yield %o : !q
}

// -----

!o = !taylor.array<[b, h, t, e]>
!w = !taylor.array<[e]>
taylor.spec @weight_of_l2(%n: !o, %w: !w from parameter(ones)) {
  // expected-error @below {{'taylor.normalize' op unsupported weight or bias of an l2 norm; multiply its result with taylor.map}}
  %o = taylor.normalize l2 %n weight(%w) epsilon(1.0e-12) : !o, !w
  taylor.yield %o : !o
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @rope_without_channel(%q: !row) {
  // expected-error @below {{'taylor.rope' op requires one channel axis, but got '!taylor.array<[b, h, t]>'}}
  %o = taylor.rope %q : !row
  taylor.yield %o : !row
}

// -----

!w = !taylor.array<[b, h, d]>
taylor.spec @rope_without_tokens(%q: !w from input) {
  // expected-error @below {{'taylor.rope' op requires a token axis t or u, but got '!taylor.array<[b, h, d]>'}}
  %o = taylor.rope %q : !w
  taylor.yield %o : !w
}

// -----

!q = !taylor.array<[b, h, t, d = 5]>
taylor.spec @odd_channels(%q: !q) {
  // expected-error @below {{'taylor.rope' op expected an even number of channels to rotate in pairs, but got d = 5}}
  %o = taylor.rope %q : !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
taylor.spec @theta(%q: !q) {
  // expected-error @below {{'taylor.rope' op expected theta > 0, but got 0.0}}
  %o = taylor.rope %q theta(0.0) : !q
  taylor.yield %o : !q
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

!k = !taylor.array<[b, g, u, d]>
!p = !taylor.array<[b, u], i32>
taylor.spec @whole_documents(%x: !k, %w: !taylor.array<[d, j = 4]> from parameter(ones), %p: !p from input) {
  // expected-error @below {{'taylor.convolve' op expected documents that are real numbers, but got '!taylor.array<[b, u], i32>'; convert them with taylor.map}}
  %o = taylor.convolve %x, %w within(%p : !p) : !k, !taylor.array<[d, j = 4]>
  taylor.yield %o : !k
}

// -----

!q = !taylor.array<[b, h, t, d]>
!p = !taylor.array<[b, u]>
taylor.spec @positions_of_keys(%q: !q, %p: !p from input) {
  // expected-error @below {{'taylor.rope' op requires positions over axis 't', as the array has it, but got '!taylor.array<[b, u]>'}}
  %o = taylor.rope %q at %p : !q, !p
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!p = !taylor.array<[h, t]>
taylor.spec @positions_of_heads(%q: !q, %p: !p from input) {
  // expected-error @below {{'taylor.rope' op expected positions over 't' and perhaps 'b', but got axis 'h'}}
  %o = taylor.rope %q at %p : !q, !p
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[h, t, d]>
!p = !taylor.array<[b, t]>
taylor.spec @positions_of_batches(%q: !q, %p: !p from input) {
  // expected-error @below {{'taylor.rope' op expected positions over 't', but got axis 'b'}}
  %o = taylor.rope %q at %p : !q, !p
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!p = !taylor.array<[b, t], i32>
taylor.spec @whole_positions(%q: !q, %p: !p from input) {
  // expected-error @below {{'taylor.rope' op expected positions that are real numbers, but got '!taylor.array<[b, t], i32>'; convert them with taylor.map}}
  %o = taylor.rope %q at %p : !q, !p
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
taylor.spec @rope_layout(%q: !q) {
  // expected-error @below {{custom op 'taylor.rope' expected half or interleaved, but got 'thirds'}}
  %o = taylor.rope %q layout(thirds) : !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
taylor.spec @convolution_without_taps(%q: !q, %w: !taylor.array<[h, d]> from parameter(ones)) {
  // expected-error @below {{'taylor.convolve' op requires one free axis of taps, such as j = 4, but got '!taylor.array<[h, d]>'}}
  %o = taylor.convolve %q, %w : !q, !taylor.array<[h, d]>
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!w = !taylor.array<[h, e, j = 4]>
taylor.spec @taps_of_other_channels(%q: !q, %w: !w from parameter(ones)) {
  // expected-error @below {{'taylor.convolve' op expected taps over axes of the array, but got axis 'e'}}
  %o = taylor.convolve %q, %w : !q, !w
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, d]>
!w = !taylor.array<[h, d, j = 4]>
taylor.spec @convolution_without_tokens(%q: !q from input, %w: !w from parameter(ones)) {
  // expected-error @below {{'taylor.convolve' op requires a token axis t or u, but got '!taylor.array<[b, h, d]>'}}
  %o = taylor.convolve %q, %w : !q, !w
  taylor.yield %o : !q
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

!q = !taylor.array<[b, h, t, d]>
!w = !taylor.array<[h, j = 65]>
taylor.spec @too_many_taps(%q: !q, %w: !w from parameter(ones)) {
  // expected-error @below {{'taylor.convolve' op expected at most 64 taps, for which kernels have code one by one, but got 65}}
  %o = taylor.convolve %q, %w : !q, !w
  taylor.yield %o : !q
}

// -----

!y = !taylor.array<[b, h, t, e]>
!w = !taylor.array<[e]>
taylor.spec @misspelt_weight(%y: !y, %w: !w from parameter(ones)) {
  // expected-error @below {{custom op 'taylor.normalize' expected weight(..), bias(..) or epsilon(..), in this order, but got 'weigth'; did you mean 'weight'?}}
  %o = taylor.normalize rms %y weigth(%w) epsilon(1.0e-5) : !y, !w
  taylor.yield %o : !y
}

// -----

!y = !taylor.array<[b, h, t, e]>
!w = !taylor.array<[e]>
taylor.spec @weight_behind(%y: !y, %w: !w from parameter(ones)) {
  // expected-error @below {{custom op 'taylor.normalize' expected weight(..), bias(..) or epsilon(..), in this order, but got 'weight'}}
  %o = taylor.normalize rms %y epsilon(1.0e-5) weight(%w) : !y, !w
  taylor.yield %o : !y
}

// -----

!q = !taylor.array<[b, h, t, d]>
taylor.spec @misspelt_layout(%q: !q) {
  // expected-error @below {{custom op 'taylor.rope' expected at, theta(..), layout(..), offset(..) or inverse, in this order, but got 'laoyut'; did you mean 'layout'?}}
  %o = taylor.rope %q laoyut(half) : !q
  taylor.yield %o : !q
}

// -----

!x = !taylor.array<[b, g, u]>
taylor.spec @misspelt_exclusive(%x: !x) {
  // expected-error @below {{custom op 'taylor.scan' expected exclusive, reverse or over(..), in this order, but got 'exclusiv'; did you mean 'exclusive'?}}
  %o = taylor.scan sum exclusiv over(u) %x : !x
  taylor.yield %o : !x
}

// -----

!q = !taylor.array<[b, h, t, d]>
!w = !taylor.array<[h, j = 4]>
taylor.spec @misspelt_within(%q: !q, %w: !w from parameter(ones)) {
  // expected-error @below {{custom op 'taylor.convolve' expected within(..) or reverse, in this order, but got 'wihtin'; did you mean 'within'?}}
  %o = taylor.convolve %q, %w wihtin(%q) : !q, !w
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
taylor.spec @gates_of_other_channels(%q: !q, %a: !taylor.array<[b, h, t, e]>) {
  // expected-error @below {{'taylor.gated_sum' op expected gates over axes of the array, but got axis 'e'}}
  %o = taylor.gated_sum %q, %a : !q, !taylor.array<[b, h, t, e]>
  taylor.yield %o : !q
}

// -----

!w = !taylor.array<[h, d]>
taylor.spec @gated_sum_without_tokens(%w: !w from parameter(ones)) {
  // expected-error @below {{'taylor.gated_sum' op requires a token axis t or u, but got '!taylor.array<[h, d]>'}}
  %o = taylor.gated_sum %w, %w : !w, !w
  taylor.yield %o : !w
}

// -----

!q = !taylor.array<[b, h, t, d]>
!i = !taylor.array<[b, t], i32>
taylor.spec @gates_of_integers(%q: !q, %i: !i from input) {
  // expected-error @below {{'taylor.gated_sum' op expected an array and gates of real numbers, but got '!taylor.array<[b, t], i32>'; convert them with taylor.map}}
  %o = taylor.gated_sum %q, %i : !q, !i
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!p = !taylor.array<[b, u]>
taylor.spec @gated_sum_in_documents_of_keys(%q: !q, %p: !p from input) {
  // expected-error @below {{'taylor.gated_sum' op requires documents over axis 't', as the array has it, but got '!taylor.array<[b, u]>'}}
  %o = taylor.gated_sum %q, %q within(%p : !p) : !q, !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
taylor.spec @misspelt_reverse(%q: !q) {
  // expected-error @below {{custom op 'taylor.gated_sum' expected within(..) or reverse, in this order, but got 'revers'; did you mean 'reverse'?}}
  %o = taylor.gated_sum %q, %q revers : !q, !q
  taylor.yield %o : !q
}

// -----

func.func @gated_sum_of_numbers(%a: f32) {
  // expected-error @below {{custom op 'taylor.gated_sum' invalid kind of type specified: expected taylor.array, but found 'f32'}}
  %o = taylor.gated_sum %a, %a : f32, f32
  return
}

// -----

func.func @foreign_operand(%a: f32) {
  // expected-error @below {{custom op 'taylor.map' expected operands of type !taylor.array, but got 'f32'}}
  %b = taylor.map %a + 1.0 : f32
  return
}

// -----

func.func @foreign_norm(%a: f32) {
  // expected-error @below {{custom op 'taylor.normalize' expected operands of type !taylor.array, but got 'f32'}}
  %b = taylor.normalize layer %a epsilon(1.0e-5) : f32
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
