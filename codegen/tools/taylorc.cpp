// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler: a specification to a shared object and its manifest, or to the text of any level between.
#include "codegen/Driver/CommandLine.h"
#include "codegen/Driver/Driver.h"
#include "codegen/Driver/Output.h"
#include "codegen/Driver/Progress.h"
#include "codegen/Driver/RegisterAll.h"
#include "codegen/Driver/SourceText.h"

#include "runtime/StandardStreams.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace taylor;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("Options of taylorc");

/// A level's name; a message with all names for another.
struct EmissionParser : cl::parser<Emission> {
  using parser::parser;
  bool parse(cl::Option &option, llvm::StringRef name, llvm::StringRef text, Emission &value) {
    if (findOption(text) != getNumOptions())
      return parser::parse(option, name, text, value);
    std::string names;
    for (unsigned i = 0; i < getNumOptions(); ++i)
      names += (i == 0 ? "" : i + 1 == getNumOptions() ? " or " : ", ") + getOption(i).str();
    return option.error("expected " + names + ", but got '" + text + "'");
  }
};

struct CommandLine {
  cl::list<std::string> inputs{cl::Positional, cl::desc("SPEC.mlir"), cl::cat(category)};
  cl::opt<std::string> output{
      "o",
      cl::desc("shared object to write; its manifest goes next to it, as NAME.json\n"
               "(with --emit or --report: file for the text; default: standard output)"),
      cl::value_desc("NAME.so"), cl::cat(category)};
  cl::list<std::string> targets{
      "target",
      cl::desc(
          "machines to compile for, by comma or repeated, all in one shared object (default: native).\n"
          "Processors: native, x86-64-v3 (AVX2), x86-64-v4 (AVX-512), znver4, znver5, sapphirerapids (AMX).\n"
          "GPUs: sm_80, sm_86, sm_89, sm_90, sm_100, sm_120; a later GPU gets the code of the newest of "
          "these\n"
          "that it runs. sm_90a: H100 and H200 alone, with matrix units that run beside the threads;\n"
          "Experiments (codegen/Targets/NVPTX/HOPPER.md): sm_90a+roles, with warps that copy for others;\n"
          "sm_90a+roles+overlap, whose iterations overlap; +persistent after both, whose blocks also take\n"
          "one place of the grid after the other; +early after sm_90 and later: kernels of a call begin\n"
          "before the one before them has ended. sm_90a+computed: loops rotate keys where they read them;\n"
          "+lengths after all of sm_90a, before +early: further tiles for long sequences"),
      cl::value_desc("name,.."), cl::CommaSeparated, cl::cat(category)};
  cl::opt<std::string> dtype{"dtype", cl::desc("storage type: f32 (default), bf16, f16 or f64"),
                             cl::init("f32"), cl::cat(category)};
  cl::opt<int64_t> headDim{
      "head-dim", cl::desc("channels of queries and keys (default: as the specification writes, or 64)"),
      cl::init(64), cl::cat(category)};
  cl::opt<int64_t> valueDim{
      "value-dim", cl::desc("channels of values (default: as the specification writes, or as --head-dim)"),
      cl::init(0), cl::cat(category)};
  cl::opt<std::string> f32Products{
      "f32-products",
      cl::desc("how GPUs multiply f32: fma (default), or tf32: on matrix units, operands rounded to 11 bits"),
      cl::init("fma"), cl::cat(category)};
  cl::opt<std::string> bf16Products{
      "bf16-products",
      cl::desc(
          "operands that are computed in f32, with --dtype=bf16, on targets that multiply bf16\n"
          "(default: auto).\n"
          "rounded: to bf16, as FlashAttention does;\n"
          "split: into two bf16 numbers, for errors of the results' rounding alone, at up to three products\n"
          "instead of one (GPUs);\n"
          "auto: rounded"),
      cl::init("auto"), cl::cat(category)};
  cl::opt<std::string> rowSums{
      "row-sums",
      cl::desc("how GPUs sum gradients of queries (default: separate).\n"
               "separate: in a kernel for them alone, with the same bits each time;\n"
               "atomic: in the kernel of the other gradients, added in any order"),
      cl::init("separate"), cl::cat(category)};
  cl::opt<std::string> form{
      "form",
      cl::desc(
          "how sums over pairs are computed (default: auto).\n"
          "parallel: all pairs;\n"
          "long: the same, with tiles for long sequences (sm_90a+lengths);\n"
          "chunked: pairs within a chunk, and states between chunks (finite sums of powers);\n"
          "recurrent: token by token, with the states of --states (finite sums of powers, forward only);\n"
          "auto: parallel, and long and chunked too if they may pay; each call takes the cheapest one, the\n"
          "manifest says why, and --emit shows the parallel one"),
      cl::init("auto"), cl::cat(category)};
  cl::opt<int64_t> chunk{"chunk",
                         cl::desc("queries of a chunk, a multiple of 64 (default: the target's choice)"),
                         cl::init(0), cl::cat(category)};
  cl::opt<bool> states{
      "states",
      cl::desc(
          "add the states before and after a call as optional inputs initial.* and outputs final.*, with\n"
          "gradients: a sequence computed in pieces gives the results of the whole"),
      cl::cat(category)};
  cl::opt<bool> forwardOnly{
      "forward-only",
      cl::desc("leave the backward out, if no call is differentiated: compiles in half the time or less"),
      cl::cat(category)};
  cl::opt<std::string> decode{
      "decode",
      cl::desc("add a function 'step' for one new token or a few (without a value: auto).\n"
               "state: in the recurrent form, with the states of --states;\n"
               "cache: over what is kept of all keys, by the caller; where it is not inputs as they came, a\n"
               "function 'append' prepares new keys, and 'extend' is 'step' for many queries;\n"
               "auto: state if sums have finitely many orders and states are no larger than the keys and\n"
               "values of a million tokens in f32, else cache"),
      cl::value_desc("auto|state|cache"), cl::ValueOptional, cl::cat(category)};
  cl::opt<std::string> formCosts{
      "form-costs",
      cl::desc("file of this machine's costs for --form=auto, written by taylor-bench forms --calibrate"),
      cl::value_desc("FILE.json"), cl::cat(category)};
  cl::opt<std::string> report{
      "report",
      cl::desc("print registers, shared memory, spills, occupancy and instructions of each GPU kernel, as a\n"
               "table (default) or json"),
      cl::value_desc("table|json"), cl::ValueOptional, cl::cat(category)};
  cl::list<std::string> set{"set", cl::desc("value of a free parameter, such as order=4 (repeatable)"),
                            cl::value_desc("name=value"), cl::cat(category)};
  cl::opt<std::string> mask{"mask", cl::desc("mask instead of the specification's: causal or bidirectional"),
                            cl::cat(category)};
  cl::opt<bool> documents{
      "documents", cl::desc("compile for sequences of several documents, which an input 'documents' numbers"),
      cl::cat(category)};
  cl::opt<std::string> spec{"spec", cl::desc("specification to compile, of a file with several"),
                            cl::value_desc("name"), cl::cat(category)};
  cl::opt<Emission, false, EmissionParser> emit{
      "emit", cl::desc("stop at a level and print it:"),
      cl::values(
          clEnumValN(Emission::Torch, "torch", "plain PyTorch code, valid TorchScript"),
          clEnumValN(Emission::Series, "series",
                     "JSON: coefficients of the weights as a power series of one product, and two\n"
                     "specifications: of the part before the sum over pairs, and of the part after it"),
          clEnumValN(Emission::Pairwise, "pairwise", "forward and backward over all pairs, stabilised"),
          clEnumValN(Emission::Tile, "tile", "programs of loops over tiles, of the target's sizes"),
          clEnumValN(Emission::Vector, "vector", "code over vectors (processors)"),
          clEnumValN(Emission::LLVM, "llvm", "LLVM IR"),
          clEnumValN(Emission::Assembly, "asm", "assembly text"),
          clEnumValN(Emission::PTX, "ptx", "assembly text of a GPU, PTX"),
          clEnumValN(Emission::Manifest, "manifest", "manifest of the shared object")),
      cl::init(Emission::Artifact), cl::cat(category)};
  cl::opt<std::string> explain{
      "explain",
      cl::desc("write one HTML page with all levels of the first target side by side and the lines\n"
               "that come from one another; no shared object (without -o, --emit, --report)"),
      cl::value_desc("PAGE.html"), cl::cat(category)};
  cl::opt<std::string> saveStages{"save-stages", cl::desc("folder to write the module to after each stage"),
                                  cl::value_desc("folder"), cl::cat(category)};
  cl::opt<bool> quiet{"quiet", cl::desc("hide the progress that stderr shows after 2 s"), cl::cat(category)};
};

