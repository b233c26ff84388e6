// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a function costs in one form on one target. In the IR it is the attribute `#tile.cost`;
// codegen/Targets/CostModel counts it.
#ifndef TAYLOR_DIALECT_TILE_FORMCOST_H
#define TAYLOR_DIALECT_TILE_FORMCOST_H

#include "llvm/ADT/Hashing.h"
#include <cstdint>

namespace taylor {

/// The cost of a call of B batches, H heads, G groups, T queries and U keys, in picoseconds:
/// `call` + `pair` B H P + `query` B H T + `key` B G U, where a query sees P / T keys on the average.
struct FormCost {
  double call = 0, pair = 0, query = 0, key = 0;
  /// The floating-point operations in it, by what they are done for: what chunks and masked tiles add is with
  /// the queries. A multiply-add is two.
  struct Operations {
    double pair = 0, query = 0, key = 0;
    bool operator==(const Operations &) const = default;
  } operations;
  /// Rows and columns of the function's first state; 0 without states.
  int64_t features = 0, channels = 0;

  bool operator==(const FormCost &) const = default;
};

llvm::hash_code hash_value(const FormCost &cost);

} // namespace taylor

#endif
