// Messages about operations of threads; those about products are in lower-to-nvvm-products-invalid.mlir.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics --taylor-simt-lower-to-nvvm

tile.program @forward {
  %x = tile.tensor "input:x" : !tile.array<[t], f32>
  tile.kernel @k grid(%i in t) {
    // expected-error @+1 {{'tile.load' op expected tiles with layouts, but got '!tile.tile<[t = 8], f32>'; run taylor-simt-assign-layouts before}}
    %a = tile.load %x[t = %i] : !tile.array<[t], f32> -> !tile.tile<[t = 8], f32>
  }
}

// -----

#r = #simt.layout<lane = [t:1, t:2, t:4, _, _], warp = [], register = []>
tile.program @forward {
  %x = tile.tensor "input:x" : !tile.array<[t], f32>
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 4> {
    // expected-error @+1 {{'tile.load' op expected layouts for the 128 threads of the kernel's launch, but got 32}}
    %a = tile.load %x[t = %i] : !tile.array<[t], f32> -> !tile.tile<[t = 8], f32, #r>
  }
}

// -----

tile.program @forward {
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    // expected-error @+1 {{'simt.alloc' op requires a place in shared memory; run taylor-simt-allocate-shared before}}
    %a = simt.alloc "a" : !simt.buffer<1 x [t = 8], f32>
  }
}

// -----

#r = #simt.layout<lane = [t:1, t:2, t:4, _, _], warp = [], register = []>
tile.program @forward {
  %x = tile.tensor "input:x" : !tile.array<[t], f32>
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %a = tile.load %x[t = %i] : !tile.array<[t], f32> -> !tile.tile<[t = 8], f32, #r>
    // expected-error @+1 {{'tile.scan' op requires the scanned axis in the registers of each thread}}
    %b = tile.scan sum %a over(t) : !tile.tile<[t = 8], f32, #r>
  }
}

// -----

#r = #simt.layout<lane = [t:1, t:2, t:4, _, _], warp = [t:8], register = []>
#o = #simt.layout<lane = [_, _, _, _, _], warp = [_], register = []>
tile.program @forward {
  %x = tile.tensor "input:x" : !tile.array<[t], f32>
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 2> {
    %a = tile.load %x[t = %i] : !tile.array<[t], f32> -> !tile.tile<[t = 16], f32, #r>
    // expected-error @+1 {{'tile.reduce' op requires the reduced axes within each warp; a simt.reduce_warp and a buffer reduce over several}}
    %b = tile.reduce sum %a over(t) : !tile.tile<[t = 16], f32, #r> -> !tile.tile<[], f32, #o>
  }
}

// -----

// Without buffers nothing else would miss what taylor-simt-schedule-copies does.
#x = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [t:32], register = []>
#y = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [_], register = [t:32*2]>
!xs = !tile.array<[b, t], f32>
tile.program @forward {
  %xs = tile.workspace "x" : !xs
  tile.kernel @array grid(%i in b) launch #simt.launch<warps = 2> {
    %zero = arith.constant 0.0 : f32
    %x = tile.splat %zero : f32 -> !tile.tile<[t = 64], f32, #x>
    tile.store %x, %xs[b = %i] : !tile.tile<[t = 64], f32, #x>, !xs
    // expected-error @+1 {{'tile.load' op requires waits and barriers that keep it apart from other accesses of its memory; run taylor-simt-schedule-copies before}}
    %y = tile.load %xs[b = %i] : !xs -> !tile.tile<[t = 64], f32, #y>
  }
}

// -----

#l = #simt.layout<lane = [f:2, f:4, t:1, t:2, t:4], warp = [], register = [f:1*2]>
!x = !simt.buffer<1 x [t = 8, d = 8], f32>
tile.program @forward {
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1, shared = 8192> {
    %start = arith.constant 0 : index
    %x = simt.alloc "x" at 0 : !x
    // expected-error @+1 {{'simt.expand' op requires blocks of 8 components, and whole blocks, but got #tile.features<8, orders 1 to 2>}}
    %p = simt.expand %x over(d) <8, orders 1 to 2, block 1> from %start to(f) : !x -> !tile.tile<[f = 8, t = 8], f32, #l>
  }
}

