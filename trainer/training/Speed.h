// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TRAINING_SPEED_H
#define TAYLOR_TRAINER_TRAINING_SPEED_H
#include "trainer/config/Config.h"
#include <c10/core/Device.h>
#include <cstdint>

namespace taylor::trainer {

/// Floating-point operations per second that the device could do: log.peak where it is set; of a GPU, by its
/// data sheet (Gpus.h); of a processor, measured with torch's threads in some milliseconds. 0 for a GPU that
/// is not in the table.
double peakOf(const Config &config, c10::Device device);

/// The most bytes that this process has had at once: of a GPU's memory, or resident.
int64_t peakMemory(c10::Device device);

/// Seconds since this process was started, to a hundredth.
double processSeconds();

} // namespace taylor::trainer
#endif
