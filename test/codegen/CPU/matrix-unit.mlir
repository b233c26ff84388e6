// Products of bf16 where the target has a matrix unit (AMX): registers 0 to 3 are sums, 4 and 5 of A, 6 and 7 of B.
// RUN: taylor-opt %s --taylor-lower-tile-to-vector=target=sapphirerapids | FileCheck %s
// RUN: taylor-opt %s --taylor-lower-tile-to-vector=target=x86-64-v3+emulated-tiles | FileCheck %s --check-prefix=EMULATED
// RUN: taylorc %S/../../../examples/specs/softmax.mlir --dtype=bf16 --target=sapphirerapids --emit=asm | FileCheck %s --check-prefix=ASM
// RUN: taylorc %S/../../../examples/specs/softmax.mlir --dtype=f32 --target=sapphirerapids --emit=asm | FileCheck %s --check-prefix=F32
// RUN: taylorc %S/../../../examples/specs/softmax.mlir --dtype=bf16 --target=sapphirerapids --emit=manifest | FileCheck %s --check-prefix=MANIFEST
// RUN: taylorc %S/../../../examples/specs/softmax.mlir --dtype=bf16 --target=x86-64-v3+emulated-tiles --emit=manifest | FileCheck %s --check-prefix=PLAIN
// ASM: ldtilecfg
// ASM: tdpbf16ps
// ASM: tilerelease
// F32-NOT: tdpbf16ps
// MANIFEST: "amx-tile",
// MANIFEST-NEXT: "amx-bf16"
// PLAIN-NOT: amx

!td = !tile.tile<[t = 64, d = 48], bf16>
!ud = !tile.tile<[u = 40, d = 48], bf16>
!tu = !tile.tile<[t = 64, u = 40], f32>

tile.program @forward {
  %q = tile.tensor "input:q" : !tile.array<[b, t, d = 48], bf16>
  %k = tile.tensor "input:k" : !tile.array<[b, u, d = 48], bf16>
  %s = tile.tensor "output:s" : !tile.array<[b, t, u], f32>
  tile.kernel @scores grid(%b in b, %i in ceildiv(t, 64)) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %t0 = arith.muli %i, %c64 : index
    %Q = tile.load %q[b = %b, t = %t0] : !tile.array<[b, t, d = 48], bf16> -> !td
    %K = tile.load %k[b = %b, u = %c0] : !tile.array<[b, u, d = 48], bf16> -> !ud
    %S = tile.dot %Q, %K over(d) : !td, !ud -> !tu
    tile.store %S, %s[b = %b, t = %t0] : !tu, !tile.array<[b, t, u], f32>
  }
}
// The unit is configured around the loop over blocks; a rest of 16 along d is summed apart, with registers of 8 pairs.
// CHECK-LABEL: func.func private @taylor.forward.scores(
// CHECK:         llvm.call_intrinsic "llvm.x86.ldtilecfg"(%[[WHOLE:.*]]) : (!llvm.ptr) -> ()
// CHECK:         scf.for
// CHECK:           llvm.call_intrinsic "llvm.x86.tilezero"(%c0_i8
// CHECK:           llvm.call_intrinsic "llvm.x86.tileloadd64"(%c4_i8
// CHECK:           llvm.call_intrinsic "llvm.x86.tileloadd64"(%c6_i8
// CHECK:           llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c0_i8{{.*}}, %c4_i8{{.*}}, %c6_i8
// CHECK:           llvm.call_intrinsic "llvm.x86.tilestored64"(%c0_i8
// CHECK:           llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK:           llvm.call_intrinsic "llvm.x86.tileloadd64"(%c0_i8
// CHECK:           llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK:           llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK:         llvm.call_intrinsic "llvm.x86.tilerelease"()
// EMULATED: llvm.func @taylor_emulated_tdpbf16ps(i8, i8, i8)
// EMULATED-LABEL: func.func private @taylor.forward.scores(
// EMULATED:         llvm.call @taylor_emulated_ldtilecfg(
// EMULATED:         llvm.call @taylor_emulated_tdpbf16ps(
// EMULATED-NOT:     llvm.x86
