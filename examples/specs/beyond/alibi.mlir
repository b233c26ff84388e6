// ALiBi: scores fall linearly with distance, each head at its own slope; no rotation.
//
//   s[t,u] = <q[t], k[u]> / sqrt(d) - 2^(-8 (h + 1) / H) (t - u)        w = e^s        o = N / Z
//
// Head h of H, counted from 0. Between tokens after the query (bidirectional) the bias is a gain, as in the formula.
// Source: Press et al., Train Short, Test Long.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!head = !taylor.array<[h]>

taylor.spec @alibi(%q: !q, %k: !k, %v: !v) {
  %slope = taylor.map pow(2.0, -8.0 * (h + 1.0) / size(h)) -> !head
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential score(s - %slope * (t - u)) causal
           : !q, !k, !v, !head
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
