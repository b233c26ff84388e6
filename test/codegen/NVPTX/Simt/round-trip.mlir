// The text of layouts, buffers and ops is read back as it was printed.
// RUN: taylor-opt %s | taylor-opt | FileCheck %s
// CHECK: #fragment_t_d = #simt.layout<lane = [d:2, d:4, t:1, t:2, t:4], warp = [t:32, t:64], register = [d:1*2, t:8*2, d:8*8, t:16*2]>
// CHECK: #[[S:fragment_t_u1]] = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
// CHECK: simt.alloc "k" : !simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>
// CHECK: simt.copy %{{.*}} [b = %{{.*}}, h = %{{.*}}, t as u = %{{.*}}], %{{.*}} if %{{.*}} :
// CHECK: simt.dot mma16 %{{.*}}, %{{.*}} over(d) : !tile.tile<[d = 64, t = 128], bf16, #fragment_t_d>
// CHECK: simt.fence
// CHECK: simt.part %{{.*}} from 32 : !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128> -> !simt.buffer<1 x [u = 16, d = 64], bf16, swizzle = 128, panel = 64>
// CHECK: simt.reduce_warp max %{{.*}} over(t) : {{.*}} -> !tile.tile<[u = 64, warp = 4], f32, #layout>
// CHECK-LABEL: tile.program @started
// CHECK: %[[P:.*]] = simt.start wgmma %{{.*}}, %{{.*}} over(d) : !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>, !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128> -> !simt.pending<!tile.tile<[t = 64, u = 64], f32, #[[S]]>>
// CHECK: %[[MORE:.*]] = simt.start wgmma %{{.*}}, %{{.*}} over(d) into %[[P]] : !simt.pending<!tile.tile<[t = 64, u = 64], f32, #[[S]]>> :
// CHECK: %[[OTHER:.*]] = simt.start wgmma %{{.*}}, %{{.*}} over(d) into %{{.*}} : !tile.tile<[t = 64, u = 64], f32, #[[S]]> :
// CHECK: %[[TILE:.*]] = simt.await 1 %[[MORE]] : !simt.pending<!tile.tile<[t = 64, u = 64], f32, #[[S]]>>{{$}}
// CHECK: %[[SUM:.*]] = tile.reduce sum %[[TILE]]
// CHECK: simt.await 0 %[[OTHER]] after %[[SUM]] : !simt.pending<!tile.tile<[t = 64, u = 64], f32, #[[S]]>> : !tile.tile<[t = 64], f32, #layout{{[0-9]*}}>{{$}}
// CHECK: simt.proxy_fence{{$}}
// CHECK-LABEL: tile.program @roles
// CHECK: %[[RING:.*]] = simt.ring "k" at 8192 signals 24576 : !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>{{$}}
// CHECK: simt.roles members 2 apart 4096 registers 40, 232 producer {{{$}}
// CHECK: %[[SLOT:.*]] = simt.acquire %[[RING]][%[[N:.*]]] : !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>{{$}}
// CHECK: simt.copy %{{.*}} [b = %[[B:.*]], h = %[[N]], t as u = %[[N]]] until(t = %[[B]]), %[[SLOT]] signals %[[RING]][%[[N]]] bulk : !tile.array<[b, h, t, d = 64], bf16>, !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>, !simt.ring<
// CHECK: } consumer (%{{.*}}) {
// CHECK: %[[FULL:.*]] = simt.wait_full %[[RING]][%[[N]]] : !simt.ring<
// CHECK: simt.barrier member{{$}}
// CHECK: simt.release %[[RING]][%[[N]]] : !simt.ring<
#frag = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:32, t:64], register = [u:1*2, t:8*2, u:8*8, t:16*2]>
#a = #simt.layout<lane = [d:2, d:4, t:1, t:2, t:4], warp = [t:32, t:64], register = [d:1*2, t:8*2, d:8*8, t:16*2]>
#part = #simt.layout<lane = [u:2, u:4, _, _, _], warp = [warp:1, warp:2], register = [u:1*2, u:8*8]>
tile.program @forward {
  %q = tile.tensor "input:q" : !tile.array<[b, h, t, d = 64], bf16>
  tile.kernel @k grid(%b in b, %h in h, %i in ceildiv(t, 128)) {
    %buf = simt.alloc "k" : !simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>
    %s = simt.slot %buf[%b] : !simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>
    %more = arith.cmpi slt, %b, %i : index
    simt.copy %q[b = %b, h = %h, t as u = %i], %s if %more : !tile.array<[b, h, t, d = 64], bf16>, !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
    simt.commit
    simt.wait 0
    simt.barrier
    %x = tile.load %q[b = %b, h = %h, t = %i] : !tile.array<[b, h, t, d = 64], bf16> -> !tile.tile<[d = 64, t = 128], bf16, #a>
    %r = simt.dot mma16 %x, %s over(d) : !tile.tile<[d = 64, t = 128], bf16, #a>, !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128> -> !tile.tile<[t = 128, u = 64], f32, #frag>
    simt.fence
    %some = simt.part %s from 32 : !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128> -> !simt.buffer<1 x [u = 16, d = 64], bf16, swizzle = 128, panel = 64>
    %m = simt.reduce_warp max %r over(t) : !tile.tile<[t = 128, u = 64], f32, #frag> -> !tile.tile<[u = 64, warp = 4], f32, #part>
  }
}

#started = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
#rows = #simt.layout<lane = [_, _, t:1, t:2, t:4], warp = [t:16, t:32], register = [t:8*2]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #started>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #started>>
tile.program @started {
  tile.kernel @k grid(%i in t) {
    %zero = arith.constant 0.0 : f32
    %c = tile.splat %zero : f32 -> !s
    %q = simt.alloc "q" : !q
    %k = simt.alloc "k" : !k
    %0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    %1 = simt.start wgmma %q, %k over(d) into %0 : !p : !q, !k -> !p
    %2 = simt.start wgmma %q, %k over(d) into %c : !s : !q, !k -> !p
    %3 = simt.await 1 %1 : !p
    %4 = tile.reduce sum %3 over(u) : !s -> !tile.tile<[t = 64], f32, #rows>
    %5 = simt.await 0 %2 after %4 : !p : !tile.tile<[t = 64], f32, #rows>
    simt.proxy_fence
  }
}
tile.program @roles {
  %q = tile.tensor "input:q" : !tile.array<[b, h, t, d = 64], bf16>
  tile.kernel @k grid(%b in b, %h in h, %i in ceildiv(t, 128)) {
    %c0 = arith.constant 0 : index
    %ring = simt.ring "k" at 8192 signals 24576 : !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
    simt.roles members 2 apart 4096 registers 40, 232 producer {
      %slot = simt.acquire %ring[%c0] : !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
      simt.copy %q[b = %b, h = %c0, t as u = %c0] until(t = %b), %slot signals %ring[%c0] bulk : !tile.array<[b, h, t, d = 64], bf16>, !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>, !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
    } consumer (%member) {
      %slot = simt.wait_full %ring[%c0] : !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
      simt.barrier member
      simt.release %ring[%c0] : !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
    }
  }
}
