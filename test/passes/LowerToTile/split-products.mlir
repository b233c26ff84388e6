// Operands of products that are computed in f32 are two numbers of bf16: the rounded one, and what that takes from it. Numbers that are bf16 already have no rest, also
// where a map chooses among them; memory that products alone read has a twin; where both operands are two numbers, the product of both rests is left out.
// RUN: taylor-opt %s --taylor-split-products | FileCheck %s
// RUN: taylor-opt %s --taylor-split-products --taylor-narrow-products --canonicalize | FileCheck %s --check-prefix=NARROW
// RUN: not taylor-opt %s --taylor-split-products=type=f32 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: for the --type option: Cannot find option named 'f32'!

!q = !tile.array<[b, t, d = 8], bf16>
!td = !tile.tile<[t = 8, d = 8], f32>
!ud = !tile.tile<[u = 8, d = 8], f32>
!tu = !tile.tile<[t = 8, u = 8], f32>
!t = !tile.tile<[t = 8], f32>

// CHECK-LABEL: tile.program @forward
// NARROW-LABEL: tile.program @forward
tile.program @forward {
  %q = tile.tensor "input:q" : !q
  %k = tile.tensor "input:k" : !tile.array<[b, u, d = 8], f32>
  %r = tile.tensor "input:r" : !tile.array<[b, u], f32>
  %o = tile.tensor "output:o" : !q
  // CHECK:      %[[KEYS:.*]] = tile.workspace "keys" : !tile.array<[b, u, d = 8], f32> because "other blocks read it"
  // CHECK-NEXT: %[[KREST:.*]] = tile.workspace "keys.rest" : !tile.array<[b, u, d = 8], f32> because "other blocks read it"
  // CHECK-NEXT: %[[VALUES:.*]] = tile.workspace "values" : !tile.array<[b, u, d = 8], f32>
  // CHECK-NOT:  tile.workspace
  // NARROW:     tile.workspace "keys" : !tile.array<[b, u, d = 8], bf16>
  // NARROW:     tile.workspace "keys.rest" : !tile.array<[b, u, d = 8], bf16>
  %keys = tile.workspace "keys" : !tile.array<[b, u, d = 8], f32> because "other blocks read it"
  %values = tile.workspace "values" : !tile.array<[b, u, d = 8], f32>
  tile.kernel @columns grid(%b in b) {
    %c0 = arith.constant 0 : index
    // CHECK:      %[[X:.*]] = tile.load
    // CHECK-NEXT: %[[XREST:.*]] = tile.map (%[[E:.*]] = %[[X]])
    // CHECK-NEXT:   %[[ROUNDED:.*]] = arith.truncf %[[E]] : f32 to bf16
    // CHECK-NEXT:   %[[WIDE:.*]] = arith.extf %[[ROUNDED]] : bf16 to f32
    // CHECK-NEXT:   %[[LEFT:.*]] = arith.subf %[[E]], %[[WIDE]] : f32
    // CHECK-NEXT:   %[[SIZE:.*]] = math.absf %[[WIDE]]
    // CHECK:        %[[FINITE:.*]] = arith.cmpf olt, %[[SIZE]]
    // CHECK:        arith.select %[[FINITE]], %[[LEFT]]
    // CHECK:      tile.store %[[X]], %[[KEYS]]
    // CHECK-NEXT: tile.store %[[XREST]], %[[KREST]]
    %K = tile.load %k[b = %b, u = %c0] : !tile.array<[b, u, d = 8], f32> -> !ud
    tile.store %K, %keys[b = %b, u = %c0] : !ud, !tile.array<[b, u, d = 8], f32>
    tile.store %K, %values[b = %b, u = %c0] : !ud, !tile.array<[b, u, d = 8], f32>
  }
  // CHECK: tile.kernel @attend
  // NARROW: tile.kernel @attend
  tile.kernel @attend grid(%b in b) {
    %c0 = arith.constant 0 : index
    %Q0 = tile.load %q[b = %b, t = %c0] : !q -> !td
    // CHECK: %[[Q:.*]] = tile.map
    // CHECK:   arith.maximumf
    %Q = tile.map (%x = %Q0) : (!td) -> !td {
      %zero = arith.constant 0.0 : f32
      %y = arith.maximumf %x, %zero : f32
      tile.yield %y : f32
    }
    // CHECK-DAG:  %[[K:.*]] = tile.load %[[KEYS]]
    // CHECK-DAG:  %[[K1:.*]] = tile.load %[[KREST]]
    // CHECK:      %[[S0:.*]] = tile.dot %[[Q]], %[[K]] over(d) :
    // CHECK-NEXT: %[[S:.*]] = tile.dot %[[Q]], %[[K1]] over(d) into %[[S0]] :
    %K = tile.load %keys[b = %b, u = %c0] : !tile.array<[b, u, d = 8], f32> -> !ud
    %S = tile.dot %Q, %K over(d) : !td, !ud -> !tu
    // CHECK:      %[[W:.*]] = tile.map (%{{.*}} = %[[S]])
    // CHECK:        math.exp
    // CHECK:      %[[W1:.*]] = tile.map (%{{.*}} = %[[W]])
    %W = tile.map (%x = %S) : (!tu) -> !tu {
      %y = math.exp %x : f32
      tile.yield %y : f32
    }
    // CHECK:      %[[SUM:.*]] = tile.reduce sum %[[W]] over(u)
    %Z = tile.reduce sum %W over(u) : !tu -> !t
    // CHECK:      %[[V:.*]] = tile.load %[[VALUES]]
    // CHECK:      %[[V1:.*]] = tile.map (%{{.*}} = %[[V]])
    %V = tile.load %values[b = %b, u = %c0] : !tile.array<[b, u, d = 8], f32> -> !ud
    // CHECK:      %[[O0:.*]] = tile.dot %[[W]], %[[V]] over(u) :
    // CHECK-NEXT: %[[O1:.*]] = tile.dot %[[W1]], %[[V]] over(u) into %[[O0]] :
    // CHECK-NEXT: %[[O:.*]] = tile.dot %[[W]], %[[V1]] over(u) into %[[O1]] :
    // NARROW-COUNT-3: tile.dot {{.*}} over(u) {{.*}}: !tile.tile<[t = 8, u = 8], bf16>, !tile.tile<[d = 8, u = 8], bf16>
    %O = tile.dot %W, %V over(u) : !tu, !ud -> !td
    // A vector times a matrix stays as it is.
    // CHECK:      tile.dot %{{.*}}, %[[V]] over(u) : !tile.tile<[u = 8], f32>, !tile.tile<[d = 8, u = 8], f32> -> !tile.tile<[d = 8], f32>
    // CHECK-NOT:  tile.dot
    %R = tile.load %r[b = %b, u = %c0] : !tile.array<[b, u], f32> -> !tile.tile<[u = 8], f32>
    %y = tile.dot %R, %V over(u) : !tile.tile<[u = 8], f32>, !ud -> !tile.tile<[d = 8], f32>
    // CHECK:      tile.map (%{{.*}} = %[[O]],
    %done = tile.map (%n = %O, %z = %Z) : (!td, !t) -> !td {
      %x = arith.divf %n, %z : f32
      tile.yield %x : f32
    }
    tile.store %done, %o[b = %b, t = %c0] : !td, !q
  }
}

