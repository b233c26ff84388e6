// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/optimization/Outliers.h"
#include <cmath>
#include <numeric>

namespace taylor::trainer {

double OutlierDetector::score(double value) {
  double result = 0;
  if (window.size() == kSize) {
    double mean = std::accumulate(window.begin(), window.end(), 0.0) / kSize, squares = 0;
    for (double x : window)
      squares += (x - mean) * (x - mean);
    result = squares > 0 ? (value - mean) / std::sqrt(squares / kSize) : 0;
    window.erase(window.begin());
  }
  window.push_back(value);
  return result;
}

} // namespace taylor::trainer
