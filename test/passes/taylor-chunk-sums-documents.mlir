// Documents of each batch beside a decay that all batches share: the least c so far, at an edge, is that of a document and so of a batch.
// RUN: taylor-opt --taylor-chunk-sums="chunk=64" %s | FileCheck %s
!q = !taylor.array<[b, h, t, d = 4]>
!k = !taylor.array<[b, g, u, d = 4]>
!v = !taylor.array<[b, g, u, e = 5]>
!o = !taylor.array<[b, h, t, e = 5]>
!row = !taylor.array<[b, h, t]>
!decay = !taylor.array<[h, u]>
!documents = !taylor.array<[b, u]>

// CHECK-LABEL: taylor.function @f.forward
// CHECK:      %[[ROW:.*]] = taylor.align %c to t
// CHECK-NEXT: %[[D:.*]] = taylor.scan max over(u) %documents
// CHECK:      taylor.pairwise {{.*}} chunk(64) -> rows(s0 * exp(%[[ROW]] - %c), %v)
// CHECK-NEXT: %[[NEGATED:.*]] = taylor.map -%c
// CHECK-NEXT: %[[LARGEST:.*]] = taylor.scan max over(u) within(%[[D]]{{.*}}) %[[NEGATED]] : {{.*}} -> !bhu
// CHECK-NEXT: %[[LEAST:.*]] = taylor.map -%[[LARGEST]] : !bhu
// A token of another document counts as nothing, whatever it holds.
// CHECK:      %[[OWN:.*]] = taylor.map select(%{{.*}} == %[[D]], 1.0, 0.0)
// CHECK-NEXT: %[[DECAYED:.*]] = taylor.map %v *
// CHECK-NEXT: taylor.states %k, %[[DECAYED]] decay(%[[LEAST]]) within(%[[D]]{{.*}}) own(%[[OWN]]) orders(1 to 1) chunk(64)
taylor.function @f.forward of @f("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:c" %c: !decay, "input:documents" %documents: !documents) sources [projection, projection, projection, projection, input] {
  %a = taylor.align %c to t : !decay
  %d = taylor.scan max over(u) %documents : !documents
  %of = taylor.align %d to t : !documents
  %n = taylor.pairwise { s = dot(%q, %k) } visible(u <= t, %of == %d) -> rows(s * exp(%a - %c), %v) : !q, !k, !taylor.array<[b, t]>, !documents, !taylor.array<[h, t]>, !decay, !v -> !o
  taylor.yield "output:n" %n : !o
}

// A running maximum of what all batches share is a document's too.
// CHECK-LABEL: taylor.function @g.forward
// CHECK:      %[[D:.*]] = taylor.scan max over(u) %documents
// CHECK:      %[[LARGEST:.*]] = taylor.scan max over(u) within(%[[D]]{{.*}}) %{{.*}} : {{.*}} -> !bhu
// CHECK-NEXT: %[[THERE:.*]] = taylor.align %[[LARGEST]] to t
// CHECK-NEXT: %[[M:.*]] = taylor.map %[[THERE]] + %{{.*}} : !bht, !ht
// CHECK:      taylor.yield "output:n" %{{.*}}, "saved:m" %[[M]]
taylor.function @g.forward of @g("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:c" %c: !decay, "input:documents" %documents: !documents) sources [projection, projection, projection, projection, input] {
  %a = taylor.align %c to t : !decay
  %d = taylor.scan max over(u) %documents : !documents
  %of = taylor.align %d to t : !documents
  %n, %m = taylor.pairwise { s = dot(%q, %k), m = maximum(%a - %c), w = s * exp(%a - %c - m) } visible(u <= t, %of == %d) -> rows(w, %v), maximum : !q, !k, !taylor.array<[h, t]>, !decay, !taylor.array<[b, t]>, !documents, !v -> !o, !row
  taylor.yield "output:n" %n, "saved:m" %m : !o, !row
}

