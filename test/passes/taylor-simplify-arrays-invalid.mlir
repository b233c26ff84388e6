// Rewrites are bounded, and what they leave is reported.
// RUN: taylor-opt %s --taylor-simplify-arrays=max-iterations=1 --verify-diagnostics

!row = !taylor.array<[b, h, t]>

// expected-error @below {{requires formulas that are simple after 1 passes over the function, but the last one still changed some; raise max-iterations}}
taylor.function @chain of @f("input:x" %x: !row) {
  %a = taylor.map exp(%x) : !row
  %b = taylor.map %a + 1.0 : !row
  %c = taylor.map %b * %b : !row
  taylor.yield "output:y" %c : !row
}
