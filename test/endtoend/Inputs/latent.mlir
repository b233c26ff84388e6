// Queries, keys and values of latent tokens, as DeepSeek-V2 has them: only learned arrays have the channels d and e.
!queries = !taylor.array<[b, t, r = 24]>
!latent = !taylor.array<[b, u, m = 16]>
!wq = !taylor.array<[h, d, r = 24]>
!wk = !taylor.array<[g, d, m = 16]>
!wv = !taylor.array<[g, e, m = 16]>
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @latent(%queries: !queries from projection, %latent: !latent from projection,
    %wq: !wq from parameter(normal(0.0, 0.3)), %wk: !wk from parameter(normal(0.0, 0.3)), %wv: !wv from parameter(normal(0.0, 0.3))) {
  %q = taylor.reduce sum over(r) %queries * %wq : !queries, !wq
  %k = taylor.reduce sum over(m) %latent * %wk : !latent, !wk
  %v = taylor.reduce sum over(m) %latent * %wv : !latent, !wv
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
