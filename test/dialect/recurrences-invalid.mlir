// Messages of sums over keys: their clauses and formulas (recurrences-types-invalid.mlir: the types of their operands).
// RUN: taylor-opt %s --split-input-file --verify-diagnostics

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @no_mask(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' requires a clause causal or bidirectional}}
  %o = taylor.recurrences %q, %k, %v exponential : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @two_masks(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected either causal or bidirectional, but got both}}
  %o = taylor.recurrences %q, %k, %v exponential causal bidirectional : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @no_weight(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' requires exactly one of the clauses exponential, orders(..) and weight(..)}}
  %o = taylor.recurrences %q, %k, %v causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @two_weights(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' requires exactly one of the clauses exponential, orders(..) and weight(..)}}
  %o = taylor.recurrences %q, %k, %v exponential weight(s) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @scaled_exponential(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected exponential alone: it stands for orders(all) coefficients(factorial) scale(rsqrt(size(d)))}}
  %o = taylor.recurrences %q, %k, %v exponential scale(2.0) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @unknown_clause(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected a clause (orders, coefficients, exponential, weight, scale, score, decay, causal, bidirectional, visible), but got 'temperature'}}
  %o = taylor.recurrences %q, %k, %v exponential temperature(2.0) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @clause_twice(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected each clause once, but got 'score' twice}}
  %o = taylor.recurrences %q, %k, %v exponential causal score(s) score(s) : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @unknown_sum(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected numerator, mass, count or state, but got 'denominator'}}
  %o = taylor.recurrences [denominator] %q, %k, %v exponential causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @sum_twice(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op expected each sum once, but got 'mass' twice}}
  %o, %p = taylor.recurrences [mass, mass] %q, %k, %v exponential causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @state_of_many(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op unsupported sum 'state': a state belongs to one order; use taylor.recurrence}}
  %o = taylor.recurrences [state] %q, %k, %v exponential causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, g, e, f]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @negative_order(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op expected orders >= 0, but got -1}}
  %o = taylor.recurrences %q, %k, %v orders(-1 to 2) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @orders_backwards(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op expected orders(a to b) with a <= b, but got 3 to 2}}
  %o = taylor.recurrences %q, %k, %v orders(3 to 2) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @order_without_parameter(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op requires an index parameter 'order'; declare it as parameters(order : index = 10)}}
  %o = taylor.recurrences %q, %k, %v orders(0 to order) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @order_of_a_real_parameter(%q: !q, %k: !k, %v: !v) parameters(order = 2.0) {
  // expected-error @below {{'taylor.recurrences' op requires an index parameter 'order'; declare it as parameters(order : index = 10)}}
  %o = taylor.recurrences %q, %k, %v orders(0 to order) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @too_few_coefficients(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op expected 3 coefficients, one per order, but got 2}}
  %o = taylor.recurrences %q, %k, %v orders(0 to 2) coefficients(1.0, 2.0) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @coefficient_of_nothing(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrence' op requires a coefficient other than 0; a sum whose every weight is 0 can be left out}}
  %o = taylor.recurrence %q, %k, %v order(1) coefficient(0.0) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @coefficients_of_nothing(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op requires a coefficient other than 0; a sum whose every weight is 0 can be left out}}
  %o = taylor.recurrences %q, %k, %v orders(0 to 2) coefficients(0.0, -0.0, 0.0) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @coefficients_of_all(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op requires orders(a to b) for explicit coefficients}}
  %o = taylor.recurrences %q, %k, %v orders(all) coefficients(1.0, 2.0) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @coefficients_of_an_array(%q: !q, %k: !k, %v: !v, %c: !taylor.array<[h]> from parameter(ones)) {
  // expected-error @below {{custom op 'taylor.recurrences' expected factorial or numbers in 'coefficients', but got '%c'; a series with coefficients from arrays is a formula: weight(1.0 + %a * s)}}
  %o = taylor.recurrences %q, %k, %v orders(0 to 2) coefficients(%c) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @coefficients_without_a_point(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected a point in a number with an exponent, but got '5e-1'; write for example 1.0e-4}}
  %o = taylor.recurrences %q, %k, %v orders(0 to 2) coefficients(1, 1, 5e-1) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @orders_between(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected an integer or the name of an index parameter in 'orders', but got '2.5'}}
  %o = taylor.recurrences %q, %k, %v orders(0 to 2.5) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @visible_by_the_score(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{expected an axis, a bound name or a parameter of the specification, but got 's'; the score s is known in score(..) and weight(..); a weight that is 0 for some scores is weight(select(0.5 < s, exp(s), 0.0))}}
  %o = taylor.recurrences %q, %k, %v weight(exp(s)) causal visible(0.5 < s) : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @decay_both_ways(%q: !q, %k: !k, %v: !v, %l: !taylor.array<[b, h, u]>) {
  // expected-error @below {{'taylor.recurrences' op unsupported decay of a bidirectional sum: a decay runs from past keys to a query; compile with a causal mask}}
  %o = taylor.recurrences %q, %k, %v exponential decay(%l) bidirectional : !q, !k, !v, !taylor.array<[b, h, u]>
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @condition_as_a_weight(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op expected a number in weight(..), but got a condition; write select(condition, 1.0, 0.0)}}
  %o = taylor.recurrences %q, %k, %v weight(s < 1.0) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @number_as_a_condition(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op expected a condition in visible(..), such as t - u < 8.0, but got a number}}
  %o = taylor.recurrences %q, %k, %v exponential causal visible(t - u) : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @scale_of_positions(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op expected a scale of sizes and parameters, but got the index 't'; what varies along an axis belongs into score(..)}}
  %o = taylor.recurrences %q, %k, %v orders(all) scale(t) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @other_channels(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected one channel axis that query and key share, but got '!taylor.array<[b, h, t, d]>' and '!taylor.array<[b, g, u, e]>'}}
  %o = taylor.recurrences %q, %v, %v exponential causal : !q, !v, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u]>
