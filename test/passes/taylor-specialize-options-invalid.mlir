// Options that do not fit each other or the specification.
// RUN: taylor-opt --verify-diagnostics --taylor-specialize="parameters=ordre=4" %s
// RUN: not taylor-opt --taylor-specialize="mask=bidirectional" %s 2>&1 | FileCheck %s --check-prefix=DECAY
// RUN: not taylor-opt --taylor-specialize="head-dim=0" %s 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not taylor-opt --taylor-specialize="head-dim=64 value-dim=1025" %s 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not taylor-opt --taylor-specialize="dtype=f8" %s 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not taylor-opt --taylor-specialize="mask=upper" %s 2>&1 | FileCheck %s --check-prefix=MASK
// RUN: not taylor-opt --taylor-specialize="parameters=order" %s 2>&1 | FileCheck %s --check-prefix=VALUE
// DECAY: unsupported decay of a bidirectional sum: a decay runs from past keys to a query; compile with a causal mask
// SIZE: expected sizes from 1 to 1024, but got head-dim=0 value-dim=0
// LARGE: expected sizes from 1 to 1024, but got head-dim=64 value-dim=1025
// TYPE: for the --dtype option: Cannot find option named 'f8'!
// MASK: for the --mask option: Cannot find option named 'upper'!
// VALUE: expected name=value, but got 'order'

!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!col = !taylor.array<[b, h, u]>

// expected-error @below {{expected a parameter of @misspelt, but got 'ordre'; did you mean 'order'?}}
taylor.spec @misspelt(%q: !q, %k: !k, %v: !v, %L: !col from projection) parameters(order : index = 10) {
  %n = taylor.recurrences %q, %k, %v orders(0 to order) decay(%L) causal : !q, !k, !v, !col
  taylor.yield %n : !taylor.array<[b, h, t, e]>
}
