// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contenders timed in turn.
#ifndef TAYLOR_RUNTIME_LAB_BENCH_MEASURE_H
#define TAYLOR_RUNTIME_LAB_BENCH_MEASURE_H
#include "runtime/lab/bench/Opponents.h"
#include <optional>
#include <utility>

namespace taylor::bench {

/// Runs one contender on inputs that outlive it.
class Runner {
public:
  Runner(const Contender &contender, const std::vector<at::Tensor> &inputs, bool cpuClock);
  /// Milliseconds of one run of `forward`, `backward` or `both`; what is not timed is prepared before.
  double time(const std::string &direction);
  /// Peak bytes of one run beyond inputs, output and gradients.
  int64_t memory(const std::string &direction);

private:
  void prepare(const std::string &direction);
  std::vector<at::Tensor> run(const std::string &direction);

  const Contender &contender;
  const std::vector<at::Tensor> &inputs;
  bool cpuClock;
  std::vector<at::Tensor> differentiable;
  at::Tensor cotangent, output;
};

/// A runner for each.
std::vector<Runner> makeRunners(const std::vector<Contender> &contenders,
                                const std::vector<at::Tensor> &inputs, bool cpuClock);

/// What rounds gave, by contender and round.
struct Rounds {
  std::vector<std::vector<double>> ms;
  std::vector<int64_t> memory; ///< Peak bytes of the first run.
  std::vector<double> peaks;   ///< GFLOP/s of the machine's multiply-adds, in each round.
};

/// Lets torch's pool have the request's threads. Throws runtime::Error where more than one would be timed by
/// the processor's clock.
void useThreads(const Request &request);

/// Rounds of all contenders in turn, for the request's seconds and at least its rounds, with the machine's
/// peak measured in each: what else the machine does falls on all alike.
Rounds measure(const Request &request, const std::string &direction, std::vector<Runner> &runners);

/// The median over rounds of a's number over b's of the same round.
double medianOfRatios(const std::vector<double> &a, const std::vector<double> &b);

/// Between which two of the ratios what that median estimates lies with 95 % confidence, by the binomial
/// distribution of how many are below it; empty for fewer than 6 rounds, which do not tell.
std::optional<std::pair<double, double>> intervalOfRatios(const std::vector<double> &a,
                                                          const std::vector<double> &b);

/// Seconds of the wall since some moment, or of this process's threads together, which a busy machine
/// disturbs less.
double secondsBy(bool cpuClock);

/// To three digits after the point.
double round3(double x);

} // namespace taylor::bench

#endif