// Memory into which numbers of bf16 alone are stored has no twin.
// CHECK-LABEL: tile.program @exact
tile.program @exact {
  %q = tile.tensor "input:q" : !q
  %k = tile.tensor "input:k" : !tile.array<[b, u, d = 8], bf16>
  %o = tile.tensor "output:o" : !q
  // CHECK:     tile.workspace "queries"
  // CHECK-NOT: tile.workspace
  %queries = tile.workspace "queries" : !tile.array<[b, t, d = 8], f32>
  tile.kernel @rows grid(%b in b) {
    %c0 = arith.constant 0 : index
    %Q = tile.load %q[b = %b, t = %c0] : !q -> !td
    %R = tile.map (%x = %Q) : (!td) -> !td {
      %zero = arith.constant 0.0 : f32
      %positive = arith.cmpf ogt, %x, %zero : f32
      %y = arith.select %positive, %x, %zero : f32
      tile.yield %y : f32
    }
    // CHECK-COUNT-1: tile.store
    tile.store %R, %queries[b = %b, t = %c0] : !td, !tile.array<[b, t, d = 8], f32>
  }
  // CHECK: tile.kernel @attend
  tile.kernel @attend grid(%b in b) {
    %c0 = arith.constant 0 : index
    %Q = tile.load %queries[b = %b, t = %c0] : !tile.array<[b, t, d = 8], f32> -> !td
    %K = tile.load %k[b = %b, u = %c0] : !tile.array<[b, u, d = 8], bf16> -> !ud
    // The scores are numbers of f32.
    // CHECK:      %[[SCORES:.*]] = tile.dot {{.*}} over(d) :
    // CHECK:      %[[SREST:.*]] = tile.map (%{{.*}} = %[[SCORES]])
    // CHECK:      %[[V0:.*]] = tile.dot %[[SCORES]], {{.*}} over(u) :
    // CHECK-NEXT: tile.dot %[[SREST]], {{.*}} over(u) into %[[V0]]
    // CHECK-NOT:  tile.dot
    %S = tile.dot %Q, %K over(d) : !td, !ud -> !tu
    %V = tile.dot %S, %K over(u) : !tu, !ud -> !td
    tile.store %V, %o[b = %b, t = %c0] : !td, !q
  }
}
