// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much each order of a power series contributes to attention, measured over text.
//
// Per layer and head, with s[t,u] the product of pair (t, u) (scale included), c[n] the coefficient and f the
// decay's factor:
//
//     magnitude[n]   = mean over visible pairs of |c[n] s^n f|
//     weightError[N] = sum over visible pairs of |w_N - w| / sum of |w|,       w_N = sum over n <= N of c[n]
//     s^n f outputError[N] = |o_N - o| / |o|, Euclidean over tokens and channels,     o_N: the specification
//     with w_N for w
//
// All in fp64, in blocks of queries. A head's mean is over all pairs of the text, not over the means of
// sequences.
#ifndef TAYLOR_TRAINER_ORDERS_ORDERSTATISTICS_H
#define TAYLOR_TRAINER_ORDERS_ORDERSTATISTICS_H
#include "trainer/orders/WeightSeries.h"
#include <ATen/core/Tensor.h>
#include <cstdint>
#include <functional>
#include <vector>

namespace taylor::trainer {

/// One head's, each with one entry per order 0..N. NaN where there is nothing to divide by.
struct HeadOrders {
  std::vector<double> magnitude, weightError, outputError;
};

class OrderStatistics {
public:
  /// Of orders 0..`orders`.
  OrderStatistics(const WeightSeries &series, int64_t layers, int64_t heads, int64_t orders);

  /// Adds one sequence as layer `layer` sees it: the attention's inputs [1, ..] by name, fp64. `advance` is
  /// called with the number of queries after each block. O(orders T) memory. Throws Error where weights are
  /// not finite.
  void add(int64_t layer, const std::map<std::string, at::Tensor> &inputs,
           const std::function<void(int64_t)> &advance);

  int64_t pairs(int64_t layer) const { return sums[layer].pairs; }
  HeadOrders head(int64_t layer, int64_t head) const;

  /// Scores at a time: heads * queries of a block * keys. 2^20 doubles are 8 MB.
  static constexpr int64_t kBlockScores = 1 << 20;

private:
  struct LayerSums {
    int64_t pairs = 0;
    at::Tensor magnitude, weightError, outputError; // [orders + 1, H]: sums of |term|, |w_N - w|, |o_N - o|^2
    at::Tensor weight, output;                      // [H]: sums of |w|, |o|^2
  };
  /// Of one layer and sequence: sums up to each order, and whole.
  struct Truncated {
    std::vector<at::Tensor> numerator, mass; // one per order: [H, T, e], [H, T]
    at::Tensor wholeNumerator, wholeMass;
  };
  void addBlock(LayerSums &layer, const SeriesOperands &operands, int64_t begin, int64_t end,
                Truncated &sums);
  at::Tensor wholeWeights(const at::Tensor &scores, const at::Tensor &factor) const;

  const WeightSeries &series;
  int64_t orders;
  std::vector<LayerSums> sums;
};

} // namespace taylor::trainer
#endif
