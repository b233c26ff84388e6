// Messages of specifications, functions and yields.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{custom op 'taylor.spec' requires a source of argument '%w', which has no token axis: write 'from parameter(ones)' or 'from input'}}
taylor.spec @argument_without_source(%w: !taylor.array<[e]>) {
  taylor.yield %w : !taylor.array<[e]>
}

// -----

// expected-error @below {{custom op 'taylor.spec' expected an argument of type !taylor.array, but got 'f32'}}
taylor.spec @argument_of_another_type(%w: f32) {
  taylor.yield %w : f32
}

// -----

// expected-error @below {{custom op 'taylor.spec' expected distinct argument names, but got '%q' twice}}
taylor.spec @argument_twice(%q: !taylor.array<[b, t]>, %q: !taylor.array<[b, t]>) {
  taylor.yield %q : !taylor.array<[b, t]>
}

// -----

// expected-error @below {{'taylor.spec' op requires a token axis (t or u) of the projected argument 'w'}}
taylor.spec @projected_parameter(%w: !taylor.array<[e]> from projection) {
  taylor.yield %w : !taylor.array<[e]>
}

// -----

// expected-error @below {{'taylor.spec' op unsupported axis b, t or u of the learned parameter 'w'; leave the axis out, or write 'from input' for what the caller gives}}
taylor.spec @learned_tokens(%w: !taylor.array<[t]> from parameter(ones)) {
  taylor.yield %w : !taylor.array<[t]>
}

// -----

// expected-error @below {{'taylor.spec' op requires 'from input' for the integer argument 'w'}}
taylor.spec @learned_integer(%w: !taylor.array<[b, t], i32>) {
  taylor.yield %w : !taylor.array<[b, t], i32>
}

// -----

// expected-error @below {{custom op 'taylor.spec' expected projection, parameter(..) or input, but got 'thin_air'}}
taylor.spec @unknown_source(%w: !taylor.array<[e]> from thin_air) {
  taylor.yield %w : !taylor.array<[e]>
}

// -----

// expected-error @below {{custom op 'taylor.spec' requires a taylor.yield of at least one array at the end of the body}}
taylor.spec @no_yield(%q: !taylor.array<[b, t]>) {
  %o = taylor.map %q * 2.0 : !taylor.array<[b, t]>
}

// -----

// expected-error @below {{custom op 'taylor.spec' requires a taylor.yield of at least one array at the end of the body}}
taylor.spec @empty(%q: !taylor.array<[b, t]>) {
}

// -----

// expected-error @below {{custom op 'taylor.spec' expected distinct parameters, but got 'order' twice}}
taylor.spec @parameter_twice(%q: !taylor.array<[b, t]>) parameters(order : index = 10, order = 2.0) {
  taylor.yield %q : !taylor.array<[b, t]>
}

// -----

// expected-error @below {{custom op 'taylor.spec' expected 'order : index = 10' for an integer or 'order = 0.5' for a real parameter}}
taylor.spec @parameter_of_another_type(%q: !taylor.array<[b, t]>) parameters(order : f32 = 10) {
  taylor.yield %q : !taylor.array<[b, t]>
}

// -----

// expected-error @below {{custom op 'taylor.spec' expected an integer for the index parameter 'order'; without ': index' it is a real parameter}}
taylor.spec @fractional_index(%q: !taylor.array<[b, t]>) parameters(order : index = 1.5) {
  taylor.yield %q : !taylor.array<[b, t]>
}

// -----

taylor.spec @unknown_name(%q: !taylor.array<[b, t]>) parameters(window : index = 4) {
  // expected-error @below {{expected an axis, a bound name or a parameter of the specification, but got 'windw'; did you mean 'window'?}}
  %o = taylor.map %q * windw : !taylor.array<[b, t]>
  taylor.yield %o : !taylor.array<[b, t]>
}

// -----

taylor.spec @undeclared_name(%q: !taylor.array<[b, t]>) {
  // expected-error @below {{expected an axis, a bound name or a parameter of the specification, but got 'window'; declare it as parameters(window = 1.0), or : index = 10 for an integer}}
  %o = taylor.map %q * window : !taylor.array<[b, t]>
  taylor.yield %o : !taylor.array<[b, t]>
}

