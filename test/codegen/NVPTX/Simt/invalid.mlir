// RUN: taylor-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected the five bits of a lane number, but got 4}}
func.func private @lanes(!tile.tile<[t = 16], f32, #simt.layout<lane = [t:1, t:2, t:4, t:8], warp = [], register = []>>)

// -----

// expected-error @+1 {{expected an axis, a positive stride and a positive count for each digit of a register number}}
func.func private @registers(!tile.tile<[t = 32], f32, #simt.layout<lane = [_, _, _, _, _], warp = [], register = [t:1*0]>>)

// -----

// expected-error @+1 {{expected at most 1048576 elements of a thread, but got more}}
func.func private @many_registers(!tile.tile<[t = 32], f32, #simt.layout<lane = [_, _, _, _, _], warp = [], register = [t:1*8, t:8*9223372036854775807]>>)

// -----

// expected-error @+1 {{expected a stride of at most 1048576 of axis 't', but got 9223372036854775807}}
func.func private @large_stride(!tile.tile<[t = 32], f32, #simt.layout<lane = [t:9223372036854775807, _, _, _, _], warp = [], register = [t:1*2]>>)

// -----

// expected-error @+1 {{expected swizzle = 32, 64 or 128, but got 16}}
func.func private @swizzle(!simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 16>)

// -----

// expected-error @+1 {{expected rows of a multiple of 128 bytes, but got 64}}
func.func private @rows(!simt.buffer<1 x [u = 64, d = 32], bf16, swizzle = 128>)

// -----

// expected-error @+1 {{expected rows of a multiple of 128 bytes together for swizzle = 64, but got 3 rows}}
func.func private @line(!simt.buffer<1 x [u = 3, d = 16], f32, swizzle = 64>)

// -----

// expected-error @+1 {{expected at least one slot, but got 0}}
func.func private @slots(!simt.buffer<0 x [u = 64], f32>)

// -----

// expected-error @+1 {{axis 'u': expected a positive size, but got 0}}
func.func private @no_size(!simt.buffer<1 x [u = 0], f32>)

// -----

// expected-error @+1 {{axis 'u': expected a size of at most 1099511627776, but got 9223372036854775807}}
func.func private @endless(!simt.buffer<1 x [u = 9223372036854775807], f32>)

// -----

// expected-error @+1 {{expected distinct axes, but got 'u' twice}}
func.func private @twice(!simt.buffer<1 x [u = 8, u = 8], f32>)

// -----

// expected-error @+1 {{expected elements of f32, f64, bf16, f16, i32, i1 or index, but got 'i64'}}
func.func private @elements(!simt.buffer<1 x [u = 64], i64>)

// -----

// expected-error @+1 {{expected at most 1048576 bytes, more than any machine shares, but got more; use smaller tiles}}
func.func private @too_large(!simt.buffer<2 x [u = 4294967296, d = 4294967296], f32>)

// -----

// expected-error @+1 {{expected a positive stride of axis 't', but got 0}}
func.func private @lane_stride(!tile.tile<[t = 16], f32, #simt.layout<lane = [t:0, t:1, t:2, t:4, t:8], warp = [], register = []>>)

// -----

// expected-error @+1 {{expected at most 5 bits of a warp number, but got 6}}
func.func private @warps(!tile.tile<[t = 16], f32, #simt.layout<lane = [_, _, _, _, _], warp = [_, _, _, _, _, _], register = [t:1*16]>>)

// -----

// expected-error @+1 {{expected at least one axis}}
func.func private @axes(!simt.buffer<1 x [], f32>)

// -----

// expected-error @+1 {{expected elements of whole bytes, but got 'i1'}}
func.func private @bytes(!simt.buffer<1 x [u = 64], i1>)

// -----

#gap = #simt.layout<lane = [t:2, t:4, t:8, t:16, t:32], warp = [], register = []>
func.func @gap(%buffer: !simt.buffer<1 x [t = 64], f32>) {
  // expected-error @+1 {{expected a digit of stride 1 along axis 't', but got 2}}
  %x = simt.read %buffer : !simt.buffer<1 x [t = 64], f32> -> !tile.tile<[t = 64], f32, #gap>
  return
}

// -----

#short = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [], register = []>
func.func @short(%buffer: !simt.buffer<1 x [t = 64], f32>) {
  // expected-error @+1 {{expected digits that cover 64 elements along axis 't', but got 32}}
  %x = simt.read %buffer : !simt.buffer<1 x [t = 64], f32> -> !tile.tile<[t = 64], f32, #short>
  return
}

// -----

#other = #simt.layout<lane = [u:1, u:2, u:4, u:8, u:16], warp = [], register = []>
func.func @other(%buffer: !simt.buffer<1 x [t = 64], f32>) {
  // expected-error @+1 {{expected digits of the tile's axes, but got one of 'u'}}
  %x = simt.read %buffer : !simt.buffer<1 x [t = 64], f32> -> !tile.tile<[t = 64], f32, #other>
  return
}

// -----

func.func @none(%buffer: !simt.buffer<1 x [t = 64], f32>) {
  // expected-error @+1 {{expected a tile with a layout, but got '!tile.tile<[t = 64], f32>'}}
  %x = simt.read %buffer : !simt.buffer<1 x [t = 64], f32> -> !tile.tile<[t = 64], f32>
  return
}

// -----

#rows = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [], register = []>
func.func @slots(%buffer: !simt.buffer<2 x [t = 32], f32>) {
  // expected-error @+1 {{expected one slot of a buffer, but got '!simt.buffer<2 x [t = 32], f32>'}}
  %x = simt.read %buffer : !simt.buffer<2 x [t = 32], f32> -> !tile.tile<[t = 32], f32, #rows>
  return
}

// -----

#rows = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [], register = []>
func.func @elements(%buffer: !simt.buffer<1 x [t = 32], bf16>, %x: !tile.tile<[t = 32], f32, #rows>) {
  // expected-error @+1 {{expected the same axes and elements, but got '!simt.buffer<1 x [t = 32], bf16>' and}}
  simt.write %x, %buffer : !tile.tile<[t = 32], f32, #rows>, !simt.buffer<1 x [t = 32], bf16>
  return
}

// -----

#rows = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [], register = []>
#back = #simt.layout<lane = [t:16, t:8, t:4, t:2, t:1], warp = [], register = []>
func.func @moves(%x: !tile.tile<[t = 32], f32, #rows>) {
  // expected-error @+1 {{requires a buffer: a thread needs elements that it does not hold}}
  %y = simt.relayout %x : !tile.tile<[t = 32], f32, #rows> -> !tile.tile<[t = 32], f32, #back>
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [], register = [u:1*2, t:8*2]>
func.func @operands(%a: !simt.buffer<1 x [t = 16, d = 16], f32>, %b: !simt.buffer<1 x [u = 8, d = 16], f32>) {
  // expected-error @+1 {{expected operands for mma16, but got '!simt.buffer<1 x [t = 16, d = 16], f32>'}}
  %x = simt.dot mma16 %a, %b over(d) : !simt.buffer<1 x [t = 16, d = 16], f32>, !simt.buffer<1 x [u = 8, d = 16], f32> -> !tile.tile<[t = 16, u = 8], f32, #s>
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [], register = [u:1*2, t:8*2]>
func.func @sides(%a: !simt.buffer<1 x [t = 16, d = 16], bf16>, %b: !simt.buffer<1 x [u = 8, d = 16], bf16>) {
  // expected-error @+1 {{expected an operand of the axes 't' and 'd', but got '!simt.buffer<1 x [u = 8, d = 16], bf16>'}}
  %x = simt.dot mma16 %b, %a over(d) : !simt.buffer<1 x [u = 8, d = 16], bf16>, !simt.buffer<1 x [t = 16, d = 16], bf16> -> !tile.tile<[t = 16, u = 8], f32, #s>
  return
}

// -----

// expected-error @+1 {{expected panel, the rows of the whole, of a part of a swizzled buffer, but got 32}}
func.func private @panel(!simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128, panel = 32>)

// -----

func.func @part_from(%buffer: !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>) {
  // expected-error @+1 {{expected part of one slot of a buffer with one or two axes, from a multiple of 8}}
  %x = simt.part %buffer from 4 : !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128> -> !simt.buffer<1 x [u = 16, d = 64], bf16, swizzle = 128, panel = 64>
  return
}

// -----

func.func @part_beyond(%buffer: !simt.buffer<1 x [t = 64], f32>) {
  // expected-error @+1 {{expected rows within '!simt.buffer<1 x [t = 64], f32>', but got 32 from 40}}
  %x = simt.part %buffer from 40 : !simt.buffer<1 x [t = 64], f32> -> !simt.buffer<1 x [t = 32], f32>
  return
}

// -----

func.func @part_type(%buffer: !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>) {
  // expected-error @+1 {{expected '!simt.buffer<1 x [u = 16, d = 64], bf16, swizzle = 128, panel = 64>', but got '!simt.buffer<1 x [u = 16, d = 64], bf16, swizzle = 128>'}}
  %x = simt.part %buffer from 16 : !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128> -> !simt.buffer<1 x [u = 16, d = 64], bf16, swizzle = 128>
  return
}

// -----

#l = #simt.layout<lane = [f:2, f:4, t:1, t:2, t:4], warp = [], register = [f:1*2]>
func.func @expand_components(%x: !simt.buffer<1 x [t = 8, d = 8], f32>, %start: index) {
  // expected-error @+1 {{expected 16 components along axis 'd', but got '!tile.tile<[d = 8, t = 8], f32>'}}
  %p = simt.expand %x over(d) <16, orders 1 to 1> from %start to(f) : !simt.buffer<1 x [t = 8, d = 8], f32> -> !tile.tile<[f = 8, t = 8], f32, #l>
  return
}

// -----

#l = #simt.layout<lane = [f:2, f:4, t:1, t:2, t:4], warp = [], register = [f:1*2]>
func.func @contract_sums(%p: !tile.tile<[f = 8, t = 8], f32, #l>, %x: !simt.buffer<1 x [t = 8, d = 8], f32>, %sums: !simt.buffer<1 x [t = 8, d = 16], f32>, %start: index) {
  // expected-error @+1 {{expected sums that lie as the vectors do, in '!simt.buffer<1 x [t = 8, d = 8], f32>', but got '!simt.buffer<1 x [t = 8, d = 16], f32>'}}
  simt.contract %p over(f) <8, orders 1 to 1> from %start at %x over(d) into %sums : !tile.tile<[f = 8, t = 8], f32, #l>, !simt.buffer<1 x [t = 8, d = 8], f32>, !simt.buffer<1 x [t = 8, d = 16], f32>
  return
}

// -----

!td = !simt.buffer<1 x [b = 2, t = 8, d = 8], f32>
#l = #simt.layout<lane = [f:2, f:4, t:1, t:2, t:4], warp = [], register = [f:1*2, b:1*2]>
func.func @contract_axes(%p: !tile.tile<[b = 2, f = 8, t = 8], f32, #l>, %x: !td, %start: index) {
  // expected-error @+1 {{expected one axis beside 'd', but got '!simt.buffer<1 x [b = 2, t = 8, d = 8], f32>'}}
  simt.contract %p over(f) <8, orders 1 to 1> from %start at %x over(d) into %x : !tile.tile<[b = 2, f = 8, t = 8], f32, #l>, !td, !td
  return
}

// -----

#rows = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [], register = []>
func.func @relayout_elements(%x: !tile.tile<[t = 32], f32, #rows>) {
  // expected-error @+1 {{expected tiles that differ in their layout alone, but got '!tile.tile<[t = 32], f32, }}
  %y = simt.relayout %x : !tile.tile<[t = 32], f32, #rows> -> !tile.tile<[t = 32], bf16, #rows>
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [], register = [u:1*2, t:8*2]>
!a = !simt.buffer<1 x [t = 16, d = 16], bf16>
!b = !simt.buffer<1 x [u = 8, d = 16], bf16>
func.func @sum_over_two(%a: !a, %b: !b) {
  // expected-error @+1 {{'simt.dot' op expected one axis to sum over, but got 2}}
  %x = simt.dot mma16 %a, %b over(d, u) : !a, !b -> !tile.tile<[t = 16, u = 8], f32, #s>
  return
}

// -----

#r = #simt.layout<lane = [t:1, t:2, t:4, t:8, u:1], warp = [], register = [u:2*4]>
!a = !simt.buffer<1 x [t = 16, d = 16], bf16>
!b = !simt.buffer<1 x [u = 8, d = 16], bf16>
func.func @no_fragment(%a: !a, %b: !b) {
  // expected-error @+1 {{'simt.dot' op expected an accumulator of two axes, but got '!tile.tile<[t = 16, u = 8], f32, }}
  %x = simt.dot mma16 %a, %b over(d) : !a, !b -> !tile.tile<[t = 16, u = 8], f32, #r>
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [], register = [u:1*2, t:8*2]>
!a = !simt.buffer<1 x [t = 16, d = 16], bf16>
!b = !simt.buffer<1 x [u = 8, d = 16], bf16>
!s = !tile.tile<[t = 16, u = 8], f32, #s>
!c = !tile.tile<[t = 16, u = 8], f64, #s>
func.func @other_accumulator(%a: !a, %b: !b, %c: !c) {
  // expected-error @+1 {{'simt.dot' op expected an accumulator of type '!tile.tile<[t = 16, u = 8], f32, }}
  %x = "simt.dot"(%a, %b, %c) <{kind = 0 : i32, over = ["d"]}> : (!a, !b, !c) -> !s
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [], register = [u:1*2]>
!a = !simt.buffer<1 x [t = 8, d = 8], f32>
!b = !simt.buffer<1 x [t = 8, u = 8], f32>
func.func @sum_over_own(%a: !a, %b: !b) {
  // expected-error @+1 {{'simt.dot' op expected a result without axis 't', which is summed over, but got '!tile.tile<[t = 8, u = 8], f32, }}
  %x = simt.dot fma %a, %b over(t) : !a, !b -> !tile.tile<[t = 8, u = 8], f32, #s>
  return
}

// -----

!t = !tile.tile<[t = 8], f32>
func.func @slot_of_a_tile(%a: !t, %i: index) {
  // expected-error @+1 {{expected a slot of a buffer, but got '!tile.tile<[t = 8], f32>'}}
  %s = simt.slot %a[%i] : !t
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
func.func @start_kind(%q: !q, %k: !k) {
  // expected-error @+1 {{expected a product that runs beside its threads, wgmma, but got mma16}}
  %0 = simt.start mma16 %q, %k over(d) : !q, !k -> !p
  %1 = simt.await 0 %0 : !p
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
!other = !tile.tile<[t = 64, u = 64], bf16, #s>
func.func @start_accumulator(%q: !q, %k: !k, %c: !other) {
  // expected-error @+1 {{expected an accumulator of type '!tile.tile<[t = 64, u = 64], f32, #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>>', but got '!tile.tile<[t = 64, u = 64], bf16}}
  %0 = simt.start wgmma %q, %k over(d) into %c : !other : !q, !k -> !p
  %1 = simt.await 0 %0 : !p
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
#o = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*4]>
!o = !tile.tile<[t = 64, u = 32], f32, #o>
!r = !simt.buffer<1 x [u = 32, d = 64], bf16, swizzle = 128>
func.func @start_pending_accumulator(%q: !q, %k: !k, %r: !r) {
  %0 = simt.start wgmma %q, %r over(d) : !q, !r -> !simt.pending<!o>
  // expected-error @+1 {{expected an accumulator of type '!tile.tile<[t = 64, u = 64], f32, #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>>', but got '!simt.pending<!tile.tile<[t = 64, u = 32], f32}}
  %1 = simt.start wgmma %q, %k over(d) into %0 : !simt.pending<!o> : !q, !k -> !p
  %2 = simt.await 0 %1 : !p
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
#r = #simt.layout<lane = [d:2, d:4, u:1, u:2, u:4], warp = [_, _], register = [d:1*2, u:8*8, d:8*8]>
!t = !tile.tile<[d = 64, u = 64], bf16, #r>
func.func @start_right_operand(%q: !q, %k: !t) {
  // expected-error @+1 {{expected b in a buffer, but got '!tile.tile<[d = 64, u = 64], bf16}}
  %0 = simt.start wgmma %q, %k over(d) : !q, !t -> !p
  %1 = simt.await 0 %0 : !p
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
!plain = !simt.buffer<1 x [u = 64, d = 64], bf16>
func.func @start_swizzle(%q: !q, %k: !plain) {
  // expected-error @+1 {{expected a swizzled buffer of two axes, but got '!simt.buffer<1 x [u = 64, d = 64], bf16>'}}
  %0 = simt.start wgmma %q, %k over(d) : !q, !plain -> !p
  %1 = simt.await 0 %0 : !p
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
!plain = !simt.buffer<1 x [t = 64, d = 64], bf16>
func.func @start_left_swizzle(%q: !plain, %k: !k) {
  // expected-error @+1 {{expected a swizzled buffer of two axes, but got '!simt.buffer<1 x [t = 64, d = 64], bf16>'}}
  %0 = simt.start wgmma %q, %k over(d) : !plain, !k -> !p
  %1 = simt.await 0 %0 : !p
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
!f = !simt.buffer<1 x [t = 64, d = 32], f32, swizzle = 128>
!g = !simt.buffer<1 x [u = 64, d = 32], f32, swizzle = 128>
func.func @start_type(%q: !f, %k: !g) {
  // expected-error @+1 {{expected operands for wgmma, but got '!simt.buffer<1 x [t = 64, d = 32], f32, swizzle = 128>'}}
  %0 = simt.start wgmma %q, %k over(d) : !f, !g -> !p
  %1 = simt.await 0 %0 : !p
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
!two = !simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>
func.func @start_slots(%q: !q, %k: !two) {
  // expected-error @+1 {{expected one slot of a buffer, but got '!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>'}}
  %0 = simt.start wgmma %q, %k over(d) : !q, !two -> !p
  %1 = simt.await 0 %0 : !p
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
func.func @await_in_a_branch(%q: !q, %k: !k, %more: i1) {
  // expected-error @+1 {{expected its simt.await in the same block: loops and branches hold no product in flight}}
  %0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
  scf.if %more {
    %1 = simt.await 0 %0 : !p
  }
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
func.func @branch_yields_pending(%q: !q, %k: !k, %more: i1) {
  %1 = scf.if %more -> (!p) {
    // expected-error @+1 {{expected its simt.await in the same block: loops and branches hold no product in flight}}
    %0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    scf.yield %0 : !p
  } else {
    %0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
    scf.yield %0 : !p
  }
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
func.func @loop_carries_pending(%q: !q, %k: !k, %c: index) {
  // expected-error @+1 {{expected its simt.await in the same block: loops and branches hold no product in flight}}
  %0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
  %1 = scf.for %i = %c to %c step %c iter_args(%x = %0) -> (!p) {
    scf.yield %x : !p
  }
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
func.func @never_awaited(%q: !q, %k: !k) {
  // expected-error @+1 {{expected one simt.await, or simt.start that adds to it, but got 0}}
  %0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
func.func @awaited_and_added_to(%q: !q, %k: !k) {
  // expected-error @+1 {{expected one simt.await, or simt.start that adds to it, but got 2}}
  %0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
  %1 = simt.start wgmma %q, %k over(d) into %0 : !p : !q, !k -> !p
  %2:2 = simt.await 0 %0, %1 : !p, !p
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
func.func @await_of_an_argument(%p: !p) {
  // expected-error @+1 {{expected what a simt.start gives}}
  %0 = simt.await 0 %p : !p
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
func.func @too_many_groups(%q: !q, %k: !k) {
  %0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
  %1 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
  // expected-error @+1 {{expected at most 1 groups that may be incomplete, those started after what is taken, but got 2}}
  %2 = simt.await 2 %0 : !p
  %3 = simt.await 0 %1 : !p
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
!w = !tile.tile<[t = 64, u = 64], bf16, #s>
func.func @after_rounded(%q: !q, %k: !k, %w: !w) {
  %0 = simt.start wgmma %q, %k over(d) : !q, !k -> !p
  // expected-error @+1 {{expected tiles of f32 to be computed before, but got '!tile.tile<[t = 64, u = 64], bf16}}
  %1 = simt.await 0 %0 after %w : !p : !w
  return
}

// -----

// ptxas 13.0 gives the registers of such an operand to one that an iteration computes.
#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
#a = #simt.layout<lane = [d:2, d:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [d:1*2, t:8*2, d:8*8]>
!a = !tile.tile<[d = 64, t = 64], bf16, #a>
func.func @invariant_left_operand(%q: !a, %k: !k, %c: index) {
  scf.for %i = %c to %c step %c {
    // expected-error @+1 {{unsupported left operand in registers that the loop around it does not change; expected it in a buffer, but got '!tile.tile<[d = 64, t = 64], bf16}}
    %0 = simt.start wgmma %q, %k over(d) : !a, !k -> !p
    %1 = simt.await 0 %0 : !p
  }
  return
}

// -----

#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
#a = #simt.layout<lane = [d:2, d:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [d:1*2, t:8*2, d:8*8]>
!a = !tile.tile<[d = 64, t = 64], bf16, #a>
func.func @invariant_in_the_outer_loop(%q: !a, %k: !k, %c: index) {
  scf.for %i = %c to %c step %c {
    %w = tile.map (%x = %q) : (!a) -> !a {
      %n = arith.negf %x : bf16
      tile.yield %n : bf16
    }
    scf.for %j = %c to %c step %c {
      // expected-error @+1 {{unsupported left operand in registers that the loop around it does not change}}
      %0 = simt.start wgmma %w, %k over(d) : !a, !k -> !p
      %1 = simt.await 0 %0 : !p
    }
  }
  return
}

// -----

// What a loop carries changes, and what it computes.
#s = #simt.layout<lane = [u:2, u:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [u:1*2, t:8*2, u:8*8]>
!q = !simt.buffer<1 x [t = 64, d = 64], bf16, swizzle = 128>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!s = !tile.tile<[t = 64, u = 64], f32, #s>
!p = !simt.pending<!tile.tile<[t = 64, u = 64], f32, #s>>
#a = #simt.layout<lane = [d:2, d:4, t:1, t:2, t:4], warp = [t:16, t:32], register = [d:1*2, t:8*2, d:8*8]>
!a = !tile.tile<[d = 64, t = 64], bf16, #a>
func.func @carried_left_operand(%q: !a, %k: !k, %c: index) {
  %r = scf.for %i = %c to %c step %c iter_args(%w = %q) -> (!a) {
    %0 = simt.start wgmma %w, %k over(d) : !a, !k -> !p
    %n = tile.map (%x = %w) : (!a) -> !a {
      %n = arith.negf %x : bf16
      tile.yield %n : bf16
    }
    %1 = simt.start wgmma %n, %k over(d) : !a, !k -> !p
    %2:2 = simt.await 0 %0, %1 : !p, !p
    scf.yield %n : !a
  }
  return
}
