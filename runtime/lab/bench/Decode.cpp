// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A step of decoding next to a plain loop over as much memory: what it must read, and write, takes that long.
#include "runtime/Error.h"
#include "runtime/lab/bench/Commands.h"
#include "runtime/lab/bench/Measure.h"
#include "runtime/lab/bench/Rows.h"
#include "runtime/torch/Parallel.h"
#include <ATen/Parallel.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <nlohmann/json.hpp>

namespace taylor::bench {
namespace {

using Json = nlohmann::json;

// Compiled for the vectors of each machine: the loop must be bound by memory.
#define TAYLOR_VECTORS __attribute__((target_clones("default", "avx2", "avx512f")))

/// Reads and writes every number.
TAYLOR_VECTORS void readAndWrite(float *x, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    x[i] = x[i] * 0.999f + 1e-3f;
}

/// Reads every number.
TAYLOR_VECTORS float readOnly(const float *x, int64_t count) {
  constexpr int lanes = 64;
  float sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int j = 0; j < lanes; ++j)
      sums[j] += x[i + j];
  for (; i < count; ++i)
    sums[0] += x[i];
  float sum = 0;
  for (float one : sums)
    sum += one;
  return sum;
}

/// One pass over tensors of f32 (or of what has as many bytes), by the threads that kernels run on; each has
/// the same part of every tensor.
void stream(const std::vector<at::Tensor> &tensors, bool writes) {
  struct Pass {
    const std::vector<at::Tensor> &tensors;
    int64_t tasks;
    bool writes;
  };
  auto part = [](void *context, int64_t i) {
    const Pass &pass = *static_cast<Pass *>(context);
    for (const at::Tensor &tensor : pass.tensors) {
      auto *data = static_cast<float *>(tensor.data_ptr());
      int64_t count = int64_t(tensor.nbytes() / sizeof(float));
      int64_t begin = count * i / pass.tasks, end = count * (i + 1) / pass.tasks;
      if (pass.writes) {
        readAndWrite(data + begin, end - begin);
        continue;
      }
      volatile float sink = readOnly(data + begin, end - begin);
      (void)sink;
    }
  };
  Pass pass{tensors, parallelThreads(), writes};
  if (pass.tasks == 1)
    part(&pass, 0);
  else
    parallelFor(nullptr, pass.tasks, part, &pass);
}

template <typename Body> double microseconds(bool cpuClock, Body body) {
  double start = secondsBy(cpuClock);
  body();
  return 1e6 * (secondsBy(cpuClock) - start);
}

Attention makeAttention(const Request &request, const std::string &kind) {
  AttentionOptions options = request.attention();
  options.forwardOnly = !request.spec.ends_with(".so");
  if (options.forwardOnly)
    options.decode = kind;
  else if (kind != "auto")
    runtime::fail("unsupported --kind=", kind, " with the artifact '", request.spec,
                  "', whose step is compiled already; leave --kind out");
  return Attention(options);
}

/// What a step is called with.
struct StepCall {
  std::vector<at::Tensor> inputs, states;
  /// Prepared keys, where there are any, of the tokens before too.
  std::vector<at::Tensor> cache;
  int64_t tokens = 0; ///< Before the new ones.
  /// Of these, what grows with the tokens before or stands for them: states, which a step writes too, or
  /// keys.
  std::vector<at::Tensor> memory;
  bool isRecurrent = false;

  /// That a step must move: of states, what is read and written; else what is read.
  int64_t bytes() const {
    int64_t bytes = 0;
    for (const at::Tensor &tensor : memory)
      bytes += int64_t(tensor.nbytes()) * (isRecurrent ? 2 : 1);
    return bytes;
  }

