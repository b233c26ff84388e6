// Messages about what no parser lets through: operations in generic form, as a wrong pass would build them.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @odd_products(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected two arrays per product, but got 3}}
  %o = "taylor.pairwise"(%q, %k, %k) <{operandSegmentSizes = array<i32: 3, 0, 0>, sums = [#taylor.pair_sum<rows, 0>]}> ({
  }, {
  }, {
  ^bb0(%s: f64):
    "taylor.yield"(%s) : (f64) -> ()
  }) : (!q, !k, !k) -> !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @too_many_region_arguments(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected arguments of the weight region of types 'f64', but got 'f64', 'f64'}}
  %o = "taylor.pairwise"(%q, %k, %k) <{operandSegmentSizes = array<i32: 2, 0, 1>, sums = [#taylor.pair_sum<rows, 0, weighted = true>]}> ({
  }, {
  }, {
  ^bb0(%s: f64, %more: f64):
    "taylor.yield"(%s) : (f64) -> ()
  }) : (!q, !k, !k) -> !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!row = !taylor.array<[b, h, t]>
taylor.spec @maximum_without_region(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op requires a maximum region for the output maximum}}
  %o = "taylor.pairwise"(%q, %k) <{operandSegmentSizes = array<i32: 2, 0, 0>, sums = [#taylor.pair_sum<maximum, 0>]}> ({
  }, {
  }, {
  ^bb0(%s: f64):
    "taylor.yield"(%s) : (f64) -> ()
  }) : (!q, !k) -> !row
  taylor.yield %o : !row
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @output_of_nothing(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected an output of a yielded scalar, but got number 1}}
  %o = "taylor.pairwise"(%q, %k, %k) <{operandSegmentSizes = array<i32: 2, 0, 1>, sums = [#taylor.pair_sum<rows, 1, weighted = true>]}> ({
  }, {
  }, {
  ^bb0(%s: f64):
    "taylor.yield"(%s) : (f64) -> ()
  }) : (!q, !k, !k) -> !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @weighted_by_nothing(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected one array per weighted sum, but got 0 for 1}}
  %o = "taylor.pairwise"(%q, %k) <{operandSegmentSizes = array<i32: 2, 0, 0>, sums = [#taylor.pair_sum<rows, 0, weighted = true>]}> ({
  }, {
  }, {
  ^bb0(%s: f64):
    "taylor.yield"(%s) : (f64) -> ()
  }) : (!q, !k) -> !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @weighted_total(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected rows or columns contracted with an operand}}
  %o = "taylor.pairwise"(%q, %k, %k) <{operandSegmentSizes = array<i32: 2, 0, 1>, sums = [#taylor.pair_sum<total, 0, weighted = true>]}> ({
  }, {
  }, {
  ^bb0(%s: f64):
    "taylor.yield"(%s) : (f64) -> ()
  }) : (!q, !k, !k) -> !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @fewer_sums_than_results(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected one sum per result, but got 1 for 2}}
  %o:2 = "taylor.pairwise"(%q, %k, %k) <{operandSegmentSizes = array<i32: 2, 0, 1>, sums = [#taylor.pair_sum<rows, 0, weighted = true>]}> ({
  }, {
  }, {
  ^bb0(%s: f64):
    "taylor.yield"(%s) : (f64) -> ()
  }) : (!q, !k, !k) -> (!q, !q)
  taylor.yield %o#0 : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!row = !taylor.array<[b, h, t]>
taylor.spec @weight_of_another_type(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected numbers of type 'f64' from the weight region, but got 'f32'}}
  %o = "taylor.pairwise"(%q, %k) <{operandSegmentSizes = array<i32: 2, 0, 0>, sums = [#taylor.pair_sum<rows, 0>]}> ({
  }, {
  }, {
  ^bb0(%s: f64):
    %w = arith.constant 1.0 : f32
    "taylor.yield"(%w) : (f32) -> ()
  }) : (!q, !k) -> !row
  taylor.yield %o : !row
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @result_type(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op expected results of types '!taylor.array<[b, h, t, e]>', but got '!taylor.array<[b, h, t, d]>'}}
  %o = "taylor.recurrences"(%q, %k, %v) <{all_orders, mask = #taylor<mask causal>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, sums = [#taylor<sum numerator>]}> ({
  }, {
  }, {
  }, {
  }) : (!q, !k, !v) -> !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!col = !taylor.array<[b, h, u]>
