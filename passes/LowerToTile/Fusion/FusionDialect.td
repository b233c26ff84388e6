// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_FUSION_DIALECT_TD
#define TAYLOR_FUSION_DIALECT_TD
include "mlir/IR/OpBase.td"

def Fusion_Dialect : Dialect {
  let name = "fusion";
  let cppNamespace = "::taylor::fusion";
  let summary = "which values of a function have memory, and which kernel computes them";
  let description = [{
    A plan of kernels, at the end of the body of a `taylor.function`. The passes of
    `taylor-plan-kernels` write it, and `taylor-lower-to-tile` reads it. It computes nothing: its
    operations name values of the body. What no kernel stores is computed in the kernels that read
    it.

    ```mlir
    taylor.function @softmax.forward of @softmax("input:q" %q: !q, "input:k" %k: !k, "input:v" %v: !v) {
      %kr = taylor.rope %k : !k
      %n:2 = taylor.pairwise ..
      %o = taylor.map %n#0 / %n#1 : !o, !row
      fusion.keep %kr because "every block of queries reads it" : !k
      fusion.kernel @angles_u angles stage 0 grid(u) {
        fusion.table of %kr because "rotations of the same positions and frequencies read it" : !k
      }
      fusion.kernel @columns local stage 1 grid(b, g, u) {
        fusion.store %kr in workspace : !k
      }
      fusion.kernel @attend local stage 2 grid(b, h, t) {
        fusion.sum %n#0 : !o
        fusion.sum %n#1 : !row
        fusion.store %o as ["output:o"] : !o
      }
      taylor.yield "output:o" %o : !o
    }
    ```
  }];
}

#endif
