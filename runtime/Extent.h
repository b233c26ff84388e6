// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes that depend on run-time sizes, as the manifest writes those of grids and workspaces.
#ifndef TAYLOR_RUNTIME_EXTENT_H
#define TAYLOR_RUNTIME_EXTENT_H
#include "runtime/artifact.h"
#include <string>

namespace taylor::runtime {

/// A number, a run-time size, or a quotient of them rounded up: `64`, `t`, `b * g`, `ceildiv(t, 64)`,
/// `ceildiv(4, b * g)`. `lag` stands for t + u + 2 TAYLOR_LAG_MARGIN. A divisor counts as at least 1. One
/// that was not parsed has a text alone.
class Extent {
public:
  std::string text;
  std::string &brief() { return text; } ///< In JSON (Manifest.h).

  /// Throws Error that begins with `where`.
  static Extent parse(const std::string &text, const std::string &where);
  /// For sizes in the order of TaylorDim; -1 where it passes 2^63.
  int64_t evaluate(const int64_t *dims) const;

private:
  struct Product {
    int64_t factor = 1;
    int powers[TAYLOR_DIM_OFFSET] = {}; ///< Of b, h, g, t and u.
    int lags = 0;                       ///< Power of lag.
    int64_t evaluate(const int64_t *dims) const;
  };
  Product numerator, divisor;
};

} // namespace taylor::runtime

#endif
