// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a misspelt name may have meant.
#ifndef TAYLOR_DIALECT_TAYLOR_NEARESTNAME_H
#define TAYLOR_DIALECT_TAYLOR_NEARESTNAME_H

#include "llvm/ADT/StringRef.h"
#include <algorithm>

namespace taylor {

/// Of the names it is shown, the first of those with the fewest edits from `wanted`: fewer than `limit` and
/// than it has letters, since any name is that near.
class NearestName {
public:
  NearestName(llvm::StringRef wanted, unsigned limit)
      : wanted(wanted), fewest(std::min<unsigned>(wanted.size(), limit)) {}
  /// At most two edits, and one in a name of two or three letters.
  explicit NearestName(llvm::StringRef wanted)
      : NearestName(wanted, std::min<unsigned>(wanted.size() / 2 + 1, 3)) {}

  void consider(llvm::StringRef known) {
    unsigned distance = known.edit_distance(wanted, /*AllowReplacements=*/true, fewest);
    if (distance < fewest) {
      fewest = distance;
      nearest = known;
    }
  }
  /// Empty where none is near.
  llvm::StringRef get() const { return nearest; }

private:
  llvm::StringRef wanted, nearest;
  unsigned fewest;
};

} // namespace taylor

#endif