// -----

#l = #simt.layout<lane = [f:2, f:4, t:1, t:2, t:4], warp = [], register = [f:1*2, f:8*16]>
!x = !simt.buffer<1 x [t = 8, d = 8], f32>
tile.program @forward {
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1, shared = 8192> {
    %start = arith.constant 0 : index
    %x = simt.alloc "x" at 0 : !x
    // expected-error @+1 {{'simt.expand' op requires a panel of 8, 16, 32 or 64 features, but got '!tile.tile<[f = 128, t = 8], f32, }}
    %p = simt.expand %x over(d) <8, orders 1 to 2, block 8> from %start to(f) : !x -> !tile.tile<[f = 128, t = 8], f32, #l>
  }
}

// -----

#l = #simt.layout<lane = [f:2, f:4, t:1, t:2, t:4], warp = [], register = [f:1*2, f:8*2]>
!x = !simt.buffer<1 x [t = 8, d = 8], f32>
tile.program @forward {
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1, shared = 8192> {
    %start = arith.constant 8 : index
    %x = simt.alloc "x" at 0 : !x
    // expected-error @+1 {{'simt.expand' op requires a start that is a multiple of the panel's 16 features}}
    %p = simt.expand %x over(d) <8, orders 1 to 2, block 8> from %start to(f) : !x -> !tile.tile<[f = 16, t = 8], f32, #l>
  }
}

// -----

#l = #simt.layout<lane = [f:2, f:4, t:1, t:2, t:4], warp = [], register = [f:1*2]>
!x = !simt.buffer<1 x [d = 8, t = 8], f32>
tile.program @forward {
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1, shared = 8192> {
    %start = arith.constant 0 : index
    %x = simt.alloc "x" at 0 : !x
    // expected-error @+1 {{'simt.expand' op requires a row of the components along 'd' per vector, but got '!simt.buffer<1 x [d = 8, t = 8], f32>'}}
    %p = simt.expand %x over(d) <8, orders 1 to 2, block 8> from %start to(f) : !x -> !tile.tile<[f = 8, t = 8], f32, #l>
  }
}

// -----

#l = #simt.layout<lane = [t:2, t:4, f:1, f:2, f:4], warp = [], register = [t:1*2]>
!x = !simt.buffer<1 x [t = 8, d = 8], f32>
tile.program @forward {
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1, shared = 8192> {
    %start = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %x = simt.alloc "x" at 0 : !x
    %sums = simt.alloc "sums" at 512 : !x
    %p = tile.splat %zero : f32 -> !tile.tile<[f = 8, t = 8], f32, #l>
    // expected-error @+1 {{'simt.contract' op expected 'f' in the columns of a fragment of one warp, but got '!tile.tile<[f = 8, t = 8], f32, }}
    simt.contract %p over(f) <8, orders 1 to 2, block 8> from %start at %x over(d) into %sums : !tile.tile<[f = 8, t = 8], f32, #l>, !x, !x
  }
}

// -----

tile.program @forward {
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %true = arith.constant true
    // expected-error @+1 {{'cf.assert' op unsupported op in a kernel of threads; expected ops of tile, simt, scf, arith and math}}
    cf.assert %true, "no"
  }
}

// -----

// A thread holds neighbours, and the result wants elements that are far apart.
#near = #simt.layout<lane = [t:2, t:4, t:8, t:16, t:32], warp = [], register = [t:1*2]>
#far = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [], register = [t:32*2]>
!x = !tile.array<[t], f32>
tile.program @forward {
  %xs = tile.tensor "input:x" : !x
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %x = tile.load %xs[t = %i] : !x -> !tile.tile<[t = 64], f32, #near>
    // expected-error @+1 {{'tile.map' op expected an operand in the layout of the result, but got '!tile.tile<[t = 64], f32, }}
    %y = tile.map (%s = %x) : (!tile.tile<[t = 64], f32, #near>) -> !tile.tile<[t = 64], f32, #far> {
      tile.yield %s : f32
    }
  }
}

