// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Cpu.h"
#include "runtime/Error.h"
#include "runtime/Memory.h"
#include "runtime/bench/Allocations.h"
#include "runtime/bench/Commands.h"
#include "runtime/bench/Opponents.h"
#include "runtime/bench/Peak.h"
#include <ATen/Parallel.h>
#include <ATen/ops/randn_like.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <chrono>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <torch/csrc/autograd/autograd.h>

namespace taylor::bench {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

/// Seconds of the wall, or of this process's threads together, which a busy machine disturbs less.
double now(bool cpu) {
  timespec time;
  clock_gettime(cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// One run of one direction: prepares what is not timed, then times the rest.
class Runner {
public:
  Runner(const Contender &contender, const std::vector<at::Tensor> &inputs, bool cpuClock)
      : contender(contender), inputs(inputs), cpuClock(cpuClock) {
    for (const at::Tensor &input : inputs)
      if (input.requires_grad())
        differentiable.push_back(input);
    at::NoGradGuard guard;
    cotangent = at::randn_like(contender.forward(inputs));
  }

  /// Milliseconds.
  double time(const std::string &direction) {
    prepare(direction);
    double begin = now(cpuClock);
    auto results = run(direction);
    return 1e3 * (now(cpuClock) - begin);
  }

  /// Peak bytes beyond inputs, output and gradients.
  int64_t memory(const std::string &direction) {
    prepare(direction);
    int64_t kept = int64_t(runtime::keptMemory());
    AllocationCount count;
    auto results = run(direction);
    int64_t owned = 0;
    for (const at::Tensor &result : results)
      owned += int64_t(result.nbytes());
    // What the runtime kept from earlier calls serves this one without being allocated again.
    return std::max<int64_t>(0, count.peak() + kept - owned);
  }

private:
  void prepare(const std::string &direction) {
    if (direction == "backward")
      output = contender.forward(inputs);
  }

  /// Output and gradients.
  std::vector<at::Tensor> run(const std::string &direction) {
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

  const Contender &contender;
  const std::vector<at::Tensor> &inputs;
  bool cpuClock;
  std::vector<at::Tensor> differentiable;
  at::Tensor cotangent, output;
};

double round3(double x) { return std::round(x * 1000) / 1000; }

/// Rounds of all contenders in turn, with the machine's peak measured in each: what else the machine does
/// falls on all alike.
Json measure(const Request &request, const std::string &direction, std::vector<Runner> &runners,
             const std::vector<Contender> &contenders, const std::string &mask) {
  std::vector<int64_t> memory;
  for (Runner &runner : runners)
    memory.push_back(runner.memory(direction)); // also warms up

  std::vector<std::vector<double>> times(runners.size()), ratios(runners.size());
  std::vector<double> peaks;
  TaylorDtype dtype = request.dtype == "f64" ? TAYLOR_F64 : TAYLOR_F32;
  auto end = Clock::now() + std::chrono::duration<double>(request.seconds);
  for (int round = 0; round < 3 || (Clock::now() < end && round < 1000); ++round) {
    peaks.push_back(measurePeak(dtype, at::get_num_threads(), request.clock == "cpu"));
    for (size_t i = 0; i < runners.size(); ++i) {
      times[i].push_back(runners[i].time(direction));
      ratios[i].push_back(times[i].back() / times[0].back());
    }
  }

  double ms = median(times[0]), peak = median(peaks);
  double gflops =
      operations(request.shape, mask, direction != "backward", direction != "forward") / ms * 1e-6;
  Json row = {{"spec", request.spec},
              {"shape", request.shape.text()},
              {"dtype", request.dtype},
              {"direction", direction},
              {"mask", mask},
              {"ms", ms},
              {"gflops", round3(gflops)},
              {"peak_fraction", round3(gflops / peak)},
              {"peak_gflops", round3(peak)},
              {"memory_mb", countsAllocations() ? Json(round3(double(memory[0]) / (1 << 20))) : Json()},
              {"threads", at::get_num_threads()},
              {"rounds", peaks.size()},
              {"clock", request.clock},
              {"cpu", runtime::cpuName()},
              {"ratio", Json::object()},
              {"opponents", Json::object()}};
  for (size_t i = 1; i < runners.size(); ++i) {
    row["ratio"][contenders[i].name] = round3(median(ratios[i]));
    row["opponents"][contenders[i].name] = {{"ms", median(times[i])},
                                            {"memory_mb", round3(double(memory[i]) / (1 << 20))}};
  }
  return row;
}

void print(const Json &row) {
  printf("%-28s %-18s %-5s %-9s %10.3f ms %8.1f GFLOP/s %5.1f %% of peak",
         row["spec"].get<std::string>().c_str(), row["shape"].get<std::string>().c_str(),
         row["dtype"].get<std::string>().c_str(), row["direction"].get<std::string>().c_str(),
         row["ms"].get<double>(), row["gflops"].get<double>(), 100 * row["peak_fraction"].get<double>());
  if (row["memory_mb"].is_number())
    printf(" %8.1f MB", row["memory_mb"].get<double>());
  for (auto &[name, ratio] : row["ratio"].items())
    printf("   %s %.2fx", name.c_str(), ratio.get<double>());
  printf("\n");
  fflush(stdout);
}

} // namespace

Json benchAttention(const Request &request, const std::vector<std::string> &directions,
                    const std::vector<std::string> &opponents) {
  if (request.clock == "cpu" && request.threads != 1)
    runtime::fail("requires --threads 1 with --clock cpu: waiting threads use processor time too");
  if (request.threads > 0)
    at::set_num_threads(int(request.threads));
  Attention attention(request.attention());
  const Manifest &manifest = attention.manifest();
  std::vector<at::Tensor> inputs = makeInputs(manifest, request);

  std::vector<Contender> contenders;
  contenders.push_back(
      {"taylor", [&](const std::vector<at::Tensor> &tensors) { return attention.call(tensors); }});
  for (const std::string &name : opponents)
    contenders.push_back(makeOpponent(name, manifest, request));
  std::vector<Runner> runners;
  for (const Contender &contender : contenders)
    runners.emplace_back(contender, inputs, request.clock == "cpu");

  Json rows = Json::array();
  for (const std::string &direction : directions) {
    rows.push_back(measure(request, direction, runners, contenders, manifest.mask));
    print(rows.back());
  }
  return rows;
}

} // namespace taylor::bench