// -----

taylor.spec @yields_a_number(%q: !taylor.array<[b, t]>) {
  %c = arith.constant 1.0 : f64
  // expected-error @below {{'taylor.yield' op expected results of type !taylor.array, but got 'f64'}}
  taylor.yield %c : f64
}

// -----

taylor.spec @foreign_operation(%q: !taylor.array<[b, t]>) {
  // expected-error @below {{'arith.constant' op unsupported in a specification: scalar work belongs into the formula of a taylor.map}}
  %c = arith.constant 1.0 : f64
  taylor.yield %q : !taylor.array<[b, t]>
}

// -----

taylor.spec @same_result_twice(%q: !taylor.array<[b, t]>) {
  // expected-error @below {{'taylor.yield' op expected distinct result names, but got "o" twice; name the results of an operation each, as in %a, %b = .., or write taylor.yield "a" %x, "b" %y}}
  taylor.yield "o" %q, "o" %q : !taylor.array<[b, t]>, !taylor.array<[b, t]>
}

// -----

// expected-error @below {{'taylor.function' op expected distinct argument names, but got 'input:q' twice}}
taylor.function @same_argument_twice of @f("input:q" %q: !taylor.array<[b, t]>, "input:q" %k: !taylor.array<[b, t]>) {
  taylor.yield "output:o" %q : !taylor.array<[b, t]>
}

// -----

taylor.function @argument_and_result of @f("input:q" %q: !taylor.array<[b, t]>) {
  // expected-error @below {{'taylor.yield' op expected distinct result names, but got "input:q" twice}}
  taylor.yield "input:q" %q : !taylor.array<[b, t]>
}

// -----

// expected-error @below {{'taylor.function' op expected an argument named input:, output:, saved: or cotangent:, but got "tensor:x"}}
taylor.function @role of @f("output:q" %q: !taylor.array<[b, t]>, "tensor:x" %x: !taylor.array<[b, t]>) {
  taylor.yield "output:o" %q : !taylor.array<[b, t]>
}

// -----

// expected-error @below {{'taylor.function' op expected a source per input, 1, but got 2}}
taylor.function @sources of @f("input:q" %q: !taylor.array<[b, t]>, "cotangent:o" %x: !taylor.array<[b, t]>)
    sources [projection, projection] {
  taylor.yield "output:o" %q : !taylor.array<[b, t]>
}

// -----

// expected-error @below {{'taylor.function' op expected arguments of type !taylor.array, but got 'f32'}}
taylor.function @type of @f("input:q" %q: f32) {
  taylor.yield "output:o" %q : f32
}

// -----

// expected-error @below {{custom op 'taylor.function' requires a taylor.yield of at least one array at the end of the body}}
taylor.function @without_yield of @f("input:q" %q: !taylor.array<[b, t]>) {
  %0 = taylor.map %q * 2.0 : !taylor.array<[b, t]>
}

// -----

// expected-error @below {{'taylor.spec' op expected one name and one source per argument}}
"taylor.spec"() <{arg_names = [], parameters = {}, sources = [], sym_name = "names"}> ({
^bb0(%q: !taylor.array<[b, t]>):
  "taylor.yield"(%q) <{names = ["o"]}> : (!taylor.array<[b, t]>) -> ()
}) : () -> ()

// -----

"taylor.spec"() <{arg_names = ["q"], parameters = {}, sources = [#taylor.source<projection>], sym_name = "names"}> ({
^bb0(%q: !taylor.array<[b, t]>):
  // expected-error @below {{'taylor.yield' op requires a name for each result}}
  "taylor.yield"(%q) : (!taylor.array<[b, t]>) -> ()
}) : () -> ()

// -----

// expected-error @below {{'taylor.function' op expected one name per argument}}
"taylor.function"() <{arg_names = [], spec_name = "f", sym_name = "names"}> ({
^bb0(%q: !taylor.array<[b, t]>):
  "taylor.yield"(%q) <{names = ["o"]}> : (!taylor.array<[b, t]>) -> ()
}) : () -> ()

