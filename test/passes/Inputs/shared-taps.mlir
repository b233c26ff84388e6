// Three taps that all heads and channels share: their gradient is an array of three numbers.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!taps = !taylor.array<[j = 3]>

taylor.spec @shared_taps(%q: !q, %k: !k, %v: !v, %taps: !taps from parameter(uniform(-0.5, 0.5))) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %y = taylor.map %n / %z : !o, !row
  %o = taylor.convolve %y, %taps : !o, !taps
  taylor.yield %o : !o
}
