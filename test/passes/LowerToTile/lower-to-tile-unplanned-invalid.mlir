// RUN: taylor-opt %s --taylor-lower-to-tile --split-input-file --verify-diagnostics

!row = !taylor.array<[b, h, t], f32>
// expected-error @below {{'taylor.function' op requires kernels, in order: run taylor-plan-kernels before}}
taylor.function @no_kernels.forward of @no_kernels("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  taylor.yield "output:y" %y : !row
}

// -----

!row = !taylor.array<[b, h, t], f32>
// expected-error @below {{'taylor.function' op requires kernels, in order: run taylor-plan-kernels before}}
taylor.function @no_names.forward of @no_names("input:x" %x: !row) {
  %y = taylor.map exp(%x) : !row
  fusion.kernel local stage 0 grid(b, h, t) {
    fusion.store %y as ["output:y"] : !row
  }
  taylor.yield "output:y" %y : !row
}
