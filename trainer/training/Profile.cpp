// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/training/Profile.h"
#include "trainer/support/Error.h"
#include <torch/csrc/autograd/profiler_kineto.h>

namespace taylor::trainer {

namespace profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;

StepProfile::StepProfile(const LogConfig &config, std::filesystem::path folder, c10::Device device)
    : config(config), folder(std::move(folder)), device(device) {}

StepProfile::~StepProfile() {
  if (running)
    profiler::disableProfiler();
}

void StepProfile::begin(int64_t step) {
  if (config.profileSteps == 0 || running || step < config.profileFrom ||
      step >= config.profileFrom + config.profileSteps)
    return;
  std::set<ActivityType> activities = {ActivityType::CPU};
  if (device.is_cuda())
    activities.insert(ActivityType::CUDA);
  else
    ::setenv("KINETO_LOG_LEVEL", "99", /*overwrite=*/0); // it calls it an error that there is no GPU
  torch::profiler::impl::ProfilerConfig kineto(torch::profiler::impl::ProfilerState::KINETO);
  profiler::prepareProfiler(kineto, activities);
  profiler::enableProfiler(kineto, activities);
  running = true;
  first = step;
}

std::filesystem::path StepProfile::end(int64_t step, bool last) {
  if (!running || (step + 1 < config.profileFrom + config.profileSteps && !last))
    return {};
  running = false;
  std::filesystem::path path = folder / text("trace-", first, "-", step, ".json");
  profiler::disableProfiler()->save(path);
  return path;
}

} // namespace taylor::trainer