// All keys of a document: a query reads the states before its chunk and those behind it, each with factors of its own edges.
// CHECK-LABEL: taylor.function @both.forward
// CHECK:      %[[D:.*]] = taylor.scan max over(u) %documents
// CHECK:      %[[OF:.*]] = taylor.align %[[D]] to t
// CHECK:      %[[WITHIN:.*]] = taylor.pairwise { s0 = dot(%q, %k) } visible(%[[OF]] == %[[D]]) chunk(64) -> rows(s0, %v)
// CHECK:      %[[BEFORE:.*]] = taylor.edge %[[D]] chunk(64) : (!bu) -> !bt
// CHECK-NEXT: %[[ROW:.*]] = taylor.map select(%{{.*}} == %[[BEFORE]], 1.0, 0.0)
// CHECK-NEXT: %[[BEHIND:.*]] = taylor.edge %[[D]] chunk(64) : (!bu) -> !bu
// CHECK-NEXT: %[[COLUMN:.*]] = taylor.map select(%[[BEHIND]] == %[[D]], 1.0, 0.0)
// CHECK:      %[[END:.*]] = taylor.edge %[[D]] chunk(64) opposite : (!bu) -> !bt
// CHECK-NEXT: %[[OTHERROW:.*]] = taylor.map select(%{{.*}} == %[[END]], 1.0, 0.0)
// CHECK-NEXT: %[[START:.*]] = taylor.edge %[[D]] chunk(64) opposite : (!bu) -> !bu
// CHECK-NEXT: %[[OTHERCOLUMN:.*]] = taylor.map select(%[[START]] == %[[D]], 1.0, 0.0)
// CHECK-NEXT: %[[H:.*]] = taylor.states %k, %v within(%[[D]]{{.*}}) own(%[[COLUMN]]) orders(1 to 1) chunk(64) :
// CHECK-NEXT: %[[READ:.*]] = taylor.read_states %q from %[[H]] into %[[WITHIN]] own(%[[ROW]]) orders(1 to 1) weights {{.*}} chunk(64) :
// CHECK-NEXT: %[[G:.*]] = taylor.states %k, %v within(%[[D]]{{.*}}) own(%[[OTHERCOLUMN]]) orders(1 to 1) chunk(64) opposite
// CHECK-NEXT: %[[OTHERREAD:.*]] = taylor.read_states %q from %[[G]] into %[[READ]] own(%[[OTHERROW]]) orders(1 to 1) weights {{.*}} chunk(64) opposite
// CHECK-NEXT: taylor.yield "output:n" %[[OTHERREAD]]
taylor.function @both.forward of @both("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:documents" %documents: !documents) sources [projection, projection, projection, input] {
  %d = taylor.scan max over(u) %documents : !documents
  %of = taylor.align %d to t : !documents
  %n = taylor.pairwise { s = dot(%q, %k) } visible(%of == %d) -> rows(s, %v) : !q, !k, !taylor.array<[b, t]>, !documents, !v -> !o
  taylor.yield "output:n" %n : !o
}

// A key reads the states of queries where its document is that of the query next to the edge. A document that ends
// at the edge may have no query: its keys, NaN perhaps, read nothing.
// CHECK-LABEL: taylor.function @keys.backward
// CHECK:      %[[D:.*]] = taylor.scan max over(u) %documents
// CHECK:      %[[OF:.*]] = taylor.align %[[D]] to t
// CHECK:      %[[WITHIN:.*]] = taylor.pairwise {{.*}} chunk(64) -> columns(s0, %n)
// CHECK:      %[[OWN:.*]] = taylor.map select(%{{.*}} == %{{.*}}, 1.0, 0.0) : !bt, !bt
// CHECK:      %[[NEXT:.*]] = taylor.edge %[[D]] chunk(64) query : (!bu) -> !bu
// CHECK-NEXT: %[[SEEN:.*]] = taylor.map select(%[[NEXT]] == %[[D]], 1.0, 0.0)
// CHECK:      %[[OTHEROWN:.*]] = taylor.map select(%{{.*}} == %{{.*}}, 1.0, 0.0) : !bt, !bt
// CHECK:      %[[LAST:.*]] = taylor.edge %[[D]] chunk(64) opposite query : (!bu) -> !bu
// CHECK-NEXT: %[[OTHERSEEN:.*]] = taylor.map select(%[[LAST]] == %[[D]], 1.0, 0.0)
// CHECK-NEXT: %[[H:.*]] = taylor.states %q, %n within(%[[D]]{{.*}}) own(%[[OWN]]) orders(1 to 1) chunk(64) :
// CHECK-NEXT: %[[READ:.*]] = taylor.read_states %k from %[[H]] into %[[WITHIN]] own(%[[SEEN]]) orders(1 to 1) weights {{.*}} chunk(64) :
// CHECK-NEXT: %[[G:.*]] = taylor.states %q, %n within(%[[D]]{{.*}}) own(%[[OTHEROWN]]) orders(1 to 1) chunk(64) opposite
// CHECK-NEXT: taylor.read_states %k from %[[G]] into %[[READ]] own(%[[OTHERSEEN]]) orders(1 to 1) weights {{.*}} chunk(64) opposite
taylor.function @keys.backward of @both("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v, "input:documents" %documents: !documents, "cotangent:n" %n: !o) sources [projection, projection, projection, input] {
  %d = taylor.scan max over(u) %documents : !documents
  %of = taylor.align %d to t : !documents
  %dv = taylor.pairwise { s = dot(%q, %k) } visible(%of == %d) -> columns(s, %n) : !q, !k, !taylor.array<[b, t]>, !documents, !o -> !v
  taylor.yield "gradient:v" %dv : !v
}
