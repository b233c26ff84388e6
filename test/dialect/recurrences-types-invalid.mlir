// Messages of sums over keys: the types of their operands.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @decay_over_queries(%q: !q, %k: !k, %v: !v, %l: !taylor.array<[b, h, t]>) {
  // expected-error @below {{'taylor.recurrences' op requires axis u of the running log-decay, but got '!taylor.array<[b, h, t]>'; scan a gate over u: %D = taylor.scan sum over(u) %f}}
  %o = taylor.recurrences %q, %k, %v exponential decay(%l) causal : !q, !k, !v, !taylor.array<[b, h, t]>
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @decay_of_each_channel(%q: !q, %k: !k, %v: !v, %l: !taylor.array<[b, g, u, d]>) {
  // expected-error @below {{'taylor.recurrences' op unsupported axis 'd' of the running log-decay, which is one number per head and key, but got '!taylor.array<[b, g, u, d]>'; a decay of each channel is no sum over keys of a weight of t and u}}
  %o = taylor.recurrences %q, %k, %v exponential decay(%l) causal : !q, !k, !v, !taylor.array<[b, g, u, d]>
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @channels_in_the_score(%q: !q, %k: !k, %v: !v, %l: !taylor.array<[b, h, t, e]>) {
  // expected-error @below {{'taylor.recurrences' op unsupported channel axis of a value in a formula of pairs: '!taylor.array<[b, h, t, e]>'; sum over its channels in front, by taylor.reduce}}
  %o = taylor.recurrences %q, %k, %v exponential score(s + %l) causal : !q, !k, !v, !taylor.array<[b, h, t, e]>
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @query_without_tokens(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' requires axis t of the query, but got '!taylor.array<[b, g, u, d]>'}}
  %o = taylor.recurrences %k, %k, %v exponential causal : !k, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @key_without_tokens(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' requires axis u of the key, but got '!taylor.array<[b, h, t, d]>'}}
  %o = taylor.recurrences %q, %q, %v exponential causal : !q, !q, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @value_without_tokens(%q: !q, %k: !k, %v: !v, %x: !taylor.array<[b, h, t, e]>) {
  // expected-error @below {{custom op 'taylor.recurrences' requires axis u of the value, but got '!taylor.array<[b, h, t, e]>'}}
  %o = taylor.recurrences %q, %k, %x exponential causal : !q, !k, !taylor.array<[b, h, t, e]>
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d = 8]>
!k = !taylor.array<[b, g, u, d = 16]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @sizes_of_channels(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected one size of channel 'd', but got '!taylor.array<[b, h, t, d = 8]>' and '!taylor.array<[b, g, u, d = 16]>'}}
  %o = taylor.recurrences %q, %k, %v exponential causal : !q, !k, !v
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @too_few_types(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.recurrences' expected 3 operand types (query, key, value, then other values in order of appearance), but got 2}}
  %o = taylor.recurrences %q, %k, %v exponential causal : !q, !k
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!s = !taylor.array<[b, g, e]>
taylor.spec @state_without_features(%q: !q, %k: !k, %v: !v, %s: !s from input) {
  // expected-error @below {{'taylor.recurrence' op requires axis f (features) of the state, but got '!taylor.array<[b, g, e]>'}}
  %o = taylor.recurrence %q, %k, %v order(1) state(%s) causal : !q, !k, !v, !s
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
func.func @no_types(%q: !q, %k: !k, %v: !v) {
  %o = taylor.recurrences %q, %k, %v exponential causal
  // expected-error @below {{custom op 'taylor.recurrences' expected ':' and 3 operand types, as in ': !q, !k, !v'}}
  %p = taylor.map %o * 2.0 : !o
  return
}
