// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one call hands on to the next: names, and how many tokens.
#ifndef TAYLOR_DIALECT_TAYLOR_CARRIED_H
#define TAYLOR_DIALECT_TAYLOR_CARRIED_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace taylor {

/// Whether an argument or result of a specification is from taylor-carry-states, which alone gives such
/// names: "initial.state0", "final.position".
inline bool isCarried(llvm::StringRef name) {
  return name.starts_with("initial.") || name.starts_with("final.");
}

/// Whether a result of a function may be absent from a call, "output:final.state0": a backward that gets it
/// could not tell whether it is there, so it must not read it.
inline bool isCarriedOutput(llvm::StringRef role) { return role.consume_front("output:") && isCarried(role); }

/// Of arguments and results that hold what keys become by themselves, kept from call to call: "cache.key0"
/// (taylor-prepare-keys).
inline constexpr llvm::StringLiteral kCachePrefix = "cache.";
/// In the manifest's cache, of what the function that prepares keys hands on to its next call
/// ("cache:carried.position"), next to what it keeps of keys.
inline constexpr llvm::StringLiteral kHandedOnPrefix = "carried.";

/// The last tokens that shifts and convolutions may have from earlier calls; longer shifts are refused.
inline constexpr int64_t kMostShifted = 64;

/// States larger than the keys and values of so many tokens are not kept: the step reads all keys instead.
inline constexpr int64_t kMostTokensOfStates = 1'000'000;

} // namespace taylor

#endif
