// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/training/Speed.h"
#include "runtime/torch/Gpus.h"
#include "runtime/torch/Peak.h"
#include "trainer/model/Gpus.h"
#include <ATen/Parallel.h>
#include <algorithm>
#include <c10/core/CachingDeviceAllocator.h>
#include <ctime>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

namespace taylor::trainer {

/// Seconds since this process was started, to a hundredth.
static double processSeconds() {
  // The 22nd field of proc(5)'s stat, counted after the name in parentheses: ticks from boot to start.
  std::string stat;
  std::ifstream file("/proc/self/stat");
  std::getline(file, stat);
  std::istringstream fields(stat.substr(stat.rfind(')') + 2));
  std::string field;
  for (int i = 3; i <= 22; ++i)
    fields >> field;
  timespec now;
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec) - std::stod(field) / double(::sysconf(_SC_CLK_TCK));
}

void Pace::begin() { start = processSeconds(); }

void Pace::add(double stepSeconds, double stepWaited, int64_t stepTargets) {
  if (!isWarm) {
    first = stepSeconds;
    isWarm = true;
    return;
  }
  seconds += stepSeconds;
  waited += stepWaited;
  targets += stepTargets;
}

double peakOf(const Config &config, c10::Device device) {
  if (config.log.peak > 0)
    return config.log.peak;
  if (!device.is_cuda()) {
    // The best of a few: one that another process interrupted would make the peak too low, and every share of
    // it too high.
    double best = 0;
    for (int round = 0; round < 16; ++round)
      best = std::max(best, 1e9 * measurePeak(TAYLOR_F32, at::get_num_threads()));
    return best;
  }
  const Gpu *gpu = findGpu(nameOfGpu(device.index()));
  return !gpu ? 0 : config.train.precision == "bf16" ? gpu->bf16 : gpu->fp32;
}

int64_t peakMemory(c10::Device device) {
  if (device.is_cuda()) {
    using c10::CachingAllocator::StatType;
    auto stats = at::getDeviceAllocator(device.type())->getDeviceStats(device.index());
    return stats.reserved_bytes[size_t(StatType::AGGREGATE)].peak;
  }
  struct rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

} // namespace taylor::trainer
