// Sums of the products of two matrices.
// RUN: taylor-opt %s --taylor-form-products | FileCheck %s

!dt = !tile.tile<[d = 16, t = 64], f32>
!dr = !tile.tile<[d = 16, r = 8], f32>
!drt = !tile.tile<[d = 16, r = 8, t = 64], f32>
!rt = !tile.tile<[r = 8, t = 64], f32>

// CHECK-LABEL: tile.program @learned_features
// CHECK:         %[[X:.*]] = tile.load %0
// CHECK:         %[[W:.*]] = tile.load %1
// CHECK-NEXT:    %[[F:.*]] = tile.dot %[[W]], %[[X]] over(d) exact : !tile.tile<[d = 16, r = 8], f32>, !tile.tile<[d = 16, t = 64], f32> -> !tile.tile<[r = 8, t = 64], f32>
// CHECK-NEXT:    tile.store %[[F]]
tile.program @learned_features {
  %0 = tile.tensor "input:x" : !tile.array<[t, d = 16], f32>
  %1 = tile.tensor "input:w" : !tile.array<[d = 16, r = 8], f32>
  %2 = tile.tensor "output:o" : !tile.array<[t, r = 8], f32>
  tile.kernel @k grid(%i in ceildiv(t, 64)) {
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %x = tile.load %0[t = %t0] : !tile.array<[t, d = 16], f32> -> !dt
    %w = tile.load %1[] : !tile.array<[d = 16, r = 8], f32> -> !dr
    %p = tile.map (%a = %x, %b = %w) : (!dt, !dr) -> !drt {
      %r = arith.mulf %b, %a : f32
      tile.yield %r : f32
    }
    %s = tile.reduce sum %p over(d) : !drt -> !rt
    tile.store %s, %2[t = %t0] : !rt, !tile.array<[t, r = 8], f32>
  }
}

// A maximum; a product that something else reads; a factor more; a square; a matrix by a vector; sizes that are no blocks of 8; elements of 16 bits.
// CHECK-LABEL: tile.program @leaves_the_rest
// CHECK-NOT:     tile.dot
tile.program @leaves_the_rest {
  %0 = tile.tensor "input:x" : !tile.array<[t, d = 16], f32>
  %1 = tile.tensor "input:w" : !tile.array<[d = 16, r = 8], f32>
  %2 = tile.tensor "output:o" : !tile.array<[t, r = 8], f32>
  %3 = tile.tensor "output:p" : !tile.array<[t, d = 16, r = 8], f32>
  %4 = tile.tensor "input:v" : !tile.array<[d = 16], f32>
  %5 = tile.tensor "output:s" : !tile.array<[t], f32>
  %6 = tile.tensor "input:n" : !tile.array<[d = 16, n = 6], f32>
  %7 = tile.tensor "output:n" : !tile.array<[t, n = 6], f32>
  %8 = tile.tensor "input:y" : !tile.array<[t, d = 16], bf16>
  %9 = tile.tensor "input:h" : !tile.array<[d = 16, r = 8], bf16>
  tile.kernel @k grid(%i in ceildiv(t, 64)) {
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %x = tile.load %0[t = %t0] : !tile.array<[t, d = 16], f32> -> !dt
    %w = tile.load %1[] : !tile.array<[d = 16, r = 8], f32> -> !dr
    %p = tile.map (%a = %x, %b = %w) : (!dt, !dr) -> !drt {
      %r = arith.mulf %a, %b : f32
      tile.yield %r : f32
    }
    %m = tile.reduce max %p over(d) : !drt -> !rt
    tile.store %m, %2[t = %t0] : !rt, !tile.array<[t, r = 8], f32>
    %p2 = tile.map (%a = %x, %b = %w) : (!dt, !dr) -> !drt {
      %r = arith.mulf %a, %b : f32
      tile.yield %r : f32
    }
    tile.store %p2, %3[t = %t0] : !drt, !tile.array<[t, d = 16, r = 8], f32>
    %s2 = tile.reduce sum %p2 over(d) : !drt -> !rt
    tile.store %s2, %2[t = %t0] : !rt, !tile.array<[t, r = 8], f32>
    %p3 = tile.map (%a = %x, %b = %w) : (!dt, !dr) -> !drt {
      %r = arith.mulf %a, %b : f32
      %e = math.exp %r : f32
      tile.yield %e : f32
    }
    %s3 = tile.reduce sum %p3 over(d) : !drt -> !rt
    tile.store %s3, %2[t = %t0] : !rt, !tile.array<[t, r = 8], f32>
    %square = tile.map (%a = %x) : (!dt) -> !dt {
      %r = arith.mulf %a, %a : f32
      tile.yield %r : f32
    }
    %s4 = tile.reduce sum %square over(d) : !dt -> !tile.tile<[t = 64], f32>
    tile.store %s4, %5[t = %t0] : !tile.tile<[t = 64], f32>, !tile.array<[t], f32>
    %v = tile.load %4[] : !tile.array<[d = 16], f32> -> !tile.tile<[d = 16], f32>
    %p5 = tile.map (%a = %x, %b = %v) : (!dt, !tile.tile<[d = 16], f32>) -> !dt {
      %r = arith.mulf %a, %b : f32
      tile.yield %r : f32
    }
    %s5 = tile.reduce sum %p5 over(d) : !dt -> !tile.tile<[t = 64], f32>
    tile.store %s5, %5[t = %t0] : !tile.tile<[t = 64], f32>, !tile.array<[t], f32>
    %n = tile.load %6[] : !tile.array<[d = 16, n = 6], f32> -> !tile.tile<[d = 16, n = 6], f32>
    %p6 = tile.map (%a = %x, %b = %n) : (!dt, !tile.tile<[d = 16, n = 6], f32>) -> !tile.tile<[d = 16, n = 6, t = 64], f32> {
      %r = arith.mulf %a, %b : f32
      tile.yield %r : f32
    }
    %s6 = tile.reduce sum %p6 over(d) : !tile.tile<[d = 16, n = 6, t = 64], f32> -> !tile.tile<[n = 6, t = 64], f32>
    tile.store %s6, %7[t = %t0] : !tile.tile<[n = 6, t = 64], f32>, !tile.array<[t, n = 6], f32>
    %y = tile.load %8[t = %t0] : !tile.array<[t, d = 16], bf16> -> !tile.tile<[d = 16, t = 64], bf16>
    %h = tile.load %9[] : !tile.array<[d = 16, r = 8], bf16> -> !tile.tile<[d = 16, r = 8], bf16>
    %p7 = tile.map (%a = %y, %b = %h) : (!tile.tile<[d = 16, t = 64], bf16>, !tile.tile<[d = 16, r = 8], bf16>) -> !tile.tile<[d = 16, r = 8, t = 64], bf16> {
      %r = arith.mulf %a, %b : bf16
      tile.yield %r : bf16
    }
    %s7 = tile.reduce sum %p7 over(d) : !tile.tile<[d = 16, r = 8, t = 64], bf16> -> !tile.tile<[r = 8, t = 64], bf16>
    tile.store %s7, %2[t = %t0] : !tile.tile<[r = 8, t = 64], bf16>, !tile.array<[t, r = 8], f32>
  }
}