// -----

taylor.spec @yields_a_type(%q: !taylor.array<[b, t]>) {
  // expected-error @below {{custom op 'taylor.yield' expected what to yield, as in `taylor.yield %o : !o`}}
  taylor.yield : !taylor.array<[b, t]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @bidirectional_cumulative_gate(%q: !q, %k: !k, %v: !v, %a: !row from projection(bias)) {
  // expected-error @below {{unsupported running sum over tokens in a bidirectional attention: it is for causal use only; compile with a causal mask}}
  %c = taylor.scan sum over(t) exp(%a) : !row
  %n = taylor.recurrences %q, %k, %v exponential bidirectional : !q, !k, !v
  %o = taylor.map %n / %c : !o, !row
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @bidirectional_gated_sum(%q: !q, %k: !k, %v: !v, %a: !row from projection(bias)) {
  // expected-error @below {{unsupported running sum over tokens in a bidirectional attention: it is for causal use only; compile with a causal mask}}
  %qs = taylor.gated_sum %q, %a : !q, !row
  %n = taylor.recurrences %qs, %k, %v exponential bidirectional : !q, !k, !v
  taylor.yield %n : !taylor.array<[b, h, t, e]>
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @bidirectional_running_maximum(%q: !q, %k: !k, %v: !v, %a: !row from projection(bias)) {
  // expected-error @below {{unsupported running maximum over tokens in a bidirectional attention: it is for causal use only; compile with a causal mask}}
  %m = taylor.scan max over(t) %a : !row
  %n = taylor.recurrences %q, %k, %v exponential bidirectional : !q, !k, !v
  %o = taylor.map %n * exp(%a - stop(%m)) : !taylor.array<[b, h, t, e]>, !row, !row
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

// expected-error @below {{'taylor.spec' op unsupported axis lag of the argument 'bias': compute it from an array with a free axis, by taylor.map or taylor.reduce}}
taylor.spec @argument_with_lag(%q: !taylor.array<[b, h, t, d]>, %bias: !taylor.array<[h, lag]> from input) {
  taylor.yield %q : !taylor.array<[b, h, t, d]>
}

// -----

taylor.spec @result_with_lag(%table: !taylor.array<[h, r = 8]> from input) {
  %bias = taylor.reduce sum over(r) select(r == lag, %table, 0.0) : !taylor.array<[h, r = 8]>
  // expected-error @below {{'taylor.yield' op unsupported axis lag of a result: it is read in formulas over pairs}}
  taylor.yield %bias : !taylor.array<[h, lag]>
}

// -----

// expected-error @below {{'taylor.spec' op expected size 4 of the free axis 'j' of 'w', as of 'v', but got 3: give it a name of its own}}
taylor.spec @free_axis_of_two_sizes(%q: !taylor.array<[b, h, t, d]>, %v: !taylor.array<[h, j = 4]> from parameter(ones),
                                    %w: !taylor.array<[h, j = 3]> from parameter(ones)) {
  %x = taylor.convolve %q, %v : !taylor.array<[b, h, t, d]>, !taylor.array<[h, j = 4]>
  %y = taylor.convolve %x, %w : !taylor.array<[b, h, t, d]>, !taylor.array<[h, j = 3]>
  taylor.yield %y : !taylor.array<[b, h, t, d]>
}

// -----

taylor.spec @free_axis_of_two_sizes_inside(%q: !taylor.array<[b, h, t, d]>, %v: !taylor.array<[h, j = 4]> from parameter(ones)) {
  // expected-error @below {{'taylor.map' op expected size 4 of the free axis 'j', as before it, but got 3: give it a name of its own}}
  %w = taylor.map %q : !taylor.array<[b, h, t, d]> -> !taylor.array<[b, h, t, d, j = 3]>
  taylor.yield %w : !taylor.array<[b, h, t, d, j = 3]>
}

// -----

// A misspelt operation; and one like no other.
taylor.spec @misspelt(%q: !taylor.array<[b, h, t]>) {
  // expected-error @below {{custom op 'taylor.mapp' is no operation of the taylor dialect; did you mean 'taylor.map'?}}
  %o = taylor.mapp %q : !taylor.array<[b, h, t]>
  taylor.yield %o : !taylor.array<[b, h, t]>
}

// -----

taylor.spec @unlike(%q: !taylor.array<[b, h, t]>) {
  // expected-error @below {{custom op 'taylor.feedforward' is no operation of the taylor dialect; dialect/Taylor/README.md has examples}}
  %o = taylor.feedforward %q : !taylor.array<[b, h, t]>
  taylor.yield %o : !taylor.array<[b, h, t]>
}

// -----

// Values that nothing defines: in a formula, beside two results and on another line, as a result, in a region.
taylor.spec @misspelt_value(%query: !taylor.array<[b, h, t]>, %gate: !taylor.array<[b, h, t]>) {
  // expected-error @below {{expected an argument, or a result from above, but got '%gaet'; did you mean '%gate'?}}
  %o = taylor.map sigmoid(%gaet) * %query : !taylor.array<[b, h, t]>, !taylor.array<[b, h, t]>
  taylor.yield %o : !taylor.array<[b, h, t]>
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @misspelt_result(%q: !taylor.array<[b, h, t, d]>, %k: !taylor.array<[b, g, u, d]>, %v: !taylor.array<[b, g, u, e]>) {
  %sum, %mass = taylor.recurrences [numerator, mass]
      %q, %k, %v exponential causal : !taylor.array<[b, h, t, d]>, !taylor.array<[b, g, u, d]>, !taylor.array<[b, g, u, e]>
  %o = taylor.map %sum
  // expected-error @below {{expected an argument, or a result from above, but got '%mas'; did you mean '%mass'?}}
      / %mas : !taylor.array<[b, h, t, e]>, !row
  taylor.yield %o : !taylor.array<[b, h, t, e]>
}

// -----

taylor.spec @yields_nothing_known(%q: !taylor.array<[b, h, t]>) {
  %o = taylor.map 2.0 * %q : !taylor.array<[b, h, t]>
  // expected-error @below {{expected an argument, or a result from above, but got '%result'; there are %q, %o}}
  taylor.yield %result : !taylor.array<[b, h, t]>
}

// -----

taylor.spec @unknown_in_region(%q: !taylor.array<[b, h, t]>) {
  %o = taylor.map region(%q) {
  ^bb0(%scalar: f64):
    // expected-error @below {{expected an argument, or a result from above, but got '%scaler'; there are %q, %o}}
    %twice = arith.addf %scaler, %scalar : f64
    taylor.yield %twice : f64
  } : !taylor.array<[b, h, t]>
  taylor.yield %o : !taylor.array<[b, h, t]>
}

// -----

!row = !taylor.array<[b, h, t]>
// expected-error @below {{'taylor.spec' op unsupported parameter 't': formulas mean the axis by this name; choose another}}
taylor.spec @parameter_called_as_a_role(%x: !row) parameters(t = 0.5) {
  %y = taylor.map %x * t : !row
  taylor.yield %y : !row
}

// -----

!row = !taylor.array<[b, h, t, m = 4]>
// expected-error @below {{'taylor.spec' op unsupported parameter 'm': formulas mean the axis by this name; choose another}}
taylor.spec @parameter_called_as_a_free_axis(%x: !row) parameters(m = 0.5) {
  %y = taylor.map %x * m : !row
  taylor.yield %y : !row
}

// -----

!q = !taylor.array<[b, h, t, r = 8]>
taylor.spec @size_of_an_axis_that_no_array_has(%x: !q) {
  // expected-error @below {{expected an axis of the specification's arrays in size(..), but got 'd'}}
  %y = taylor.map %x / size(d) : !q
  taylor.yield %y : !q
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @state_that_reads_itself(%x: !o) {
  // expected-error @below {{expected results from above, but this reads its own result; a state over tokens is a sum (taylor.recurrences, with decay(..) where it forgets) or a scan (taylor.scan), and a state that is multiplied by more than a decay, such as that of the delta rule, is unsupported}}
  %s = taylor.map 0.5 * %s + %x : !o, !o
  taylor.yield %s : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @result_from_below(%x: !o) {
  // expected-error @below {{expected results from above, but this reads a result from below}}
  %s = taylor.map %p + %x : !o, !o
  // expected-note @below {{computed here}}
  %p = taylor.map 0.5 * %s : !o
  taylor.yield %s : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @yield_without_types(%x: !o) {
  taylor.yield %x
// expected-error @below {{custom op 'taylor.yield' expected ':' and 1 operand type, as in ': !o'}}
}

// -----

!q = !taylor.array<[b, h, t, d]>
taylor.spec @rope_without_types(%q: !q) {
  %r = taylor.rope %q
  // expected-error @below {{custom op 'taylor.rope' expected ':' and the types of the operands, as in ': !q, !k, !v'}}
  taylor.yield %r : !q
}

// -----

!k = !taylor.array<[b, g, u, d]>
taylor.spec @prepares_a_result(%k: !k) prepares_keys {
  %o = taylor.rope %k : !k
  // expected-error @below {{'taylor.yield' op expected results 'cache.NAME' or 'final.NAME' where 'prepares_keys' stands, but got 'o'}}
  taylor.yield %o : !k
}

// -----

!k = !taylor.array<[b, g, u, d]>
taylor.function @f_keys.forward of @f_keys("input:k" %k: !k) sources [projection] prepares_keys {
  %o = taylor.rope %k : !k
  // expected-error @below {{'taylor.yield' op expected results 'cache.NAME' or 'final.NAME' where 'prepares_keys' stands, but got 'output:o'}}
  taylor.yield "output:o" %o : !k
}

// -----

!k = !taylor.array<[b, g, u, d]>
// expected-error @below {{invalid kind of attribute specified}}
taylor.spec @carries_by_name(%k: !k) carries "pieces" {
  taylor.yield %k : !k
}

// -----

!k = !taylor.array<[b, g, u, d]>
// expected-error @below {{'taylor.spec' op expected a block of 1 component or more in what it carries, but got 0}}
taylor.spec @carries_no_block(%k: !k) carries #taylor.carry<pieces, block = 0> {
  taylor.yield %k : !k
}

// -----

!k = !taylor.array<[b, g, u, d]>
// expected-error @below {{'taylor.spec' op expected channels and tokens of 0 or more in what it carries, but got -5 and -1}}
taylor.spec @carries_no_tokens(%k: !k) carries #taylor.carry<recurrent, channels = -5, most_tokens = -1> {
  taylor.yield %k : !k
}

// -----

!k = !taylor.array<[b, g, u, d]>
// expected-error @below {{'taylor.function' op expected a block of 1 component or more in what it carries, but got 0}}
taylor.function @f of @f("input:k" %k: !k) carries #taylor.carry<pieces, block = 0> {
  taylor.yield "output:k" %k : !k
}

// -----

!k = !taylor.array<[b, g, u, d]>
// expected-error @below {{'taylor.spec' op expected #tile.form<..> as its form, but got "recurrent"}}
taylor.spec @form_by_name(%k: !k) form "recurrent" {
  %o = taylor.rope %k : !k
  taylor.yield %o : !k
}

// -----

!o = !taylor.array<[b, h, t, e]>
taylor.spec @clause_in_braces(%n: !o) {
  // expected-error @below {{'taylor.map' op unsupported attribute 'live': clauses stand without braces, and notes of your own have a prefix, as 'my.live'}}
  %o = taylor.map %n * 2.0 {live = "n"} : !o
  taylor.yield %o : !o
}

// -----

!o = !taylor.array<[b, h, t, e]>
// expected-error @below {{'taylor.spec' op unsupported attribute 'window': clauses stand without braces, and notes of your own have a prefix, as 'my.window'}}
taylor.spec @attribute_of_a_specification(%n: !o) attributes {window = 3} {
  taylor.yield %n : !o
}
