// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_OPTIMIZATION_OUTLIERS_H
#define TAYLOR_TRAINER_OPTIMIZATION_OUTLIERS_H
#include <cstddef>
#include <vector>

namespace taylor::trainer {

/// How far a value lies from those before it. Every value joins the window, an outlier too: a level that has
/// changed for good is soon the usual one.
class OutlierDetector {
public:
  static constexpr size_t kSize = 128;

  /// (value - mean) / standard deviation of the last `size` values; 0 until there are as many, and where they
  /// are all equal. `value` is finite.
  double score(double value);

  /// The last values, oldest first: what a resumed run goes on from.
  const std::vector<double> &values() const { return window; }
  void restore(std::vector<double> values) { window = std::move(values); }

private:
  std::vector<double> window;
};

} // namespace taylor::trainer
#endif
