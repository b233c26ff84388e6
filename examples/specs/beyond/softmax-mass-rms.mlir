// Softmax, then a root mean square norm of each head's output, with a learned weight per head and channel.
//
//   s[t,u] = <q[t], k[u]> / sqrt(d), after RoPE        w = e^s        o = RMS(N / Z), epsilon 1e-6
//
// Source: Sun et al., Retentive Network (a norm per head, there behind another sum).
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!weight = !taylor.array<[h, e]>

taylor.spec @softmax_mass_rms(%q: !q, %k: !k, %v: !v, %norm_weight: !weight from parameter(ones)) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential causal : !q, !k, !v
  %y = taylor.map %n / %z : !o, !row
  %o = taylor.normalize rms %y weight(%norm_weight) epsilon(1.0e-6) : !o, !weight
  taylor.yield %o : !o
}
