// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rotations at positions that an input says, at positions computed from it, over each batch alone and over all, and at two thetas.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!p = !taylor.array<[b, u], i32>
!pu = !taylor.array<[b, u]>
!pt = !taylor.array<[b, t]>
!all = !taylor.array<[u], i32>
!allr = !taylor.array<[u]>
taylor.spec @rope_at(%q: !q, %k: !k, %v: !v, %p: !p from input, %all: !all from input) {
  %pu = taylor.scan sum over(u) 0.5 * %p : !p
  %pt = taylor.align %pu to t : !pu
  %q1 = taylor.rope %q at %pt : !q, !pt
  %qr = taylor.rope %q1 theta(100.0) layout(interleaved) : !q
  %k1 = taylor.rope %k at %pu : !k, !pu
  %allr = taylor.map 1.0 * %all : !all
  %k2 = taylor.rope %k1 at %allr theta(500.0) offset(2) : !k, !allr
  %k3 = taylor.rope %k2 theta(100.0) layout(interleaved) : !k
  %kr = taylor.rope %k3 theta(500.0) : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
