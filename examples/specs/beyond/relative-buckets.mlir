// T5's relative attention: 32 learned numbers per head, one for each of the 16 nearest distances, the others in buckets that
// widen with the logarithm of the distance, up to 128; scores are not scaled.
//
//   s[t,u] = <q[t], k[u]> + table[bucket(max(t - u, 0))], no RoPE        w = e^s        o = N / Z
//   bucket(n) = n for n < 16, min(16 + floor(16 log(n / 16) / log(8)), 31) from there on
//
// Source: Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer (the decoder).
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!table = !taylor.array<[h, r = 32]>
!lags = !taylor.array<[h, lag]>

taylor.spec @relative_buckets(%q: !q, %k: !k, %v: !v, %table: !table from parameter(normal(0.0, 0.02))) {
  %bucket = taylor.map { n = max(lag, 0.0)
                         far = 16.0 + floor(16.0 * log(max(n, 16.0) / 16.0) / log(8.0))
                         min(select(n < 16.0, n, far), 31.0) } -> !taylor.array<[lag]>
  %bias = taylor.reduce sum over(r) select(r == %bucket, %table, 0.0) : !taylor.array<[lag]>, !table
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(all) score(s + %bias) causal : !q, !k, !v, !lags
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
