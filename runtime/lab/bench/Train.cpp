// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TrainOpponent.h"
#include "runtime/Cpu.h"
#include "runtime/Error.h"
#include "runtime/lab/bench/Commands.h"
#include "runtime/lab/bench/Conversation.h"
#include "runtime/lab/bench/Folder.h"
#include "runtime/lab/bench/Measure.h"
#include "runtime/torch/Cuda.h"
#include <ATen/Parallel.h>
#include <algorithm>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace taylor::bench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using runtime::fail;

constexpr int kWarmSteps = 1;      // the first step pays for pages and caches
constexpr int kWarmStepsOnGpu = 4; // and some more for those of libraries and allocators
constexpr double kTarget = 0.9;    // of what Amdahl's law promises beyond 1

/// The attentions of train_opponent.py.
constexpr const char *kOpponents[] = {"sdpa", "norm", "series"};

/// A specification next to the same attention in PyTorch.
struct Pair {
  std::string specification;
  std::vector<std::string> settings; ///< "order=10"
  std::string opponent;
  bool isEager() const { return opponent != "sdpa"; }
};

std::vector<Pair> readPairs(const std::string &file) {
  std::ifstream stream(file);
  if (!stream)
    fail("expected a file of pairs, but '", file, "' cannot be read; --pairs names another");
  try {
    std::vector<Pair> pairs;
    for (const Json &pair : Json::parse(stream))
      pairs.push_back({fs::path(file).parent_path() / pair.at("specification").get<std::string>(),
                       pair.value("settings", std::vector<std::string>()), pair.at("against")});
    for (const Pair &pair : pairs)
      if (std::find(std::begin(kOpponents), std::end(kOpponents), pair.opponent) == std::end(kOpponents))
        fail("expected \"against\" to be \"sdpa\", \"norm\" or \"series\" in '", file, "', but got \"",
             pair.opponent, "\"");
    return pairs;
  } catch (const Json::exception &error) {
    fail("expected a list of {\"specification\", \"settings\", \"against\"} in '", file, "', but ",
         error.what());
  }
}

std::string trainerBeside() {
  fs::path path = fs::read_symlink("/proc/self/exe").parent_path() / "taylor-train";
  if (!fs::exists(path))
    fail("requires taylor-train beside taylor-bench, but '", path.string(), "' does not exist");
  return path;
}

Json parse(const std::string &line, const char *who) {
  Json message = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!message.is_object())
    fail("expected JSON of ", who, ", but got '", line, "'");
  return message;
}

Json ask(Conversation &contender, const char *what) {
  contender.tell(what);
  return parse(contender.hear(), what);
}

std::vector<std::string> trainerCommand(const TrainOptions &options, const Pair &one, int64_t context,
                                        int64_t steps, const fs::path &folder) {
  std::vector<std::string> command = {trainerBeside(),   "--config", options.config,  "--attention",
                                      one.specification, "--out",    folder.string(), "--overwrite",
                                      "--lockstep",      "--device", options.device};
  auto set = [&](const std::string &setting) { command.insert(command.end(), {"--set", setting}); };
  set("train.context=" + std::to_string(context));
  set("train.batch=" + std::to_string(std::max<int64_t>(options.tokens / context, 1)));
  set("train.steps=" + std::to_string(steps));
  set("run.threads=" + std::to_string(at::get_num_threads()));
  set("train.precision=" + options.precision);
  for (const char *setting :
       {"evaluation.every=0", "evaluation.sequences=1", "checkpoint.every=0", "log.tensorboard=false"})
    set(setting);
  for (const std::string &setting : one.settings)
    set(setting);
  return command;
}

/// Seconds of our kernels, forward and backward, on one layer's shape.
class OwnAttention {
public:
  OwnAttention(const TrainOptions &options, const Pair &one, const Json &model)
      : device(options.device == "cuda" ? at::kCUDA : at::kCPU, 0) {
    request.dtype = options.precision == "bf16" ? "bf16" : "f32";
    request.spec = one.specification;
    request.settings = one.settings;
    request.shape = {model["batch"],   model["heads"],    model["key_value_heads"], model["context"],
                     model["context"], model["head_dim"], model["value_dim"]};
    AttentionOptions compiled = request.attention();
    if (device.is_cuda()) {
      requireCuda();
      compiled.device = TAYLOR_CUDA;
    }
    attention.emplace(compiled);
    for (const at::Tensor &input : makeInputs(attention->manifest(), request))
      inputs.push_back(input.detach().to(device).set_requires_grad(input.requires_grad()));
    contender = {"taylor", [this](const std::vector<at::Tensor> &x) { return attention->call(x); }};
    runner.emplace(contender, inputs, /*cpuClock=*/false);
  }
  double seconds() {
    auto begin = std::chrono::steady_clock::now();
    double seconds = 1e-3 * runner->time("both");
    if (!device.is_cuda())
      return seconds;
    // The host only launches: the call ends where the GPU has nothing left to do.
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

private:
  at::Device device;
  Request request;
  std::optional<Attention> attention;
  std::vector<at::Tensor> inputs;
  Contender contender;
  std::optional<Runner> runner;
};

void print(const Json &row) {
  printf("%-22s T=%-5ld %8.0f tokens/s  %-7s %6.2fx (attention is %4.1f %% of its step, kernels %5.1fx: at "
         "least %.2fx)  %6.0f MB, it %6.0f MB  start %.1f s, first step %.1f s\n",
         row["spec"].get<std::string>().c_str(), long(row["context"].get<int64_t>()),
         row["tokens_per_second"].get<double>(), row["opponent"].get<std::string>().c_str(),
         row["ratio"].get<double>(), 100 * row["attention_share"].get<double>(),
         row["kernel_ratio"].get<double>(), row["ratio_wanted"].get<double>(),
         row["peak_memory_mb"].get<double>(), row["opponent_peak_memory_mb"].get<double>(),
         row["start_seconds"].get<double>(), row["first_step_seconds"].get<double>());
  fflush(stdout);
}

/// Seconds of rounds, in each of which all are timed after one another, and the answers of the last.
struct TrainRounds {
  std::vector<double> own, other, otherRest, ownAttention, otherAttention;
  Json last, lastOfOther;

