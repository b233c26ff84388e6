// A gated sum has a kernel of its own, which goes along the tokens with all channels of a head at a time. What it reads has memory.
// RUN: taylor-opt %s --taylor-tile-pipeline | FileCheck %s

!k = !taylor.array<[b, g, u, d = 16], f32>
!gates = !taylor.array<[g, d = 16], f32>
!documents = !taylor.array<[b, u], f32>

taylor.function @f.forward of @f("input:k" %k: !k, "input:a" %a: !gates) {
  %x = taylor.map %k * %k : !k
  %y = taylor.gated_sum %x, %a : !k, !gates
  %o = taylor.map %y + 1.0 : !k
  taylor.yield "output:o" %o : !k
}

taylor.function @f.backward of @f("input:k" %k: !k, "input:n" %n: !documents) {
  %y = taylor.gated_sum %k, %k within(%n : !documents) reverse : !k, !k
  taylor.yield "gradient:k" %y : !k
}
