// RUN: taylor-opt %s --canonicalize | FileCheck %s
!row = !taylor.array<[b, h, t]>
!o = !taylor.array<[b, h, t, e]>

// A map that gives its operand back is the operand.
// CHECK-LABEL: taylor.spec @identity
// CHECK-NEXT: taylor.yield "o" %x
taylor.spec @identity(%x: !row) {
  %o = taylor.map %x : !row
  taylor.yield %o : !row
}

// Not with a guard, which makes rows 0; not where it widens; not where it converts.
// CHECK-LABEL: taylor.spec @kept
// CHECK-NEXT: taylor.map %x live(%c) : !bht, !bht
// CHECK-NEXT: taylor.map %x : !bht -> !bhte
// CHECK-NEXT: taylor.map %y : !bht_bf16{{$}}
taylor.spec @kept(%x: !row, %c: !row, %y: !taylor.array<[b, h, t], bf16>) {
  %0 = taylor.map %x live(%c) : !row, !row
  %1 = taylor.map %x : !row -> !o
  %2 = taylor.map %y : !taylor.array<[b, h, t], bf16> -> !taylor.array<[b, h, t], f32>
  taylor.yield %0, %1, %2 : !row, !o, !taylor.array<[b, h, t], f32>
}

// Constants fold inside formulas; what nobody reads goes.
// CHECK-LABEL: taylor.spec @constants
// CHECK-NEXT: taylor.map %x * 6.0 : !bht
// CHECK-NEXT: taylor.yield
taylor.spec @constants(%x: !row) {
  %unused = taylor.map exp(%x) : !row
  %o = taylor.map %x * (2.0 * 3.0) : !row
  taylor.yield %o : !row
}

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!col = !taylor.array<[b, h, u]>
!channel = !taylor.array<[e]>

// A stopped gradient is stopped once; a number has none.
// CHECK-LABEL: taylor.spec @stops
// CHECK-NEXT: taylor.map stop(%x) * %x + 2.0 : !bht
taylor.spec @stops(%x: !row) {
  %o = taylor.map stop(stop(%x)) * %x + stop(2.0) : !row
  taylor.yield %o : !row
}

// A rotation back is undone by nothing but its own inverse.
// CHECK-LABEL: taylor.spec @rotations
// CHECK-NEXT: %[[THETA:.+]] = taylor.rope %q : !bhtd
// CHECK-NEXT: %[[A:.+]] = taylor.rope %[[THETA]] theta(500.0) inverse : !bhtd
// CHECK-NEXT: %[[OFFSET:.+]] = taylor.rope %q offset(3) : !bhtd
// CHECK-NEXT: %[[B:.+]] = taylor.rope %[[OFFSET]] inverse : !bhtd
// CHECK-NEXT: %[[LAYOUT:.+]] = taylor.rope %q layout(interleaved) : !bhtd
// CHECK-NEXT: %[[C:.+]] = taylor.rope %[[LAYOUT]] inverse : !bhtd
// CHECK-NEXT: %[[TWICE:.+]] = taylor.rope %[[THETA]] : !bhtd
// CHECK-NEXT: %[[PLACED:.+]] = taylor.rope %q at %p : !bhtd, !bt
// CHECK-NEXT: %[[E:.+]] = taylor.rope %[[PLACED]] inverse : !bhtd
// CHECK-NEXT: taylor.yield "x" %q, "y" %q, "a" %[[A]], "b" %[[B]], "c" %[[C]], "d" %[[TWICE]], "z" %q, "e" %[[E]]
taylor.spec @rotations(%q: !q, %p: !taylor.array<[b, t]> from input) {
  %0 = taylor.rope %q : !q
  %x = taylor.rope %0 inverse : !q
  %1 = taylor.rope %q theta(500.0) layout(interleaved) offset(-2) inverse : !q
  %y = taylor.rope %1 theta(500.0) layout(interleaved) offset(-2) : !q
  %a = taylor.rope %0 theta(500.0) inverse : !q
  %2 = taylor.rope %q offset(3) : !q
  %b = taylor.rope %2 inverse : !q
  %3 = taylor.rope %q layout(interleaved) : !q
  %c = taylor.rope %3 inverse : !q
  %d = taylor.rope %0 : !q
  %4 = taylor.rope %q at %p : !q, !taylor.array<[b, t]>
  %z = taylor.rope %4 at %p inverse : !q, !taylor.array<[b, t]>
  %e = taylor.rope %4 inverse : !q
  taylor.yield %x, %y, %a, %b, %c, %d, %z, %e : !q, !q, !q, !q, !q, !q, !q, !q
}

