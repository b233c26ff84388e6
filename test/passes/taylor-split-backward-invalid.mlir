// RUN: taylor-opt --split-input-file --verify-diagnostics --taylor-split-backward %s

!q = !taylor.array<[b, h, t, d]>

// An output is there before the gradient of it is.
// expected-error @below {{unsupported results: those of its forward part need "cotangent:o", which that part does not have}}
taylor.function @output.joint of @f("input:q" %q: !q, "cotangent:o" %g: !q) {
  %o = taylor.map %q * %g : !q, !q
  taylor.yield "output:o" %o, "gradient:q" %g : !q, !q
}

// -----

!q = !taylor.array<[b, h, t, d]>

// expected-error @below {{unsupported results: those of its backward part need "saved:m", which that part does not have}}
taylor.function @gradient.joint of @f("input:q" %q: !q, "saved:m" %m: !q, "cotangent:o" %g: !q) {
  %o = taylor.map exp(%q) : !q
  %dq = taylor.map %m * %g : !q, !q
  taylor.yield "output:o" %o, "gradient:q" %dq : !q, !q
}
