// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler: a specification to a shared object and its manifest, or to the text of any level between.
#include "codegen/Driver/CommandLine.h"
#include "codegen/Driver/Driver.h"
#include "codegen/Driver/Output.h"
#include "codegen/Driver/Progress.h"
#include "codegen/Driver/RegisterAll.h"
#include "codegen/Driver/SourceText.h"

#include "dialect/Refusal.h"
#include "runtime/StandardStreams.h"
#include "runtime/taylor.h"
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

/// An option of the table, as LLVM parses it: a flag, or values.
class TableOption {
public:
  TableOption(const CompileOption &option) : option(option) {
    if (option.value.empty()) {
      flag = std::make_unique<cl::opt<bool>>(option.name, cl::desc(option.help), cl::cat(category));
      return;
    }
    values = std::make_unique<cl::list<std::string>>(option.name, cl::desc(option.help),
                                                     cl::value_desc(option.value), cl::cat(category));
    values->setNumOccurrencesFlag(option.isRepeatable ? cl::ZeroOrMore : cl::Optional);
    values->setValueExpectedFlag(option.isValueOptional ? cl::ValueOptional : cl::ValueRequired);
  }

  /// Reads what was given; the first message.
  std::string read(CompileOptions &options) const {
    if (flag)
      return *flag ? option.read(options, "") : "";
    for (llvm::StringRef value : *values) {
      // The first of its words.
      if (value.empty() && option.isValueOptional)
        value = option.value.split('|').first;
      if (std::string message = option.read(options, value); !message.empty())
        return message;
    }
    return "";
  }

private:
  const CompileOption &option;
  std::unique_ptr<cl::opt<bool>> flag;
  std::unique_ptr<cl::list<std::string>> values;
};

struct CommandLine {
  cl::list<std::string> inputs{cl::Positional, cl::desc("SPEC.mlir"), cl::cat(category)};
  cl::opt<std::string> output{
      "o",
      cl::desc("shared object to write; its manifest goes next to it, as NAME.json\n"
               "(with --emit or --report: file for the text; default: standard output)"),
      cl::value_desc("NAME.so"), cl::cat(category)};
  cl::opt<std::string> formCosts{
      "form-costs",
      cl::desc("file of this machine's costs for --form=auto, written by taylor-bench forms --calibrate"),
      cl::value_desc("FILE.json"), cl::cat(category)};
  cl::opt<std::string> report{
      "report",
      cl::desc("print registers, shared memory, spills, occupancy and instructions of each GPU kernel, as a\n"
               "table (default) or json"),
      cl::value_desc("table|json"), cl::ValueOptional, cl::cat(category)};
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
  llvm::SmallVector<TableOption> table = llvm::to_vector_of<TableOption>(compileOptionTable());
};

int report(const std::string &message, int status = 1) {
  llvm::errs() << "taylorc: error: " << message << "\n";
  return status;
}

