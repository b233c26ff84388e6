// RUN: taylor-opt %s --split-input-file --verify-diagnostics

!row = !taylor.array<[b, h, t], f32>
taylor.function @keep_argument of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  // expected-error @below {{'fusion.keep' op expected a computed value, but got an argument, which has memory}}
  fusion.keep %x because "it is read" : !row
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @keep_apart of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  // expected-error @below {{'fusion.keep' op expected a result of taylor.pairwise to be kept apart}}
  fusion.keep apart %y because "it is read" : !row
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @keep_parts of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  // expected-error @below {{'fusion.keep' op expected parts of a result of taylor.reduce}}
  fusion.keep parts of %y because "it is read" : !row
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @no_place of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  fusion.kernel local stage 0 grid(b, h, t) {
    // expected-error @below {{'fusion.store' op requires a place: 'in workspace', or 'as' results of the function}}
    fusion.store %y : !row
  }
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @not_kept of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  fusion.kernel local stage 0 grid(b, h, t) {
    // expected-error @below {{'fusion.store' op requires a fusion.keep of what it stores in workspace}}
    fusion.store %y in workspace : !row
  }
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @no_result of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  fusion.kernel local stage 0 grid(b, h, t) {
    // expected-error @below {{'fusion.store' op expected a value that the function yields as "output:z"}}
    fusion.store %y as ["output:z"] : !row
  }
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @store_parts of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  fusion.kernel local stage 0 grid(b, h, t) {
    // expected-error @below {{'fusion.store' op expected parts of a result of taylor.reduce}}
    fusion.store parts of %y in workspace : !row
  }
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @sum of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  fusion.kernel pairs stage 0 grid(b, h, t) {
    // expected-error @below {{'fusion.sum' op expected a result of taylor.pairwise}}
    fusion.sum %y : !row
  }
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @table of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  fusion.kernel angles stage 0 grid(b, h, t) {
    // expected-error @below {{'fusion.table' op expected a result of a rotation, as taylor.rope is one}}
    fusion.table of %y because "two read it" : !row
  }
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @grid of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  // expected-error @below {{'fusion.kernel' op expected a grid over b, h, g, t, u and lag, but got 'd'}}
  fusion.kernel local stage 0 grid(b, d) {
    fusion.store %y as ["output:y"] : !row
  }
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @channels of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  // expected-error @below {{'fusion.kernel' op requires a size of its channels}}
  "fusion.kernel"() <{kind = 1 : i32, stage = 0 : i64, grid = ["b"], channels = "f"}> ({
    fusion.store %y as ["output:y"] : !row
  }) : () -> ()
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @reason of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  // expected-error @below {{'fusion.kernel' op expected 'because' of kernels of kind 'steps', and of no other}}
  fusion.kernel local stage 0 grid(b, h, t) because "it is slow" {
    fusion.store %y as ["output:y"] : !row
  }
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @no_table of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  // expected-error @below {{'fusion.kernel' op expected a fusion.table in kernels of kind 'angles', and in no other}}
  fusion.kernel angles stage 0 grid(t) {
  }
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @no_sum of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  // expected-error @below {{'fusion.kernel' op requires a fusion.sum in a kernel of kind 'pairs'}}
  fusion.kernel pairs stage 0 grid(b, h) {
    fusion.store %y as ["output:y"] : !row
  }
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @no_store of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  // expected-error @below {{'fusion.kernel' op requires a fusion.store in a kernel of kind 'scan'}}
  fusion.kernel scan stage 0 grid(b, h) {
  }
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @two_scans of @f("input:x" %x: !row) {
  %y = taylor.scan sum over(t) %x : !row
  %z = taylor.scan max over(t) %x : !row
  // expected-error @below {{'fusion.kernel' op expected results of one operation in a kernel of kind 'scan'}}
  fusion.kernel scan stage 0 grid(b, h) {
    fusion.store %y as ["output:y"] : !row
    fusion.store %z as ["output:z"] : !row
  }
  taylor.yield "output:y" %y, "output:z" %z : !row, !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
taylor.function @computes of @f("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  fusion.kernel local stage 0 grid(b, h, t) {
    // expected-error @below {{'taylor.map' op expected fusion.store, fusion.sum and fusion.table alone in fusion.kernel}}
    %z = taylor.map exp(%x) : !row
    fusion.store %y as ["output:y"] : !row
  }
  taylor.yield "output:y" %y : !row
}
