// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/lab/bench/Measure.h"
#include "runtime/Error.h"
#include "runtime/Memory.h"
#include "runtime/lab/bench/Allocations.h"
#include "runtime/torch/Peak.h"
#include <ATen/Parallel.h>
#include <ATen/ops/randn_like.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <chrono>
#include <cmath>
#include <ctime>
#include <numbers>
#include <torch/csrc/autograd/autograd.h>

namespace taylor::bench {

double secondsBy(bool cpuClock) {
  timespec time;
  clock_gettime(cpuClock ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

Runner::Runner(const Contender &contender, const std::vector<at::Tensor> &inputs, bool cpuClock)
    : contender(contender), inputs(inputs), cpuClock(cpuClock) {
  for (const at::Tensor &input : inputs)
    if (input.requires_grad())
      differentiable.push_back(input);
  at::NoGradGuard guard;
  cotangent = at::randn_like(contender.forward(inputs));
}

double Runner::time(const std::string &direction) {
  prepare(direction);
  double begin = secondsBy(cpuClock);
  auto results = run(direction);
  return 1e3 * (secondsBy(cpuClock) - begin);
}

int64_t Runner::memory(const std::string &direction) {
  prepare(direction);
  // Results are allocated anew, and counted; workspace that is kept serves this call without being allocated.
  runtime::dropKeptResults();
  int64_t kept = contender.isOurs ? int64_t(runtime::keptMemory()) : 0;
  AllocationCount count;
  auto results = run(direction);
  int64_t owned = 0;
  for (const at::Tensor &result : results)
    owned += int64_t(result.nbytes());
  return std::max<int64_t>(0, count.peak() + kept - owned);
}

void Runner::prepare(const std::string &direction) {
  if (direction == "backward")
    output = contender.forward(inputs);
}

/// Output and gradients.
std::vector<at::Tensor> Runner::run(const std::string &direction) {
  if (direction == "forward") {
    at::NoGradGuard guard;
    return {contender.forward(inputs)};
  }
  std::vector<at::Tensor> results;
  if (direction == "both")
    output = contender.forward(inputs);
  // Inputs that an opponent does not read (a gate, for sdpa) have no gradient there.
  results = torch::autograd::grad({output}, differentiable, {cotangent}, /*retain_graph=*/false,
                                  /*create_graph=*/false,
                                  /*allow_unused=*/true);
  results.erase(
      std::remove_if(results.begin(), results.end(), [](const at::Tensor &x) { return !x.defined(); }),
      results.end());
  if (direction == "both")
    results.push_back(output);
  output.reset();
  return results;
}

double round3(double x) { return std::round(x * 1000) / 1000; }

std::vector<Runner> makeRunners(const std::vector<Contender> &contenders,
                                const std::vector<at::Tensor> &inputs, bool cpuClock) {
  std::vector<Runner> runners;
  for (const Contender &contender : contenders)
    runners.emplace_back(contender, inputs, cpuClock);
  return runners;
}

void useThreads(const Request &request) {
  if (request.clock == "cpu" && request.threads != 1)
    runtime::fail("requires --threads 1 with --clock cpu: waiting threads use processor time too");
  if (request.threads > 0)
    at::set_num_threads(int(request.threads));
}

static std::vector<double> ratiosOf(const std::vector<double> &a, const std::vector<double> &b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < a.size(); ++i)
    ratios.push_back(a[i] / b[i]);
  return ratios;
}

double medianOfRatios(const std::vector<double> &a, const std::vector<double> &b) {
  return median(ratiosOf(a, b));
}

std::optional<std::pair<double, double>> intervalOfRatios(const std::vector<double> &a,
                                                          const std::vector<double> &b) {
  std::vector<double> values = ratiosOf(a, b);
  // The chance that at most `below` of n values are below the median: a sum of binomial terms, by logarithms,
  // since the power of 1/2 is 0 from 1075 values on.
  size_t n = values.size(), below = 0;
  auto term = [count = double(n)](size_t of) {
    double k = double(of);
    return std::exp(std::lgamma(count + 1) - std::lgamma(k + 1) - std::lgamma(count - k + 1) -
                    count * std::numbers::ln2);
  };
  double chance = term(0);
  if (chance > 0.025)
    return std::nullopt;
  while (chance + term(below + 1) <= 0.025)
    chance += term(++below);
  std::sort(values.begin(), values.end());
  return std::pair{values[below], values[n - 1 - below]};
}

Rounds measure(const Request &request, const std::string &direction, std::vector<Runner> &runners) {
  constexpr double kShort = 20; // milliseconds
  Rounds rounds;
  for (Runner &runner : runners)
    rounds.memory.push_back(runner.memory(direction)); // also warms up
  rounds.ms.resize(runners.size());
  TaylorDtype dtype = request.dtype == "f64" ? TAYLOR_F64 : TAYLOR_F32;
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(request.seconds);
  for (int64_t round = 0; round < request.rounds || (std::chrono::steady_clock::now() < end && round < 1000);
       ++round) {
    rounds.peaks.push_back(measurePeak(dtype, at::get_num_threads(), request.clock == "cpu"));
    for (size_t i = 0; i < runners.size(); ++i) {
      // What ran before has emptied the caches, which a short call would pay for in place of its own time.
      if (round > 0 && rounds.ms[i].back() < kShort)
        runners[i].time(direction);
      rounds.ms[i].push_back(runners[i].time(direction));
    }
  }
  return rounds;
}

} // namespace taylor::bench
