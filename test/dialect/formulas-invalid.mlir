// Messages of formulas.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics

!row = !taylor.array<[b, h, t]>
taylor.spec @minus_joins_the_name(%a: !row, %b: !row) {
  // expected-error @below {{custom op 'taylor.map' expected a space before '-', but got the value name '%a-'}}
  %o = taylor.map %a-%b : !row, !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @unknown_function(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' unsupported function 'sigmoyd'; did you mean 'sigmoid'?}}
  %o = taylor.map sigmoyd(%a) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @one_equals_sign(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' expected '==' for a condition, but got '='}}
  %o = taylor.map select(%a = 0.0, 1.0, %a) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @power_by_stars(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' unsupported operator '**' in a formula; write pow(x, y)}}
  %o = taylor.map %a**2.0 : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @remainder_of_an_index(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' unsupported operator '%' in a formula; write x - y * floor(x / y)}}
  %o = taylor.map select(t % 2.0 == 0.0, 1.0, %a) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @remainder_of_an_array(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' unsupported operator '%' in a formula; write x - y * floor(x / y)}}
  %o = taylor.map (1.0 + %a) % 2.0 : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @and_of_c(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' unsupported operator '&' in a formula; write and(x, y)}}
  %o = taylor.map select(0.0 < %a && t < 4.0, 1.0, %a) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @or_of_c(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' unsupported operator '|' in a formula; write or(x, y)}}
  %o = taylor.map select(0.0 < %a || t < 4.0, 1.0, %a) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @unequal(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' unsupported operator '!=' in a formula; write not(x == y)}}
  %o = taylor.map select(%a != 2.0, 1.0, %a) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @between(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' unsupported chain of comparisons; write and(a < b, b < c)}}
  %o = taylor.map select(0.0 < %a < 4.0, 1.0, %a) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @and_between(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' unsupported operator 'and' in a formula; write and(x, y)}}
  %o = taylor.map select(%a < 1.0 and %a < 2.0, 1.0, %a) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @another_word(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' unsupported function 'rank'; known are exp,}}
  %o = taylor.map rank(%a) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @foreign_function(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' unsupported function 'quantize'; known are exp, expm1, log, log2, log1p, sqrt, rsqrt, tanh, abs, floor, sin, cos, erf, sigmoid, softplus, stop, silu, gelu, relu, elu, pow, min, max, select, and, or, not, size, infinity}}
  %o = taylor.map quantize(%a) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @too_many_arguments(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' expected 1 argument of 'exp', but got 2}}
  %o = taylor.map exp(%a, %a) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @too_few_arguments(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' expected 2 arguments of 'min', but got 1}}
  %o = taylor.map min(%a) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @number_as_condition(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' expected a condition (such as s < 1.0), but got a number}}
  %o = taylor.map select(%a, 1.0, 2.0) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @condition_as_number(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' expected a number, but got a condition; write select(condition, 1.0, 0.0)}}
  %o = taylor.map 1.0 + (%a < 2.0) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @condition_as_result(%a: !row) {
  // expected-error @below {{'taylor.map' op expected a formula of a number, but got a condition; write select(condition, 1.0, 0.0)}}
  %o = taylor.map %a < 2.0 : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @number_for_logic(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' expected a condition (such as s < 1.0), but got a number}}
  %o = taylor.map select(and(%a, %a < 1.0), 1.0, 2.0) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @size_of_an_array(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' expected the name of an axis in size(..), but got another formula}}
  %o = taylor.map %a / size(%a) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @size_of_no_axis(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' expected b, h, g, t, u, lag, d, e, f or an axis of the operands in size(..), but got 'channels'}}
  %o = taylor.map %a / size(channels) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
!wide = !taylor.array<[b, h, t, r = 4]>
taylor.spec @axis_of_the_result(%a: !row) {
  // expected-error @below {{expected an axis, a bound name or a parameter of the specification, but got 'r'; an axis of the result is known where an operand has it; taylor.map 1.0 -> !taylor.array<[r = 4]> makes one}}
  %o = taylor.map %a * r : !row -> !wide
  taylor.yield %o : !wide
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @unbalanced(%a: !row) {
  // expected-error @below {{expected ')'}}
  %o = taylor.map (%a + 1.0 : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @nothing_after_an_operator(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' expected a value, a number, a name or '(' in a formula, but got ':'}}
  %o = taylor.map %a * : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @empty(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' expected a formula, but got an empty body}}
  %o = taylor.map {} : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @power_sign(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' unsupported operator '^' in a formula; write pow(x, y)}}
  %o = taylor.map %a ^2.0 : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @greater(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' unsupported operator '>' in a formula; write b < a for a > b}}
  %o = taylor.map select(%a > 2.0, 1.0, 0.0) : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @exponent_without_a_point(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' expected a point in a number with an exponent, but got '1e-4'; write for example 1.0e-4}}
  %o = taylor.map %a + 1e-4 : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @beyond_all_numbers(%a: !row) {
  // expected-error @below {{custom op 'taylor.map' expected a finite number, but got '1.0e999'}}
  %o = taylor.map %a + 1.0e999 : !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @two_results(%x: !row) {
  %y = taylor.map region(%x) {
    ^bb0(%r: f64):
      // expected-error @below {{unsupported in a formula: an operation there has one result, no region and no side effect}}
      %0, %1 = math.sincos %r : f64
      taylor.yield %1 : f64
  } : !row
  taylor.yield %y : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @region_in_a_formula(%x: !row) {
  %y = taylor.map region(%x) {
    ^bb0(%r: f64):
      %c = arith.constant true
      // expected-error @below {{unsupported in a formula: an operation there has one result, no region and no side effect}}
      %0 = scf.if %c -> f64 { scf.yield %r : f64 } else { scf.yield %r : f64 }
      taylor.yield %0 : f64
  } : !row
  taylor.yield %y : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @value_from_outside(%x: !row) {
  %y = taylor.map region(%x) {
    ^bb0(%r: f64):
      // expected-error @below {{unsupported value from outside of its formula: pass it as an operand}}
      %0 = "arith.addf"(%r, %x) : (f64, !row) -> f64
      taylor.yield %0 : f64
  } : !row
  taylor.yield %y : !row
}

// -----

!row = !taylor.array<[b, h, t]>
!row32 = !taylor.array<[b, h, t], f32>
taylor.spec @two_types(%x: !row, %y: !row32 from projection) {
  // expected-error @below {{custom op 'taylor.map' expected numbers of one type in '*', but got 'f64' and 'f32'; convert the array of the other type in a line of its own, as in %y = taylor.map %x : !of_x -> !of_y}}
  %z = taylor.map %x * %y : !row, !row32
  taylor.yield %z : !row
}

// -----

!row = !taylor.array<[b, h, t]>
!row32 = !taylor.array<[b, h, t], f32>
taylor.spec @two_types_in_a_call(%x: !row, %y: !row32 from projection) {
  // expected-error @below {{custom op 'taylor.map' expected numbers of one type in 'max', but got 'f64' and 'f32'}}
  %z = taylor.map max(%x, %y) : !row, !row32
  taylor.yield %z : !row
}

// -----

!row = !taylor.array<[b, h, t]>
!row32 = !taylor.array<[b, h, t], f32>
taylor.spec @two_types_in_a_choice(%x: !row, %y: !row32 from projection) {
  // expected-error @below {{custom op 'taylor.map' expected numbers of one type in 'select', but got 'f64' and 'f32'}}
  %z = taylor.map select(%x < 1.0, %x, %y) : !row, !row32
  taylor.yield %z : !row
}
