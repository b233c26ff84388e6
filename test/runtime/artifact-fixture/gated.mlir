// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What fixture.c computes with its gate and learned weight, as a specification.
!q = !taylor.array<[b, h, t, d]>   !k = !taylor.array<[b, g, u, d]>   !v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>   !row = !taylor.array<[b, h, t]>    !channel = !taylor.array<[e]>

taylor.spec @fixture(%q: !q, %k: !k, %v: !v, %out_gate: !row from projection(bias), %norm_weight: !channel from parameter(ones)) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.map sigmoid(%out_gate) * %norm_weight * %n / %z : !row, !channel, !o, !row
  taylor.yield %o : !o
}
