// What keys become by themselves, and what reads that.
// RUN: taylor-opt %s --taylor-specialize="head-dim=16 dtype=f16" --taylor-recurrences-to-pairwise --canonicalize --taylor-prepare-keys --canonicalize | FileCheck %s
// RUN: taylor-opt %s --taylor-specialize="head-dim=16 dtype=f16" --taylor-recurrences-to-pairwise --canonicalize --taylor-plan-states=mode=queries --taylor-prepare-keys --canonicalize --taylor-carry-states --canonicalize | FileCheck %s --check-prefix=CARRY

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
!taps = !taylor.array<[g, d, r = 3]>
!hv = !taylor.array<[b, h, u, e]>
!hcolumn = !taylor.array<[b, h, u]>


// A rotation is made once; f16 holds what it gives.
// CHECK-LABEL: taylor.spec @rotated_keys(%k: !bgud_f16, %v: !bgue_f16) form #tile.form<parallel of append> carries #taylor.carry<keys> prepares_keys {
// CHECK-NEXT:    %[[K:.*]] = taylor.rope %k
// CHECK-NEXT:    %[[S:.*]] = taylor.map %[[K]] : !bgud_f32 -> !bgud_f16
// CHECK-NEXT:    taylor.yield "cache.v" %v, "cache.key0" %[[S]] : !bgue_f16, !bgud_f16
// CHECK-LABEL: taylor.spec @rotated(%q: !bhtd_f16, %cache.v: !bgue_f16 from input, %cache.key0: !bgud_f16 from input) form #tile.form<parallel of step> {
// CHECK-NOT:     taylor.rope %cache
// CHECK:         dot(%{{.*}}, %cache.key0)
taylor.spec @rotated(%q: !q, %k: !k, %v: !v) form #tile.form<parallel of step> {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}

// So are convolutions and maps, which may pass the range of f16; a running sum, which would lose digits from call to
// call, is not.
// CHECK-LABEL: taylor.spec @convolved_keys(
// CHECK-NEXT:    %[[K:.*]] = taylor.convolve %k, %taps
// CHECK-NEXT:    %[[G:.*]] = taylor.map sigmoid(%gate) * 2.0
// CHECK-NEXT:    taylor.yield "cache.v" %v, "cache.key0" %[[K]], "cache.key1" %[[G]] : !bgue_f16, !bgud_f32, !bgu_f32
// CHECK-LABEL: taylor.spec @convolved(
// CHECK-NEXT:    taylor.scan sum over(u) %cache.key1
// A step takes what the convolution reads of keys before, and their number where there is a rotation.
// CARRY-LABEL: taylor.spec @rotated_keys(
// CARRY-SAME:    %initial.position
// CARRY-LABEL: taylor.spec @convolved_keys(
// CARRY-SAME:    %initial.inputs0
// CARRY-LABEL: taylor.spec @convolved(
// CARRY-NOT:     %initial
// CARRY-LABEL: taylor.spec @spread_keys(
taylor.spec @convolved(%q: !q, %k: !k, %v: !v, %gate: !column from projection, %taps: !taps from parameter(normal(0.0, 0.5))) form #tile.form<parallel of step> {
  %kc = taylor.convolve %k, %taps : !k, !taps
  %s = taylor.map sigmoid(%gate) * 2.0 : !column
  %L = taylor.scan sum over(u) %s : !column
  %n = taylor.recurrences [numerator] %q, %kc, %v exponential decay(%L) causal : !q, !k, !v, !column
  taylor.yield %n : !o
}

// What is only spread over more heads is not kept: its sources are.
// CHECK-LABEL: taylor.spec @spread_keys(
// CHECK-NEXT:    %[[K:.*]] = taylor.map select(%k <= 0.0, 0.0, %k) + 1.0
// CHECK-NEXT:    taylor.yield "cache.v" %v, "cache.gate" %gate, "cache.key0" %[[K]]
// CHECK-LABEL: taylor.spec @spread(
// CHECK-NEXT:    taylor.map sigmoid(%cache.gate) * %cache.v
taylor.spec @spread(%q: !q, %k: !k, %v: !v, %gate: !hcolumn from projection) form #tile.form<parallel of step> {
  %kf = taylor.map relu(%k) + 1.0 : !k
  %w = taylor.map sigmoid(%gate) * %v : !hcolumn, !v
  %n = taylor.recurrences [numerator] %q, %kf, %w exponential causal : !q, !k, !hv
  taylor.yield %n : !o
}

// Keys that come as they are read have nothing to prepare, and results over u are of all keys.
// CHECK-NOT:   _keys
// CHECK-LABEL: taylor.spec @plain(%q: !bhtd_f16, %k: !bgud_f16, %v: !bgue_f16) form #tile.form<parallel of step> {
// CHECK-LABEL: taylor.spec @keys(%q: !bhtd_f16, %k: !bgud_f16, %v: !bgue_f16) form #tile.form<parallel of step> {
taylor.spec @plain(%q: !q, %k: !k, %v: !v) form #tile.form<parallel of step> {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
taylor.spec @keys(%q: !q, %k: !k, %v: !v) form #tile.form<parallel of step> {
  %kr = taylor.rope %k : !k
  %n = taylor.recurrences [numerator] %q, %kr, %v exponential causal : !q, !k, !v
  %x = taylor.map %v * 2.0 : !v
  taylor.yield "o" %n, "x" %x : !o, !v
}

// Only a step over all keys is divided: not the whole sequence, and not a recurrence.
// CHECK-NOT:   _keys
// CHECK-LABEL: taylor.spec @whole(
// CHECK-LABEL: taylor.spec @recurrence(
taylor.spec @whole(%q: !q, %k: !k, %v: !v) {
  %kr = taylor.rope %k : !k
  %n = taylor.recurrences [numerator] %q, %kr, %v exponential causal : !q, !k, !v
  taylor.yield %n : !o
}
taylor.spec @recurrence(%q: !q, %k: !k, %v: !v) form #tile.form<recurrent of step> {
  %kr = taylor.rope %k : !k
  %n = taylor.recurrences [numerator] %q, %kr, %v exponential causal : !q, !k, !v
  taylor.yield %n : !o
}
