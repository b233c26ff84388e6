// Sums over pairs as sums within chunks and states between them. numeric.py evaluates what the pass makes of whole specifications.
// RUN: taylor-opt --taylor-chunk-sums="chunk=64" %s | FileCheck %s
// RUN: taylor-opt --taylor-chunk-sums="chunk=100 unit=64 feature-block=4" %s | FileCheck %s --check-prefix=BLOCKS
// RUN: taylor-opt --taylor-chunk-sums %s | FileCheck %s --check-prefix=AUTO

!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>

// CHECK-LABEL: taylor.function @f.forward
// CHECK:      %[[NEAR:.*]]:2 = taylor.pairwise { s0 = dot(%q, %k), x0 = (s0 * 0.5 + 1.0) * s0 + 1.0 } visible(u <= t) chunk(64) -> rows(x0, %v), rows(x0)
// CHECK-NEXT: %[[S:.*]]:2 = taylor.states %k, %v mass orders(0 to 2) chunk(64)
// CHECK-NEXT: %[[R:.*]]:2 = taylor.read_states %q from %[[S]]#0, %[[S]]#1 into %[[NEAR]]#0, %[[NEAR]]#1 orders(0 to 2) weights [1.000000e+00, 1.000000e+00, 5.000000e-01] chunk(64)
// CHECK-NEXT: taylor.map %[[R]]#0 / %[[R]]#1
// A state of 15 x 6 numbers against 20 operations a pair: 45 tokens, and no chunk is smaller than 64.
// AUTO: taylor.pairwise {{.*}} chunk(64)
// Chunks are whole units; orders begin at whole blocks: 4 + 4 + 16.
// BLOCKS: taylor.states %k, %v mass orders(0 to 2) block(4) chunk(128) : (!bgud, !bgue) -> (!bgtfe, !bgtf)
// BLOCKS-SAME: {{$}}
taylor.function @f.forward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %n, %z = taylor.pairwise { s = dot(%q, %k), w = (s * 0.5 + 1.0) * s + 1.0 } visible(u <= t) -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row
  %o = taylor.map %n / %z : !o, !row
  taylor.yield "output:o" %o : !o
}

// The derivative: contracted with keys, and the sides exchanged; a row factor goes into what is contracted or summed.
// CHECK-LABEL: taylor.function @f.backward
// CHECK:      %[[NEAR:.*]]:3 = taylor.pairwise {{.*}} chunk(64) -> rows(x0, %k), columns(x0, %q), columns(s0 * %r, %o)
// CHECK-NEXT: %[[S:.*]]:2 = taylor.states %k, %v mass orders(2 to 2) chunk(64)
// CHECK-NEXT: %[[DQ:.*]] = taylor.contract_states %q from %[[S]]#0, %[[S]]#1 with %o, %z into %[[NEAR]]#0 orders(2 to 2) weights [5.000000e-01] chunk(64)
// CHECK-NEXT: %[[G:.*]] = taylor.map %o * %r
// CHECK-NEXT: %[[R:.*]]:3 = taylor.states %q, %o, %z, %[[G]] orders(1 to 2) chunk(64) : {{.*}} -> (!bgufe, !bguf, !bgufe)
// CHECK-NEXT: %[[ONE:.*]] = taylor.map 1.0
// CHECK-NEXT: %[[DK:.*]] = taylor.contract_states %k from %[[R]]#0, %[[R]]#1 with %v, %[[ONE]] into %[[NEAR]]#1 orders(1 to 2) weights [0.000000e+00, 5.000000e-01] chunk(64)
// CHECK-NEXT: %[[DV:.*]] = taylor.read_states %k from %[[R]]#2 into %[[NEAR]]#2 orders(1 to 2) weights [1.000000e+00, 0.000000e+00] chunk(64)
// CHECK-NEXT: taylor.yield "gradient:q" %[[DQ]], "gradient:k" %[[DK]], "gradient:v" %[[DV]]
taylor.function @f.backward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "saved:z" %z: !row, "saved:r" %r: !row, "cotangent:o" %do: !o) {
  %dq, %dk, %dv = taylor.pairwise { s = dot(%q, %k), p = dot(%do, %v), ds = (p + %z) * s } visible(u <= t)
                  -> rows(ds, %k), columns(ds, %q), columns(s * %r, %do) : !q, !k, !o, !v, !row, !row -> !q, !k, !v
  taylor.yield "gradient:q" %dq, "gradient:k" %dk, "gradient:v" %dv : !q, !k, !v
}

