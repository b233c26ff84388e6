// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// taylor-bench: how fast is a compiled attention, next to what else one could run?
#include "TaylorVersion.h"
#include "runtime/Cpu.h"
#include "runtime/Error.h"
#include "runtime/StandardStreams.h"
#include "runtime/lab/bench/Commands.h"
#include "runtime/torch/Peak.h"
#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace taylor;
using namespace taylor::bench;

namespace {

constexpr const char *kExamples = R"(
Examples:
  taylor-bench attention --spec examples/specs/softmax.mlir --shape 1,16,1024,64 --against sdpa --json softmax.json
  taylor-bench attention --spec mine.mlir --shape 1,16,1024,64 --dtype bf16 --against sdpa,eager
  taylor-bench attention --spec examples/specs/softmax.mlir --shape 1,4,4096,64 --mask bidirectional --direction forward --threads 1
  taylor-bench forms --spec series.mlir --orders 1,2,3 --shape 1,2,2048,16 --against sdpa
  taylor-bench decode --spec series.mlir --set order=2 --shape b=8,h=16,t=1,d=64
  taylor-bench train --python .venv/bin/python3 --json train.json
  taylor-bench call-overhead --spec examples/specs/softmax.mlir
  taylor-bench compile --spec examples/specs/softmax.mlir
  python runtime/lab/bench/triton_attention.py build/triton && taylor-bench ptx --plans build/triton
)";

/// What the command line says.
struct Arguments {
  Request request;
  std::vector<std::string> specs, shapes, directions = {"forward", "backward", "both"}, opponents;
  std::string json;
};

void addCommon(CLI::App *command, Arguments &arguments, bool withForm = true) {
  command
      ->add_option("--spec", arguments.specs,
                   "specifications, by comma: .mlir files (compiled on first use) or compiled .so files")
      ->required()
      ->delimiter(',');
  command->add_option("--dtype", arguments.request.dtype, "storage type: f32, bf16, f16 or f64")
      ->capture_default_str();
  command
      ->add_option("--set", arguments.request.settings,
                   "value of a free parameter, such as order=10 (repeatable)")
      ->take_all();
  if (withForm)
    command
        ->add_option("--form", arguments.request.form,
                     "form of the kernels, instead of the compiler's choice")
        ->check(CLI::IsMember({"auto", "parallel", "chunked"}));
  command->add_option("--mask", arguments.request.mask, "mask instead of the specification's")
      ->check(CLI::IsMember({"causal", "bidirectional"}));
  command->add_option("--seconds", arguments.request.seconds, "time for each row")->capture_default_str();
  command->add_option("--json", arguments.json, "file to write the rows to, as a JSON list");
}

void addShape(CLI::App *command, Arguments &arguments, const std::string &fallback) {
  arguments.shapes = {fallback};
  command
      ->add_option("--shape", arguments.shapes,
                   "sizes: B,H,T,D, or b=1,h=8,g=2,t=64,u=96,d=64,e=32: batch, query heads, key/value heads, "
                   "queries, keys, channels of a score and of a value (repeatable)")
      ->capture_default_str();
}