/// Options as the driver takes them; a message where one is malformed.
std::string readOptions(CommandLine &line, CompileOptions &options) {
  for (const TableOption &option : line.table)
    if (std::string message = option.read(options); !message.empty())
      return message;
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

/// `NAME.json` next to `NAME.so`.
std::string manifestPath(llvm::StringRef output) {
  llvm::SmallString<128> path(output);
  if (llvm::sys::path::extension(path) == ".so")
    llvm::sys::path::replace_extension(path, "json");
  else
    path += ".json";
  return path.str().str();
}

/// What a command line asks for.
struct Request {
  Emission emission = Emission::Artifact;
  std::string input, output; ///< The output may be empty or "-", which is standard output.
  CompileOptions options;
  bool isArtifact() const { return emission == Emission::Artifact; }
  bool isPrinted() const { return output.empty() || output == "-"; }
  /// The files to write.
  std::vector<std::string> getOutputs() const {
    std::vector<std::string> outputs;
    if (!isPrinted())
      outputs.push_back(output);
    if (isArtifact())
      outputs.push_back(manifestPath(output));
    return outputs;
  }
};

/// The request of a command line; a message where there is none.
std::string readRequest(CommandLine &line, Request &request) {
  bool isExplanation = line.explain.getNumOccurrences();
  if (isExplanation && (line.explain.empty() || (line.explain.front() == '-' && line.explain != "-")))
    return "expected --explain=PAGE.html, the file to write, but got " +
           (line.explain.empty() ? "no name" : "'" + line.explain + "'");
  if (line.inputs.empty())
    return "requires a specification; for example taylorc softmax.mlir -o softmax.so, and taylorc --help";
  if (line.inputs.size() > 1)
    return "expected one specification, but got '" + line.inputs[0] + "' and '" + line.inputs[1] + "'";
  if (std::string message = readOptions(line, request.options); !message.empty())
    return message;
  if (isExplanation &&
      (line.emit.getNumOccurrences() || line.report.getNumOccurrences() || line.output.getNumOccurrences()))
    return "expected --explain without --emit, --report and -o, which ask for something else to write; run "
           "taylorc twice";
  request.input = line.inputs.front();
  request.emission = isExplanation ? Emission::Explanation : line.emit;
  request.output = isExplanation ? line.explain : line.output;
  if (request.isArtifact() && request.isPrinted())
    return "requires -o NAME.so, the shared object to write; or --emit=torch and others, which print";
  return "";
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
  driver.phases.onPhase = [&](std::string phase) { progress.begin(std::move(phase)); };
  // Ahead of the handler that prints a message: it says that it has not.
  mlir::ScopedDiagnosticHandler clear(&context, [&](mlir::Diagnostic &) {
    progress.clear();
    return mlir::failure();
  });
  mlir::FailureOr<Compilation> compiled = driver.compile(emission);
  driver.phases.onPhase = nullptr;
  return compiled;
}

/// Modules after each stage, as files of a folder.
class SavedStages {
public:
  SavedStages(Driver &driver, std::string folder) : folder(std::move(folder)) {
    if (!this->folder.empty())
      driver.onStage = [this](llvm::StringRef stage, mlir::ModuleOp module) { add(stage, module); };
  }
  /// A message where there cannot be such a folder.
  std::string makeFolder() const {
    if (!folder.empty())
      if (std::error_code error = llvm::sys::fs::create_directories(folder))
        return "requires a folder that can be written at '" + folder + "': " + error.message() +
               "; name another with --save-stages";
    return "";
  }
  std::string write() const { return writeFiles(files); }

private:
  void add(llvm::StringRef stage, mlir::ModuleOp module) {
    OutputFile file{folder + "/" + std::to_string(files.size()) + "-" + stage.str() + ".mlir", "", false};
    llvm::raw_string_ostream stream(file.contents);
    module.print(stream);
    stream << "\n";
    files.push_back(file);
  }

  std::string folder;
  std::vector<OutputFile> files;
};

/// Writes what a request asks for, or prints it.
int write(const Request &request, const Compilation &compiled) {
  if (!request.isArtifact() && request.isPrinted()) {
    llvm::outs() << compiled.output;
    return 0;
  }
  std::vector<OutputFile> results{{request.output, compiled.output, request.isArtifact()}};
  if (request.isArtifact())
    results.push_back({manifestPath(request.output), compiled.manifest, false});
  std::string message = writeFiles(results);
  return message.empty() ? 0 : report(message);
}

/// Compiles a specification's text and writes the result; the status of the program.
int run(const Request &request, const llvm::MemoryBuffer &text, const std::string &stagesFolder, bool quiet) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  // The place in the text says more than the operation in its generic form.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text.getMemBufferRef()), llvm::SMLoc());
  quoteShortly(sources);
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context, llvm::errs());
  RefusalWatch watch(&context);

  Driver driver(context, request.options);
  // PyTorch code and specifications are for any machine.
  if (request.emission != Emission::Torch && request.emission != Emission::Series)
    if (std::optional<TargetFault> fault = driver.chooseTargets(request.emission))
      return report(fault->message, fault->isRefusal ? TAYLOR_REFUSED : 1);
  if (std::string message = checkOutputs(request.getOutputs()); !message.empty())
    return report(message);
  SavedStages stages(driver, stagesFolder);
  if (std::string message = stages.makeFolder(); !message.empty())
    return report(message);
  auto getFailure = [&] { return watch.isRefused() ? TAYLOR_REFUSED : 1; };
  if (mlir::failed(driver.load(text.getBuffer(), request.input)))
    return getFailure();
  mlir::FailureOr<Compilation> compiled = compile(driver, context, request.emission, quiet);
  // Stages before the one that failed are what one wants to read then.
  if (std::string message = stages.write(); !message.empty())
    return report(message);
  if (mlir::failed(compiled))
    return getFailure();
  return write(request, *compiled);
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
  Request request;
  if (std::string message = readRequest(line, request); !message.empty())
    return report(message);
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(request.input);
  if (!file)
    return report("requires the specification '" + request.input + "': " + file.getError().message());
  return run(request, **file, line.saveStages, line.quiet);
}
