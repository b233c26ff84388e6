// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/Run.h"
#include "codegen/Driver/Forms/Passes.h"
#include "codegen/Driver/Output.h"
#include "codegen/Driver/Progress.h"
#include "codegen/run/Checks.h"
#include "codegen/run/Expectation.h"
#include "codegen/run/Npy.h"
#include "codegen/run/Report.h"
#include "codegen/run/Shared.h"
#include "dialect/Refusal.h"
#include "dialect/Taylor/Parameters.h"
#include "runtime/taylor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

using namespace mlir;
using namespace taylor;
using namespace taylor::run;

namespace {

LogicalResult write(const std::string &path, const Array &array, Dtype dtype) {
  if (llvm::Error error = writeNpy(path, array.shape.sizes, array.values, dtype))
    return fail(std::move(error));
  return success();
}

/// Writes what the options name, and prints one line for each array.
LogicalResult report(const Problem &problem, const Outcome &evaluated, const RunOptions &options) {
  // The reference has more digits than f32 shows.
  Dtype dtype = options.dtype ? problem.dtype : options.device == Device::Reference ? Dtype::F64 : Dtype::F32;
  auto show = [&](const std::string &name, const Array &array) {
    if (!options.check || options.print)
      printSummary(name, array);
    if (options.print)
      printElements(array);
  };
  for (auto [cotangent, output] : llvm::zip_equal(problem.cotangents, evaluated.outputs)) {
    show(cotangent.name, output);
    auto it = options.outputs.find(cotangent.name);
    if (it == options.outputs.end())
      it = options.outputs.find("*");
    if (it != options.outputs.end() && failed(write(it->second, output, dtype)))
      return failure();
  }
  for (auto [input, gradient] : llvm::zip(problem.inputs, evaluated.gradients)) {
    auto it = options.gradients.find(input.name);
    if (gradient.values.empty() && input.array.shape.count() != 0)
      continue; // of integers
    show("gradient " + input.name, gradient);
    if (it != options.gradients.end() && failed(write(it->second, gradient, dtype)))
      return failure();
  }
  return success();
}

size_t indexOf(ArrayRef<NamedArray> arrays, StringRef name) {
  return llvm::find_if(arrays, [&](const NamedArray &array) { return array.name == name; }) - arrays.begin();
}

/// What the reference takes long for, on a terminal; kernels' compilation shows itself. Null elsewhere.
std::unique_ptr<Progress> showReference() {
  if (!llvm::sys::Process::StandardErrIsDisplayed())
    return nullptr;
  auto progress = std::make_unique<Progress>("taylor-run");
  progress->begin("the reference and eager code, on the processor");
  return progress;
}

/// The shortest chunk, which is taken where the target chooses its own: then no more keys reach a query
/// through a state than here.
constexpr int64_t kShortestChunk = 64;

/// Where states are between tokens; of no form, pairs alone.
reference::StatesForm statesOf(std::optional<Form> form, const RunOptions &options) {
  int64_t chunk = options.compile.chunk ? options.compile.chunk : kShortestChunk;
  return {form == Form::Chunked ? chunk : form == Form::Recurrent ? 1 : 0, options.pieces};
}

/// The forms that kernels ran in.
Forms formsOf(const Outcome &evaluated, const RunOptions &options) {
  Forms forms;
  for (const RanForm &ran : evaluated.forms)
    (ran.function == FunctionRole::Backward ? forms.backward : forms.forward) = statesOf(ran.form, options);
  return forms;
}

LogicalResult runReference(SpecOp spec, const RunOptions &options) {
  FailureOr<Problem> problem = makeProblem(spec, options);
  if (failed(problem))
    return failure();
  std::unique_ptr<Progress> progress = showReference();
  if (!options.references.empty()) {
    reference::StatesForm form = statesOf(formOf(options.compile.form), options);
    FailureOr<Expectation> expectation = Expectation::evaluate(*problem, !options.forwardOnly);
    // Who compares with what is written has no eager code to draw from.
    if (failed(expectation) || failed(expectation->setForms(*problem, !options.forwardOnly, {form, form})) ||
        failed(expectation->addDraws(*problem, !options.forwardOnly)))
      return failure();
    return expectation->write(options.references, *problem);
  }
  auto arithmetic = options.device == Device::Eager ? problem->eager() : reference::RoundingRules::exact();
  FailureOr<Outcome> evaluated = evaluate(*problem, arithmetic, options.gradient);
  progress.reset();
  if (failed(evaluated))
    return failure();
  return report(*problem, *evaluated, options);
}

/// Every output and gradient of the kernels that the run asked for, judged.
ComparisonTable judgeAll(const Problem &problem, const Outcome &evaluated, const RunOptions &options,
                         const Expectation &expectation) {
  ComparisonTable table(/*withEager=*/true);
  for (auto [i, result] : llvm::enumerate(expectation.results)) {
    bool isOutput = result.kind == "output";
    if (!isOutput && options.absentGradients.contains(result.name))
      continue;
    const std::vector<Array> &arrays = isOutput ? evaluated.outputs : evaluated.gradients;
    size_t place = isOutput ? indexOf(problem.cotangents, result.name) : indexOf(problem.inputs, result.name);
    table.add(result.title(), expectation.judge(i, arrays[place].values));
  }
  return table;
}

/// Every output and gradient of the kernels against the reference, by the contract.
LogicalResult checkKernel(Problem &problem, const Outcome &evaluated, const RunOptions &options,
                          bool withGradients, Shared &shared) {
  std::unique_ptr<Progress> progress = showReference();
  std::optional<Expectation> expectation = shared.findExpectation(options, withGradients);
  if (!expectation) {
    FailureOr<Expectation> made = Expectation::evaluate(problem, withGradients);
    if (failed(made))
      return failure();
    expectation = std::move(*made);
  }
  if (failed(expectation->setForms(problem, withGradients, formsOf(evaluated, options))))
    return failure();
  shared.setExpectation(options, withGradients, *expectation);
  expectation->setStrict(options.strict, options.compile.bf16Products == BF16Products::Split);
  ComparisonTable table = judgeAll(problem, evaluated, options, *expectation);
  if (!table.passes()) {
    if (progress)
      progress->begin("eight more draws of eager code's rounding");
    if (failed(expectation->addDraws(problem, withGradients)))
      return failure();
    table = judgeAll(problem, evaluated, options, *expectation);
  }
  progress.reset();
  if (!options.references.empty() && failed(expectation->write(options.references, problem)))
    return failure();
  return success(table.print());
}

LogicalResult runKernels(SpecOp spec, const RunOptions &options, Shared &shared) {
  FailureOr<Problem> problem = makeProblem(spec, options);
  if (failed(problem))
    return failure();
  bool withGradients = options.hasGradients();
  FailureOr<Outcome> evaluated = options.device == Device::Tile
                                     ? runTilePrograms(*problem, options, withGradients)
                                     : runKernel(*problem, options, withGradients, shared);
  if (failed(evaluated) || failed(report(*problem, *evaluated, options)))
    return failure();
  if (options.printForm) {
    std::vector<std::string> forms;
    for (const RanForm &ran : evaluated->forms)
      forms.push_back((stringifyFunctionRole(ran.function) + " " + ran.text).str());
    llvm::outs() << "form: " << llvm::join(forms, ", ") << "\n";
  }
  if (!options.check)
    return success();
  LogicalResult checked = checkKernel(*problem, *evaluated, options, withGradients, shared);
  if (!options.spoils())
    return checked;
  auto runAgain = [&](Problem &spoiled) {
    return options.device == Device::Tile ? runTilePrograms(spoiled, options, withGradients)
                                          : runKernel(spoiled, options, withGradients, shared);
  };
  LogicalResult kept = checkSpoiled(*problem, *evaluated, options, withGradients, runAgain);
  return success(succeeded(checked) && succeeded(kept));
}

LogicalResult runModule(ModuleOp module, const RunOptions &options, Shared &shared) {
  FailureOr<SpecOp> spec = selectSpec(module, options.compile.spec);
  if (failed(spec))
    return failure();
  if (!options.functions.empty()) {
    std::unique_ptr<ModuleFile> separate;
    if (!options.spec.empty()) {
      FailureOr<std::unique_ptr<ModuleFile>> parsed = parseModule(options.functions, module.getContext());
      if (failed(parsed))
        return failure();
      separate = std::move(*parsed);
    }
    FailureOr<Problem> problem = makeProblem(*spec, options);
    if (failed(problem))
      return failure();
    return checkFunctions(separate ? *separate->module : module, *problem, options);
  }
  if (runsKernels(options.device) || options.device == Device::Tile)
    return runKernels(*spec, options, shared);
  return runReference(*spec, options);
}

LogicalResult runOne(const RunOptions &options, MLIRContext *context, Shared &shared) {
  FailureOr<std::unique_ptr<ModuleFile>> file =
      parseModule(options.spec.empty() ? options.functions : options.spec, context);
  if (failed(file))
    return failure();
  RefusalWatch watch(context); // after the file, whose handler prints
  LogicalResult done = runModule(*(*file)->module, options, shared);
  shared.isRefused |= watch.isRefused();
  return done;
}

/// The lines of --cases, each with the arguments that stand next to it.
FailureOr<std::vector<RunOptions>> readCases(const RunOptions &options, std::vector<std::string> &lines) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> text = llvm::MemoryBuffer::getFileOrSTDIN(options.cases);
  if (!text)
    return fail("requires the file of --cases, '" + options.cases + "': " + text.getError().message());
  std::vector<RunOptions> cases;
  for (llvm::line_iterator line(**text, /*SkipBlanks=*/true, '#'); !line.is_at_eof(); ++line) {
    SmallVector<StringRef> words;
    llvm::SplitString(*line, words);
    std::vector<std::string> arguments = options.casesArguments;
    for (StringRef word : words)
      arguments.push_back(word.str());
    std::vector<const char *> pointers;
    for (const std::string &argument : arguments)
      pointers.push_back(argument.c_str());
    llvm::Expected<RunOptions> parsed = parseOptions(pointers);
    std::string place = "in " + options.cases + ", line " + std::to_string(line.line_number()) + ": ";
    if (!parsed)
      return fail(place + llvm::toString(parsed.takeError()));
    if (!parsed->cases.empty() || parsed->help || parsed->version)
      return fail(place + "unsupported --cases, --help and --version of a case");
    if (std::string message = checkWritten(*parsed); !message.empty())
      return fail(place + message);
    cases.push_back(std::move(*parsed));
    lines.push_back(llvm::join(words, " "));
  }
  if (cases.empty())
    return fail("expected the arguments of a run on each line of '" + options.cases + "', but it has none");
  return cases;
}