  void run(const Attention &attention) const {
    if (cache.empty())
      attention.step(inputs, states);
    else
      attention.decode(inputs, cache, states, tokens);
  }
};

/// Of prepared keys, what a step reads; the inputs are of the new tokens alone.
void prepareKeys(const Manifest &manifest, const Request &request, StepCall &call) {
  int64_t added = request.shape.t;
  call.tokens = request.shape.u - added;
  call.memory.clear();
  for (at::Tensor &input : call.inputs)
    if (int64_t axis = manifest.inputs[size_t(&input - call.inputs.data())].keyAxis(); axis >= 0)
      input = input.narrow(axis, 0, added).contiguous();
  for (const TensorInfo &info : manifest.cache) {
    std::vector<int64_t> sizes;
    for (const TensorAxis &axis : info.axes)
      sizes.push_back(axis.isChannel() ? axis.size : request.shape.dims()[size_t(axis.dim)]);
    bool grows = info.keyAxis() >= 0;
    at::TensorOptions options = at::TensorOptions().dtype(scalarType(info.dtype));
    call.cache.push_back(grows ? at::randn(sizes, at::kFloat).to(options.dtype())
                               : at::zeros(sizes, options));
    if (grows)
      call.memory.push_back(call.cache.back());
  }
}

StepCall makeCall(const Manifest &manifest, const Request &request) {
  StepCall call;
  int function = manifest.function("step");
  call.isRecurrent = function >= 0 && manifest.functions[size_t(function)].isRecurrent;
  for (at::Tensor &input : makeInputs(manifest, request)) {
    const TensorInfo &info = manifest.inputs[call.inputs.size() + call.states.size()];
    input = input.detach();
    bool isKey =
        std::ranges::any_of(info.axes, [](const TensorAxis &axis) { return axis.dim == TAYLOR_DIM_U; });
    if (info.isState())
      input.fill_(0.01);
    (info.isState() ? call.states : call.inputs).push_back(input);
    if (call.isRecurrent ? info.isState() : isKey && !info.isState())
      call.memory.push_back(input);
  }
  if (!manifest.cache.empty())
    prepareKeys(manifest, request, call);
  return call;
}

/// Microseconds of each round: the step, the loop next to it, and the same step of other artifacts.
struct StepTimes {
  std::vector<double> steps, streams;
  std::vector<std::vector<double>> others;
};

StepTimes measureSteps(const Attention &attention, const std::vector<Attention> &others, const StepCall &call,
                       const Request &request) {
  StepTimes times;
  times.others.resize(others.size());
  bool cpuClock = request.clock == "cpu";
  auto timeStep = [&](const Attention &of) { return microseconds(cpuClock, [&] { call.run(of); }); };
  double end = secondsBy(false) + request.seconds;
  for (int64_t round = 0; round < request.rounds + 2 || secondsBy(false) < end; ++round) {
    double step = timeStep(attention);
    double plain = microseconds(cpuClock, [&] { stream(call.memory, call.isRecurrent); });
    bool isWarm = round >= 2;
    if (isWarm) {
      times.steps.push_back(step);
      times.streams.push_back(plain);
    }
    for (size_t i = 0; i < others.size(); ++i) {
      double other = timeStep(others[i]);
      if (isWarm)
        times.others[i].push_back(other);
      stream(call.memory, call.isRecurrent); // before each step the same
    }
  }
  return times;
}

} // namespace

Json benchDecode(const Request &request, const std::string &kind, const std::vector<std::string> &opponents) {
  useThreads(request);
  const Attention attention = makeAttention(request, kind);
  std::vector<Attention> others;
  for (const std::string &file : opponents)
    others.push_back(loadOpponent(file, attention.manifest(), request));
  const StepCall call = makeCall(attention.manifest(), request);
  const StepTimes times = measureSteps(attention, others, call, request);
  double step = median(times.steps), plain = median(times.streams);
  double fraction = medianOfRatios(times.streams, times.steps);
  const char *form = call.isRecurrent ? "recurrent" : "parallel";
  auto bytes = double(call.bytes());
  double mebibytes = bytes / (1 << 20);
  double speed = bytes / step * 1e-3, plainSpeed = bytes / plain * 1e-3;
  Json row = {{"command", "decode"},
              {"spec", request.spec},
              {"shape", request.shape.text()},
              {"dtype", request.dtype},
              {"form", form},
              {"threads", at::get_num_threads()},
              {"rounds", times.steps.size()},
              {"us", round3(step)},
              {"bytes", call.bytes()},
              {"mebibytes", round3(mebibytes)},
              {"gigabytes_per_s", round3(speed)},
              {"plain_gigabytes_per_s", round3(plainSpeed)},
              {"bandwidth_fraction", round3(fraction)}};
  if (request.settings.size())
    row["settings"] = request.settings;
  for (size_t i = 0; i < opponents.size(); ++i)
    addRatio(row, opponents[i], times.others[i], times.steps);
  printf("%-40s %-10s %10.1f us  %9.2f MiB  %7.1f GB/s of %7.1f: %5.1f %%", request.shape.text().c_str(),
         form, step, mebibytes, speed, plainSpeed, 100 * fraction);
  if (opponents.size())
    printRatios(row);
  printf("\n");
  fflush(stdout);
  return Json::array({row});
}

} // namespace taylor::bench
