// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels execute, counted by the interpreter of PTX: no GPU, no time. Each plan's results are judged
// against fp64 first, so that what is counted is attention.
#include "runtime/Cpu.h"
#include "runtime/Error.h"
#include "runtime/File.h"
#include "runtime/lab/bench/Commands.h"
#include "runtime/lab/bench/Plan.h"
#include "runtime/lab/bench/SpecKernels.h"
#include "runtime/ptx/Interpreter.h"
#include <ATen/ATen.h>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <torch/csrc/autograd/autograd.h>

namespace taylor::bench {
namespace {

using Json = nlohmann::json;
using runtime::fail;
using runtime::ptx::Profile;

/// Inputs of a dtype, results in fp64 of the same inputs, by name; all [b, h, t, d].
struct Problem {
  std::map<std::string, at::Tensor> inputs, expected;
};

Problem makeProblem(const Plan &plan) {
  at::manual_seed(1);
  Problem problem;
  const Shape &s = plan.shape;
  for (const char *name : {"q", "k", "v", "do"})
    problem.inputs[name] = at::randn({s.b, s.h, s.t, s.d}).to(scalarTypeOf(plan.dtype));
  std::vector<at::Tensor> exact;
  for (const char *name : {"q", "k", "v"})
    exact.push_back(problem.inputs[name].to(at::kDouble).requires_grad_());
  at::Tensor scores = at::matmul(exact[0], exact[1].transpose(2, 3)) / std::sqrt(double(s.d));
  if (plan.mask == "causal")
    scores = scores.masked_fill(at::ones({s.t, s.t}, at::kBool).triu(1), -INFINITY);
  at::Tensor output = at::matmul(at::softmax(scores, -1), exact[2]);
  auto gradients = torch::autograd::grad({output}, exact, {problem.inputs["do"].to(at::kDouble)});
  problem.expected = {
      {"o", output.detach()}, {"dq", gradients[0]}, {"dk", gradients[1]}, {"dv", gradients[2]}};
  return problem;
}

/// Arrays of one run: results and workspace start as NaN.
class Memory {
public:
  Memory(const Plan &plan, const Problem &problem) {
    for (auto &[name, tensor] : problem.inputs)
      add(name, tensor, false);
    for (auto &[name, tensor] : problem.expected)
      add(name, at::full(tensor.sizes(), NAN, scalarTypeOf(plan.dtype)), true);
    for (auto &[name, bytes] : plan.workspace)
      add("workspace " + name, at::full({int64_t(bytes)}, 0xff, at::kByte), true);
  }
  const at::Tensor &get(const std::string &name) const { return arrays.at(name); }
  /// Undefined where there is none.
  at::Tensor find(const std::string &name) const {
    auto found = arrays.find(name);
    return found == arrays.end() ? at::Tensor() : found->second;
  }
  std::vector<runtime::ptx::MemoryRange> ranges;

private:
  void add(const std::string &name, const at::Tensor &tensor, bool writable) {
    ranges.push_back({tensor.data_ptr(), tensor.nbytes(), name, writable});
    arrays[name] = tensor;
  }
  std::map<std::string, at::Tensor> arrays;
};

/// PTX files by path, each parsed once.
using Modules = std::map<std::string, runtime::ptx::Module>;

const runtime::ptx::Module &module(Modules &modules, const std::string &path) {
  auto found = modules.find(path);
  if (found == modules.end()) {
    std::string text;
    try {
      text = runtime::readFile(path);
    } catch (const runtime::Error &error) {
      fail("could not read '", path, "': ", error.what());
    }
    found = modules.emplace(path, runtime::ptx::parse(text, path)).first;
  }
  return found->second;
}

std::vector<std::byte> parameterBlock(const PlanKernel &kernel, const runtime::ptx::KernelSignature &info,
                                      const Memory &memory) {
  std::vector<std::byte> block(info.parameterBytes);
  if (info.parameters.size() != kernel.arguments.size())
    fail(kernel.path, ": expected ", info.parameters.size(), " arguments of ", info.name, ", but got ",
         kernel.arguments.size());
  for (size_t i = 0; i < info.parameters.size(); ++i) {
    const runtime::ptx::KernelParameter &parameter = info.parameters[i];
    auto put = [&](const auto &value) {
      if (sizeof value != parameter.bytes)
        fail(kernel.path, ": expected an argument of ", parameter.bytes, " bytes for ", parameter.name,
             ", but got ", sizeof value);
      std::memcpy(block.data() + parameter.offset, &value, sizeof value);
    };
    const PlanArgument &argument = kernel.arguments[i];
    if (auto *tensor = std::get_if<PlanTensor>(&argument))
      put(memory.get(tensor->name).data_ptr());
    else if (auto *workspace = std::get_if<PlanWorkspace>(&argument))
      put(memory.get("workspace " + workspace->name).data_ptr());
    else if (auto *number = std::get_if<int32_t>(&argument))
      put(*number);
    else if (auto *wide = std::get_if<int64_t>(&argument))
      put(*wide);
    else
      put(std::get<float>(argument));
  }
  return block;
}

Profile run(const PlanKernel &kernel, const Memory &memory, Modules &modules, const CountOptions &options) {
  const runtime::ptx::Module &code = module(modules, kernel.path);
  auto kernels = code.kernels();
  auto info = std::find_if(kernels.begin(), kernels.end(), [&](auto &k) { return k.name == kernel.entry; });
  if (info == kernels.end())
    fail(kernel.path, ": expected an entry '", kernel.entry, "'");
  auto [x, y, z] = kernel.grid;
  unsigned threads = unsigned(options.threads > 0 ? options.threads : runtime::cpuCount());
  runtime::ptx::RunReport report = runtime::ptx::launch(
      code, kernel.entry, {x, y, z}, {kernel.threads, 1, 1}, kernel.shared,
      parameterBlock(kernel, *info, memory), memory.ranges,
      {.seed = options.seed, .checks = options.checks, .profile = true, .threads = threads});
  if (report.fault)
    fail(kernel.path, ": ", report.fault->message);
  return report.profile;
}

/// |x - expected| / |expected| in 2-norms.
double distance(const at::Tensor &x, const at::Tensor &expected) {
  return ((x.to(at::kDouble) - expected).norm() / expected.norm()).item<double>();
}

/// Distances of a run's results; throws where one is no attention.
Json judge(const Plan &plan, const Problem &problem, const Memory &memory) {
  // Four roundings of the storage type, relative to the whole: the weights are rounded to it too.
  double most = 4 * (plan.dtype == "bf16" ? 0x1p-8 : 0x1p-11);
  Json errors = Json::object();
  for (auto &[name, expected] : problem.expected) {
    if ((name == "o") != (plan.direction == "forward"))
      continue;
    double error = distance(memory.get(name), expected);
    if (!(error <= most))
      fail(plan.contender, " (", plan.variant, ", ", plan.direction, ", ", plan.mask, ", ", plan.dtype, ", ",
           plan.shape.text(), "): expected ", name, " within ", most, " of fp64, but got ", error);
    errors[name] = error;
  }
  return errors;
}

/// One line of the table: a count, and whether more of it is better.
struct Metric {
  const char *key, *title;
  bool moreIsBetter;
};
constexpr Metric kMetrics[] = {
    {"instructions", "instructions", false},     {"mma_share", "share of mma", true},
    {"bank_conflicts", "bank conflicts", false}, {"global_read", "bytes read", false},
    {"global_written", "bytes written", false},  {"barriers", "barriers", false}};

/// The best of a contender's rows by one metric. Kernels that do not fit into registers come last: their
/// spills are not in the PTX, and no one would choose them.
const Json &best(const std::vector<const Json *> &rows, const Metric &metric) {
  auto rank = [&](const Json *row) {
    double count = (*row)["counts"][metric.key];
    return std::pair((*row).value("spilled", size_t(0)) > 64, metric.moreIsBetter ? -count : count);
  };
  return **std::min_element(rows.begin(), rows.end(),
                            [&](const Json *a, const Json *b) { return rank(a) < rank(b); });
}

/// Rows of one case, a table with a column for each contender: its best by each count, and which variant that
/// is.
void print(const std::vector<const Json *> &rows) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const Json *>> contenders;
  for (const Json *row : rows) {
    std::string name = (*row)["contender"];
    if (!contenders.contains(name))
      order.push_back(name);
    contenders[name].push_back(row);
  }
  const Json &any = *rows.front();
  auto text = [&](const char *key) { return any[key].get<std::string>(); };
  std::string target = contenders.size() > 1 && order.front() == text("target") ? "" : " " + text("target");
  printf("%s %s %s %s%s\n  %-15s", text("direction").c_str(), text("shape").c_str(), text("dtype").c_str(),
         text("mask").c_str(), target.c_str(), "per pair");
  for (const std::string &name : order)
    printf("  %-44s", name.c_str());
  for (const Metric &metric : kMetrics) {
    printf("\n  %-15s", metric.title);
    for (const std::string &name : order) {
      const Json &row = best(contenders[name], metric);
      printf("  %9.4f  %-33s", row["counts"][metric.key].get<double>(),
             row["variant"].get<std::string>().c_str());
    }
  }
  printf("\n");
}

std::string inputsOf(const Plan &plan) { return plan.shape.text() + " " + plan.dtype + " " + plan.mask; }
/// What stands in one table: the specification's targets side by side, where it has several.
std::string caseOf(const Plan &plan) {
  return plan.direction + " " + inputsOf(plan) + (plan.contender == plan.target ? "" : " " + plan.target);
}

/// The plans of all folders, in the directions that were asked for.
std::vector<Plan> readAll(const CountOptions &options) {
  std::vector<Plan> plans;
  for (const std::string &folder : options.folders)
    for (Plan &plan : readPlans(folder))
      if (std::find(options.directions.begin(), options.directions.end(), plan.direction) !=
          options.directions.end())
        plans.push_back(std::move(plan));
  return plans;
}

/// Plans without kernels, for the specification: one for each case of the others, or for each that was asked
/// for.
std::vector<Plan> plansOfSpec(const CountOptions &options, const std::vector<Plan> &others) {
  Plan ours;
  ours.contender = "taylor";
  ours.variant = options.spec.substr(options.spec.rfind('/') + 1);
  std::vector<Plan> plans;
  if (others.empty()) {
    for (const std::string &direction : options.directions)
      for (const std::string &shape : options.shapes)
        for (const std::string &dtype : options.dtypes)
          for (const std::string &mask : options.masks)
            for (const std::string &target : options.targets) {
              ours.direction = direction, ours.mask = mask, ours.dtype = dtype, ours.target = target;
              ours.shape = Shape::parse(shape);
              if (options.targets.size() > 1)
                ours.contender = target;
              plans.push_back(ours);
            }
    return plans;
  }
  std::set<std::string> known;
  for (const Plan &plan : others)
    if (known.insert(caseOf(plan)).second) {
      ours.target = plan.target, ours.direction = plan.direction, ours.mask = plan.mask;
      ours.dtype = plan.dtype, ours.shape = plan.shape;
      plans.push_back(ours);
    }
  return plans;
}

/// Runs a plan, or the specification where it has no kernels, and judges what comes out.
class Counter {
public:
  explicit Counter(const CountOptions &options) : options(options) {}

