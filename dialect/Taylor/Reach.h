// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tokens an operation reads: what most questions about a sequence in pieces, a mask or a cache come to.
#ifndef TAYLOR_DIALECT_TAYLOR_REACH_H
#define TAYLOR_DIALECT_TAYLOR_REACH_H

#include "dialect/AxisRef.h"
#include "mlir/IR/Operation.h"

namespace taylor {

/// Of an operation on arrays: which tokens of its operands a token of the result reads.
enum class Reach {
  Own,     ///< That token: a formula, a norm, a rotation.
  Window,  ///< That token and some of those before it: a shift, a convolution.
  Before,  ///< That token and all before it: a running sum.
  After,   ///< Later tokens, too: what runs from the end.
  Aligned, ///< The token of the other axis that has its position.
  All,     ///< Every token, or every batch: a reduction over them.
};

/// The token axis of an operation's result: t if the result has it, else u.
AxisRef tokenOf(mlir::Operation *op);

} // namespace taylor

#endif
