// Messages of norms, rotations, convolutions and gated sums.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics

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

func.func @foreign_norm(%a: f32) {
  // expected-error @below {{custom op 'taylor.normalize' expected operands of type !taylor.array, but got 'f32'}}
  %b = taylor.normalize layer %a epsilon(1.0e-5) : f32
  return
}