// Without a mask nothing is left of the pairs; a factor of the key goes into the values.
// CHECK-LABEL: taylor.function @g.forward
// CHECK-NOT:  taylor.pairwise
// CHECK:      %[[V:.*]] = taylor.map %v * %c
// CHECK-NEXT: %[[S:.*]] = taylor.states %k, %[[V]] orders(1 to 1) : (!bgud, !bgue) -> !bgfe
// CHECK-NEXT: taylor.read_states %q from %[[S]] orders(1 to 1) weights [2.000000e+00]
// CHECK:      taylor.pairwise { } -> rows(1.0)
taylor.function @g.forward of @g("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:c" %c: !column) sources [projection, projection, projection, projection] {
  %n, %count = taylor.pairwise { s = dot(%q, %k) } -> rows(s * 2.0 * %c, %v), rows(1.0) : !q, !k, !column, !v -> !o, !row
  taylor.yield "output:n" %n, "output:c" %count : !o, !row
}

// A decay: the least c so far, at the edges of chunks; values and what is read count from there. The running maximum of a[t] - c[u] is an array.
// CHECK-LABEL: taylor.function @d.forward
// CHECK:      %[[A:.*]] = taylor.align %c to t
// CHECK:      %[[LARGEST:.*]] = taylor.scan max over(u) %{{.*}} : !bgu
// CHECK-NEXT: %[[THERE:.*]] = taylor.align %[[LARGEST]] to t
// CHECK-NEXT: %[[M:.*]] = taylor.map %[[THERE]] + %[[A]] : !bgt, !bgt -> !bht
// CHECK-NEXT: %[[NEAR:.*]] = taylor.pairwise { s0 = dot(%q, %k) } visible(u <= t) chunk(64) -> rows(s0 * exp(%[[A]] - %c - %[[M]]), %v)
// CHECK:      %[[SCAN:.*]] = taylor.scan max over(u) %{{.*}} : !bgu
// CHECK-NEXT: %[[E:.*]] = taylor.map -%[[SCAN]] : !bgu
// CHECK-NEXT: %[[ROW:.*]] = taylor.map %[[A]] + -%[[M]]
// CHECK-NEXT: %[[ET:.*]] = taylor.edge %[[E]] chunk(64) : (!bgu) -> !bgt
// CHECK-NEXT: %[[R:.*]] = taylor.map exp(%[[ROW]] - %[[ET]])
// CHECK-NEXT: %[[EU:.*]] = taylor.edge %[[E]] chunk(64) : (!bgu) -> !bgu
// CHECK-NEXT: %[[C:.*]] = taylor.map exp(%[[EU]] - %c)
// CHECK-NEXT: %[[V:.*]] = taylor.map %v * %[[C]]
// CHECK-NEXT: %[[S:.*]] = taylor.states %k, %[[V]] decay(%[[E]]) orders(1 to 1) chunk(64)
// CHECK-NEXT: %[[READ:.*]] = taylor.read_states %q from %[[S]] orders(1 to 1) weights [1.000000e+00] chunk(64)
// CHECK-NEXT: %[[FACTOR:.*]] = taylor.map %[[READ]] * %[[R]]
// CHECK-NEXT: %[[FAR:.*]] = taylor.map region(%[[FACTOR]], %[[READ]])
// CHECK:      %[[N:.*]] = taylor.map %[[NEAR]] + %[[FAR]]
// CHECK-NEXT: taylor.yield "output:n" %[[N]], "saved:m" %[[M]]
taylor.function @d.forward of @d("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:c" %c: !column) sources [projection, projection, projection, projection] {
  %a = taylor.align %c to t : !column
  %n, %m = taylor.pairwise { s = dot(%q, %k), m = maximum(%a - %c), w = s * exp(%a - %c - m) } visible(u <= t) -> rows(w, %v), maximum : !q, !k, !taylor.array<[b, g, t]>, !column, !v -> !o, !row
  taylor.yield "output:n" %n, "saved:m" %m : !o, !row
}

