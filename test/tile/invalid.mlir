// RUN: taylor-opt %s --split-input-file --verify-diagnostics

tile.program @order_of_sections {
  tile.workspace "w" : !tile.array<[b], f32>
  // expected-error @+1 {{expected tensors first, then workspace, then kernels}}
  tile.tensor "input:x" : !tile.array<[b], f32>
}

// -----

tile.program @foreign_op {
  // expected-error @+1 {{unsupported in a tile.program: expected tile.tensor, tile.workspace or tile.kernel}}
  arith.constant 0 : index
}

// -----

tile.program @same_name_twice {
  tile.tensor "input:x" : !tile.array<[b], f32>
  // expected-error @+1 {{expected distinct names, but got 'input:x' twice}}
  tile.tensor "input:x" : !tile.array<[b], f32>
}

// -----

tile.program @unknown_size {
  tile.kernel @k grid(%b in b) {
    // expected-error @+1 {{expected one of b, h, g, t, u, lag, offset, but got 'd'}}
    tile.size "d"
  }
}

// -----

tile.program @requested_but_never_optional {
  %x = tile.tensor "input:x" : !tile.array<[b], f32>
  tile.kernel @k grid(%b in b) {
    // expected-error @+1 {{requires an optional tile.tensor}}
    tile.requested %x : !tile.array<[b], f32>
  }
}

// -----

tile.program @window_without_point {
  %x = tile.tensor "input:x" : !tile.array<[b, t], f32>
  tile.kernel @k grid(%b in b) {
    // expected-error @+1 {{requires an element for axis 'b', which the tile does not have}}
    tile.load %x[t = %b] : !tile.array<[b, t], f32> -> !tile.tile<[t = 8], f32>
  }
}

// -----

tile.program @window_of_unknown_axis {
  %x = tile.tensor "input:x" : !tile.array<[b, t], f32>
  tile.kernel @k grid(%b in b) {
    // expected-error @+1 {{expected an axis of '!tile.array<[b, t], f32>', but got 'u'}}
    tile.load %x[b = %b, u = %b] : !tile.array<[b, t], f32> -> !tile.tile<[t = 8], f32>
  }
}

// -----

tile.program @tile_axis_not_in_array {
  %x = tile.tensor "input:x" : !tile.array<[b, t], f32>
  tile.kernel @k grid(%b in b) {
    // expected-error @+1 {{expected axis 'd' of the tile in '!tile.array<[b, t], f32>'}}
    tile.load %x[b = %b] : !tile.array<[b, t], f32> -> !tile.tile<[t = 8, d = 4], f32>
  }
}

// -----

tile.program @two_array_axes_for_one {
  %x = tile.tensor "input:x" : !tile.array<[t, u], f32>
  tile.kernel @k grid(%b in b) {
    // expected-error @+1 {{expected one array axis for axis 't' of the tile, but got two}}
    tile.load %x[u as t = %b] : !tile.array<[t, u], f32> -> !tile.tile<[t = 8], f32>
  }
}

// -----

tile.program @diagonal_of_one_axis {
  %x = tile.tensor "input:x" : !tile.array<[lag], f32>
  tile.kernel @k grid(%b in b) {
    // expected-error @+1 {{expected two axes of the tile, but got 't - t'}}
    tile.load %x[lag as t - t = %b] : !tile.array<[lag], f32> -> !tile.tile<[t = 8], f32>
  }
}

// -----

tile.program @diagonal_of_unknown_axis {
  %x = tile.tensor "input:x" : !tile.array<[lag], f32>
  tile.kernel @k grid(%b in b) {
    // expected-error @+1 {{expected axis 'u' in '!tile.tile<[t = 8], f32>'}}
    tile.load %x[lag as t - u = %b] : !tile.array<[lag], f32> -> !tile.tile<[t = 8], f32>
  }
}

// -----

tile.program @integers_are_no_floats {
  %x = tile.tensor "input:x" : !tile.array<[t], i32>
  tile.kernel @k grid(%b in b) {
    // expected-error @+1 {{expected elements that convert, but got 'i32' and 'f32'}}
    tile.load %x[t = %b] : !tile.array<[t], i32> -> !tile.tile<[t = 8], f32>
  }
}

