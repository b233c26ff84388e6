// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs any pass of the compiler, one at a time or in a pipeline, on a module in text.
#include "codegen/Driver/CommandLine.h"
#include "codegen/Driver/RegisterAll.h"
#include "codegen/Driver/SourceText.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/Statistics.h"
#include "runtime/StandardStreams.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

static constexpr const char *kOverview =
    "taylor-opt: the compiler's passes, one by one\n\n"
    "  taylor-opt softmax.mlir --taylor-specialize=\"head-dim=64 dtype=bf16\"\n"
    "  taylor-opt softmax.mlir --taylor-to-pairwise=head-dim=64 --mlir-print-ir-after-all\n"
    "  taylor-opt softmax.mlir --taylor-to-pairwise=head-dim=64 --taylor-tile-pipeline\n"
    "  taylor-opt mine.mlir --set order=4 --taylor-to-pairwise=head-dim=64\n\n"
    "Passes run in the order given. --set NAME=VALUE (repeatable) sets a free parameter before all of them,\n"
    "as in the other programs; it is short for --taylor-set-parameters.\n";

/// The arguments with every `--set NAME=VALUE` as one pass ahead of the others, and with messages that are
/// not followed by the operation in generic form (`--mlir-print-op-on-diagnostic` brings it back).
static std::vector<std::string> expandArguments(llvm::ArrayRef<const char *> arguments) {
  std::vector<std::string> rest;
  std::string settings;
  auto add = [&](llvm::StringRef setting) { settings += (settings.empty() ? "" : ",") + setting.str(); };
  for (size_t i = 0; i < arguments.size(); ++i) {
    llvm::StringRef argument = arguments[i], name = argument;
    bool dashed = name.consume_front("--") || name.consume_front("-");
    if (dashed && name == "set" && i + 1 < arguments.size())
      add(arguments[++i]);
    else if (dashed && name.consume_front("set="))
      add(name);
    else
      rest.push_back(argument.str());
  }
  rest.insert(rest.begin() + 1, "--mlir-print-op-on-diagnostic=false");
  if (!settings.empty())
    rest.insert(rest.begin() + 1, "--taylor-set-parameters=parameters=" + settings);
  return rest;
}

/// As MlirOptMain does it, except that a text which its parser would not survive is refused first.
static llvm::LogicalResult run(llvm::StringRef input, llvm::StringRef output,
                               mlir::DialectRegistry &registry) {
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  std::string error;
  auto fail = [&] {
    llvm::errs() << "taylor-opt: " << error << "\n";
    return mlir::failure();
  };
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::openInputFile(input, &error);
  if (!file)
    return fail();
  if (std::optional<taylor::TextFault> fault = taylor::findFatalFault(file->getBuffer())) {
    llvm::errs() << input << ":" << fault->line << ":" << fault->column << ": error: " << fault->message
                 << "\n";
    return mlir::failure();
  }
  std::unique_ptr<llvm::ToolOutputFile> result = mlir::openOutputFile(output, &error);
  if (!result)
    return fail();
  if (failed(mlir::MlirOptMain(result->os(), std::move(file), registry, config)))
    return mlir::failure();
  result->keep();
  return mlir::success();
}

int main(int argc, char **argv) {
  taylor::runtime::openStandardStreams();
  taylor::reportFatalErrors("taylor-opt");
  std::vector<std::string> arguments = expandArguments({argv, size_t(argc)});
  std::vector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(argument.data());
  taylor::prepareCommandLine("taylor-opt");
  mlir::DialectRegistry registry;
  taylor::registerAllDialects(registry);
  taylor::registerAllPasses();
  auto [input, output] =
      mlir::registerAndParseCLIOptions(int(pointers.size()), pointers.data(), kOverview, registry);
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  // These read no text.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(int(pointers.size()), pointers.data(), input, output, registry));
  llvm::LogicalResult result = run(input, output, registry);
  // MLIR's library has written the heading.
  if (llvm::cl::getRegisteredOptions().lookup("mlir-pass-statistics")->getNumOccurrences())
    taylor::printPassStatistics(llvm::errs());
  return mlir::asMainReturnCode(result);
}
