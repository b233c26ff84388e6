// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_PASSES_LOWERTOTILE_ANGLETABLE_H
#define TAYLOR_PASSES_LOWERTOTILE_ANGLETABLE_H

#include "dialect/AxisRef.h"

namespace taylor {

/// Tables of the rotations of one token axis: cos and sin of every angle, [token, channel / 2], or
/// [b, token, channel / 2] where each batch has positions of its own.
struct AngleTable {
  AxisRef token;         // t or u
  mlir::Value positions; // null: the tokens' own
  int64_t channels;
  double theta;
  int64_t offset;
  mlir::Type elementType;
  bool operator==(const AngleTable &other) const = default;
  /// Run-time axes, in the order of memory.
  llvm::SmallVector<AxisRef> axes() const;
};

} // namespace taylor

#endif
