// Messages about products: on matrix units of warps (`mma.sync`) and of groups of four warps (`wgmma`).
// RUN: taylor-opt %s --split-input-file --verify-diagnostics --taylor-simt-lower-to-nvvm

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [], register = [u:1*2, t:8*2]>
!b = !simt.buffer<1 x [t = 16, d = 4], bf16>
!k = !simt.buffer<1 x [u = 8, d = 4], bf16>
tile.program @forward {
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %a = simt.alloc "a" at 0 : !b
    %c = simt.alloc "c" at 1024 : !k
    // expected-error @+1 {{'simt.dot' op requires a multiple of 8 elements along 'd', but got 4}}
    %s = simt.dot mma16 %a, %c over(d) : !b, !k -> !tile.tile<[t = 16, u = 8], f32, #s>
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [], register = [u:1*2, t:8*2]>
!a = !simt.buffer<1 x [t = 16, d = 16], bf16>
!b = !simt.buffer<1 x [u = 8, d = 32], bf16>
tile.program @forward {
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %a = simt.alloc "a" at 0 : !a
    %b = simt.alloc "b" at 1024 : !b
    // expected-error @+1 {{'simt.dot' op expected operands of one size along 'd', but got '!simt.buffer<1 x [t = 16, d = 16], bf16>' and '!simt.buffer<1 x [u = 8, d = 32], bf16>'}}
    %s = simt.dot mma16 %a, %b over(d) : !a, !b -> !tile.tile<[t = 16, u = 8], f32, #s>
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [], register = [u:1*2, t:8*2]>
!a = !simt.buffer<1 x [t = 16, d = 16], bf16>
!b = !simt.buffer<1 x [u = 8, d = 16], bf16>
tile.program @forward {
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %a = simt.alloc "a" at 0 : !a
    %b = simt.alloc "b" at 1024 : !b
    // expected-error @+1 {{'simt.dot' op unsupported sums of 'f64'; expected f32, or f64 with fma}}
    %s = simt.dot mma16 %a, %b over(d) : !a, !b -> !tile.tile<[t = 16, u = 8], f64, #s>
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [], register = [t:8*2, u:1*2]>
!a = !simt.buffer<1 x [t = 16, d = 16], bf16>
!b = !simt.buffer<1 x [u = 8, d = 16], bf16>
tile.program @forward {
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %a = simt.alloc "a" at 0 : !a
    %b = simt.alloc "b" at 1024 : !b
    // expected-error @+1 {{'simt.dot' op expected two neighbouring columns in the first registers, but got '!tile.tile<[t = 16, u = 8], f32, }}
    %s = simt.dot mma16 %a, %b over(d) : !a, !b -> !tile.tile<[t = 16, u = 8], f32, #s>
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [], register = [u:1*2, t:8*2]>
#a = #simt.layout<lane = [t:2, t:4, d:1, d:2, d:4], warp = [], register = [t:1*2, t:8*2, d:8*2]>
!a = !tile.tile<[t = 16, d = 16], bf16, #a>
!b = !simt.buffer<1 x [u = 8, d = 16], bf16>
tile.program @forward {
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %one = arith.constant 1.0 : bf16
    %a = tile.splat %one : bf16 -> !a
    %b = simt.alloc "b" at 1024 : !b
    // expected-error @+1 {{'simt.dot' op expected an operand with 'd' in lanes 0 and 1 and 't' in lanes 2 to 4, but got '!tile.tile<[d = 16, t = 16], bf16, }}
    %s = simt.dot mma16 %a, %b over(d) : !a, !b -> !tile.tile<[t = 16, u = 8], f32, #s>
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*2]>
!q = !simt.buffer<1 x [t = 64, d = 32], bf16, swizzle = 64>
!k = !simt.buffer<1 x [u = 16, d = 32], bf16, swizzle = 64>
!s = !tile.tile<[t = 64, u = 16], f32, #s>
tile.program @forward {
  %o = tile.tensor "output:o" : !tile.array<[t, u = 16], f32>
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 4> {
    %zero = arith.constant 0.0 : bf16
    %q = simt.alloc "q" at 0 : !q
    %k = simt.alloc "k" at 65536 : !k
    // expected-error @+1 {{'simt.dot' op expected a simt.start; run taylor-simt-start-products before}}
    %0 = simt.dot wgmma %q, %k over(d) : !q, !k -> !s
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*2]>
!q = !simt.buffer<1 x [t = 64, d = 32], bf16, swizzle = 64>
!k = !simt.buffer<1 x [u = 16, d = 32], bf16, swizzle = 64>
!s = !tile.tile<[t = 64, u = 16], f32, #s>
// As mma16 has them: a warp's rows are neighbours.
#wide = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:32, t:64], register = [u:1*2, t:8*2, u:8*2, t:16*2]>
!wide = !tile.tile<[t = 128, u = 16], f32, #wide>
!q2 = !simt.buffer<1 x [t = 128, d = 32], bf16, swizzle = 64>
tile.program @forward {
  %o = tile.tensor "output:o" : !tile.array<[t, u = 16], f32>
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 4> {
    %zero = arith.constant 0.0 : bf16
    %q = simt.alloc "q" at 0 : !q2
    %k = simt.alloc "k" at 65536 : !k
    // expected-error @+1 {{expected blocks of 64 rows over four warps each, and operands of multiples of 16 elements, but got '!tile.tile<[t = 128, u = 16], f32,}}
    %0 = simt.start wgmma %q, %k over(d) : !q2, !k -> !simt.pending<!wide>
    %1 = simt.await 0 %0 : !simt.pending<!wide>
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*2]>
!q = !simt.buffer<1 x [t = 64, d = 32], bf16, swizzle = 64>
!k = !simt.buffer<1 x [u = 16, d = 32], bf16, swizzle = 64>
!s = !tile.tile<[t = 64, u = 16], f32, #s>
#few = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, u:8], register = [u:1*2, t:8*2, u:16*2]>
!few = !tile.tile<[t = 32, u = 32], f32, #few>
!q2 = !simt.buffer<1 x [t = 32, d = 32], bf16, swizzle = 64>
!k2 = !simt.buffer<1 x [u = 32, d = 32], bf16, swizzle = 64>
tile.program @forward {
  %o = tile.tensor "output:o" : !tile.array<[t, u = 16], f32>
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 4> {
    %zero = arith.constant 0.0 : bf16
    %q = simt.alloc "q" at 0 : !q2
    %k = simt.alloc "k" at 65536 : !k2
    // expected-error @+1 {{expected blocks of 64 rows over four warps each, and operands of multiples of 16 elements, but got '!tile.tile<[t = 32, u = 32], f32,}}
    %0 = simt.start wgmma %q, %k over(d) : !q2, !k2 -> !simt.pending<!few>
    %1 = simt.await 0 %0 : !simt.pending<!few>
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*2]>
!q = !simt.buffer<1 x [t = 64, d = 32], bf16, swizzle = 64>
!k = !simt.buffer<1 x [u = 16, d = 32], bf16, swizzle = 64>
!s = !tile.tile<[t = 64, u = 16], f32, #s>
#odd = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*3]>
!odd = !tile.tile<[t = 64, u = 24], f32, #odd>
!k2 = !simt.buffer<1 x [u = 24, d = 32], bf16, swizzle = 64>
tile.program @forward {
  %o = tile.tensor "output:o" : !tile.array<[t, u = 16], f32>
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 4> {
    %zero = arith.constant 0.0 : bf16
    %q = simt.alloc "q" at 0 : !q
    %k = simt.alloc "k" at 65536 : !k2
    // expected-error @+1 {{expected blocks of 64 rows over four warps each, and operands of multiples of 16 elements, but got '!tile.tile<[t = 64, u = 24], f32,}}
    %0 = simt.start wgmma %q, %k over(d) : !q, !k2 -> !simt.pending<!odd>
    %1 = simt.await 0 %0 : !simt.pending<!odd>
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*2]>
!q = !simt.buffer<1 x [t = 64, d = 32], bf16, swizzle = 64>
!k = !simt.buffer<1 x [u = 16, d = 32], bf16, swizzle = 64>
!s = !tile.tile<[t = 64, u = 16], f32, #s>
#two = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16], register = [u:1*2, t:8*2, u:8*2]>
!two = !tile.tile<[t = 32, u = 16], f32, #two>
!q2 = !simt.buffer<1 x [t = 32, d = 32], bf16, swizzle = 64>
tile.program @forward {
  %o = tile.tensor "output:o" : !tile.array<[t, u = 16], f32>
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 2> {
    %zero = arith.constant 0.0 : bf16
    %q = simt.alloc "q" at 0 : !q2
    %k = simt.alloc "k" at 65536 : !k
    // expected-error @+1 {{expected blocks of 64 rows over four warps each, and operands of multiples of 16 elements, but got '!tile.tile<[t = 32, u = 16], f32,}}
    %0 = simt.start wgmma %q, %k over(d) : !q2, !k -> !simt.pending<!two>
    %1 = simt.await 0 %0 : !simt.pending<!two>
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*2]>
!q = !simt.buffer<1 x [t = 64, d = 32], bf16, swizzle = 64>
!k = !simt.buffer<1 x [u = 16, d = 32], bf16, swizzle = 64>
!s = !tile.tile<[t = 64, u = 16], f32, #s>
#wide = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*34]>
!wide = !tile.tile<[t = 64, u = 272], f32, #wide>
!k2 = !simt.buffer<1 x [u = 272, d = 32], bf16, swizzle = 64>
tile.program @forward {
  %o = tile.tensor "output:o" : !tile.array<[t, u = 16], f32>
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 4> {
    %zero = arith.constant 0.0 : bf16
    %q = simt.alloc "q" at 0 : !q
    %k = simt.alloc "k" at 65536 : !k2
    // expected-error @+1 {{expected at most 256 columns, but got '!tile.tile<[t = 64, u = 272], f32,}}
    %0 = simt.start wgmma %q, %k over(d) : !q, !k2 -> !simt.pending<!wide>
    %1 = simt.await 0 %0 : !simt.pending<!wide>
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*2]>
!q = !simt.buffer<1 x [t = 64, d = 32], bf16, swizzle = 64>
!k = !simt.buffer<1 x [u = 16, d = 32], bf16, swizzle = 64>
!s = !tile.tile<[t = 64, u = 16], f32, #s>
!short = !tile.tile<[t = 64, u = 16], bf16, #s>
tile.program @forward {
  %o = tile.tensor "output:o" : !tile.array<[t, u = 16], f32>
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 4> {
    %zero = arith.constant 0.0 : bf16
    %q = simt.alloc "q" at 0 : !q
    %k = simt.alloc "k" at 65536 : !k
    // expected-error @+1 {{unsupported sums of 'bf16'; expected f32}}
    %0 = simt.start wgmma %q, %k over(d) : !q, !k -> !simt.pending<!short>
    %1 = simt.await 0 %0 : !simt.pending<!short>
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*2]>
!q = !simt.buffer<1 x [t = 64, d = 32], bf16, swizzle = 64>
!k = !simt.buffer<1 x [u = 16, d = 32], bf16, swizzle = 64>
!s = !tile.tile<[t = 64, u = 16], f32, #s>
!k2 = !simt.buffer<1 x [u = 16, d = 32], f16, swizzle = 64>
tile.program @forward {
  %o = tile.tensor "output:o" : !tile.array<[t, u = 16], f32>
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 4> {
    %zero = arith.constant 0.0 : bf16
    %q = simt.alloc "q" at 0 : !q
    %k = simt.alloc "k" at 65536 : !k2
    // expected-error @+1 {{unsupported operands of different types, 'bf16' and 'f16'}}
    %0 = simt.start wgmma %q, %k over(d) : !q, !k2 -> !simt.pending<!s>
    %1 = simt.await 0 %0 : !simt.pending<!s>
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*2]>
!q = !simt.buffer<1 x [t = 64, d = 32], bf16, swizzle = 64>
!k = !simt.buffer<1 x [u = 16, d = 32], bf16, swizzle = 64>
!s = !tile.tile<[t = 64, u = 16], f32, #s>
!k2 = !simt.buffer<1 x [u = 16, d = 64], bf16, swizzle = 128>
tile.program @forward {
  %o = tile.tensor "output:o" : !tile.array<[t, u = 16], f32>
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 4> {
    %zero = arith.constant 0.0 : bf16
    %q = simt.alloc "q" at 0 : !q
    %k = simt.alloc "k" at 65536 : !k2
    // expected-error @+1 {{expected operands of one size along 'd', but got '!simt.buffer<1 x [t = 64, d = 32], bf16, swizzle = 64>' and '!simt.buffer<1 x [u = 16, d = 64], bf16, swizzle = 128>'}}
    %0 = simt.start wgmma %q, %k over(d) : !q, !k2 -> !simt.pending<!s>
    %1 = simt.await 0 %0 : !simt.pending<!s>
  }
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*2]>
!q = !simt.buffer<1 x [t = 64, d = 32], bf16, swizzle = 64>
!k = !simt.buffer<1 x [u = 16, d = 32], bf16, swizzle = 64>
!s = !tile.tile<[t = 64, u = 16], f32, #s>
// The operand's warps have other rows than the sum's.
#a = #simt.layout<lane = [d:2, d:4, t:1, t:2, t:4], warp = [t:32, t:16], register = [d:1*2, t:8*2, d:8*4]>
!a = !tile.tile<[d = 32, t = 64], bf16, #a>
tile.program @forward {
  %o = tile.tensor "output:o" : !tile.array<[t, u = 16], f32>
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 4> {
    %zero = arith.constant 0.0 : bf16
    %x = tile.splat %zero : bf16 -> !a
    %k = simt.alloc "k" at 65536 : !k
    // expected-error @+1 {{expected an operand with 'd' in lanes 0 and 1 and 't' in lanes 2 to 4 and in warps, but got '!tile.tile<[d = 32, t = 64], bf16,}}
    %0 = simt.start wgmma %x, %k over(d) : !a, !k -> !simt.pending<!s>
    %1 = simt.await 0 %0 : !simt.pending<!s>
  }
}