// -----

#l = #simt.layout<lane = [d:1, d:2, d:4, t:1, t:2], warp = [], register = [t:4*4]>
#r = #simt.layout<lane = [_, _, _, t:1, t:2], warp = [], register = [t:4*4]>
#o = #simt.layout<lane = [_, _, _, t:4, t:8], warp = [], register = [t:1*4]>
!x = !tile.array<[t, d = 8], f32>
tile.program @forward {
  %xs = tile.tensor "input:x" : !x
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %x = tile.load %xs[t = %i] : !x -> !tile.tile<[d = 8, t = 16], f32, #l>
    // expected-error @+1 {{'tile.reduce' op expected a result in the layout of the operand, but got '!tile.tile<[t = 16], f32, }}
    %y = tile.reduce sum %x over(d) : !tile.tile<[d = 8, t = 16], f32, #l> -> !tile.tile<[t = 16], f32, #o>
  }
}

// -----

#l = #simt.layout<lane = [d:1, d:2, d:4, t:1, t:2], warp = [], register = [d:8*2]>
#h = #simt.layout<lane = [d:1, d:2, _, t:1, t:2], warp = [], register = [d:4*2]>
!x = !tile.array<[t, d = 16], f32>
tile.program @forward {
  %xs = tile.tensor "input:x" : !x
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %x = tile.load %xs[t = %i] : !x -> !tile.tile<[d = 16, t = 4], f32, #l>
    // expected-error @+1 {{'tile.slice' op requires a renumbering of registers, but got '!tile.tile<[d = 16, t = 4], f32, }}
    %y = tile.slice %x[d = 4, 8] : !tile.tile<[d = 16, t = 4], f32, #l> -> !tile.tile<[d = 8, t = 4], f32, #h>
  }
}

// -----

#l = #simt.layout<lane = [d:1, d:2, d:4, t:1, t:2], warp = [], register = []>
#o = #simt.layout<lane = [d:2, d:4, d:8, t:1, t:2], warp = [], register = [d:1*2]>
!x = !tile.array<[t, d = 8], f32>
!half = !tile.tile<[d = 8, t = 4], f32, #l>
tile.program @forward {
  %xs = tile.tensor "input:x" : !x
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %x = tile.load %xs[t = %i] : !x -> !half
    // expected-error @+1 {{'tile.concat' op requires a renumbering of registers, but got '!tile.tile<[d = 8, t = 4], f32, }}
    %z = tile.concat %x, %x along d : !half, !half -> !tile.tile<[d = 16, t = 4], f32, #o>
  }
}

// -----

// As many registers, but those of other threads.
#near = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [], register = []>
#back = #simt.layout<lane = [t:16, t:8, t:4, t:2, t:1], warp = [], register = []>
!x = !tile.array<[t], f32>
tile.program @forward {
  %xs = tile.tensor "input:x" : !x
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %x = tile.load %xs[t = %i] : !x -> !tile.tile<[t = 32], f32, #near>
    // expected-error @+1 {{'tile.map' op expected an operand in the layout of the result, but got '!tile.tile<[t = 32], f32, }}
    %y = tile.map (%s = %x) : (!tile.tile<[t = 32], f32, #near>) -> !tile.tile<[t = 32], f32, #back> {
      tile.yield %s : f32
    }
  }
}

// -----

tile.program @forward {
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %c = arith.constant 3 : i32
    // expected-error @+1 {{'arith.mulsi_extended' op unsupported op in a kernel of threads; expected ops of tile, simt, scf, arith and math}}
    %low, %high = arith.mulsi_extended %c, %c : i32
  }
}

// -----

#l = #simt.layout<lane = [d:1, d:2, d:4, t:1, t:2], warp = [], register = []>
#o = #simt.layout<lane = [t:1, t:2, _, _, _], warp = [], register = []>
!x = !tile.array<[t, d = 8], f32>
tile.program @forward {
  %xs = tile.tensor "input:x" : !x
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %x = tile.load %xs[t = %i] : !x -> !tile.tile<[d = 8, t = 4], f32, #l>
    // expected-error @+1 {{'tile.reduce' op expected a result in the layout of the operand, but got '!tile.tile<[t = 4], f32, }}
    %y = tile.reduce sum %x over(d) : !tile.tile<[d = 8, t = 4], f32, #l> -> !tile.tile<[t = 4], f32, #o>
  }
}

