// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What planned kernels hold at the same time, counted in arrays: from it a target sees, before there is code,
// whether its tiles are too large for them.
#ifndef TAYLOR_CODEGEN_TARGETS_KERNELNEEDS_H
#define TAYLOR_CODEGEN_TARGETS_KERNELNEEDS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>

namespace taylor {

/// A loop over pairs, of one kernel. In sums into columns queries pass by a block of keys, in those into rows
/// keys by a block of queries.
struct PairLoopNeeds {
  std::string kernel;
  bool intoColumns = false;
  /// Loops over pairs that the kernel has, one after the other; this is one of them.
  int64_t loopsOfKernel = 1;
  /// Every query sees all keys, or all up to its own.
  bool seesAll = true;
  /// Channels of each sum that the loop carries for a token of the block; 1 of a sum of scalars.
  llvm::SmallVector<int64_t, 4> sums;
  /// Sums that the loop carries for no token.
  int64_t totals = 0;
  /// Inner products, and arrays that are read at pairs (tables by lag).
  int64_t products = 0, pairArrays = 0;
  /// Scalars of queries, of keys, and of neither.
  int64_t queryScalars = 0, keyScalars = 0, numbers = 0;
  /// Weights are exponentials: the scalar that their exponents are shifted by is there twice, as it is and to
  /// the exponential's base.
  bool hasExponentials = false;
  /// Channels of the widest operand over the tokens that pass by which the kernel computes itself; 0: all lie
  /// in memory.
  int64_t computedChannels = 0;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &stream, const PairLoopNeeds &needs);

} // namespace taylor

#endif