taylor.spec @bidirectional_decay(%q: !q, %k: !k, %v: !v, %L: !col) {
  // expected-error @below {{'taylor.recurrence' op unsupported decay of a bidirectional sum: a decay runs from past keys to a query; compile with a causal mask}}
  %o = taylor.recurrence %q, %k, %v order(1) decay(%L) bidirectional : !q, !k, !v, !col
  taylor.yield "o" %o : !taylor.array<[b, h, t, e]>
}

// -----

!col = !taylor.array<[b, h, u]>
taylor.spec @aligned_to_another_type(%x: !col) {
  // expected-error @below {{'taylor.align' op expected a result with 'u' renamed to 't'}}
  %y = "taylor.align"(%x) <{axis = "t"}> : (!col) -> !col
  taylor.yield %y : !col
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @two_blocks(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected a formula of one block, but got 2}}
  %o = "taylor.pairwise"(%q, %k, %k) <{operandSegmentSizes = array<i32: 2, 0, 1>, sums = [#taylor.pair_sum<rows, 0, weighted = true>]}> ({
  }, {
  ^bb0(%s: f64):
    llvm.br ^bb1
  ^bb1:
    "taylor.yield"(%s) : (f64) -> ()
  }, {
  ^bb0(%s: f64, %m: f64):
    "taylor.yield"(%s) : (f64) -> ()
  }) : (!q, !k, !k) -> !q
  taylor.yield %o : !q
}

// -----

!row = !taylor.array<[b, h, t]>
// expected-error @below {{'taylor.spec' op requires a taylor.yield of at least one array at its end}}
"taylor.spec"() <{arg_names = ["x"], parameters = {}, sources = [#taylor.source<projection>], sym_name = "nothing"}> ({
^bb0(%x: !row):
  "taylor.yield"() <{names = []}> : () -> ()
}) : () -> ()

// -----

!row = !taylor.array<[b, h, t]>
// expected-error @below {{'taylor.function' op requires a taylor.yield with a name for each result at its end}}
"taylor.function"() <{arg_names = ["input:x"], spec_name = "f", sym_name = "f.forward"}> ({
^bb0(%x: !row):
  "taylor.yield"(%x) : (!row) -> ()
}) : () -> ()

// -----

!row = !taylor.array<[b, h, t]>
taylor.spec @empty_formula(%x: !row) {
  // expected-error @below {{'taylor.map' op expected a formula that ends in taylor.yield, but got an empty one}}
  %y = taylor.map region(%x) {
    ^bb0(%r: f64):
  } : !row
  taylor.yield %y : !row
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @no_weight(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op requires exactly one of orders(all), orders(a to b) and weight(..)}}
  %o = "taylor.recurrences"(%q, %k, %v) <{mask = #taylor<mask causal>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, sums = [#taylor<sum numerator>]}> ({
  }, {
  }, {
  }, {
  }) : (!q, !k, !v) -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @first_order_alone(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op requires exactly one of orders(all), orders(a to b) and weight(..)}}
  %o = "taylor.recurrences"(%q, %k, %v) <{first_order = 0 : i64, mask = #taylor<mask causal>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, sums = [#taylor<sum numerator>]}> ({
  }, {
  }, {
  }, {
  }) : (!q, !k, !v) -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @orders_and_weight(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op requires exactly one of orders(all), orders(a to b) and weight(..)}}
  %o = "taylor.recurrences"(%q, %k, %v) <{all_orders, mask = #taylor<mask causal>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, sums = [#taylor<sum numerator>]}> ({
  }, {
  }, {
  ^bb0(%s: f64):
    %x = arith.mulf %s, %s : f64
    "taylor.yield"(%x) : (f64) -> ()
  }, {
  }) : (!q, !k, !v) -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @more_arguments_than_operands(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op expected arguments of weight(..) of the types ['f64'], but got ['f64', 'f64']}}
  %o = "taylor.recurrences"(%q, %k, %v) <{mask = #taylor<mask causal>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, sums = [#taylor<sum numerator>]}> ({
  }, {
  }, {
  ^bb0(%s: f64, %more: f64):
    %x = arith.mulf %s, %s : f64
    "taylor.yield"(%x) : (f64) -> ()
  }, {
  }) : (!q, !k, !v) -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @score_that_no_formula_says(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{'taylor.recurrences' op unsupported operations in score(..): no formula says them; compute what is of one token by a taylor.map in front}}
  %o = "taylor.recurrences"(%q, %k, %v) <{all_orders, mask = #taylor<mask causal>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, sums = [#taylor<sum numerator>]}> ({
  }, {
  ^bb0(%s: f64):
    %x = math.ceil %s : f64
    "taylor.yield"(%x) : (f64) -> ()
  }, {
  }, {
  }) : (!q, !k, !v) -> !o
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @visible_without_condition(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected one condition from the visible region, but got 0}}
  %o = "taylor.pairwise"(%q, %k, %k) <{operandSegmentSizes = array<i32: 2, 0, 1>, sums = [#taylor.pair_sum<rows, 0, weighted = true>]}> ({
  ^bb0:
    "taylor.yield"() : () -> ()
  }, {
  }, {
  ^bb0(%s: f64):
    "taylor.yield"(%s) : (f64) -> ()
  }) : (!q, !k, !k) -> !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @two_conditions(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected one condition from the visible region, but got 2}}
  %o = "taylor.pairwise"(%q, %k, %k) <{operandSegmentSizes = array<i32: 2, 0, 1>, sums = [#taylor.pair_sum<rows, 0, weighted = true>]}> ({
  ^bb0:
    %t = "taylor.index"() <{axis = "t"}> : () -> f64
    %c = arith.cmpf ole, %t, %t : f64
    "taylor.yield"(%c, %c) : (i1, i1) -> ()
  }, {
  }, {
  ^bb0(%s: f64):
    "taylor.yield"(%s) : (f64) -> ()
  }) : (!q, !k, !k) -> !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @maximum_of_nothing(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected one number, or two with a floor, from the maximum region, but got 0}}
  %o = "taylor.pairwise"(%q, %k, %k) <{operandSegmentSizes = array<i32: 2, 0, 1>, sums = [#taylor.pair_sum<rows, 0, weighted = true>]}> ({
  }, {
  ^bb0(%s: f64):
    "taylor.yield"() : () -> ()
  }, {
  ^bb0(%s: f64, %m: f64):
    "taylor.yield"(%s) : (f64) -> ()
  }) : (!q, !k, !k) -> !q
  taylor.yield %o : !q
}