void addRounds(CLI::App *command, Request &request) {
  command->add_option("--rounds", request.rounds, "least rounds of each row, whatever time they take")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

void addThreads(CLI::App *command, Request &request) {
  command->add_option("--threads", request.threads, "threads of torch's pool; 0: all processors")
      ->capture_default_str();
}

void addClock(CLI::App *command, Request &request) {
  command
      ->add_option("--clock", request.clock,
                   "clock: wall, or cpu (this process's processor time, for one thread on a busy machine)")
      ->check(CLI::IsMember({"wall", "cpu"}))
      ->capture_default_str();
}

void addOpponents(CLI::App *command, Request &request, std::vector<std::string> &directions,
                  std::vector<std::string> &opponents) {
  addRounds(command, request);
  command->add_option("--direction", directions, "directions to time")
      ->delimiter(',')
      ->check(CLI::IsMember({"forward", "backward", "both"}))
      ->capture_default_str();
  command
      ->add_option(
          "--against", opponents,
          "opponents: sdpa (torch's scaled_dot_product_attention, which is softmax for any "
          "specification), eager (the specification as plain PyTorch code, from taylorc --emit=torch), or "
          "the file of an artifact with the same inputs: FILE.so")
      ->delimiter(',')
      ->check(CLI::Validator(
          [](const std::string &name) {
            bool isKnown = name == "sdpa" || name == "eager" || name.ends_with(".so");
            return isKnown ? "" : "expected sdpa, eager or FILE.so, but got '" + name + "'";
          },
          "{sdpa,eager,FILE.so}"));
}

CLI::App *addAttention(CLI::App &app, Arguments &arguments) {
  CLI::App *command = app.add_subcommand(
      "attention", "time forward, backward and both, next to opponents in the same process");
  addCommon(command, arguments);
  addShape(command, arguments, "1,16,1024,64");
  addOpponents(command, arguments.request, arguments.directions, arguments.opponents);
  addThreads(command, arguments.request);
  command
      ->add_option("--logits", arguments.request.logits,
                   "factor of the queries, and so of logits: 60 makes most weights vanish")
      ->capture_default_str();
  command
      ->add_option("--layout", arguments.request.layout,
                   "order of inputs in memory: bhtd, or bthd, as a projection leaves them")
      ->check(CLI::IsMember({"bhtd", "bthd"}))
      ->capture_default_str();
  addClock(command, arguments.request);
  command->footer(
      "\nRows:\n"
      "  ms                 median time\n"
      "  ratio              the opponent's time over ours, median over rounds\n"
      "  interval           in which the ratio lies with 95 % confidence; from 6 rounds on\n"
      "  gflops             operations on visible pairs (2d+2e forward, 6d+4e backward) per second\n"
      "  peak_fraction      their share of the machine's fused multiply-adds, measured between runs\n"
      "  executed_fraction  the same share of all operations of the form's kernels, by the compiler's "
      "count\n"
      "  memory_mb          peak memory beyond inputs, output and gradients");
  return command;
}

CLI::App *addForms(CLI::App &app, Arguments &arguments, FormsOptions &options, std::string &calibration) {
  CLI::App *command = app.add_subcommand(
      "forms", "time the forms of a specification, next to each other and opponents in the same process");
  addCommon(command, arguments, /*withForm=*/false);
  addShape(command, arguments, "1,4,4096,64");
  options.forms = {"auto", "parallel", "chunked"};
  command
      ->add_option("--forms", options.forms,
                   "forms to time, each compiled alone; auto: the compiler's choice")
      ->delimiter(',')
      ->check(CLI::IsMember({"auto", "parallel", "chunked"}))
      ->capture_default_str();
  command->add_option("--orders", options.orders, "values of the specification's parameter `order`: 1,2,3")
      ->delimiter(',');
  command->add_option("--calibrate", calibration,
                      "file to write this machine's costs to, for taylorc --form-costs, instead of rows; "
                      "times both forms of a "
                      "specification with a parameter `order`");
  options.directions = {"both"};
  addOpponents(command, arguments.request, options.directions, options.opponents);
  addThreads(command, arguments.request);
  command->footer("\nRows are those of `attention`, one for each form, with its name and order; ratio is the "
                  "time of another over the row's.\nThe row of auto names the form in which it runs.");
  return command;
}

CLI::App *addTrain(CLI::App &app, TrainOptions &options, std::string &json) {
  CLI::App *command = app.add_subcommand(
      "train", "time training steps of taylor-train and of the same model in PyTorch, in turn");
  options.config = "examples/experiments/speed.toml";
  options.pairs = "examples/experiments/speed.json";
  options.python = "python3";
  options.contexts = {1024, 4096};
  command
      ->add_option("--config", options.config,
                   "configuration of the trainer; its context, batch and steps do not count")
      ->capture_default_str();
  command->add_option("--pairs", options.pairs, "JSON list of specifications and their opponents")
      ->capture_default_str();
  command->add_option("--python", options.python, "Python interpreter with torch, such as .venv/bin/python3")
      ->capture_default_str();
  command->add_option("--context", options.contexts, "tokens of a sequence, by comma; each has its rows")
      ->delimiter(',')
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  command->add_option("--tokens", options.tokens, "tokens of a step, unless one sequence has more")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  command
      ->add_option(
          "--against", options.opponents,
          "opponents: sdpa (softmax by scaled_dot_product_attention), norm (the paper's eager code of "
          "exp(s) v over its length), series (its eager code of the series of 10 orders); "
          "default: all")
      ->delimiter(',')
      ->check(CLI::IsMember({"sdpa", "norm", "series"}));
  command->add_option("--rounds", options.rounds, "timed steps of each")->capture_default_str();
  command->add_option("--threads", options.threads, "threads of each; 0: all processors")
      ->capture_default_str();
  command
      ->add_option("--checkpoint-from", options.checkpointFrom,
                   "least tokens of a sequence at which eager opponents compute each layer again in the "
                   "backward (torch.utils.checkpoint), as they must to fit")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command->add_option("--device", options.device, "device of both: cpu, or cuda (the first GPU)")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command
      ->add_option("--precision", options.precision,
                   "precision: fp32, or bf16 (fp32 weights, products and attention in bf16)")
      ->check(CLI::IsMember({"fp32", "bf16"}))
      ->capture_default_str();
  command->add_option("--json", json, "file to write the rows to, as a JSON list");
  command->footer(
      "\nEach row is a pair of processes that make steps in turn; ratio is the opponent's time over "
      "ours, median over rounds.");
  return command;
}

CLI::App *addDecode(CLI::App &app, Arguments &arguments, std::string &kind) {
  CLI::App *command =
      app.add_subcommand("decode", "time one step of decoding, next to a plain loop over as much memory");
  addCommon(command, arguments, /*withForm=*/false);
  addShape(command, arguments, "b=8,h=16,t=1,d=64");
  command
      ->add_option(
          "--kind", kind,
          "kind of step: state (the recurrent form), cache (over u keys), or auto (state if sums have "
          "finitely many orders)")
      ->check(CLI::IsMember({"auto", "state", "cache"}))
      ->capture_default_str();
  command
      ->add_option("--against", arguments.opponents,
                   "files of artifacts with the same inputs, whose steps take turns with this one's")
      ->delimiter(',')
      ->check(CLI::Validator(
          [](const std::string &name) {
            return name.ends_with(".so") ? "" : "expected FILE.so, but got '" + name + "'";
          },
          "{FILE.so}"));
  addRounds(command, arguments.request);
  addThreads(command, arguments.request);
  addClock(command, arguments.request);
  command->footer(
      "\nbandwidth_fraction: the plain loop's time over the step's, median over rounds. The loop reads and "
      "writes states,\nand reads keys and values. ratio: another artifact's time over the step's.");
  return command;
}

CLI::App *addCounts(CLI::App &app, CountOptions &options, std::string &json) {
  CLI::App *command =
      app.add_subcommand("ptx", "count what PTX kernels execute, in the interpreter: needs no GPU");
  command
      ->add_option("--plans", options.folders,
                   "folders with PTX and a plans.json, as triton_attention.py writes them, by comma")
      ->delimiter(',');
  CLI::Option *spec = command->add_option("--spec", options.spec,
                                          "specification of softmax attention without a rotation, compiled "
                                          "for the cases of the plans, or without plans for those of "
                                          "--shape, --mask and --dtype");
  command
      ->add_option("--catalogue", options.catalogue,
                   "folder of specifications, all of which are counted; results are not judged. One mask and "
                   "one dtype")
      ->excludes(spec);
  options.shapes = {"1,2,512,64", "1,2,512,128"};
  command->add_option("--shape", options.shapes, "sizes B,H,T,D, without --plans (repeatable)")
      ->capture_default_str();
  options.masks = {"causal", "bidirectional"};
  command->add_option("--mask", options.masks, "masks, without --plans")
      ->delimiter(',')
      ->check(CLI::IsMember({"causal", "bidirectional"}))
      ->capture_default_str();
  options.dtypes = {"bf16"};
  command->add_option("--dtype", options.dtypes, "storage types, without --plans")
      ->delimiter(',')
      ->check(CLI::IsMember({"bf16", "f16"}))
      ->capture_default_str();
  options.targets = {"sm_80"};
  command->add_option("--target", options.targets, "GPUs to compile for, side by side, without --plans")
      ->delimiter(',')
      ->capture_default_str();
  options.directions = {"forward", "backward"};
  command->add_option("--direction", options.directions, "directions to count")
      ->delimiter(',')
      ->check(CLI::IsMember({"forward", "backward"}))
      ->capture_default_str();
  command->add_option("--threads", options.threads, "threads of this machine; 0: all processors")
      ->capture_default_str();
  command->add_option("--seed", options.seed, "seed of the order in which warps run")->capture_default_str();
  command->add_flag("--checks", options.checks,
                    "refuse races, also of equal values, and uninitialised values; slower");
  command->add_option("--json", json, "file to write the rows to, as a JSON list");
  command->footer(
      "\nCounts are per head and visible pair of a query and a key: instructions and barriers that "
      "warps issue, times 32 lanes;\npasses over banks beyond the fewest, times 32; bytes of "
      "global memory that lanes ask for (caches are not modelled).\nThe table shows the best of a "
      "contender's variants by each count, JSON all of them.");
  return command;
}

/// Runs `bench` for each specification and shape.
template <typename Bench> nlohmann::json forEach(const Arguments &arguments, Bench bench) {
  nlohmann::json rows = nlohmann::json::array();
  for (const std::string &spec : arguments.specs)
    for (const std::string &shape : arguments.shapes) {
      Request request = arguments.request;
      request.spec = spec;
      request.shape = Shape::parse(shape);
      for (auto &row : bench(request))
        rows.push_back(row);
    }
  return rows;
}

/// Whether `writeJson` could write there, before the work; leaves nothing behind.
void checkJson(const std::string &path) {
  namespace fs = std::filesystem;
  if (path.empty() || (fs::exists(path) && !fs::is_regular_file(path) && !fs::is_directory(path)))
    return;
  if (fs::is_directory(path))
    runtime::fail("expected --json to name a file, but got the folder '", path, "'");
  std::string partial = path + ".partial";
  if (std::ofstream(partial)) {
    fs::remove(partial);
    return;
  }
  std::string folder = fs::path(path).parent_path().string();
  runtime::fail("requires a folder that can be written for '", path, "': ", std::strerror(errno),
                folder.empty() || fs::exists(folder)
                    ? std::string("; name a file in another folder")
                    : "; make it with mkdir -p '" + folder + "', or name another file");
}

/// Written whole or not at all; a device or a pipe is written to, not replaced.
void writeJson(const std::string &path, const nlohmann::json &rows) {
  bool isSpecial = std::filesystem::exists(path) && !std::filesystem::is_regular_file(path);
  std::string partial = isSpecial ? path : path + ".partial";
  std::ofstream file(partial);
  file << rows.dump(2) << "\n";
  file.close();
  std::error_code error;
  if (file && !isSpecial)
    std::filesystem::rename(partial, path, error);
  if (!file || error)
    runtime::fail("could not write '", path, "'");
}

/// What `bench` gives, as a file too where one is asked for; refused before it begins where it cannot be
/// written.
int report(const std::string &json, const std::function<nlohmann::json()> &bench) {
  checkJson(json);
  nlohmann::json rows = bench();
  if (!json.empty())
    writeJson(json, rows);
  return 0;
}

/// CLI11 does not name a command that it does not know.
void requireCommand(const CLI::App &app, const std::string &word) {
  std::string known;
  for (const CLI::App *command : app.get_subcommands({})) {
    if (command->get_name() == word)
      return;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  runtime::fail("expected a command (", known, "), but got '", word, "'");
}

int printPeaks() {
  int64_t all = runtime::cpuCount();
  printf("vectors of %ld bits\n", long(peakVectorBits()));
  for (int64_t threads = 1; threads <= all; threads = threads < all ? std::min(all, threads * 2) : all + 1)
    printf("%3ld threads: f32 %.1f GFLOP/s, f64 %.1f GFLOP/s\n", long(threads),
           measurePeak(TAYLOR_F32, threads), measurePeak(TAYLOR_F64, threads));
  return 0;
}

int run(int argc, char **argv) {
  Arguments attentionArguments, overheadArguments, compileArguments;
  CLI::App app("taylor-bench: how fast is a compiled attention, next to what else one could run?");
  app.footer(kExamples);
  app.set_version_flag("--version",
                       std::string("taylor-bench ") + TAYLOR_VERSION + " (" + TAYLOR_GIT_HASH + ")");
  app.require_subcommand(1);

  CLI::App *attention = addAttention(app, attentionArguments);
  Arguments formsArguments;
  FormsOptions formsOptions;
  std::string calibration;
  CLI::App *forms = addForms(app, formsArguments, formsOptions, calibration);
  Arguments decodeArguments;
  std::string decodeKind = "auto";
  CLI::App *decode = addDecode(app, decodeArguments, decodeKind);
  CLI::App *overhead = app.add_subcommand(
      "call-overhead",
      "time what a call through torch costs beyond the C interface (T = 1, one thread, no gradient)");
  addCommon(overhead, overheadArguments);
  addShape(overhead, overheadArguments, "1,1,1,64");
  CLI::App *compile =
      app.add_subcommand("compile", "time taylorc, forward and backward, without the kernel cache");
  addCommon(compile, compileArguments);
  addShape(compile, compileArguments, "1,1,1,64");
  TrainOptions trainOptions;
  std::string trainJson;
  CLI::App *train = addTrain(app, trainOptions, trainJson);
  CountOptions countOptions;
  std::string countJson;
  CLI::App *counts = addCounts(app, countOptions, countJson);
  CLI::App *peak = app.add_subcommand("peak", "measure this machine's fused multiply-adds, in GFLOP/s");
  if (argc > 1 && argv[1][0] != '-')
    requireCommand(app, argv[1]);
  CLI11_PARSE(app, argc, argv);

  if (*peak)
    return printPeaks();
  for (const char *option : {"--shape", "--mask", "--dtype", "--target"})
    if (*counts && counts->count(option) && countOptions.spec.empty() && countOptions.catalogue.empty())
      runtime::fail("expected --spec or --catalogue with ", option, ": cases of --plans have theirs");
  if (*counts && !countOptions.catalogue.empty()) {
    if (counts->count("--mask") == 0)
      countOptions.masks = {"causal"};
    return report(countJson, [&] { return benchCatalogue(countOptions); });
  }
  if (*counts && countOptions.folders.empty() && countOptions.spec.empty())
    runtime::fail("expected --plans, --spec or both: whose kernels to count");
  if (*counts)
    return report(countJson, [&] { return benchCounts(countOptions); });
  if (*train)
    return report(trainJson, [&] { return benchTrain(trainOptions); });
  if (*forms && !calibration.empty())
    return report(calibration, [&] {
      Request request = formsArguments.request;
      request.spec = formsArguments.specs.front();
      request.shape = Shape::parse(formsArguments.shapes.front());
      return calibrateForms(request);
    });
  const Arguments &arguments = *attention  ? attentionArguments
                               : *forms    ? formsArguments
                               : *decode   ? decodeArguments
                               : *overhead ? overheadArguments
                                           : compileArguments;
  return report(arguments.json, [&] {
    return forEach(arguments, [&](const Request &request) {
      return *attention  ? benchAttention(request, arguments.directions, arguments.opponents)
             : *forms    ? benchForms(formsOptions, request)
             : *decode   ? benchDecode(request, decodeKind, decodeArguments.opponents)
             : *overhead ? benchOverhead(request)
                         : benchCompile(request);
    });
  });
}

} // namespace

int main(int argc, char **argv) {
  taylor::runtime::openStandardStreams();
  int status = 1;
  try {
    status = run(argc, argv);
  } catch (const c10::Error &error) {
    std::string message = error.what_without_backtrace();
    if (message.find("can't allocate memory") != std::string::npos)
      message = "requires more memory for its tensors than there is; a smaller --shape needs less";
    fprintf(stderr, "taylor-bench: error: %s\n", message.c_str());
  } catch (const std::exception &error) {
    fprintf(stderr, "taylor-bench: error: %s\n", error.what());
  }
  // Without libtorch's destructors, which take 0.1 s to forget its operators.
  std::cout.flush();
  if ((fflush(nullptr) != 0 || ferror(stdout) || !std::cout) && status == 0) {
    fprintf(stderr, "taylor-bench: error: cannot write to standard output: %s\n", strerror(errno));
    status = 1;
  }
  _exit(status);
}