// -----

func.func @map_sizes_differ(%a: !tile.tile<[t = 8], f32>, %b: !tile.tile<[t = 4], f32>) {
  // expected-error @+1 {{expected size 8 for axis 't' of '!tile.tile<[t = 4], f32>', but got 4}}
  %0 = tile.map (%x = %a, %y = %b) : (!tile.tile<[t = 8], f32>, !tile.tile<[t = 4], f32>) -> !tile.tile<[t = 8], f32> {
    tile.yield %x : f32
  }
  return
}

// -----

func.func @map_result_lacks_axis(%a: !tile.tile<[t = 8], f32>, %b: !tile.tile<[u = 4], f32>) {
  // expected-error @+1 {{expected result type '!tile.tile<[t = 8, u = 4], f32>', but got '!tile.tile<[t = 8], f32>'}}
  %0 = tile.map (%x = %a, %y = %b) : (!tile.tile<[t = 8], f32>, !tile.tile<[u = 4], f32>) -> !tile.tile<[t = 8], f32> {
    tile.yield %x : f32
  }
  return
}

// -----

func.func @map_without_operand() {
  %c = arith.constant 0.0 : f32
  // expected-error @+1 {{requires an operand; a constant tile is a tile.splat}}
  %0 = tile.map () : () -> !tile.tile<[], f32> {
    tile.yield %c : f32
  }
  return
}

// -----

func.func @map_yields_two(%a: !tile.tile<[t = 8], f32>) {
  // expected-error @+1 {{expected 1 yielded scalars, but got 2}}
  %0 = tile.map (%x = %a) : (!tile.tile<[t = 8], f32>) -> !tile.tile<[t = 8], f32> {
    tile.yield %x, %x : f32, f32
  }
  return
}

// -----

func.func @map_with_an_op_of_vectors(%a: !tile.tile<[t = 8], f32>) {
  %0 = tile.map (%x = %a) : (!tile.tile<[t = 8], f32>) -> !tile.tile<[t = 8], f32> {
    // expected-error @+1 {{unsupported in a tile.map: expected pure ops of arith and math with one result each}}
    %y = vector.broadcast %x : f32 to vector<4xf32>
    tile.yield %x : f32
  }
  return
}

// -----

func.func @map_with_two_results(%a: !tile.tile<[t = 8], i32>) {
  %0 = tile.map (%x = %a) : (!tile.tile<[t = 8], i32>) -> !tile.tile<[t = 8], i32> {
    // expected-error @+1 {{unsupported in a tile.map: expected pure ops of arith and math with one result each}}
    %low, %high = arith.mulsi_extended %x, %x : i32
    tile.yield %low : i32
  }
  return
}

// -----

func.func @map_with_effects(%a: !tile.tile<[t = 8], f32>, %p: !llvm.ptr) {
  %0 = tile.map (%x = %a) : (!tile.tile<[t = 8], f32>) -> !tile.tile<[t = 8], f32> {
    // expected-error @+1 {{unsupported in a tile.map: expected pure ops of arith and math with one result each}}
    %y = llvm.load %p : !llvm.ptr -> f32
    tile.yield %y : f32
  }
  return
}

// -----

func.func @dot_without_shared_axis(%a: !tile.tile<[t = 8, d = 4], f32>, %b: !tile.tile<[u = 8, e = 4], f32>) {
  // expected-error @+1 {{expected axis 'd' in '!tile.tile<[e = 4, u = 8], f32>'}}
  %0 = tile.dot %a, %b over(d) : !tile.tile<[t = 8, d = 4], f32>, !tile.tile<[u = 8, e = 4], f32> -> !tile.tile<[t = 8, u = 8], f32>
  return
}

// -----

func.func @dot_with_batch_axis(%a: !tile.tile<[t = 8, d = 4], f32>, %b: !tile.tile<[t = 8, d = 4], f32>) {
  // expected-error @+1 {{expected axis 't' in one operand only, or among those summed over}}
  %0 = tile.dot %a, %b over(d) : !tile.tile<[t = 8, d = 4], f32>, !tile.tile<[t = 8, d = 4], f32> -> !tile.tile<[t = 8], f32>
  return
}

