// Norms become reductions and maps.
// RUN: taylor-opt --taylor-expand-normalize %s | FileCheck %s

!o = !taylor.array<[b, h, t, e]>
!channel = !taylor.array<[e]>

// One root of the larger square: its derivative at 0 is finite.
// CHECK-LABEL: taylor.spec @l2
// CHECK: %[[S:.*]] = taylor.reduce sum over(e) %x * %x
// CHECK: taylor.map %x / sqrt(max(%[[S]], 1.0e-24))
taylor.spec @l2(%x: !o) {
  %o = taylor.normalize l2 %x epsilon(1.0e-12) : !o
  taylor.yield %o : !o
}

// A bound whose square is no number in f32 stays outside of the root.
// CHECK-LABEL: taylor.spec @l2_tiny_bound
// CHECK: taylor.map %x / max(sqrt(%{{.*}}), 1.0e-30)
taylor.spec @l2_tiny_bound(%x: !o) {
  %o = taylor.normalize l2 %x epsilon(1.0e-30) : !o
  taylor.yield %o : !o
}

// CHECK-LABEL: taylor.spec @over_heads
// CHECK: taylor.reduce sum over(h)
taylor.spec @over_heads(%x: !o) {
  %o = taylor.normalize l2 over(h) %x epsilon(1.0e-12) : !o
  taylor.yield %o : !o
}

// CHECK-LABEL: taylor.spec @rms
// CHECK: %[[M:.*]] = taylor.reduce mean over(e) %x * %x
// CHECK: %[[Y:.*]] = taylor.map %x * rsqrt(%[[M]] + 1.0e-5)
// CHECK: taylor.map %[[Y]] * %w
taylor.spec @rms(%x: !o, %w: !channel from parameter(ones)) {
  %o = taylor.normalize rms %x weight(%w) epsilon(1.0e-5) : !o, !channel
  taylor.yield %o : !o
}

// CHECK-LABEL: taylor.spec @layer
// CHECK: %[[M:.*]] = taylor.reduce mean over(e) %x
// CHECK: %[[C:.*]] = taylor.map %x - %[[M]]
// CHECK: %[[V:.*]] = taylor.reduce mean over(e) %[[C]] * %[[C]]
// CHECK: %[[Y:.*]] = taylor.map %[[C]] * rsqrt(%[[V]] + 1.0e-5)
// CHECK: %[[W:.*]] = taylor.map %[[Y]] * %w
// CHECK: taylor.map %[[W]] + %b
taylor.spec @layer(%x: !o, %w: !channel from parameter(ones), %b: !channel from parameter(zeros)) {
  %o = taylor.normalize layer %x weight(%w) bias(%b) epsilon(1.0e-5) : !o, !channel, !channel
  taylor.yield %o : !o
}