// -----

#l = #simt.layout<lane = [t:1, t:2, _, _, _], warp = [], register = [d:1*8]>
#o = #simt.layout<lane = [t:2, t:1, _, _, _], warp = [], register = [d:1*4]>
!x = !tile.array<[t, d = 8], f32>
tile.program @forward {
  %xs = tile.tensor "input:x" : !x
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %x = tile.load %xs[t = %i] : !x -> !tile.tile<[d = 8, t = 4], f32, #l>
    // expected-error @+1 {{'tile.slice' op requires a renumbering of registers, but got '!tile.tile<[d = 8, t = 4], f32, }}
    %y = tile.slice %x[d = 0, 4] : !tile.tile<[d = 8, t = 4], f32, #l> -> !tile.tile<[d = 4, t = 4], f32, #o>
  }
}

// -----

#l = #simt.layout<lane = [t:1, t:2, _, _, _], warp = [], register = [d:1*4]>
#o = #simt.layout<lane = [t:2, t:1, _, _, _], warp = [], register = [d:1*8]>
!half = !tile.tile<[d = 4, t = 4], f32, #l>
!x = !tile.array<[t, d = 4], f32>
tile.program @forward {
  %xs = tile.tensor "input:x" : !x
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 1> {
    %x = tile.load %xs[t = %i] : !x -> !half
    // expected-error @+1 {{'tile.concat' op requires a renumbering of registers, but got '!tile.tile<[d = 4, t = 4], f32, }}
    %y = tile.concat %x, %x along d : !half, !half -> !tile.tile<[d = 8, t = 4], f32, #o>
  }
}

// -----

// Loops over the numbers of a thread keep all tiles in local memory.
#l = #simt.layout<lane = [d:4, d:8, t:1, t:2, t:4], warp = [], register = [d:1*4, t:8*2048]>
!f = !tile.tile<[d = 16, t = 16384], f32, #l>
tile.program @forward {
  %x = tile.tensor "input:x" : !tile.array<[b, t, d = 16], f32>
  %w = tile.workspace "w" : !tile.array<[b, t, d = 16], f32>
  // expected-error@+1 {{unsupported on this target: 557056 bytes of local memory for maps of many functions, where a thread may have 524288; split the specification, or choose smaller tiles}}
  tile.kernel @k grid(%b in b, %i in ceildiv(t, 16384)) launch #simt.launch<warps = 1> {
    %c0 = arith.constant 0 : index
    %a = tile.load %x[b = %b, t = %c0] : !tile.array<[b, t, d = 16], f32> -> !f
    %y1 = tile.map (%s = %a) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y2 = tile.map (%s = %y1) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y3 = tile.map (%s = %y2) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y4 = tile.map (%s = %y3) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y5 = tile.map (%s = %y4) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y6 = tile.map (%s = %y5) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y7 = tile.map (%s = %y6) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y8 = tile.map (%s = %y7) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y9 = tile.map (%s = %y8) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y10 = tile.map (%s = %y9) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y11 = tile.map (%s = %y10) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y12 = tile.map (%s = %y11) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y13 = tile.map (%s = %y12) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y14 = tile.map (%s = %y13) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y15 = tile.map (%s = %y14) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    %y16 = tile.map (%s = %y15) : (!f) -> !f {
      %0 = math.sin %s : f32
      tile.yield %0 : f32
    }
    tile.store %y16, %w[b = %b, t = %c0] : !f, !tile.array<[b, t, d = 16], f32>
  }
}

// -----

tile.program @p {
  // expected-error @+1 {{expected at least one warp and no less than 0 bytes of shared memory, but got 0 and -16}}
  tile.kernel @k grid(%i in t) launch #simt.launch<warps = 0, shared = -16> {
  }
}