// A norm of a norm is the norm, if the first is exact and the second adds nothing.
// CHECK-LABEL: taylor.spec @norms
// CHECK-NEXT: %[[L2:.+]] = taylor.normalize l2 %x epsilon(0.0) : !bhte
// CHECK-NEXT: %[[RMS:.+]] = taylor.normalize rms %x weight(%w) epsilon(0.0) : !bhte, !e
// CHECK-NEXT: %[[LAYER:.+]] = taylor.normalize layer %x epsilon(0.0) : !bhte
// CHECK-NEXT: %[[A:.+]] = taylor.normalize l2 %[[L2]] epsilon(1.0) : !bhte
// CHECK-NEXT: %[[EPSILON:.+]] = taylor.normalize l2 %x epsilon(0.5) : !bhte
// CHECK-NEXT: %[[B:.+]] = taylor.normalize l2 %[[EPSILON]] epsilon(0.0) : !bhte
// CHECK-NEXT: %[[C:.+]] = taylor.normalize rms %[[RMS]] epsilon(0.0) : !bhte
// CHECK-NEXT: %[[D:.+]] = taylor.normalize layer %[[LAYER]] epsilon(0.001) : !bhte
// CHECK-NEXT: %[[E:.+]] = taylor.normalize rms %[[LAYER]] epsilon(0.0) : !bhte
// CHECK-NEXT: %[[F:.+]] = taylor.normalize l2 over(h) %[[L2]] epsilon(0.0) : !bhte
// CHECK-NEXT: taylor.yield "x" %[[L2]], "y" %[[RMS]], "z" %[[LAYER]], "a" %[[A]], "b" %[[B]], "c" %[[C]], "d" %[[D]], "e" %[[E]], "f" %[[F]]
taylor.spec @norms(%x: !o, %w: !channel from parameter(ones)) {
  %l2 = taylor.normalize l2 %x epsilon(0.0) : !o
  %0 = taylor.normalize l2 %l2 epsilon(1.0e-6) : !o
  %rms = taylor.normalize rms %x epsilon(0.0) : !o
  %1 = taylor.normalize rms %rms weight(%w) epsilon(0.0) : !o, !channel
  %layer = taylor.normalize layer %x epsilon(0.0) : !o
  %2 = taylor.normalize layer %layer epsilon(0.0) : !o
  %a = taylor.normalize l2 %l2 epsilon(1.0) : !o
  %half = taylor.normalize l2 %x epsilon(0.5) : !o
  %b = taylor.normalize l2 %half epsilon(0.0) : !o
  %c = taylor.normalize rms %1 epsilon(0.0) : !o
  %d = taylor.normalize layer %layer epsilon(1.0e-3) : !o
  %e = taylor.normalize rms %layer epsilon(0.0) : !o
  %f = taylor.normalize l2 over(h) %l2 epsilon(0.0) : !o
  taylor.yield "x" %0, "y" %1, "z" %2, "a" %a, "b" %b, "c" %c, "d" %d, "e" %e, "f" %f : !o, !o, !o, !o, !o, !o, !o, !o, !o
}

// Read at the keys and back at the queries; the other way round, keys that no query stands at are 0.
// CHECK-LABEL: taylor.spec @aligned
// CHECK-NEXT: %[[T:.+]] = taylor.align %y to t : !bhu
// CHECK-NEXT: %[[U:.+]] = taylor.align %[[T]] to u : !bht
// CHECK-NEXT: taylor.yield "a" %x, "b" %[[U]]
taylor.spec @aligned(%x: !row, %y: !col) {
  %0 = taylor.align %x to u : !row
  %a = taylor.align %0 to t : !col
  %1 = taylor.align %y to t : !col
  %b = taylor.align %1 to u : !row
  taylor.yield %a, %b : !row, !col
}