/// Runs one case; 0, 1 or TAYLOR_REFUSED.
int runCase(const RunOptions &options, MLIRContext *context, Shared &shared) {
  shared.isRefused = false;
  if (succeeded(runOne(options, context, shared)))
    return 0;
  return shared.isRefused ? TAYLOR_REFUSED : 1;
}

int runCases(const RunOptions &options, MLIRContext *context) {
  std::vector<std::string> lines;
  FailureOr<std::vector<RunOptions>> cases = readCases(options, lines);
  if (failed(cases))
    return 1;
  Shared shared(*cases);
  size_t failures = 0, refusals = 0;
  for (auto [i, one] : llvm::enumerate(*cases)) {
    // Both streams are whole before and after each case, so that what was said is told to the right one.
    llvm::outs() << "case " << i + 1 << " of " << cases->size() << ": " << lines[i] << "\n";
    llvm::outs().flush();
    int status = runCase(one, context, shared);
    failures += status == 1;
    refusals += status == TAYLOR_REFUSED;
    llvm::outs() << "case " << i + 1
                 << (status == 0   ? ": ok"
                     : status == 1 ? ": FAILED"
                                   : ": refused")
                 << "\n";
    llvm::outs().flush();
  }
  llvm::outs() << cases->size() - failures - refusals << " cases passed, " << failures << " failed";
  if (refusals)
    llvm::outs() << ", " << refusals << " refused";
  llvm::outs() << "\n";
  return failures ? 1 : refusals ? TAYLOR_REFUSED : 0;
}

} // namespace

std::string taylor::run::checkWritten(const RunOptions &options) {
  std::vector<std::string> paths;
  for (const auto *files : {&options.outputs, &options.gradients})
    for (const auto &[name, path] : *files)
      paths.push_back(path);
  if (!options.references.empty()) {
    if (std::error_code error = llvm::sys::fs::create_directories(options.references))
      return "requires a folder that can be written at '" + options.references + "': " + error.message() +
             "; name another with --references";
    paths.push_back(options.references + "/contract.json");
  }
  return checkOutputs(paths);
}

int taylor::run::run(const RunOptions &options, MLIRContext *context) {
  if (!options.cases.empty())
    return runCases(options, context);
  Shared shared(options);
  return runCase(options, context, shared);
}
