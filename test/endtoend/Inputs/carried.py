# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Specifications whose sums go on from states, in pieces (states.py) and token after token (decode.py)."""
ARRAYS = """
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!column = !taylor.array<[b, g, u]>
!head = !taylor.array<[h]>
"""
# Orders 0 to 2 over their mass.
SERIES = """
taylor.spec @series(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) scale(rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}"""
# Order 1; a gate of keys, a gate of queries, a count, and a formula that reads the place of a query.
GATES = """
taylor.spec @gates(%q: !q, %k: !k, %v: !v, %in_gate: !column from projection(bias), %out_gate: !row from projection(bias), %power: !head from parameter(constant(0.5))) {
  %qf = taylor.map relu(%q) : !q
  %kf = taylor.map relu(%k) : !k
  %hv = taylor.map sigmoid(%in_gate) * %v : !column, !v
  %n, %c = taylor.recurrences [numerator, count] %qf, %kf, %hv orders(1 to 1) causal : !q, !k, !v
  %o = taylor.map sigmoid(%out_gate) * %n / pow(%c, sigmoid(%power)) + 0.01 * t : !row, !o, !row, !head
  taylor.yield %o : !o
}"""
