// Products of bf16: in pairs where the target's table says that this is faster, else converted to f32.
// RUN: taylor-opt %s --taylor-lower-tile-to-vector=target=znver4 | FileCheck %s
// RUN: taylor-opt %s --taylor-lower-tile-to-vector=target=x86-64-v4 | FileCheck %s --check-prefix=CONVERT
// RUN: taylorc %S/../../../examples/specs/softmax.mlir --dtype=bf16 --target=znver4 --emit=asm | FileCheck %s --check-prefix=ASM
// RUN: taylorc %S/../../../examples/specs/softmax.mlir --dtype=bf16 --target=x86-64-v4 --emit=asm | FileCheck %s --check-prefix=ASM4
// RUN: taylorc %S/../../../examples/specs/softmax.mlir --dtype=f32 --target=znver4 --emit=asm | FileCheck %s --check-prefix=ASM4
// ASM: vdpbf16ps
// ASM4-NOT: vdpbf16ps

!td = !tile.tile<[t = 64, d = 64], bf16>
!ud = !tile.tile<[u = 64, d = 64], bf16>
!tu = !tile.tile<[t = 64, u = 64], f32>

tile.program @forward {
  %q = tile.tensor "input:q" : !tile.array<[b, t, d = 64], bf16>
  %k = tile.tensor "input:k" : !tile.array<[b, u, d = 64], bf16>
  %s = tile.tensor "output:s" : !tile.array<[b, t, u], f32>
  tile.kernel @scores grid(%b in b, %i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %Q = tile.load %q[b = %b, t = %t0] : !tile.array<[b, t, d = 64], bf16> -> !td
    %K = tile.load %k[b = %b, u = %c0] : !tile.array<[b, u, d = 64], bf16> -> !ud
    %S = tile.dot %Q, %K over(d) : !td, !ud -> !tu
    tile.store %S, %s[b = %b, t = %t0] : !tu, !tile.array<[b, t, u], f32>
  }
}
// One operand is transposed, two neighbours along d at a time; of the other a pair is broadcast from where it lies.
// CHECK-LABEL: func.func private @taylor.forward.scores(
// CHECK:         vector.shuffle {{.*}} : vector<16xi32>, vector<16xi32>
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>,
// CHECK-COUNT-24:  llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK-NOT:     math.fma
// CONVERT-LABEL: func.func private @taylor.forward.scores(
// CONVERT:         arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// CONVERT:         math.fma {{.*}} : vector<16xf32>