taylor.spec @value_without_channel(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected one channel axis of the value, but got '!taylor.array<[b, g, u]>'}}
  %o = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @order_of_one(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrence' op expected orders >= 0, but got -1}}
  %o = taylor.recurrence %q, %k, %v order(-1) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @mask_of_one(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrence' expected causal or bidirectional, but got 'masked'}}
  %o = taylor.recurrence %q, %k, %v order(1) masked : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!s = !taylor.array<[b, g, e, f]>
taylor.spec @state_both_ways(%q: !q, %k: !k, %v: !v, %s: !s from input) {
  // expected-error @below {{'taylor.recurrence' op unsupported state of a bidirectional recurrence: a state belongs to a causal one}}
  %o = taylor.recurrence %q, %k, %v order(1) state(%s) bidirectional : !q, !k, !v, !s
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @index_of_lag(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op unsupported index 'lag' in a formula over pairs: write t - u}}
  %o = taylor.recurrences %q, %k, %v exponential score(s - lag) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @order_without_end(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrence' op unsupported order 257, expected at most 256; for the whole series write orders(all)}}
  %o = taylor.recurrence %q, %k, %v order(257) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @orders_without_end(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op unsupported order 9223372036854775807, expected at most 256; for the whole series write orders(all)}}
  %o = taylor.recurrences %q, %k, %v orders(0 to 9223372036854775807) coefficients(1.0) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @channel_of_a_pair(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op unsupported index 'd' in a formula over pairs, which have no channels: write size(d) for their number}}
  %o = taylor.recurrences %q, %k, %v exponential causal visible(t - u < d) : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!head = !taylor.array<[h]>
taylor.spec @decay_formula(%q: !q, %k: !k, %v: !v, %rate: !head from parameter(zeros)) {
  // expected-error @below {{custom op 'taylor.recurrences' expected the %name of an array over u in 'decay'; a taylor.map or taylor.scan in front computes one, and 'weight' takes a formula of t and u}}
  %o = taylor.recurrences %q, %k, %v orders(0 to 2) decay(-softplus(%rate) * u) causal : !q, !k, !v, !head
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @misspelt_clause(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected a clause (orders, coefficients, exponential, weight, scale, score, decay, causal, bidirectional, visible), but got 'exponental'; did you mean 'exponential'?}}
  %o = taylor.recurrences %q, %k, %v exponental causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @misspelt_order(%q: !q, %k: !k, %v: !v) parameters(order : index = 2, orders = 1.0) {
  // expected-error @below {{'taylor.recurrences' op requires an index parameter 'ordr'; did you mean 'order'?}}
  %o = taylor.recurrences %q, %k, %v orders(0 to ordr) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @misspelt_all(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected orders(all) or orders(a to b), but got 'al'}}
  %o = taylor.recurrences %q, %k, %v orders(al) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @one_order(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected orders(all) or orders(a to b), but got '2' alone}}
  %o = taylor.recurrences %q, %k, %v orders(2) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @misspelt_coefficients(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected factorial or numbers, but got 'factoral'}}
  %o = taylor.recurrences %q, %k, %v orders(all) coefficients(factoral) causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @unknown_decay(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{expected an argument, or a result from above, but got '%L'; there are %q, %k, %v}}
  %o = taylor.recurrences %q, %k, %v exponential decay(%L) causal : !q, !k, !v, !taylor.array<[b, g, u]>
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @array_in_the_scale(%q: !q, %k: !k, %v: !v, %c: !taylor.array<[h]> from parameter(ones)) {
  // expected-error @below {{unsupported array in a formula of sizes and parameters; in place of a scale, multiply the score: score(%x * s)}}
  %o = taylor.recurrences %q, %k, %v orders(all) scale(%c) causal : !q, !k, !v, !taylor.array<[h]>
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @array_in_the_scale_of_one_order(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported array in a formula of sizes and parameters}}
  %o = taylor.recurrence [numerator] %q, %k, %v order(2) scale(%q) causal : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @capital(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{expected an axis, a bound name or a parameter of the specification, but got 'S'; did you mean 's'? The score and axes have small letters}}
  %o = taylor.recurrences %q, %k, %v exponential score(S + 1.0) causal : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
func.func @foreign_operand(%q: !q, %k: !k, %v: f32) {
  // expected-error @below {{custom op 'taylor.recurrences' expected operands of type !taylor.array, but got 'f32'}}
  %o = taylor.recurrences %q, %k, %v exponential causal : !q, !k, f32
  return
}
