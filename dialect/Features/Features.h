// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Features of a sum of powers: the distinct monomials of a vector's components.
//
//   sum over n of c[n] <q, k>^n  =  sum over f of weight(f) q^f k^f        q^f: a monomial of q
//
// Order n has C(d + n - 1, n) distinct monomials, orders 0 to N together C(d + N, N): the symmetric power of
// the vector with a constant 1 before it. A state with one row per monomial is the sum of the recurrences of
// all orders (the paper, section 3.1) without the d^n - C(d + n - 1, n) rows that repeat others.
//
// A target that multiplies blocks of `block` neighbouring components at once takes whole blocks: then each of
// a monomial's components runs over all of its block, and monomials are distinct as blocks only. Features of
// order n come in groups of block^n, one for each multiset of blocks; what fills up a block is 0. The highest
// order comes first, so that these groups lie where a panel of so many features begins.
#ifndef TAYLOR_DIALECT_FEATURES_FEATURES_H
#define TAYLOR_DIALECT_FEATURES_FEATURES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace taylor {

struct Features {
  /// Components of the vector.
  int64_t channels = 0;
  /// Orders whose monomials take part, from 0 <= first <= last.
  int64_t first = 0, last = 0;
  /// 1: every monomial once.
  int64_t block = 1;

  bool operator==(const Features &other) const = default;

  /// Monomials of one order, filled up to whole blocks; nothing where they pass 2^62.
  std::optional<int64_t> countOf(int64_t order) const;
  /// Monomials of all orders; nothing where they pass 2^62.
  std::optional<int64_t> count() const;

  struct Feature {
    int64_t order;
    /// The components whose product it is, in ascending order of their blocks; `order` of them.
    llvm::ArrayRef<int64_t> components;
    /// How many ordered products the monomial stands for, n! / prod(count!) by component, or by block; 0 for
    /// one that fills up.
    double multiplicity;
  };
  /// What the monomial is multiplied by: its multiplicity times the weight of its order, the first of
  /// `weights` being that of order `first`. Without weights 1, and 0 for one that fills up.
  double weightOf(const Feature &feature, llvm::ArrayRef<double> weights) const {
    return weights.empty() ? feature.multiplicity != 0
                           : feature.multiplicity * weights[feature.order - first];
  }
  /// Calls `visit` for every feature: the highest order first; of one order, multisets of blocks one after
  /// the other, each with all its components, the last one fastest.
  void forEach(llvm::function_ref<void(const Feature &feature)> visit) const;

private:
  void forEachOf(int64_t order, llvm::function_ref<void(const Feature &feature)> visit) const;
};

} // namespace taylor

#endif