int report(const std::string &message) {
  llvm::errs() << "taylorc: error: " << message << "\n";
  return 1;
}

/// Reads the word of an option into `choice`; a message where it is none of `words`, which are in words.
template <typename Choice>
std::string readChoice(const cl::opt<std::string> &option,
                       std::optional<Choice> (*symbolize)(llvm::StringRef), llvm::StringRef words,
                       Choice &choice) {
  std::optional<Choice> read = symbolize(option.getValue());
  if (!read)
    return ("expected --" + option.ArgStr + "=" + words + ", but got '" + option.getValue() + "'").str();
  choice = *read;
  return "";
}

/// The same of all options that have a few words; the first message.
std::string readChoices(const CommandLine &line, CompileOptions &options) {
  std::string message = readChoice(line.dtype, symbolizeStorageType, "f32, bf16, f16 or f64", options.dtype);
  if (message.empty())
    message = readChoice(line.f32Products, symbolizeF32Products, "fma or tf32", options.f32Products);
  if (message.empty())
    message =
        readChoice(line.bf16Products, symbolizeBF16Products, "auto, rounded or split", options.bf16Products);
  if (message.empty())
    message = readChoice(line.rowSums, symbolizeRowSumsChoice, "separate or atomic", options.rowSums);
  return message;
}