  Json count(const Plan &plan) {
    auto [found, isNew] = problems.try_emplace(inputsOf(plan));
    Problem &problem = found->second;
    if (isNew)
      problem = makeProblem(plan);
    Memory memory(plan, problem);
    Json row = {{"contender", plan.contender}, {"variant", plan.variant}, {"target", plan.target},
                {"direction", plan.direction}, {"mask", plan.mask},       {"dtype", plan.dtype},
                {"shape", plan.shape.text()}};
    Profile profile;
    if (plan.kernels.empty()) {
      profile = runCompiled(options.spec, plan, options,
                            [&](const std::string &name) { return memory.find(name); });
    } else {
      for (const PlanKernel &kernel : plan.before)
        run(kernel, memory, modules, options);
      size_t spilled = 0;
      for (const PlanKernel &kernel : plan.kernels) {
        profile.add(run(kernel, memory, modules, options));
        spilled = std::max(spilled, kernel.spilled);
      }
      row["spilled"] = spilled;
    }
    row["errors"] = judge(plan, problem, memory);
    row["counts"] = countsOf(plan, profile);
    return row;
  }

private:
  const CountOptions &options;
  std::map<std::string, Problem> problems;
  Modules modules;
};

} // namespace

Json countsOf(const Plan &plan, const Profile &profile) {
  double pairs = double(plan.shape.b * plan.shape.h * visiblePairs(plan.shape, plan.mask));
  Json classes = Json::object();
  for (unsigned k = 0; k < Profile::Classes; ++k)
    if (profile.issued[k])
      classes[Profile::name(Profile::Class(k))] = 32 * double(profile.issued[k]) / pairs;
  return {{"instructions", 32 * double(profile.total) / pairs},
          {"mma_share", profile.matrixShare()},
          {"bank_conflicts", 32 * double(profile.bankConflicts) / pairs},
          {"global_read", double(profile.globalRead) / pairs},
          {"global_written", double(profile.globalWritten) / pairs},
          {"barriers", 32 * double(profile.issued[Profile::Barrier]) / pairs},
          {"classes", classes}};
}

Json benchCounts(const CountOptions &options) {
  std::vector<Plan> plans = readAll(options);
  if (!options.spec.empty())
    for (Plan &plan : plansOfSpec(options, plans))
      plans.push_back(std::move(plan));
  Counter counter(options);
  Json rows = Json::array();
  std::vector<std::string> order;
  std::map<std::string, std::vector<size_t>> cases;
  for (const Plan &plan : plans) {
    std::string key = caseOf(plan);
    if (!cases.contains(key))
      order.push_back(key);
    cases[key].push_back(rows.size());
    rows.push_back(counter.count(plan));
  }
  for (const std::string &key : order) {
    std::vector<const Json *> some;
    for (size_t row : cases[key])
      some.push_back(&rows[row]);
    print(some);
  }
  return rows;
}

} // namespace taylor::bench
