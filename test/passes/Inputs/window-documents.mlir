!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!docq = !taylor.array<[b, t], i32>
!dock = !taylor.array<[b, u], i32>

taylor.spec @window_documents(%q: !q, %k: !k, %v: !v, %dq: !docq from input, %dk: !dock from input)
    parameters(window : index = 1024) {
  %qr = taylor.rope %q : !q
  %kr = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %qr, %kr, %v exponential causal visible(t - u < window, %dq == %dk)
           : !q, !k, !v, !docq, !dock
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}