// -----

!row = !taylor.array<[b, h, t]>
// expected-error @below {{'taylor.spec' op expected a number as the parameter 'slope', but got "steep"}}
"taylor.spec"() <{arg_names = ["x"], parameters = {slope = "steep"}, sources = [#taylor.source<projection>], sym_name = "words"}> ({
^bb0(%x: !row):
  "taylor.yield"(%x) <{names = ["o"]}> : (!row) -> ()
}) : () -> ()

// -----

!q = !taylor.array<[b, h, t, d = 8], f32>
!half = !taylor.array<[b, h, t, d = 8], f16>
taylor.spec @rope_of_another_type(%q: !q) {
  // expected-error @below {{'taylor.rope' op expected a result of type '!taylor.array<[b, h, t, d = 8], f32>', but got '!taylor.array<[b, h, t, d = 8], f16>'}}
  %o = "taylor.rope"(%q) <{layout = #taylor<rope_layout half>, offset = 0 : i64, theta = 1.0e4 : f64}> : (!q) -> !half
  taylor.yield %o : !half
}

// -----

!x = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
taylor.spec @norm_of_another_type(%x: !x) {
  // expected-error @below {{'taylor.normalize' op expected a result of type '!taylor.array<[b, h, t, e]>', but got '!taylor.array<[b, h, t]>'}}
  %o = "taylor.normalize"(%x) <{axis = "e", epsilon = 1.0e-5 : f64, kind = #taylor<norm l2>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!x) -> !row
  taylor.yield %o : !row
}

// -----

!x = !taylor.array<[b, h, t, d]>
!taps = !taylor.array<[h, d, j = 4]>
!row = !taylor.array<[b, h, t]>
taylor.spec @convolution_of_another_type(%x: !x, %taps: !taps from parameter(ones)) {
  // expected-error @below {{'taylor.convolve' op expected a result of type '!taylor.array<[b, h, t, d]>', but got '!taylor.array<[b, h, t]>'}}
  %o = "taylor.convolve"(%x, %taps) : (!x, !taps) -> !row
  taylor.yield %o : !row
}

// -----

!x = !taylor.array<[b, h, t, d]>
!row = !taylor.array<[b, h, t]>
taylor.spec @gated_sum_of_another_type(%x: !x) {
  // expected-error @below {{'taylor.gated_sum' op expected a result of type '!taylor.array<[b, h, t, d]>', but got '!taylor.array<[b, h, t]>'}}
  %o = "taylor.gated_sum"(%x, %x) : (!x, !x) -> !row
  taylor.yield %o : !row
}

// -----

!row = !taylor.array<[b, h, t]>
taylor.function @f.forward of @f("input:x" %x: !row) {
  // expected-error @below {{'builtin.unrealized_conversion_cast' op unsupported in a function: scalar work belongs into the formula of a taylor.map}}
  %y = builtin.unrealized_conversion_cast %x : !row to !row
  taylor.yield "output:o" %y : !row
}
