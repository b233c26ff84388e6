// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_SUPPORT_CLOCK_H
#define TAYLOR_TRAINER_SUPPORT_CLOCK_H
#include <chrono>

namespace taylor::trainer {

using Clock = std::chrono::steady_clock;

inline double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

} // namespace taylor::trainer
#endif
