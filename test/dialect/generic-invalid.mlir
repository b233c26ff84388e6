// Messages about what no parser lets through: operations in generic form, as a wrong pass would build them.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
taylor.spec @operand_out_of_range(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected operand numbers below 2 in products and scalars}}
  %o = "taylor.pairwise"(%q, %k) <{products = array<i64: 0, 2>, scalars = array<i64>, sums = [#taylor.pair_sum<rows, 0, 1>]}> ({
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
taylor.spec @too_many_region_arguments(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected arguments of the weight region of types 'f64', but got 'f64', 'f64'}}
  %o = "taylor.pairwise"(%q, %k) <{products = array<i64: 0, 1>, scalars = array<i64>, sums = [#taylor.pair_sum<rows, 0, 1>]}> ({
  }, {
  }, {
  ^bb0(%s: f64, %more: f64):
    "taylor.yield"(%s) : (f64) -> ()
  }) : (!q, !k) -> !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!row = !taylor.array<[b, h, t]>
taylor.spec @maximum_without_region(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op requires a maximum region for the output maximum}}
  %o = "taylor.pairwise"(%q, %k) <{products = array<i64: 0, 1>, scalars = array<i64>, sums = [#taylor.pair_sum<maximum, 0, -1>]}> ({
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
  %o = "taylor.pairwise"(%q, %k) <{products = array<i64: 0, 1>, scalars = array<i64>, sums = [#taylor.pair_sum<rows, 1, 1>]}> ({
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
taylor.spec @contracted_with_nothing(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected rows or columns contracted with an operand}}
  %o = "taylor.pairwise"(%q, %k) <{products = array<i64: 0, 1>, scalars = array<i64>, sums = [#taylor.pair_sum<rows, 0, 2>]}> ({
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
taylor.spec @fewer_sums_than_results(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected one sum per result, but got 1 for 2}}
  %o:2 = "taylor.pairwise"(%q, %k) <{products = array<i64: 0, 1>, scalars = array<i64>, sums = [#taylor.pair_sum<rows, 0, 1>]}> ({
  }, {
  }, {
  ^bb0(%s: f64):
    "taylor.yield"(%s) : (f64) -> ()
  }) : (!q, !k) -> (!q, !q)
  taylor.yield %o#0 : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!row = !taylor.array<[b, h, t]>
taylor.spec @weight_of_another_type(%q: !q, %k: !k) {
  // expected-error @below {{'taylor.pairwise' op expected numbers of type 'f64' from the weight region, but got 'f32'}}
  %o = "taylor.pairwise"(%q, %k) <{products = array<i64: 0, 1>, scalars = array<i64>, sums = [#taylor.pair_sum<rows, 0, -1>]}> ({
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
  // expected-error @below {{'taylor.recurrence' op unsupported decay of a bidirectional recurrence: a decay runs from past keys to a query; compile with a causal mask}}
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
  %o = "taylor.pairwise"(%q, %k) <{products = array<i64: 0, 1>, scalars = array<i64>, sums = [#taylor.pair_sum<rows, 0, 1>]}> ({
  }, {
  ^bb0(%s: f64):
    llvm.br ^bb1
  ^bb1:
    "taylor.yield"(%s) : (f64) -> ()
  }, {
  ^bb0(%s: f64, %m: f64):
    "taylor.yield"(%s) : (f64) -> ()
  }) : (!q, !k) -> !q
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
