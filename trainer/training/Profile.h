// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TRAINING_PROFILE_H
#define TAYLOR_TRAINER_TRAINING_PROFILE_H
#include "trainer/config/Config.h"
#include <c10/core/Device.h>
#include <filesystem>

namespace taylor::trainer {

/// libtorch's profile of a window of steps, as a Chrome trace: trace-FIRST-LAST.json in the run's folder,
/// which chrome://tracing and ui.perfetto.dev open.
class StepProfile {
public:
  StepProfile(const LogConfig &config, std::filesystem::path folder, c10::Device device);
  ~StepProfile();

  /// Around each step, which counts from 1. `end` returns the trace's path after the window's last step,
  /// which is the run's last where that comes first; else an empty one.
  void begin(int64_t step);
  std::filesystem::path end(int64_t step, bool last);

private:
  LogConfig config;
  std::filesystem::path folder;
  c10::Device device;
  int64_t first = 0;
  bool running = false;
};

} // namespace taylor::trainer
#endif