  TrainRounds(int64_t count, Conversation &ours, Conversation &theirs, OwnAttention &attention) {
    for (int64_t round = 0; round < count; ++round) {
      last = ask(ours, "step");
      own.push_back(last["seconds"]);
      lastOfOther = ask(theirs, "step");
      other.push_back(lastOfOther["seconds"]);
      otherRest.push_back(ask(theirs, "rest")["seconds"]);
      ownAttention.push_back(attention.seconds());
      otherAttention.push_back(ask(theirs, "attention")["seconds"]);
    }
  }

  /// By what a step takes without it: attention timed apart and times the layers, where it is nearly all of
  /// the step, may come to more than the whole, and all depends on what is left.
  void addTo(Json &row, double tokens) const {
    double share = 1 - medianOfRatios(otherRest, other);
    double kernels = medianOfRatios(otherAttention, ownAttention);
    double amdahl = 1 / (1 - share + share / kernels);
    row["tokens_per_second"] = round3(tokens / median(own));
    row["opponent_tokens_per_second"] = round3(tokens / median(other));
    row["ratio"] = round3(medianOfRatios(other, own));
    row["attention_share"] = round3(share);
    row["kernel_ratio"] = round3(kernels);
    row["ratio_by_amdahl"] = round3(amdahl);
    row["ratio_wanted"] = round3(1 + kTarget * (amdahl - 1));
  }
};

/// Fills the caches of kernels and tokens.
void trainOneStep(const TrainOptions &options, const Pair &one, int64_t context, const fs::path &folder) {
  Conversation first("taylor-train", trainerCommand(options, one, context, 1, folder));
  first.hear();
  ask(first, "step");
  first.finish();
}

/// Says the opponent what to be, and lets it make its inputs.
void beginOpponent(Conversation &theirs, const Json &sizes, int64_t warmSteps) {
  theirs.tell(sizes.dump());
  Json opponent = parse(theirs.hear(), "the opponent");
  if (opponent["parameters"] != sizes["parameters"])
    fail("expected an opponent of ", sizes["parameters"].dump(), " parameters, but it has ",
         opponent["parameters"].dump());
  for (int64_t step = 0; step < warmSteps; ++step)
    ask(theirs, "step");
  ask(theirs, "rest");
  ask(theirs, "attention");
}

Json benchCase(const TrainOptions &options, const Pair &one, int64_t context) {
  TemporaryFolder folder;
  trainOneStep(options, one, context, folder.path / "first");
  bool onGpu = options.device == "cuda";
  int64_t warm = onGpu ? kWarmStepsOnGpu : kWarmSteps;
  Conversation ours("taylor-train",
                    trainerCommand(options, one, context, warm + options.rounds, folder.path / "run"));
  Json model = parse(ours.hear(), "taylor-train");
  double start = model["start_seconds"];
  double first = ask(ours, "step")["seconds"];
  for (int64_t step = 1; step < warm; ++step)
    ask(ours, "step");

  Json sizes = model;
  sizes["attention"] = one.opponent;
  sizes["checkpointing"] = one.isEager() && context >= options.checkpointFrom;
  sizes["threads"] = at::get_num_threads();
  sizes["device"] = options.device;
  sizes["precision"] = options.precision;
  Conversation theirs("the opponent", {options.python, "-c", trainOpponent});
  beginOpponent(theirs, sizes, warm);

  OwnAttention attention(options, one, model);
  if (onGpu)
    attention.seconds(); // loads the kernels
  TrainRounds rounds(options.rounds, ours, theirs, attention);
  Json row = {{"spec", fs::path(one.specification).filename().string()},
              {"opponent", one.opponent},
              {"checkpointing", sizes["checkpointing"]},
              {"context", context},
              {"batch", model["batch"]},
              {"parameters", model["parameters"]},
              {"start_seconds", round3(start)},
              {"first_step_seconds", round3(first)},
              {"rounds", options.rounds},
              {"threads", at::get_num_threads()},
              {"precision", options.precision},
              {"device", options.device},
              {"cpu", runtime::cpuName()}};
  rounds.addTo(row, model["batch"].get<double>() * double(context));
  if (onGpu)
    row["gpu"] = nameOfGpu(0);
  int64_t resident = ours.finish(), residentOfTheirs = theirs.finish();
  row["peak_memory_mb"] = (onGpu ? rounds.last["memory"].get<int64_t>() : resident) >> 20;
  row["opponent_peak_memory_mb"] =
      (onGpu ? rounds.lastOfOther["memory"].get<int64_t>() : residentOfTheirs) >> 20;
  print(row);
  return row;
}

} // namespace

Json benchTrain(const TrainOptions &options) {
  if (options.threads > 0)
    at::set_num_threads(int(options.threads));
  if (options.rounds < 1)
    fail("expected --rounds to be at least 1, but got ", options.rounds);
  std::vector<Pair> pairs = readPairs(options.pairs);
  Json rows = Json::array();
  for (int64_t context : options.contexts)
    for (const Pair &one : pairs)
      if (options.opponents.empty() || std::find(options.opponents.begin(), options.opponents.end(),
                                                 one.opponent) != options.opponents.end())
        rows.push_back(benchCase(options, one, context));
  return rows;
}

} // namespace taylor::bench
