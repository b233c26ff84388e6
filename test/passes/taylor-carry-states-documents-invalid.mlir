// How long a document is, is known at its end, where size(u) stands.
// RUN: taylor-opt %s --verify-diagnostics --taylor-add-documents --taylor-specialize=head-dim=4 --taylor-recurrences-to-pairwise --canonicalize --cse --taylor-plan-states --taylor-carry-states
// The text between two passes says it too.
// RUN: taylor-opt %s --taylor-add-documents --taylor-specialize=head-dim=4 --taylor-recurrences-to-pairwise --canonicalize --cse -o %t
// RUN: not taylor-opt %t --taylor-plan-states --taylor-carry-states 2>&1 | FileCheck %s
// CHECK: error: unsupported --states: size(u) is known where a document ends, not in its pieces; take the length from an input or a parameter

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
taylor.spec @lengths(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported --states: size(u) is known where a document ends, not in its pieces; take the length from an input or a parameter}}
  %x = taylor.map %k / size(u) : !k
  %n = taylor.recurrences %q, %x, %v orders(0 to 1) causal : !q, !k, !v
  taylor.yield %n : !taylor.array<[b, h, t, e]>
}
