// What the manifest tells of programs is an attribute of the module: it stays where a target makes code of them.
// RUN: split-file %s %t
// RUN: taylor-opt %t/programs.mlir --taylor-describe-programs | taylor-opt | FileCheck %s
// RUN: taylor-opt %t/programs.mlir --taylor-describe-programs --taylor-lower-tile-to-vector | FileCheck %s --check-prefix=LOWERED
// RUN: taylor-opt %t/invalid.mlir --split-input-file --verify-diagnostics

// The form that a program says; without, it is the parallel one of the function of its name.
// CHECK: module attributes {tile.programs = [
// CHECK-SAME: #tile.program_facts<"forward", form = <parallel of forward>, tensors = [#tile.named_array<"input:x", !tile.array<[b, t], f32>>, #tile.named_array<"output:y", !tile.array<[b, t], f32>>], kernels = ["double"], workspace = [#tile.named_array<"half", !tile.array<[t], f32>>, #tile.named_array<"sum", !tile.array<[b], f32>, because = "several blocks are summed">]>,
// CHECK-SAME: #tile.program_facts<"forward_chunked", form = <chunked of forward, cost = <call = 4.000000e+06, query_operations = 2.500000e-01, features = 17>, because = "it pays", in_place = {{\[\[}}"input:a", "output:b"]]>, tensors = [], kernels = [], workspace = [], plan = <chunk = 128>>]} {
// CHECK: tile.program @forward_chunked plan #tile.plan<chunk = 128> form #tile.form<chunked of forward, cost = <

// LOWERED: module attributes {{{.*}}tile.programs = [#tile.program_facts<"forward",
// LOWERED-NOT: tile.program @

//--- programs.mlir
tile.program @forward {
  %x = tile.tensor "input:x" : !tile.array<[b, t], f32>
  %y = tile.tensor "output:y" : !tile.array<[b, t], f32>
  %half = tile.workspace "half" : !tile.array<[t], f32>
  %sum = tile.workspace "sum" : !tile.array<[b], f32> because "several blocks are summed"
  tile.kernel @double grid(%b in b, %i in ceildiv(t, 16)) {
    %c16 = arith.constant 16 : index
    %t0 = arith.muli %i, %c16 : index
    %v = tile.load %x[b = %b, t = %t0] : !tile.array<[b, t], f32> -> !tile.tile<[t = 16], f32>
    tile.store %v, %y[b = %b, t = %t0] : !tile.tile<[t = 16], f32>, !tile.array<[b, t], f32>
  }
}
tile.program @forward_chunked plan #tile.plan<chunk = 128> form #tile.form<chunked of forward, cost = <call = 4.0e6, query_operations = 0.25, features = 17>, because = "it pays", in_place = [["input:a", "output:b"]]> {
}
//--- invalid.mlir
// expected-error@+2 {{failed to parse Tile_FormAttr parameter 'cost'}}
// expected-error@+1 {{expected a field of a cost, but got 'calls'; fields are call, pair, query, key, pair_operations, query_operations, key_operations, features, channels}}
tile.program @forward form #tile.form<parallel of forward, cost = <calls = 1.0>> {
}

// -----

!q = !taylor.array<[b, h, t, d = 16], f32>
// expected-error@+1 {{'taylor.function' op expected #tile.form<..> as its form, but got "parallel"}}
taylor.function @f.forward of @f("input:q" %q: !q) sources [projection] form "parallel" {
  taylor.yield "output:q" %q : !q
}
