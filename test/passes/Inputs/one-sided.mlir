// Weights chosen and divided by what one side of a pair knows alone, and a power of a sum.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!tau = !taylor.array<[b, h, t]>
!gate = !taylor.array<[b, g, u]>
taylor.spec @one_sided(%q: !q, %k: !k, %v: !v, %tau: !tau from projection(bias), %open: !gate from projection(bias)) {
  %n, %c = taylor.recurrences [numerator, count] %q, %k, %v scale(rsqrt(size(d))) weight(select(%open < 0.0, pow(s + 1.0, 2.0) / (1.0 + exp(%tau)), relu(%tau) * (1.0 + s))) causal : !q, !k, !v, !gate, !tau
  %o = taylor.map %n / %c : !o, !row
  taylor.yield %o : !o
}
