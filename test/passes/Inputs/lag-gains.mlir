// Arrays of lags as factors of weights: of key/value heads and of the token's batch, one of them in the mass too.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!gains = !taylor.array<[g, r = 3]>
!speed = !taylor.array<[b, h]>

taylor.spec @lag_gains(%q: !q, %k: !k, %v: !v, %gains: !gains from parameter(ones), %speed: !speed from input) {
  %near = taylor.reduce sum over(r) select(r == abs(lag), %gains, 0.0) : !gains
  %slow = taylor.map exp(0.0 - %speed * %speed * abs(lag)) : !speed
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v weight(exp(s) * %slow + s * s * %near) scale(rsqrt(size(d))) causal
           : !q, !k, !v, !taylor.array<[b, h, lag]>, !taylor.array<[g, lag]>
  %o = taylor.map %n / (1.0 + %z * %z) : !o, !row
  taylor.yield %o : !o
}
