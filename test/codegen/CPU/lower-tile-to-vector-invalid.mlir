// RUN: taylor-opt %s --taylor-lower-tile-to-vector=target=x86-64-v3 --split-input-file --verify-diagnostics

!t = !tile.tile<[t = 8], f32>
tile.program @swapped_carry {
  %x = tile.tensor "output:x" : !tile.array<[t], f32>
  tile.kernel @k grid(%b in b) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %a = tile.splat %zero : f32 -> !t
    %c = tile.splat %one : f32 -> !t
    // expected-error @+1 {{unsupported loop that hands on a carried tile as another; copy it with a tile.map}}
    %r:2 = scf.for %j = %c0 to %c8 step %c8 iter_args(%p = %a, %q = %c) -> (!t, !t) {
      scf.yield %q, %p : !t, !t
    }
    tile.store %r#0, %x[t = %c0] : !t, !tile.array<[t], f32>
  }
}

// -----

tile.program @foreign_loop {
  tile.kernel @k grid(%b in b) {
    %true = arith.constant true
    // expected-error @+1 {{unsupported op in a kernel: 'scf.while'; expected scf.for or scf.if}}
    scf.while : () -> () {
      scf.condition(%true)
    } do {
      scf.yield
    }
  }
}

// -----

func.func private @f()
tile.program @foreign_call {
  tile.kernel @k grid(%b in b) {
    // expected-error @+1 {{unsupported op on a CPU: 'llvm.mlir.undef'; expected an element-wise op of arith or math}}
    %p = llvm.mlir.undef : i64
  }
}

// -----

!t = !tile.tile<[t = 8], f32>
tile.program @atomic {
  %x = tile.workspace "x" : !tile.array<[t], f32>
  tile.kernel @k grid(%b in b) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %a = tile.splat %one : f32 -> !t
    // expected-error @+1 {{unsupported atomic additions on a CPU: lower with row-sums=parts or separate}}
    tile.accumulate %a, %x[t = %c0] atomic : !t, !tile.array<[t], f32>
  }
}
