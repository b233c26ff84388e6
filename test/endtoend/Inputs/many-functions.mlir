!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
taylor.spec @many_functions(%q: !q, %k: !k, %v: !v) {
  %s = taylor.map %q * %q : !q
  %a = taylor.reduce sum over(d) %s : !q
  %q0 = taylor.map sin(%q + tanh(0.1 * %a)) : !q, !row
  %q1 = taylor.map sin(%q0) * cos(%q) : !q, !q
  %q2 = taylor.map erf(%q1) + sin(%q0) : !q, !q
  %q3 = taylor.map sin(%q2) + %q1 : !q, !q
  %q4 = taylor.map sin(%q3) - log1p(exp(%q0)) : !q, !q
  %q5 = taylor.map sin(%q4) : !q
  %q6 = taylor.map sin(%q5) : !q
  %q7 = taylor.map sin(%q6) : !q
  %q8 = taylor.map sin(%q7) : !q
  %n, %z = taylor.recurrences [numerator, mass] %q8, %k, %v exponential score(s + sin(s) + cos(0.3 * s) + tanh(s) + erf(s)) causal : !q, !k, !v
  %o0 = taylor.map %n / %z : !o, !row
  %o = taylor.map sin(%o0) : !o
  taylor.yield %o : !o
}