// -----

func.func @dot_in_half(%a: !tile.tile<[t = 8, d = 4], bf16>, %b: !tile.tile<[u = 8, d = 4], bf16>) {
  // expected-error @+1 {{expected f32 or f64 results, but got 'bf16'}}
  %0 = tile.dot %a, %b over(d) : !tile.tile<[t = 8, d = 4], bf16>, !tile.tile<[u = 8, d = 4], bf16> -> !tile.tile<[t = 8, u = 8], bf16>
  return
}

// -----

func.func @reduce_over_unknown_axis(%a: !tile.tile<[t = 8], f32>) {
  // expected-error @+1 {{expected axis 'u' in '!tile.tile<[t = 8], f32>'}}
  %0 = tile.reduce sum %a over(u) : !tile.tile<[t = 8], f32> -> !tile.tile<[t = 8], f32>
  return
}

// -----

func.func @slice_past_the_end(%a: !tile.tile<[d = 8], f32>) {
  // expected-error @+1 {{expected elements within 0 to 8 of axis 'd', but got 4 from 2 by 2}}
  %0 = tile.slice %a[d = 2, 4 step 2] : !tile.tile<[d = 8], f32> -> !tile.tile<[d = 4], f32>
  return
}

// -----

func.func @interleave_unequal(%a: !tile.tile<[d = 8], f32>, %b: !tile.tile<[d = 4], f32>) {
  // expected-error @+1 {{expected equal sizes to interleave, but got 8 and 4}}
  %0 = tile.concat %a, %b along d interleaved : !tile.tile<[d = 8], f32>, !tile.tile<[d = 4], f32> -> !tile.tile<[d = 12], f32>
  return
}

// -----

func.func @splat_of_another_type(%x: f64) {
  // expected-error @+1 {{expected a scalar of type 'f32', but got 'f64'}}
  %0 = tile.splat %x : f64 -> !tile.tile<[t = 8], f32>
  return
}

// -----

func.func @position_along_two_axes(%x: index) {
  // expected-error @+1 {{expected a tile of index with one axis, but got '!tile.tile<[t = 8, u = 8], index>'}}
  %0 = tile.position from %x : !tile.tile<[t = 8, u = 8], index>
  return
}

// -----

tile.program @forward {
  // expected-error @+1 {{'tile.kernel' op expected one argument per grid dimension, 1, but got 0}}
  "tile.kernel"() <{grid = [#tile.extent<b>], sym_name = "k"}> ({
  ^bb0:
  }) : () -> ()
}

// -----

tile.program @forward {
  // expected-error @+1 {{'tile.kernel' op expected arguments of type index, but got 'i64'}}
  "tile.kernel"() <{grid = [#tile.extent<b>], sym_name = "k"}> ({
  ^bb0(%b: i64):
  }) : () -> ()
}

// -----

tile.program @forward {
  %x = tile.tensor "input:x" : !tile.array<[b, t], f32>
  tile.kernel @k grid(%b in b) {
    // expected-error @+1 {{'tile.load' op expected one array axis and one tile axis per offset}}
    %0 = "tile.load"(%x, %b) <{arrayAxes = ["b"], operandSegmentSizes = array<i32: 1, 1, 0>, tileAxes = []}> : (!tile.array<[b, t], f32>, index) -> !tile.tile<[t = 4], f32>
  }
}

// -----

func.func @region_argument(%x: !tile.tile<[t = 4], f32>) {
  // expected-error @+1 {{'tile.map' op expected a region argument of type 'f32', but got 'f64'}}
  %0 = "tile.map"(%x) ({
  ^bb0(%s: f64):
    tile.yield %s : f64
  }) : (!tile.tile<[t = 4], f32>) -> !tile.tile<[t = 4], f64>
  return
}

// -----

