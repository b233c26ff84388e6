// RUN: taylor-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected the five bits of a lane number, but got 4}}
func.func private @lanes(!tile.tile<[t = 16], f32, #simt.layout<lane = [t:1, t:2, t:4, t:8], warp = [], register = []>>)

// -----

// expected-error @+1 {{expected an axis, a positive stride and a positive count for each digit of a register number}}
func.func private @registers(!tile.tile<[t = 32], f32, #simt.layout<lane = [_, _, _, _, _], warp = [], register = [t:1*0]>>)

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