/// Options as the driver takes them; a message where one is malformed.
std::string readOptions(CommandLine &line, CompileOptions &options) {
  if (!line.targets.empty())
    options.targets.assign(line.targets.begin(), line.targets.end());
  if (std::string message = readChoices(line, options); !message.empty())
    return message;
  options.headDim = line.headDim;
  options.isHeadDimChosen = line.headDim.getNumOccurrences();
  options.valueDim = line.valueDim;
  options.form = line.form;
  if (line.decode.getNumOccurrences())
    options.decode = line.decode.empty() ? "auto" : line.decode.getValue();
  options.chunk = line.chunk;
  options.states = line.states;
  options.forwardOnly = line.forwardOnly;
  if (!line.formCosts.empty()) {
    auto file = llvm::MemoryBuffer::getFile(line.formCosts);
    if (!file)
      return "requires the file of --form-costs, '" + line.formCosts + "': " + file.getError().message();
    llvm::Expected<std::vector<CostSample>> samples = parseCostSamples((*file)->getBuffer());
    if (!samples)
      return "expected costs of forms in '" + line.formCosts +
             "', as taylor-bench forms --calibrate writes them: " + llvm::toString(samples.takeError());
    options.formCosts = *samples;
  }
  options.spec = line.spec;
  if (line.valueDim.getNumOccurrences() && line.valueDim == 0)
    return "expected --value-dim from 1 to 1024, but got 0";
  if (!line.mask.empty()) {
    options.mask = symbolizeMask(line.mask);
    if (!options.mask)
      return "expected --mask=causal or bidirectional, but got '" + line.mask + "'";
  }
  options.documents = line.documents;
  for (const std::string &text : line.set) {
    std::string error;
    mlir::FailureOr<ParameterSetting> setting = parseParameterSetting(text, error);
    if (mlir::failed(setting))
      return error;
    for (const ParameterSetting &other : options.parameters)
      if (other.name == setting->name)
        return "expected '" + setting->name + "' once in --set, but got it twice";
    options.parameters.push_back(*setting);
  }
  if (line.report.getNumOccurrences()) {
    if (!line.report.empty() && line.report != "table" && line.report != "json")
      return "expected --report, --report=table or --report=json, but got '" + line.report + "'";
    if (line.emit != Emission::Artifact)
      return "expected --report or --emit, but got both";
    line.emit = line.report == "json" ? Emission::ReportJSON : Emission::Report;
  }
  bool isTargetLevel = line.emit == Emission::Tile || line.emit == Emission::Vector ||
                       line.emit == Emission::LLVM || line.emit == Emission::Assembly ||
                       line.emit == Emission::PTX;
  if (isTargetLevel && options.targets.size() > 1)
    return "expected one target with --emit=tile, vector, llvm, asm and ptx, but got " +
           std::to_string(options.targets.size());
  return options.check();
}

/// `NAME.json` beside `NAME.so`.
std::string manifestPath(llvm::StringRef output) {
  llvm::SmallString<128> path(output);
  if (llvm::sys::path::extension(path) == ".so")
    llvm::sys::path::replace_extension(path, "json");
  else
    path += ".json";
  return path.str().str();
}

/// Errors that differ in numbers alone, at one place, are one: each kernel of a function finds the same.
class OneOfEach {
public:
  explicit OneOfEach(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          std::string text;
          llvm::raw_string_ostream(text) << diagnostic.getLocation() << diagnostic;
          llvm::erase_if(text, llvm::isDigit);
          bool isKnown =
              diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && !seen.insert(text).second;
          return mlir::success(isKnown);
        }) {}

private:
  llvm::StringSet<> seen;
  mlir::ScopedDiagnosticHandler handler;
};

