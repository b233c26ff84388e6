// RUN: taylor-opt --taylor-add-documents --split-input-file --verify-diagnostics %s

!q = !taylor.array<[b, h, t, d]>
!x = !taylor.array<[b, u], i32>
// expected-error @below {{unsupported argument 'documents': the numbers of documents are an input of this name; rename it, or compile without documents}}
taylor.spec @taken(%q: !q, %documents: !x from input) {
  %o = taylor.rope %q : !q
  taylor.yield %o : !q
}

// -----

!q = !taylor.array<[b, h, t, d]>
taylor.spec @queries(%q: !q) {
  // expected-error @below {{unsupported size(t) with documents: how many queries a document has depends on the call; use size(u), its keys}}
  %o = taylor.map %q / size(t) : !q
  taylor.yield %o : !q
}

// -----

!w = !taylor.array<[h]>
taylor.spec @no_token(%w: !w from parameter(ones)) {
  // expected-error @below {{unsupported size(u) with documents where there is no token: each document has its own; read it in a formula over t or u}}
  %o = taylor.map %w / size(u) : !w
  taylor.yield %o : !w
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @scale(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported size(u) in scale(..) with documents: each document has its own; read it in score(..)}}
  %o = taylor.recurrences %q, %k, %v orders(1 to 1) scale(rsqrt(size(u))) causal : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @one_order(%q: !q, %k: !k, %v: !v) {
  // expected-error @below {{unsupported operation with documents: write taylor.recurrences, or compile without them}}
  %o = taylor.recurrence %q, %k, %v order(1) coefficient(1.0) causal : !q, !k, !v
  taylor.yield %o : !o
}

// -----

!x = !taylor.array<[b, u]>
taylor.spec @others(%x: !x, %d: !x from input) {
  // expected-error @below {{unsupported documents where within(..) names others; leave it out}}
  %o = taylor.scan sum over(u) within(%d : !x) %x : !x
  taylor.yield %o : !x
}
