// Two sums of exponential features over the mass of both, which reaches 1e19 and more: its square is no f32.
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>

taylor.spec @two_exponentials(%q: !q, %k: !k, %v: !v) {
  %qp = taylor.map exp(%q) : !q
  %qm = taylor.map exp(-%q) : !q
  %kp = taylor.map exp(%k) : !k
  %km = taylor.map exp(-%k) : !k
  %np, %zp = taylor.recurrences [numerator, mass] %qp, %kp, %v orders(1 to 1) causal : !q, !k, !v
  %nm, %zm = taylor.recurrences [numerator, mass] %qm, %km, %v orders(1 to 1) causal : !q, !k, !v
  %o = taylor.map (%np + %nm) / (%zp + %zm) : !o, !o, !row, !row
  taylor.yield %o : !o
}