func.func @tile_in_a_region(%x: !tile.tile<[t = 4], f32>) {
  %0 = tile.map (%s = %x) : (!tile.tile<[t = 4], f32>) -> !tile.tile<[t = 4], f32> {
    // expected-error @+1 {{'tile.reduce' op unsupported in a tile.map: a tile; pass it as an operand of the map}}
    %m = tile.reduce max %x over(t) : !tile.tile<[t = 4], f32> -> !tile.tile<[], f32>
    tile.yield %s : f32
  }
  return
}

// -----

func.func @dot_over_nothing(%x: !tile.tile<[t = 4], f32>, %y: !tile.tile<[u = 4], f32>) {
  // expected-error @+1 {{'tile.dot' op requires an axis to sum over}}
  %0 = "tile.dot"(%x, %y) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, over = []}> : (!tile.tile<[t = 4], f32>, !tile.tile<[u = 4], f32>) -> !tile.tile<[t = 4, u = 4], f32>
  return
}

// -----

func.func @dot_of_wider_operands(%x: !tile.tile<[d = 4], f64>, %y: !tile.tile<[d = 4], f64>) {
  // expected-error @+1 {{'tile.dot' op expected operands that convert to 'f32', but got '!tile.tile<[d = 4], f64>'}}
  %0 = "tile.dot"(%x, %y) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, over = ["d"]}> : (!tile.tile<[d = 4], f64>, !tile.tile<[d = 4], f64>) -> !tile.tile<[], f32>
  return
}

// -----

func.func @reduce_over_nothing(%x: !tile.tile<[t = 4], f32>) {
  // expected-error @+1 {{'tile.reduce' op requires an axis to reduce over}}
  %0 = "tile.reduce"(%x) <{kind = 0 : i32, over = []}> : (!tile.tile<[t = 4], f32>) -> !tile.tile<[t = 4], f32>
  return
}

// -----

func.func @reduce_of_conditions(%x: !tile.tile<[t = 4], i1>) {
  // expected-error @+1 {{'tile.reduce' op expected numbers, but got '!tile.tile<[t = 4], i1>'}}
  %0 = tile.reduce max %x over(t) : !tile.tile<[t = 4], i1> -> !tile.tile<[], i1>
  return
}

// -----

func.func @scan_of_positions(%x: !tile.tile<[t = 4], index>) {
  // expected-error @+1 {{'tile.scan' op expected floating-point elements, but got '!tile.tile<[t = 4], index>'}}
  %0 = tile.scan sum %x over(t) : !tile.tile<[t = 4], index>
  return
}

// -----

func.func @concat_of_unlike_tiles(%x: !tile.tile<[d = 4, t = 4], f32>, %y: !tile.tile<[d = 4, t = 8], f32>) {
  // expected-error @+1 {{'tile.concat' op expected tiles that agree in all axes but 'd', but got '!tile.tile<[d = 4, t = 4], f32>' and '!tile.tile<[d = 4, t = 8], f32>'}}
  %0 = tile.concat %x, %y along d : !tile.tile<[d = 4, t = 4], f32>, !tile.tile<[d = 4, t = 8], f32> -> !tile.tile<[d = 8, t = 4], f32>
  return
}

// -----

func.func @map_of_a_number(%x: f32) {
  // expected-error @+1 {{expected tiles as operands, but got 'f32'}}
  %0 = tile.map (%s = %x) : (f32) -> !tile.tile<[t = 4], f32> {
    tile.yield %s : f32
  }
  return
}

// -----

tile.program @atomic_bf16 {
  %x = tile.workspace "x" : !tile.array<[t], bf16>
  tile.kernel @k grid(%b in b) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %a = tile.splat %one : f32 -> !tile.tile<[t = 8], f32>
    // expected-error @+1 {{'tile.accumulate' op expected an array of f32 or f64 for atomic additions, but got 'bf16'}}
    tile.accumulate %a, %x[t = %c0] atomic : !tile.tile<[t = 8], f32>, !tile.array<[t], bf16>
  }
}

// -----

func.func @expand_of_other_components(%x: !tile.tile<[d = 8, t = 4], f32>, %f: index) {
  // expected-error @+1 {{'tile.expand' op expected 4 components along axis 'd', but got '!tile.tile<[d = 8, t = 4], f32>'}}
  %0 = tile.expand %x over(d) #tile.features<4, orders 0 to 2> from %f to(f) : !tile.tile<[d = 8, t = 4], f32> -> !tile.tile<[f = 15, t = 4], f32>
  return
}

