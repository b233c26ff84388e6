// Rewrites are bounded, and what they leave is reported.
// RUN: taylor-opt %s --taylor-canonicalize=max-iterations=1 --verify-diagnostics

!o = !taylor.array<[b, h, t, e]>

// expected-error @below {{requires a canonical form after 1 rounds of rewrites, but the last one still changed something; raise max-iterations}}
module {
  taylor.function @one_of_two of @f("input:x" %x: !o) {
    %y = taylor.map exp(%x) : !o
    %z = taylor.map exp(%y) : !o
    taylor.yield "output:y" %y : !o
  }
}