// A condition and a divisor that one side of a pair knows alone are factors of that side. A query before whose
// chunk no key lies reads 0, and what it multiplies that by may be NaN: the product is 0 where what is read is.
// CHECK-LABEL: taylor.function @one_sided.forward
// CHECK:      %[[NEAR:.*]] = taylor.pairwise {{.*}} chunk(64) -> rows(select(%c < 0.0, s0 * s0, s0) / %r, %v)
// CHECK-NEXT: %[[SQUARE:.*]] = taylor.map %v * select(%c < 0.0, 1.0, 0.0)
// CHECK-NEXT: %[[LINE:.*]] = taylor.map %v * select(%c < 0.0, 0.0, 1.0)
// CHECK-NEXT: %[[S:.*]]:2 = taylor.states %k, %[[SQUARE]], %[[LINE]] orders(1 to 2) chunk(64)
// CHECK-NEXT: %[[READ:.*]] = taylor.read_states %q from %[[S]]#0 orders(1 to 2) weights [0.000000e+00, 1.000000e+00] chunk(64)
// CHECK-NEXT: %[[FACTOR:.*]] = taylor.map %[[READ]] * (1.0 / %r)
// CHECK-NEXT: %[[FAR:.*]] = taylor.map region(%[[FACTOR]], %[[READ]])
// CHECK:      %[[READS:.*]] = arith.cmpf une, %{{.*}}, %{{.*}}
// CHECK:      arith.select %[[READS]], %{{.*}}, %{{.*}}
// CHECK:      taylor.map %[[NEAR]] + %[[FAR]]
// CHECK:      taylor.read_states %q from %[[S]]#1 orders(1 to 2) weights [1.000000e+00, 0.000000e+00] chunk(64)
taylor.function @one_sided.forward of @one_sided("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:c" %c: !column, "input:r" %r: !row) sources [projection, projection, projection, projection, projection] {
  %n = taylor.pairwise { s = dot(%q, %k) w = select(%c < 0.0, s * s, s) / %r } visible(u <= t) -> rows(w, %v) : !q, !k, !column, !row, !v -> !o
  taylor.yield "output:n" %n : !o
}

// Products and powers of decays are decays, of the sum of their exponents.
// CHECK-LABEL: taylor.function @powers.forward
// CHECK:      %[[CT:.*]] = taylor.align %c to t
// CHECK:      %[[BT:.*]] = taylor.align %b to t
// CHECK:      %[[COLUMN:.*]] = taylor.map %c + %c + %b
// CHECK:      %[[ROW:.*]] = taylor.map %[[CT]] + %[[CT]] + %[[BT]]
// CHECK-NEXT: %[[ET:.*]] = taylor.edge %[[E:.*]] chunk(64) : (!bgu) -> !bgt
// CHECK-NEXT: taylor.map exp(%[[ROW]] - %[[ET]])
// CHECK-NEXT: %[[EU:.*]] = taylor.edge %[[E]] chunk(64) : (!bgu) -> !bgu
// CHECK-NEXT: taylor.map exp(%[[EU]] - %[[COLUMN]])
// CHECK:      taylor.states {{.*}} orders(2 to 2) chunk(64)
taylor.function @powers.forward of @powers("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:c" %c: !column, "input:b" %b: !column) sources [projection, projection, projection, projection, projection] {
  %ct = taylor.align %c to t : !column
  %bt = taylor.align %b to t : !column
  %n = taylor.pairwise { s = dot(%q, %k) x = s * exp(%ct - %c) } visible(u <= t) -> rows(x * x * exp(%bt - %b), %v) : !q, !k, !taylor.array<[b, g, t]>, !column, !taylor.array<[b, g, t]>, !column, !v -> !o
  taylor.yield "output:n" %n : !o
}

// A query reads states of other chunks, whose keys stand elsewhere. Without a mask it stands at one of them, and sums stay over pairs.
// CHECK-LABEL: taylor.function @elsewhere.forward
// CHECK:      %[[NEAR:.*]] = taylor.pairwise { s0 = dot(%q, %k) } visible(u <= t) chunk(64) -> rows(select(t == u, 0.0, s0), %v)
// CHECK-NEXT: %[[S:.*]] = taylor.states %k, %v orders(1 to 1) chunk(64)
// CHECK-NEXT: %[[R:.*]] = taylor.read_states %q from %[[S]] into %[[NEAR]] orders(1 to 1) weights [1.000000e+00] chunk(64)
// CHECK-NEXT: %[[ALL:.*]] = taylor.pairwise { s0 = dot(%q, %k) } -> rows(select(t == u, 0.0, s0), %v)
// CHECK-NEXT: taylor.yield "output:o" %[[R]], "output:all" %[[ALL]]
taylor.function @elsewhere.forward of @elsewhere("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) sources [projection, projection, projection] {
  %o = taylor.pairwise { s = dot(%q, %k), w = select(t == u, 0.0, s) } visible(u <= t) -> rows(w, %v) : !q, !k, !v -> !o
  %all = taylor.pairwise { s = dot(%q, %k), w = select(t == u, 0.0, s) } -> rows(w, %v) : !q, !k, !v -> !o
  taylor.yield "output:o" %o, "output:all" %all : !o, !o
}
