// Values with a running mean of theirs beside them: a loop carries a row of sums and, with documents, a number.
!v = !taylor.array<[b, g, u, e]>
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!o = !taylor.array<[b, h, t, e]>
taylor.spec @running_values(%q: !q, %k: !k, %v: !v) {
  %va = taylor.scan sum over(u) %v : !v
  %vw = taylor.map %v + %va / max(u + 1.0, 1.0) : !v, !v
  %n = taylor.recurrences [numerator] %q, %k, %vw orders(1 to 1) causal : !q, !k, !v
  taylor.yield %n : !o
}