/// Compiles, and shows what takes long.
mlir::FailureOr<Compilation> compile(Driver &driver, mlir::MLIRContext &context, Emission emission,
                                     bool quiet) {
  OneOfEach errors(context);
  if (quiet)
    return driver.compile(emission);
  Progress progress("taylorc");
  driver.onPhase = [&](std::string phase) { progress.begin(std::move(phase)); };
  // Ahead of the handler that prints a message: it says that it has not.
  mlir::ScopedDiagnosticHandler clear(&context, [&](mlir::Diagnostic &) {
    progress.clear();
    return mlir::failure();
  });
  mlir::FailureOr<Compilation> compiled = driver.compile(emission);
  driver.onPhase = nullptr;
  return compiled;
}

} // namespace

int main(int argc, char **argv) {
  taylor::runtime::openStandardStreams();
  reportFatalErrors("taylorc");
  CommandLine line;
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](llvm::raw_ostream &stream) { stream << getVersion("taylorc") << "\n"; });
  if (std::string message = findUnknownOption(llvm::ArrayRef(argv, argc).drop_front()); !message.empty())
    return report(message);
  cl::ParseCommandLineOptions(
      argc, argv,
      "taylorc: compiles an attention specification to one shared object\n\n"
      "  taylorc softmax.mlir -o softmax.so\n"
      "  taylorc series.mlir --set order=4 --dtype=bf16 --head-dim=128 -o taylor4.so\n"
      "  taylorc softmax.mlir --emit=torch\n");
  bool isExplanation = line.explain.getNumOccurrences();
  if (isExplanation && (line.explain.empty() || (line.explain.front() == '-' && line.explain != "-")))
    return report("expected --explain=PAGE.html, the file to write, but got " +
                  (line.explain.empty() ? "no name" : "'" + line.explain + "'"));
  if (line.inputs.empty())
    return report(
        "requires a specification; for example taylorc softmax.mlir -o softmax.so, and taylorc --help");
  if (line.inputs.size() > 1)
    return report("expected one specification, but got '" + line.inputs[0] + "' and '" + line.inputs[1] +
                  "'");
  const std::string &input = line.inputs.front();
  CompileOptions options;
  if (std::string message = readOptions(line, options); !message.empty())
    return report(message);
  if (isExplanation &&
      (line.emit.getNumOccurrences() || line.report.getNumOccurrences() || line.output.getNumOccurrences()))
    return report(
        "expected --explain without --emit, --report and -o, which ask for something else to write; run "
        "taylorc twice");
  Emission emission = isExplanation ? Emission::Explanation : line.emit;
  const std::string &output = isExplanation ? line.explain : line.output;
  bool isArtifact = emission == Emission::Artifact;
  if (isArtifact && (output.empty() || output == "-"))
    return report("requires -o NAME.so, the shared object to write; or --emit=torch and others, which print");
  std::vector<std::string> outputs;
  if (!output.empty() && output != "-")
    outputs.push_back(output);
  if (isArtifact)
    outputs.push_back(manifestPath(output));
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(input);
  if (!file)
    return report("requires the specification '" + input + "': " + file.getError().message());

  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  // The place in the text says more than the operation in its generic form.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer((*file)->getMemBufferRef()), llvm::SMLoc());
  quoteShortly(sources);
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context, llvm::errs());

  Driver driver(context, options);
  // PyTorch code and specifications are for any machine.
  if (emission != Emission::Torch && emission != Emission::Series)
    if (std::string message = driver.chooseTargets(emission); !message.empty())
      return report(message);
  if (std::string message = checkOutputs(outputs); !message.empty())
    return report(message);
  if (!line.saveStages.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(line.saveStages))
      return report("requires a folder that can be written at '" + line.saveStages + "': " + error.message() +
                    "; name another with --save-stages");
  std::vector<OutputFile> files;
  if (!line.saveStages.empty())
    driver.onStage = [&](llvm::StringRef stage, mlir::ModuleOp module) {
      OutputFile stageFile{line.saveStages + "/" + std::to_string(files.size()) + "-" + stage.str() + ".mlir",
                           "", false};
      llvm::raw_string_ostream stream(stageFile.contents);
      module.print(stream);
      stream << "\n";
      files.push_back(stageFile);
    };
  if (mlir::failed(driver.load((*file)->getBuffer(), input)))
    return 1;
  mlir::FailureOr<Compilation> compiled = compile(driver, context, emission, line.quiet);
  // Stages before the one that failed are what one wants to read then.
  if (std::string message = writeFiles(files); !message.empty())
    return report(message);
  if (mlir::failed(compiled))
    return 1;
  if (!isArtifact && (output.empty() || output == "-")) {
    llvm::outs() << compiled->output;
    return 0;
  }
  std::vector<OutputFile> results{{output, compiled->output, isArtifact}};
  if (isArtifact)
    results.push_back({manifestPath(output), compiled->manifest, false});
  if (std::string message = writeFiles(results); !message.empty())
    return report(message);
  return 0;
}
