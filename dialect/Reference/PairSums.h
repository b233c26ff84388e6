// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over visible pairs of a query and a key: the one loop behind taylor.recurrences, taylor.recurrence and
// taylor.pairwise, pair by pair.
#ifndef TAYLOR_DIALECT_REFERENCE_PAIRSUMS_H
#define TAYLOR_DIALECT_REFERENCE_PAIRSUMS_H

#include "dialect/Reference/RegionProgram.h"

namespace taylor::reference {

/// A scalar program of a pair: which registers hold the inner products, the scalars and the running maximum.
struct PairProgram {
  explicit PairProgram(const Environment &environment) : program(environment) {}
  RegionProgram program;
  /// Registers of products and scalars, in the order of PairSums.
  llvm::SmallVector<int> products, scalars;
  int maximum = -1;
};

/// For every batch, head and query t: for every visible key u, s_i = <row_i[t], column_i[u]>, weights of a
/// scalar program, and outputs that sum one weight each.
class PairSums {
public:
  enum class Kind { Rows, Columns, Diagonals, Total, Maximum };
  struct Product {
    int row, column;
  };
  struct Output {
    Kind kind;
    /// Which result of `weight` is summed.
    int yielded = 0;
    /// The array contracted with, or -1.
    int array = -1;
    Shape shape;
  };

  explicit PairSums(const Environment &environment)
      : environment(environment), visible(environment), maximum(environment), weight(environment) {}

  /// Adds an operand and gives its number. The array must outlive this.
  int addArray(const Array &array, bool differentiable);

  std::vector<Product> products;
  /// Arrays without channel that the programs read, by number.
  std::vector<int> scalars;
  std::vector<Output> outputs;

  const Environment &environment;
  /// Yields a condition; without results every pair is visible. Sees scalars only.
  PairProgram visible;
  /// Yields x and perhaps a floor, where `weight.maximum` is used; else has no results.
  PairProgram maximum;
  PairProgram weight;
  /// Where it is not 0, a query sees the keys of its own chunk of so many tokens only.
  int64_t chunk = 0;

  struct Forward {
    std::vector<Array> outputs;
    /// Number of visible keys of each row, over batch axes and t.
    Array counts;
  };
  Forward evaluate() const;

  /// Gradients of the arrays given the cotangent of each output (without elements where it is zero). An array
  /// that is not differentiable gets one without elements.
  std::vector<Array> pullback(llvm::ArrayRef<Array> cotangents) const;

  /// Which of b, h and g the arrays, outputs and programs have.
  Shape batchShape() const;

private:
  struct Head;
  /// [tokens, channels] of an array at one batch point: its token axis first, or one row where it has none.
  struct Layout {
    /// t, u, lag or none.
    std::string token;
    Shape channels;
  };
  Layout layoutOf(const Shape &shape) const;
  Shape loopOf(const Layout &layout) const;
  Layout outputLayout(const Output &output) const;
  RoundingRules arithmeticOf(const Output &output) const;
  Head makeHead(llvm::ArrayRef<int64_t> batch) const;
  void evaluateHead(Head &head) const;
  void pullbackHead(Head &head) const;
  /// Row of an output's matrix, and of an array's on that token axis, that a pair belongs to.
  int64_t rowOf(Kind kind, int64_t t, int64_t u) const;
  int64_t rowOf(AxisRef token, int64_t t, int64_t u) const;

  std::vector<const Array *> arrays;
  std::vector<bool> differentiable;
};

/// Calls work(i) for i in [0, count), at most `threads` at a time, and finish(i) in order.
void inOrder(int64_t count, int threads, llvm::function_ref<void(int64_t)> work,
             llvm::function_ref<void(int64_t)> finish);

} // namespace taylor::reference

#endif
