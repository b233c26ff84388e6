// Sizes, parameters, types and mask of a specification become those it is compiled for.
// RUN: taylor-opt --taylor-specialize="head-dim=16 value-dim=8 parameters=order=4,window=5 mask=bidirectional" %s | FileCheck %s
// RUN: taylor-opt --taylor-specialize="head-dim=16 dtype=bf16" %s | FileCheck %s --check-prefix=BF16
// RUN: taylor-opt --taylor-specialize="head-dim=16 dtype=f64" %s | FileCheck %s --check-prefix=F64

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
!channel = !taylor.array<[e]>
!docq = !taylor.array<[b, t], i32>
!dock = !taylor.array<[b, u], i32>

// CHECK-DAG: !bhtd_f32 = !taylor.array<[b, h, t, d = 16], f32>
// CHECK-DAG: !bhte_f32 = !taylor.array<[b, h, t, e = 8], f32>
// CHECK-LABEL: taylor.spec @everything
// CHECK-SAME: parameters(order : index = 4, window : index = 5)
// The size of d and its root are numbers; an order is one too; a parameter in a condition.
// CHECK: orders(0 to 4) scale(0.25) bidirectional visible(and(t - u < 5.0, %dq == %dk))
// CHECK: taylor.map %{{.*}} * %w / 8.0

// Arguments and results are stored in bf16, everything else and learned parameters in f32.
// BF16-LABEL: taylor.spec @everything
// BF16-SAME: %q: !bhtd_bf16
// BF16-SAME: %w: !e_f32 from parameter(ones)
// BF16: taylor.recurrences {{.*}} : !bhtd_bf16, !bgud_bf16, !bgue_bf16
// BF16: %[[N:.*]] = taylor.map {{.*}} : !bhte_f32, !bht_f32, !e_f32
// BF16: %[[O:.*]] = taylor.map %[[N]] : !bhte_f32 -> !bhte_bf16
// BF16: taylor.yield "o" %[[O]] : !bhte_bf16

// F64-LABEL: taylor.spec @everything
// F64-SAME: %q: !bhtd,
// F64: orders(0 to 10)
taylor.spec @everything(%q: !q, %k: !k, %v: !v, %w: !channel from parameter(ones), %dq: !docq from input, %dk: !dock from input)
    parameters(order : index = 10, window : index = 1024) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to order) scale(rsqrt(size(d))) causal
           visible(t - u < window, %dq == %dk) : !q, !k, !v, !docq, !dock
  %o = taylor.map %n / %z * %w / size(e) : !o, !row, !channel
  taylor.yield %o : !o
}