// -----

func.func @expand_over_a_taken_axis(%x: !tile.tile<[d = 4, f = 4], f32>, %f: index) {
  // expected-error @+1 {{'tile.expand' op expected no axis 'f' in '!tile.tile<[d = 4, f = 4], f32>'}}
  %0 = tile.expand %x over(d) #tile.features<4, orders 0 to 2> from %f to(f) : !tile.tile<[d = 4, f = 4], f32> -> !tile.tile<[f = 15], f32>
  return
}

// -----

func.func @expand_without_features(%x: !tile.tile<[d = 4, t = 4], f32>, %f: index) {
  // expected-error @+1 {{'tile.expand' op expected axis 'f' in '!tile.tile<[t = 4], f32>'}}
  %0 = tile.expand %x over(d) #tile.features<4, orders 0 to 2> from %f to(f) : !tile.tile<[d = 4, t = 4], f32> -> !tile.tile<[t = 4], f32>
  return
}

// -----

func.func @expand_with_too_few_weights(%x: !tile.tile<[d = 4, t = 4], f32>, %f: index) {
  // expected-error @+1 {{'tile.expand' op expected a weight per order, 3, but got 2}}
  %0 = tile.expand %x over(d) #tile.features<4, orders 0 to 2> from %f to(f) weights [1.0, 1.0] : !tile.tile<[d = 4, t = 4], f32> -> !tile.tile<[f = 15, t = 4], f32>
  return
}

// -----

func.func @expand_of_positions(%x: !tile.tile<[d = 4, t = 4], i32>, %f: index) {
  // expected-error @+1 {{'tile.expand' op expected floating-point elements, but got '!tile.tile<[d = 4, t = 4], i32>'}}
  %0 = tile.expand %x over(d) #tile.features<4, orders 0 to 2> from %f to(f) : !tile.tile<[d = 4, t = 4], i32> -> !tile.tile<[f = 15, t = 4], i32>
  return
}

// -----

func.func @contract_of_other_tokens(%p: !tile.tile<[f = 15, t = 8], f32>, %x: !tile.tile<[d = 4, t = 4], f32>, %f: index) {
  // expected-error @+1 {{'tile.contract' op expected features of type '!tile.tile<[f = 15, t = 4], f32>', but got '!tile.tile<[f = 15, t = 8], f32>'}}
  %0 = tile.contract %p over(f) #tile.features<4, orders 0 to 2> from %f at %x over(d) into %x : !tile.tile<[f = 15, t = 8], f32>, !tile.tile<[d = 4, t = 4], f32>, !tile.tile<[d = 4, t = 4], f32> -> !tile.tile<[d = 4, t = 4], f32>
  return
}

// -----

func.func @contract_into_another_shape(%p: !tile.tile<[f = 15, t = 4], f32>, %x: !tile.tile<[d = 4, t = 4], f32>, %c: !tile.tile<[d = 4], f32>, %f: index) {
  // expected-error @+1 {{'tile.contract' op expected result type '!tile.tile<[d = 4, t = 4], f32>', but got '!tile.tile<[d = 4], f32>'}}
  %0 = tile.contract %p over(f) #tile.features<4, orders 0 to 2> from %f at %x over(d) into %c : !tile.tile<[f = 15, t = 4], f32>, !tile.tile<[d = 4, t = 4], f32>, !tile.tile<[d = 4], f32> -> !tile.tile<[d = 4, t = 4], f32>
  return
}

// -----

// A size past 64 bits in the middle of the check.
func.func @slice_past_all_numbers(%x: !tile.tile<[d = 4], f32>) {
  // expected-error @+1 {{'tile.slice' op expected elements within 0 to 4 of axis 'd', but got 2 from 1 by 9223372036854775807}}
  %0 = tile.slice %x[d = 1, 2 step 9223372036854775807] : !tile.tile<[d = 4], f32> -> !tile.tile<[d = 2], f32>
  return
}

// -----

