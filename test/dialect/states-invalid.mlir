// Messages of taylor.states, taylor.read_states and taylor.contract_states, and of chunks.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @vectors_without_tokens(%x: !taylor.array<[b, g, d = 4]>) {
  // expected-error @below {{'taylor.states' op expected vectors with a token axis and one channel, but got '!taylor.array<[b, g, d = 4]>'}}
  %0 = taylor.states %x mass orders(0 to 2) : (!taylor.array<[b, g, d = 4]>) -> !taylor.array<[b, g, f = 15]>
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @orders_backwards(%k: !k) {
  // expected-error @below {{'taylor.states' op expected orders 0 <= first <= last, but got 2 to 1}}
  %0 = taylor.states %k mass orders(2 to 1) : (!k) -> !taylor.array<[b, g, f = 15]>
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @negative_block(%k: !k) {
  // expected-error @below {{'taylor.states' op expected a positive block, but got 0}}
  %0 = taylor.states %k mass orders(0 to 2) block(0) : (!k) -> !taylor.array<[b, g, f = 15]>
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @channel_without_size(%k: !taylor.array<[b, g, u, d]>) {
  // expected-error @below {{'taylor.states' op requires the size of the channel of '!taylor.array<[b, g, u, d]>': run taylor-specialize before}}
  %0 = taylor.states %k mass orders(0 to 2) : (!taylor.array<[b, g, u, d]>) -> !taylor.array<[b, g, f = 15]>
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @too_many_features(%k: !taylor.array<[b, g, u, d = 4096]>) {
  // expected-error @below {{'taylor.states' op unsupported orders up to 40 of 4096 channels: they pass order 1000, or their state 2^31 - 1 features; use lower orders}}
  %0 = taylor.states %k mass orders(0 to 40) : (!taylor.array<[b, g, u, d = 4096]>) -> !taylor.array<[b, g, f = 15]>
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @results_and_values(%k: !k, %v: !v) {
  // expected-error @below {{'taylor.states' op expected a result per value, and one for the mass, 2, but got 1}}
  %0 = taylor.states %k, %v mass orders(0 to 2) : (!k, !v) -> !taylor.array<[b, g, f = 15, e = 5]>
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @values_of_other_tokens(%k: !k, %v: !o) {
  // expected-error @below {{'taylor.states' op expected values over the tokens 'u', but got '!taylor.array<[b, h, t, e = 5]>'}}
  %0 = taylor.states %k, %v orders(0 to 2) : (!k, !o) -> !taylor.array<[b, g, f = 15, e = 5]>
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @another_count_of_features(%k: !k) {
  // expected-error @below {{'taylor.states' op expected 15 features along axis 'f' of a state, but got '!taylor.array<[b, g, f = 14]>'}}
  %0 = taylor.states %k mass orders(0 to 2) : (!k) -> !taylor.array<[b, g, f = 14]>
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @state_without_its_reader(%k: !k) {
  // expected-error @below {{'taylor.states' op expected a state with the token axis 't' of its reader, but got '!taylor.array<[b, g, f = 15]>'}}
  %0 = taylor.states %k mass orders(0 to 2) chunk(64) : (!k) -> !taylor.array<[b, g, f = 15]>
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @whole_state_with_tokens(%k: !k) {
  // expected-error @below {{'taylor.states' op expected a state without a token axis, but got '!taylor.array<[b, g, t, f = 15]>'}}
  %0 = taylor.states %k mass orders(0 to 2) : (!k) -> !z
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @state_without_channel(%k: !k, %v: !v) {
  // expected-error @below {{'taylor.states' op expected a state with the channel of its value, but got '!taylor.array<[b, g, t, f = 15]>'}}
  %0 = taylor.states %k, %v orders(0 to 2) chunk(64) : (!k, !v) -> !z
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @too_few_weights(%q: !q, %H: !H) {
  // expected-error @below {{'taylor.read_states' op expected a weight per order, 3, but got 2}}
  %0 = taylor.read_states %q from %H orders(0 to 2) weights [1.0, 0.5] chunk(64) : (!q, !H) -> !o
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @results_and_states(%q: !q, %H: !H, %z: !z) {
  // expected-error @below {{'taylor.read_states' op expected a result per state, 2, but got 1}}
  %0 = taylor.read_states %q from %H, %z orders(0 to 2) weights [1.0, 1.0, 0.5] chunk(64) : (!q, !H, !z) -> !o
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @too_few_to_add_to(%q: !q, %H: !H, %z: !z, %o: !o) {
  // expected-error @below {{'taylor.read_states' op expected one array per state to add to, or none, but got 1}}
  %0:2 = taylor.read_states %q from %H, %z into %o orders(0 to 2) weights [1.0, 1.0, 0.5] chunk(64) : (!q, !H, !z, !o) -> (!o, !row)
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @result_without_channel(%q: !q, %H: !H) {
  // expected-error @below {{'taylor.read_states' op expected a result with the state's channel and the tokens of the vectors, but got '!taylor.array<[b, h, t]>'}}
  %0 = taylor.read_states %q from %H orders(0 to 2) weights [1.0, 1.0, 0.5] chunk(64) : (!q, !H) -> !row
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @added_to_another_type(%q: !q, %H: !H, %o: !row) {
  // expected-error @below {{'taylor.read_states' op expected to add to an array of the result's type, '!taylor.array<[b, h, t, e = 5]>', but got '!taylor.array<[b, h, t]>'}}
  %0 = taylor.read_states %q from %H into %o orders(0 to 2) weights [1.0, 1.0, 0.5] chunk(64) : (!q, !H, !row) -> !o
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @values_and_states(%q: !q, %H: !H, %o: !o) {
  // expected-error @below {{'taylor.contract_states' op expected a value per state, 1, but got 2}}
  %0 = taylor.contract_states %q from %H with %o, %o orders(0 to 2) weights [1.0, 1.0, 0.5] chunk(64) : (!q, !H, !o, !o) -> !q
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @value_without_channel(%q: !q, %H: !H, %o: !row) {
  // expected-error @below {{'taylor.contract_states' op expected a value with the state's channel and the tokens of the vectors, but got '!taylor.array<[b, h, t]>'}}
  %0 = taylor.contract_states %q from %H with %o orders(0 to 2) weights [1.0, 1.0, 0.5] chunk(64) : (!q, !H, !row) -> !q
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @contracted_to_values(%q: !q, %H: !H, %o: !o) {
  // expected-error @below {{'taylor.contract_states' op expected a result with the channel and tokens of the vectors, but got '!taylor.array<[b, h, t, e = 5]>'}}
  %0 = taylor.contract_states %q from %H with %o orders(0 to 2) weights [1.0, 1.0, 0.5] chunk(64) : (!q, !H, !o) -> !o
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @contracted_into_values(%q: !q, %H: !H, %o: !o) {
  // expected-error @below {{'taylor.contract_states' op expected to add to an array of the result's type, '!taylor.array<[b, h, t, d = 4]>', but got '!taylor.array<[b, h, t, e = 5]>'}}
  %0 = taylor.contract_states %q from %H with %o into %o orders(0 to 2) weights [1.0, 1.0, 0.5] chunk(64) : (!q, !H, !o, !o) -> !q
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!H = !taylor.array<[b, g, t, f = 15, e = 5]>
!z = !taylor.array<[b, g, t, f = 15]>
func.func @chunks_of_nothing(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{custom op 'taylor.pairwise' expected a positive number of tokens in chunk(..), but got 0}}
  %0 = taylor.pairwise { s = dot(%q, %k) } visible(u <= t) chunk(0) -> rows(s, %v) : !q, !k, !v -> !o
  return
}

// -----

func.func @edge_of_queries(%x: !taylor.array<[b, h, t]>) {
  // expected-error @below {{'taylor.edge' op expected an array over u, read for t or u, but got '!taylor.array<[b, h, t]>' for '!taylor.array<[b, h, u]>'}}
  %0 = taylor.edge %x chunk(64) : (!taylor.array<[b, h, t]>) -> !taylor.array<[b, h, u]>
  return
}

// -----

func.func @edge_of_nothing(%x: !taylor.array<[b, g, u]>) {
  // expected-error @below {{'taylor.edge' op expected a positive chunk, but got 0}}
  %0 = taylor.edge %x chunk(0) : (!taylor.array<[b, g, u]>) -> !taylor.array<[b, g, t]>
  return
}

// -----

func.func @edge_of_other_heads(%x: !taylor.array<[b, g, u]>) {
  // expected-error @below {{'taylor.edge' op expected the axes of '!taylor.array<[b, g, u]>' beside its tokens, but got '!taylor.array<[b, h, t]>'}}
  %0 = taylor.edge %x chunk(64) : (!taylor.array<[b, g, u]>) -> !taylor.array<[b, h, t]>
  return
}

// -----

!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
func.func @decay_without_chunks(%k: !k, %v: !v, %x: !taylor.array<[b, g, u]>) {
  // expected-error @below {{'taylor.states' op expected a decay over u, without a channel, between chunks, but got '!taylor.array<[b, g, u]>' and no chunk}}
  %0 = taylor.states %k, %v decay(%x) orders(0 to 2) : (!k, !v, !taylor.array<[b, g, u]>) -> !taylor.array<[b, g, f = 15, e = 5]>
  return
}

// -----

!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
func.func @documents_of_groups(%k: !k, %v: !v, %x: !taylor.array<[b, g, u]>) {
  // expected-error @below {{'taylor.states' op expected documents over u and perhaps b, between chunks, but got '!taylor.array<[b, g, u]>'}}
  %0 = taylor.states %k, %v within(%x) orders(0 to 2) chunk(64) : (!k, !v, !taylor.array<[b, g, u]>) -> !taylor.array<[b, g, t, f = 15, e = 5]>
  return
}

// -----

!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
func.func @decay_of_heads(%k: !k, %v: !v, %x: !taylor.array<[b, h, u]>) {
  // expected-error @below {{'taylor.states' op expected states with the axis 'h' of their decay, but got '!taylor.array<[b, g, t, f = 15, e = 5]>'}}
  %0 = taylor.states %k, %v decay(%x) orders(0 to 2) chunk(64) : (!k, !v, !taylor.array<[b, h, u]>) -> !taylor.array<[b, g, t, f = 15, e = 5]>
  return
}

// -----

!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!H = !taylor.array<[b, g, f = 15, e = 5]>
func.func @initial_of_one(%k: !k, %v: !v, %x: !H) {
  // expected-error @below {{'taylor.states' op expected one array per result to begin from, without chunks, or none, but got 1}}
  %0, %1 = taylor.states %k, %v initial %x mass orders(0 to 2) : (!k, !v, !H) -> (!H, !taylor.array<[b, g, f = 15]>)
  return
}

// -----

!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!H = !taylor.array<[b, g, f = 15, e = 5]>
func.func @initial_of_chunks(%k: !k, %v: !v, %x: !H) {
  // expected-error @below {{'taylor.states' op expected one array per result to begin from, without chunks, or none, but got 1 and chunks}}
  %0 = taylor.states %k, %v initial %x orders(0 to 2) chunk(64) : (!k, !v, !H) -> !taylor.array<[b, g, t, f = 15, e = 5]>
  return
}

// -----

!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!H = !taylor.array<[b, g, f = 15, e = 5]>
func.func @initial_of_heads(%k: !k, %v: !v, %x: !taylor.array<[b, h, f = 15, e = 5]>) {
  // expected-error @below {{'taylor.states' op expected to begin from an array of the result's axes, '!taylor.array<[b, g, f = 15, e = 5]>', but got '!taylor.array<[b, h, f = 15, e = 5]>'}}
  %0 = taylor.states %k, %v initial %x orders(0 to 2) : (!k, !v, !taylor.array<[b, h, f = 15, e = 5]>) -> !H
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!H = !taylor.array<[b, g, f = 5, e = 5]>
func.func @steps_of_keys(%k: !k, %v: !v, %x: !H) {
  // expected-error @below {{'taylor.step_states' op expected vectors over t that read and vectors over u that are summed, but got '!taylor.array<[b, g, u, d = 4]>' and '!taylor.array<[b, g, u, d = 4]>'}}
  %0 = taylor.step_states %k with %k, %v from %x reads [] orders(0 to 1) weights [] : (!k, !k, !v, !H) -> !H
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 3]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!H = !taylor.array<[b, g, f = 5, e = 5]>
func.func @steps_of_three(%q: !q, %k: !k, %v: !v, %x: !H) {
  // expected-error @below {{'taylor.step_states' op expected vectors of 4 components on both sides, but got '!taylor.array<[b, h, t, d = 3]>'}}
  %0 = taylor.step_states %q with %k, %v from %x reads [] orders(0 to 1) weights [] : (!q, !k, !v, !H) -> !H
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!H = !taylor.array<[b, g, f = 5, e = 5]>
func.func @steps_of_no_mass(%q: !q, %k: !k, %v: !v, %x: !H) {
  // expected-error @below {{'taylor.step_states' op expected a state before and one after per value and for the mass, 2, but got 1 and 1}}
  %0 = taylor.step_states %q with %k, %v mass from %x reads [] orders(0 to 1) weights [] : (!q, !k, !v, !H) -> !H
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!H = !taylor.array<[b, g, f = 5, e = 5]>
func.func @read_of_another(%q: !q, %k: !k, %v: !v, %x: !H) {
  // expected-error @below {{'taylor.step_states' op expected reads of states 0 to 0, but got 1}}
  %0, %1 = taylor.step_states %q with %k, %v from %x reads [1] orders(0 to 1) weights [[1.0, 1.0]] : (!q, !k, !v, !H) -> (!o, !H)
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!H = !taylor.array<[b, g, f = 5, e = 5]>
func.func @weights_of_one_order(%q: !q, %k: !k, %v: !v, %x: !H) {
  // expected-error @below {{'taylor.step_states' op expected a weight per order, 2, but got 1}}
  %0, %1 = taylor.step_states %q with %k, %v from %x reads [0] orders(0 to 1) weights [[1.0]] : (!q, !k, !v, !H) -> (!o, !H)
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!H = !taylor.array<[b, g, f = 5, e = 5]>
func.func @weights_of_none(%q: !q, %k: !k, %v: !v, %x: !H) {
  // expected-error @below {{'taylor.step_states' op expected weights for each read, 1, but got 0}}
  %0, %1 = taylor.step_states %q with %k, %v from %x reads [0] orders(0 to 1) weights [] : (!q, !k, !v, !H) -> (!o, !H)
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!H = !taylor.array<[b, g, f = 5, e = 5]>
func.func @rows_without_channel(%q: !q, %k: !k, %v: !v, %x: !H) {
  // expected-error @below {{'taylor.step_states' op expected rows over t with the channel of their state, but got '!taylor.array<[b, h, t]>'}}
  %0, %1 = taylor.step_states %q with %k, %v from %x reads [0] orders(0 to 1) weights [[1.0, 1.0]] : (!q, !k, !v, !H) -> (!taylor.array<[b, h, t]>, !H)
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!H = !taylor.array<[b, g, f = 5, e = 5]>
func.func @rows_of_all_batches(%q: !q, %k: !k, %v: !v, %x: !H) {
  // expected-error @below {{'taylor.step_states' op expected rows and states of the same batches and heads, but got '!taylor.array<[h, t, e = 5]>' of '!taylor.array<[b, g, f = 5, e = 5]>'}}
  %0, %1 = taylor.step_states %q with %k, %v from %x reads [0] orders(0 to 1) weights [[1.0, 1.0]] : (!q, !k, !v, !H) -> (!taylor.array<[h, t, e = 5]>, !H)
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!H = !taylor.array<[b, g, f = 5, e = 5]>
func.func @kept_of_queries(%q: !q, %k: !k, %v: !v, %x: !H, %r: !taylor.array<[b, h, t]>) {
  // expected-error @below {{'taylor.step_states' op expected what is kept of states over u, without a channel, but got '!taylor.array<[b, h, t]>'}}
  %0 = taylor.step_states %q with %k, %v from %x keep(%r) reads [] orders(0 to 1) weights [] : (!q, !k, !v, !H, !taylor.array<[b, h, t]>) -> !H
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!H = !taylor.array<[b, g, f = 5, e = 5]>
func.func @documents_alone(%q: !q, %k: !k, %v: !v, %x: !H) {
  // expected-error @below {{'taylor.step_states' op expected what is kept of other documents' states, keep(..), next to 'documents'}}
  %0 = taylor.step_states %q with %k, %v from %x documents reads [] orders(0 to 1) weights [] : (!q, !k, !v, !H) -> !H
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!H = !taylor.array<[b, g, f = 5, e = 5]>
func.func @kept_of_heads(%q: !q, %k: !k, %v: !v, %x: !H, %r: !taylor.array<[b, h, u]>) {
  // expected-error @below {{'taylor.step_states' op expected states with the axis 'h' of their decay, but got '!taylor.array<[b, g, f = 5, e = 5]>'}}
  %0 = taylor.step_states %q with %k, %v from %x keep(%r) reads [] orders(0 to 1) weights [] : (!q, !k, !v, !H, !taylor.array<[b, h, u]>) -> !H
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
func.func @opposite_of_the_whole(%k: !k) {
  // expected-error @below {{'taylor.states' op requires chunk(..) for 'opposite': without chunks all tokens are summed}}
  %0 = "taylor.states"(%k) <{mass, first = 0, last = 2, block = 1, chunk = 0, opposite, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0>}> : (!k) -> !taylor.array<[b, g, f = 15]>
  return
}

// -----

!k = !taylor.array<[b, g, u, d = 4]>
func.func @opposite_decay(%k: !k, %decay: !taylor.array<[b, g, u]>) {
  // expected-error @below {{'taylor.states' op unsupported decay of an 'opposite' state: a decay runs from past keys to a query}}
  %0 = taylor.states %k decay(%decay) mass orders(0 to 2) chunk(64) opposite : (!k, !taylor.array<[b, g, u]>) -> !taylor.array<[b, g, t, f = 15]>
  return
}

// -----

!k = !taylor.array<[b, g, u, d = 4]>
func.func @negative_chunk(%k: !k) {
  // expected-error @below {{'taylor.states' op expected no negative chunk, but got -64}}
  %0 = taylor.states %k mass orders(0 to 2) chunk(-64) : (!k) -> !taylor.array<[b, g, t, f = 15]>
  return
}

// -----

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!H = !taylor.array<[b, g, f = 5, e = 5]>
func.func @step_weights_of_text(%q: !q, %k: !k, %v: !v, %x: !H) {
  // expected-error @below {{'taylor.step_states' op expected numbers as weights, but got [1.000000e+00, "half"]}}
  %0, %1 = taylor.step_states %q with %k, %v from %x reads [0] orders(0 to 1) weights [[1.0, "half"]] : (!q, !k, !v, !H) -> (!o, !H)
  return
}
