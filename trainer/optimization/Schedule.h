// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_OPTIMIZATION_SCHEDULE_H
#define TAYLOR_TRAINER_OPTIMIZATION_SCHEDULE_H
#include "trainer/config/Config.h"

namespace taylor::trainer {

/// The learning rate of the update with number `step` (0 the first), as a share of the peak: rises linearly
/// over the warm-up, reaching 1 at its end, then decays to `final` at the horizon and stays there. Stopping
/// before the horizon (train.steps < schedule.horizon) cuts the curve off and does not squeeze it. A lag of 1
/// is the usual rise from 0, which makes no update at first and gives the peak once and not twice; each more
/// moves all of the curve by an update.
double learningRateFactor(const ScheduleConfig &config, int64_t steps, int64_t step);

} // namespace taylor::trainer
#endif
