// Operands of one product after another are written when they are needed, where a block has no room for all of them; with room they stay.
// RUN: taylor-opt %s --taylor-simt-assign-layouts --cse -o %t.mlir
// RUN: taylor-opt %t.mlir --taylor-simt-sink-operands=shared=16383 | FileCheck %s
// RUN: taylor-opt %t.mlir --taylor-simt-sink-operands=shared=16384 | FileCheck %s --check-prefix=ROOM
// RUN: taylor-opt %t.mlir --taylor-simt-sink-operands=shared=16383 --debug-only=taylor-simt-sink-operands -o %t.sunk 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: taylor-opt %t.mlir --taylor-simt-sink-operands=shared=16383 --mlir-pass-statistics -o %t.sunk 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: taylor-opt %t.mlir --taylor-simt-sink-operands=shared=16383 --taylor-simt-schedule-copies=shared=16383 --taylor-simt-allocate-shared=shared=16383 | FileCheck %s --check-prefix=PLACED
// RUN: not taylor-opt %s --taylor-simt-sink-operands 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: error: {{.*}}; run taylor-simt-assign-layouts before

// ROOM-LABEL: @states
// ROOM: simt.write
// ROOM: tile.map
// ROOM: simt.write
// ROOM: simt.write
// ROOM-NEXT: simt.dot
// ROOM-NEXT: simt.dot
// ROOM-NEXT: simt.dot

// CHECK-LABEL: @states
// `%both` is for two buffers: it stays.
// CHECK: tile.map
// CHECK: arith.addf
// CHECK: simt.write %{{.*}}, %[[A:.*]] :
// CHECK-NEXT: simt.dot fma %[[A]], 
// CHECK-NEXT: %[[Y:.*]] = tile.map
// CHECK: arith.mulf
// CHECK: simt.write %[[Y]], %[[B:.*]] :
// CHECK-NEXT: simt.dot fma %[[B]], 
// CHECK-NEXT: %[[Z:.*]] = tile.map
// CHECK: arith.subf
// CHECK: simt.write %[[Z]], %[[C:.*]] :
// CHECK-NEXT: simt.dot fma %[[C]], 

// WHY: @states: et is written before simt.dot
// WHY-NEXT: @states: et is written before simt.dot
// COUNT: 2 sunk

// They share bytes then.
// PLACED: shared = 8192
tile.program @states {
  %f = tile.tensor "input:f" : !tile.array<[b, t, f = 32], f32>
  %v = tile.tensor "input:v" : !tile.array<[b, t, e = 32], f32>
  %o = tile.tensor "output:o" : !tile.array<[b, f = 32, e = 32], f32>
  tile.kernel @states grid(%b in b) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %F = tile.load %f[b = %b, t = %c0] : !tile.array<[b, t, f = 32], f32> -> !tile.tile<[f = 32, t = 32], f32>
    %V = tile.load %v[b = %b, t = %c0] : !tile.array<[b, t, e = 32], f32> -> !tile.tile<[e = 32, t = 32], f32>
    %both = tile.map (%p = %V) : (!tile.tile<[e = 32, t = 32], f32>) -> !tile.tile<[e = 32, t = 32], f32> {
      %1 = arith.addf %p, %p : f32
      tile.yield %1 : f32
    }
    %y = tile.map (%p = %both) : (!tile.tile<[e = 32, t = 32], f32>) -> !tile.tile<[e = 32, t = 32], f32> {
      %1 = arith.mulf %p, %p : f32
      tile.yield %1 : f32
    }
    %z = tile.map (%p = %both) : (!tile.tile<[e = 32, t = 32], f32>) -> !tile.tile<[e = 32, t = 32], f32> {
      %1 = arith.subf %zero, %p : f32
      tile.yield %1 : f32
    }
    %A = tile.dot %F, %both over(t) : !tile.tile<[f = 32, t = 32], f32>, !tile.tile<[e = 32, t = 32], f32> -> !tile.tile<[e = 32, f = 32], f32>
    %B = tile.dot %F, %y over(t) into %A : !tile.tile<[f = 32, t = 32], f32>, !tile.tile<[e = 32, t = 32], f32> -> !tile.tile<[e = 32, f = 32], f32>
    %C = tile.dot %F, %z over(t) into %B : !tile.tile<[f = 32, t = 32], f32>, !tile.tile<[e = 32, t = 32], f32> -> !tile.tile<[e = 32, f = 32], f32>
    tile.store %C, %o[b = %b] : !tile.tile<[e = 32, f = 32], f32>, !tile.array<[b, f = 32, e = 32], f32>
  }
}
