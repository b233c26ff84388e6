// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The commands of taylor-bench. Each prints a table and gives its rows as JSON.
#ifndef TAYLOR_RUNTIME_LAB_BENCH_COMMANDS_H
#define TAYLOR_RUNTIME_LAB_BENCH_COMMANDS_H
#include "runtime/lab/bench/Problem.h"
#include <nlohmann/json_fwd.hpp>

namespace taylor::bench {

/// Forward, backward and both against opponents, interleaved in this process.
nlohmann::json benchAttention(const Request &request, const std::vector<std::string> &directions,
                              const std::vector<std::string> &opponents);

/// What `forms` runs.
struct FormsOptions {
  std::vector<std::string> forms, directions, opponents;
  std::vector<int64_t> orders; ///< Values of the parameter `order`; empty: the specification as it is.
};

/// Times both forms of the specification, whose parameter `order` takes 1, 2 and 3, where the costs of both
/// are expected to be equal, for d = e = 16 and 64 as far as that takes seconds; gives the samples of a file
/// for taylorc's
/// --form-costs.
nlohmann::json calibrateForms(const Request &request);

/// The forms of a specification, and opponents, interleaved in this process: rows as of benchAttention, for
/// each form, with `form`, `order`, and for `auto` what it chose.
nlohmann::json benchForms(const FormsOptions &options, const Request &request);

/// One step of decoding (`kind`: taylorc --decode) next to a plain loop that reads, and for states writes, as
/// much memory, and next to the steps of `opponents`, artifacts' files, interleaved: bandwidth_fraction is
/// the median of the loop's time over the step's, `ratio` that of an opponent's.
nlohmann::json benchDecode(const Request &request, const std::string &kind,
                           const std::vector<std::string> &opponents);

/// What a call through torch costs beyond the C interface: T = 1, one thread, no gradient.
nlohmann::json benchOverhead(const Request &request);

/// Time of taylorc for one specification, in a process of its own, without the kernel cache.
nlohmann::json benchCompile(const Request &request);

/// What `train` runs.
struct TrainOptions {
  std::string config; ///< A configuration of the trainer, except for context, batch and steps.
  /// A JSON list of what to run: {"specification" (from the file's folder), "settings", "against"}.
  std::string pairs;
  std::string python; ///< An interpreter that has torch.
  std::vector<int64_t> contexts;
  std::vector<std::string> opponents; ///< Of "sdpa", "norm" and "series"; empty: all.
  int64_t tokens = 2048;              ///< Of a step, where the context is no longer.
  int64_t rounds = 5;
  int64_t threads = 0;
  /// From so many tokens on eager opponents compute each layer again in the backward, as they must to fit.
  int64_t checkpointFrom = 4096;
  std::string device = "cpu";     ///< Or "cuda": the first GPU, whose memory counts.
  std::string precision = "fp32"; ///< Or "bf16", as the trainer's train.precision; the opponent's autocast.
};

/// Training steps of taylor-train next to those of the same model in PyTorch, each in a process of its own,
/// in turn: tokens per second, their ratio, and what it should be at least by the opponent's share of
/// attention and the kernels' ratio (Amdahl's law); peak memory; seconds from the trainer's start to its
/// first step's end.
nlohmann::json benchTrain(const TrainOptions &options);

/// What `ptx` runs.
struct CountOptions {
  std::vector<std::string> folders; ///< each with a plans.json (Plan.h)
  std::string spec;                 ///< of softmax attention, compiled for the plans' cases; or empty
  std::string catalogue;            ///< folder of specifications of any kind, in place of both; or empty
  std::vector<std::string> shapes, masks, dtypes; ///< the cases, where there are no plans
  std::vector<std::string> targets;               ///< GPUs, side by side, where there are no plans
  std::vector<std::string> directions;            ///< "forward", "backward"
  int64_t threads = 0;                            ///< host threads; 0: all processors
  uint64_t seed = 0;                              ///< order of warps
  bool checks = false; ///< races are errors, also two warps' writes of one value, and uninitialised values
};

/// Counts of the kernels of all plans and of the specification, after a check of their results. Throws
/// runtime::Error where the interpreter finds a fault or a result is no attention.
nlohmann::json benchCounts(const CountOptions &options);

/// Counts of all specifications of the catalogue's folder, each target's next to the other's, as a Markdown
/// table. Throws runtime::Error where the folder has none, one does not compile, or the interpreter finds a
/// fault.
nlohmann::json benchCatalogue(const CountOptions &options);

} // namespace taylor::bench

#endif