// Shifts of one direction add up; no shift is a map.
// CHECK-LABEL: taylor.spec @shifts
// CHECK-NEXT: %[[A:.+]] = taylor.scan shift(5) over(t) exp(%x) : !bht
// CHECK-NEXT: %[[FORTH:.+]] = taylor.scan shift(2) over(t) %x : !bht
// CHECK-NEXT: %[[B:.+]] = taylor.scan shift(2) reverse over(t) %[[FORTH]] : !bht
// CHECK-NEXT: %[[C:.+]] = taylor.scan shift(3) over(t) exp(%[[FORTH]]) : !bht
// CHECK-NEXT: %[[D:.+]] = taylor.map exp(%x) : !bht
// CHECK-NEXT: taylor.yield "a" %[[A]], "b" %[[B]], "c" %[[C]], "d" %[[D]], "e" %x
taylor.spec @shifts(%x: !row) {
  %0 = taylor.scan shift(2) over(t) exp(%x) : !row
  %a = taylor.scan shift(3) over(t) %0 : !row
  %1 = taylor.scan shift(2) over(t) %x : !row
  %b = taylor.scan shift(2) reverse over(t) %1 : !row
  %c = taylor.scan shift(3) over(t) exp(%1) : !row
  %d = taylor.scan shift(0) over(t) exp(%x) : !row
  %e = taylor.scan shift(0) reverse over(t) %x : !row
  taylor.yield %a, %b, %c, %d, %e : !row, !row, !row, !row, !row
}

// What nobody reads, a scale of 1, a score that is itself with what it then lacks, orders of coefficient 0.
// CHECK-LABEL: taylor.spec @recurrences
// CHECK-NEXT: %[[N:.+]] = taylor.recurrences [numerator] %q, %k, %v orders(1 to 3) coefficients(2.0, 0.0, -1.0) causal : !bhtd, !bgud, !bgue
// CHECK-NEXT: %[[ONE:.+]]:2 = taylor.recurrences [count, mass] %q, %k, %v orders(1 to 1) coefficients(0.5) causal visible(u < %c) : !bhtd, !bgud, !bgue, !bhu
// CHECK-NEXT: %[[Z:.+]] = taylor.recurrence [mass] %q, %k, %v order(2) causal : !bhtd, !bgud, !bgue
// CHECK-NEXT: taylor.yield "n" %[[N]], "c" %[[ONE]]#0, "y" %[[ONE]]#1, "z" %[[Z]]
taylor.spec @recurrences(%q: !q, %k: !k, %v: !v, %r: !row, %c: !col) {
  %n, %m = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 5) coefficients(0.0, 2.0, 0.0, -1.0, 0.0, -0.0)
           scale(2.0 * 0.5) score(select(2.0 < 1.0, %r, s)) causal : !q, !k, !v, !row
  %count, %mass = taylor.recurrences [count, mass] %q, %k, %v orders(0 to 2) coefficients(0.0, 0.5, 0.0)
           score(min(s, s)) causal visible(u < %c) : !q, !k, !v, !col
  %0, %z = taylor.recurrence [numerator, mass] %q, %k, %v order(2) scale(1.0) causal : !q, !k, !v
  taylor.yield "n" %n, "c" %count, "y" %mass, "z" %z : !o, !row, !row, !row
}

// An axis that a formula had by its index alone stays where the index goes. Where an array has it too, nothing is
// added.
// CHECK-LABEL: taylor.spec @axes
// CHECK-NEXT: %[[E:.+]] = taylor.map 0.0 -> !e
// CHECK-NEXT: taylor.reduce sum over(e) region(%x, %[[E]]) {
// CHECK:      } : !bht, !e
// CHECK-NEXT: %[[H:.+]] = taylor.map 0.0 -> !h
// CHECK-NEXT: taylor.reduce mean over(group) region(%[[H]]) {
// CHECK:      %[[T:.+]] = taylor.map 0.0 -> !t
// CHECK-NEXT: taylor.scan sum over(t) region(%[[T]]) {
// CHECK:      taylor.reduce sum over(e) %y : !bhte
taylor.spec @axes(%x: !row, %y: !o) {
  %a = taylor.reduce sum over(e) select(e < 1.0, %x, %x) : !row
  %b = taylor.reduce mean over(group) select(h < 1.0, 2.0, 2.0) -> !taylor.array<[g]>
  %c = taylor.scan sum over(t) select(t < 1.0, 2.0, 2.0) -> !taylor.array<[t]>
  %d = taylor.reduce sum over(e) select(e < 1.0, %y, %y) : !o
  taylor.yield %a, %b, %c, %d : !row, !taylor.array<[g]>, !taylor.array<[t]>, !row
}
