// The numerator over the number of visible keys and a running sum of gates.
//
//   s[t,u] = min(<q[t], k[u]> / sqrt(d), 5), after RoPE        w = e^s
//   G[t] = sum over tokens up to t of e^mass_gate        o = N / (n G)
//
// The gate has one logit per query head. Source: Figure 6, middle; `cumulative_gated_softmax` in the code of the paper, as it was
// meant: cumulative-gate-as-coded.mlir is what it computes. Causal only.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!token = !taylor.array<[b, h, u]>

taylor.spec @cumulative_gate(%q: !q, %k: !k, %v: !v, %mass_gate: !token from projection(bias)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %c = taylor.recurrences [numerator, count] %qr, %kr, %v exponential score(min(s, 5.0)) causal : !q, !k, !v
  %G = taylor.scan sum over(u) exp(%mass_gate) : !token
  %Gt = taylor.align %G to t : !token
  %o = taylor.map %n / (%c * %Gt) : !o, !row, !row
  taylor.yield %o : !o
}
