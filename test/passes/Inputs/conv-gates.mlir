!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!hv = !taylor.array<[b, h, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!col = !taylor.array<[b, h, u]>
!channel = !taylor.array<[e]>
!hd4 = !taylor.array<[h, d, j = 4]>
!gd4 = !taylor.array<[g, d, j = 4]>
!ge4 = !taylor.array<[g, e, j = 4]>

taylor.spec @conv_gates(%q: !q, %k: !k, %v: !v, %a: !row from projection(bias), %i: !col from projection(bias),
                        %cq: !hd4 from parameter(uniform(-0.5, 0.5)), %ck: !gd4 from parameter(uniform(-0.5, 0.5)),
                        %cv: !ge4 from parameter(uniform(-0.5, 0.5)), %w: !channel from parameter(ones),
                        %b: !channel from parameter(zeros)) {
  %q1 = taylor.convolve %q, %cq : !q, !hd4
  %k1 = taylor.convolve %k, %ck : !k, !gd4
  %v1 = taylor.convolve %v, %cv : !v, !ge4
  %q2 = taylor.map silu(%q1) : !q
  %k2 = taylor.map silu(%k1) : !k
  %hv = taylor.map sigmoid(%i) * silu(%v1) : !col, !v
  %qr = taylor.rope %q2 : !q
  %kr = taylor.rope %k2 : !k
  %n, %c = taylor.recurrences [numerator, count] %qr, %kr, %hv exponential score(min(s, 5.0)) causal : !q, !k, !hv
  %y = taylor.map sigmoid(%a) * %n / %c : !row, !o, !row
  %o = taylor.normalize layer %y weight(%w) bias(%b) epsilon(1.0e-5) : !o, !channel, !channel
  taylor.yield %o : !o
}
