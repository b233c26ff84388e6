// Order 1 alone, of relu, with clamped weights, over its own length.
//
//   w[t,u] = min(<relu(q[t]), relu(k[u])> / sqrt(d), 5), after RoPE        o = N / max(|N|, 1e-12)
//
// Source: relu-norm-l2 of Figure 6, right, with the clamp of the code's other variants.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>

taylor.spec @relu_clamped_norm_l2(%q: !q, %k: !k, %v: !v) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %qf = taylor.map relu(%qr) : !q
  %kf = taylor.map relu(%kr) : !k
  %n = taylor.recurrences %qf, %kf, %v orders(1 to 1) scale(rsqrt(size(d))) score(min(s, 5.0)) causal : !q, !k, !v
  %o = taylor.normalize l2 %n epsilon(1.0e-12) : !o
  taylor.yield %o : !o
}
