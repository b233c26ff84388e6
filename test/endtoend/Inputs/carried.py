# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Specifications whose sums go on from states, in pieces (states.py) and token after token (decode.py)."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from arrays import ARRAYS as COMMON

ARRAYS = "\n" + COMMON + """!column = !taylor.array<[b, g, u]>
!head = !taylor.array<[h]>
!token = !taylor.array<[b, h, u]>
!decay = !taylor.array<[h, u]>
!query_taps = !taylor.array<[h, d, j = 4]>
!key_taps = !taylor.array<[g, d, j = 4]>
!value_taps = !taylor.array<[g, e, i = 3]>
"""


def channels(text, width):
    """Options of taylorc: sizes of d and, where a specification has values of their own, e."""
    return [f"--head-dim={width}", *([f"--value-dim={width + 8}"] if "%v" in text else [])]


# Orders 0 to 2 over their mass.
SERIES = """
taylor.spec @series(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) scale(rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}"""
# The same, whose values are the keys.
RECALLED = """
taylor.spec @recalled(%q: !q, %k: !k) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %k orders(0 to 2) scale(rsqrt(size(d))) causal : !q, !k, !k
  %o = taylor.map %n / %z : !q, !row
  taylor.yield %o : !q
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
# Order 1 that decays with the distance, each head in its own time (a retention), with gates.
RETENTION = """
taylor.spec @retention(%q: !q, %k: !k, %v: !v, %in_gate: !column from projection(bias), %out_gate: !row from projection(bias), %slope: !head from parameter(constant(-2.0))) {
  %D = taylor.map exp(0.5 * %slope - 2.0) * u * -1.0 : !head
  %hv = taylor.map sigmoid(%in_gate) * %v : !column, !v
  %n = taylor.recurrences %q, %k, %hv orders(1 to 1) decay(%D) causal : !q, !k, !v, !decay
  %o = taylor.map sigmoid(%out_gate) * %n : !row, !o
  taylor.yield %o : !o
}"""
# Orders 0 to 2 that decay by learned steps, over their mass.
DECAYED = """
taylor.spec @decayed(%q: !q, %k: !k, %v: !v, %step: !column from projection(bias)) {
  %D = taylor.scan sum over(u) -softplus(%step) : !column
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 2) coefficients(1.0, 0.25, 0.125) decay(%D) causal : !q, !k, !v, !column
  %o = taylor.map %n / (%z + 0.25) : !o, !row
  taylor.yield %o : !o
}"""
# The same, whose steps go up and down.
GROWING = DECAYED.replace("@decayed", "@growing").replace("sum over(u) -softplus(%step)", "sum exclusive over(u) 0.25 * %step")
# Queries, keys and values mixed with those before, rows too, over a running sum of gates and by the largest so far.
MIXED = """
taylor.spec @mixed(%q: !q, %k: !k, %v: !v, %gate: !token from projection(bias), %q_conv: !query_taps from parameter(normal(0.0, 0.5)),
                   %k_conv: !key_taps from parameter(normal(0.0, 0.5)), %v_conv: !value_taps from parameter(normal(0.0, 0.5))) {
  %qc = taylor.convolve %q, %q_conv : !q, !query_taps
  %kc = taylor.convolve %k, %k_conv : !k, !key_taps
  %vc = taylor.convolve %v, %v_conv : !v, !value_taps
  %qs = taylor.map relu(%qc) : !q
  %ks = taylor.map relu(%kc) : !k
  %n = taylor.recurrences %qs, %ks, %vc orders(0 to 1) causal : !q, !k, !v
  %G = taylor.scan sum over(u) exp(%gate) : !token
  %m = taylor.scan max over(u) %gate : !token
  %c = taylor.map %G + exp(stop(%m)) : !token, !token
  %ct = taylor.align %c to t : !token
  %y = taylor.map %n / %ct : !o, !row
  %before = taylor.scan shift(2) over(t) %y : !o
  %o = taylor.map %y + 0.5 * %before : !o, !o
  taylor.yield %o : !o
}"""
# Queries, keys and rows that are moving averages: with a constant gate, a gate of each token, a product of gates.
AVERAGED = """
taylor.spec @averaged(%q: !q, %k: !k, %v: !v, %gate: !column from projection(bias), %slow: !head from parameter(constant(1.0))) {
  %a = taylor.map sigmoid(%slow) : !head
  %qs = taylor.gated_sum %q, %a : !q, !head
  %c = taylor.map sigmoid(%gate) : !column
  %kx = taylor.map (1.0 - %c) * %k : !column, !k
  %ks = taylor.gated_sum %kx, %c : !k, !column
  %first = taylor.map select(u == 0.0, %c, 0.0) : !column
  %product = taylor.gated_sum %first, %c : !column, !column
  %vp = taylor.map %v + %product : !v, !column
  %n = taylor.recurrences %qs, %ks, %vp orders(0 to 1) causal : !q, !k, !v
  %o = taylor.gated_sum %n, %a : !o, !head
  taylor.yield %o : !o
}"""
# Two sums of different orders.
ORDERS = pathlib.Path(__file__).with_name("two-orders.mlir").read_text()
