// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How fast a run is: what its device could do, how long its steps take, how much memory they hold.
#ifndef TAYLOR_TRAINER_TRAINING_SPEED_H
#define TAYLOR_TRAINER_TRAINING_SPEED_H
#include "trainer/config/Config.h"
#include <c10/core/Device.h>
#include <cmath>
#include <cstdint>

namespace taylor::trainer {

/// The time of this process's steps. The first one pays for pages and caches: it counts by itself, and all
/// after it together.
class Pace {
public:
  /// The run's first step follows.
  void begin();
  /// A step that learned from so many targets; `waited`: of its seconds, those until it had its data.
  void add(double seconds, double waited, int64_t targets);

  /// From the process's start to its first step.
  double startSeconds() const { return start; }
  double firstStepSeconds() const { return first; }
  /// Targets per second; not a number before there is a second step, as the share.
  double speed() const { return targets ? double(targets) / seconds : NAN; }
  /// Of the time, that which steps waited for data.
  double waitedShare() const { return targets ? waited / seconds : NAN; }

private:
  double start = NAN, first = NAN;
  bool isWarm = false;            // after the first step
  double seconds = 0, waited = 0; // of warm steps
  int64_t targets = 0;
};

/// Floating-point operations per second that the device could do: log.peak where it is set; of a GPU, by its
/// data sheet (Gpus.h); of a processor, measured with torch's threads in some milliseconds. 0 for a GPU that
/// is not in the table.
double peakOf(const Config &config, c10::Device device);

/// The most bytes that this process has had at once: of a GPU's memory, or resident.
int64_t peakMemory(c10::Device device);

} // namespace taylor::trainer
#endif
