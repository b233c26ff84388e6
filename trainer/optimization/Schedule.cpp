// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/optimization/Schedule.h"
#include <algorithm>
#include <cmath>
#include <numbers>

namespace taylor::trainer {

double learningRateFactor(const ScheduleConfig &config, int64_t steps, int64_t step) {
  if (step < config.lag)
    return 0;
  if (step - config.lag < config.warmup)
    return double(step - config.lag + 1) / config.warmup;
  step -= std::max<int64_t>(config.lag - 1, 0);
  int64_t horizon = config.horizon ? config.horizon : steps;
  double span = std::max<int64_t>(horizon - config.warmup, 1);
  double done = std::min((step - config.warmup) / span, 1.0);
  if (config.kind == "linear")
    return 1 - done * (1 - config.final);
  if (config.kind == "cosine")
    return config.final + (1 - config.final) * 0.5 * (1 + std::cos(std::numbers::pi * done));
  return 1;
}

} // namespace taylor::trainer