func.func @concat_to_another_size(%x: !tile.tile<[d = 1099511627776], f32>) {
  // expected-error @+1 {{'tile.concat' op expected size 2199023255552 of axis 'd', but got '!tile.tile<[d = 8], f32>'}}
  %0 = tile.concat %x, %x along d : !tile.tile<[d = 1099511627776], f32>, !tile.tile<[d = 1099511627776], f32> -> !tile.tile<[d = 8], f32>
  return
}

// -----

tile.program @lookup_without_all_axes {
  %x = tile.tensor "input:x" : !tile.array<[b, t], f32>
  tile.kernel @k grid(%b in b) {
    // expected-error @+1 {{expected a place along each axis of '!tile.array<[b, t], f32>', but got 1}}
    %0 = tile.lookup %x[%b] : !tile.array<[b, t], f32>
  }
}

// -----

tile.program @lookup_of_rounded_numbers {
  %x = tile.tensor "input:x" : !tile.array<[b], bf16>
  tile.kernel @k grid(%b in b) {
    // expected-error @+1 {{expected elements of f32 or f64, but got 'bf16'}}
    %0 = tile.lookup %x[%b] : !tile.array<[b], bf16>
  }
}

// -----

tile.program @lookup_of_what_is_written {
  %x = tile.tensor "output:x" : !tile.array<[b, t], f32>
  tile.kernel @k grid(%b in b) {
    %c0 = arith.constant 0.0 : f32
    %zero = tile.splat %c0 : f32 -> !tile.tile<[t = 8], f32>
    // expected-error @+1 {{requires an array that its kernel does not write}}
    %0 = tile.lookup %x[%b, %b] : !tile.array<[b, t], f32>
    tile.store %zero, %x[b = %b] : !tile.tile<[t = 8], f32>, !tile.array<[b, t], f32>
  }
}

// -----

!tu = !tile.tile<[t = 8, u = 16], f32>
!ue = !tile.tile<[e = 4, u = 16], f32>
!te = !tile.tile<[e = 4, t = 8], f32>
func.func private @mask_of_numbers(%w: !tu, %v: !ue) -> !te {
  // expected-error @+1 {{expected truth values after 'where', but got '!tile.tile<[t = 8, u = 16], f32>'}}
  %n = tile.dot %w, %v over(u) where %w : !tu : !tu, !ue -> !te
  return %n : !te
}

// -----

!tu = !tile.tile<[t = 8, u = 16], f32>
!ue = !tile.tile<[e = 4, u = 16], f32>
!te = !tile.tile<[e = 4, t = 8], f32>
func.func private @mask_of_other_axes(%w: !tu, %v: !ue, %m: !tile.tile<[x = 8], i1>) -> !te {
  // expected-error @+1 {{expected axes of the operands after 'where', but got '!tile.tile<[x = 8], i1>'}}
  %n = tile.dot %w, %v over(u) where %m : !tile.tile<[x = 8], i1> : !tu, !ue -> !te
  return %n : !te
}

// -----

!k = !tile.array<[u, d = 8], f32>
func.func private @end_of_no_axis(%k: !k, %i: index) {
  // expected-error @+1 {{expected axis 't' in '!tile.array<[u, d = 8], f32>'}}
  %0 = tile.load %k[u = %i] until(t = %i) : !k -> !tile.tile<[d = 8, u = 4], f32>
  return
}

// -----

tile.program @p {
  // expected-error @+1 {{expected first or last, but got 'middle'}}
  tile.kernel @k grid(%i in t) longest(middle) {
  }
}

// -----

tile.program @p {
  // expected-error @+1 {{expected one of the roles b, h, g, t, u, lag, but got 'd'}}
  tile.kernel @k grid(%i in t) longest(last, d * 4) {
  }
}

// -----

tile.program @p {
  // expected-error @+1 {{expected a role and its bytes, or neither, but got 'u' and 0}}
  tile.kernel @k grid(%i in t) longest(last, u * 0) {
  }
}

// -----

tile.program @p {
  // expected-error @+1 {{requires a grid to say which of its blocks takes longest}}
  tile.kernel @k grid() longest(last) {
  }
}
