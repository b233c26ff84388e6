// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Levels of a compilation as text: one of them, all side by side, or what is told of GPUs' kernels.
#include "codegen/Driver/Driver.h"

#include "codegen/Driver/Explain/Explanation.h"
#include "codegen/Driver/Forms/Passes.h"
#include "codegen/Driver/SeriesText.h"

#include "passes/Passes.h"

using namespace mlir;
using namespace taylor;

static std::string printModule(ModuleOp module) {
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  module->print(stream);
  return printed + "\n";
}

/// The halves of the specification around its series.
FailureOr<std::string> Driver::printSeriesLevel() {
  auto build = [](OpPassManager &manager) { manager.addPass(createSplitSeriesPass()); };
  if (failed(runStage(*module, "series", build)))
    return failure();
  return printSeries(*module);
}

FailureOr<std::string> Driver::printTargetLevel(Emission emission) {
  if (failed(lowerToPairwise()))
    return failure();
  const Target &target = *targets.front();
  FailureOr<OwningOpRef<ModuleOp>> programs = lowerToTile(target);
  if (failed(programs))
    return failure();
  if (emission == Emission::Tile)
    return printModule(**programs);
  return target.print(**programs, getProblem(), emission,
                      [&](StringRef stage, function_ref<void(OpPassManager &)> build) {
                        return runStage(**programs, stageOf(stage, target), build);
                      });
}

/// Kernels of all targets.
FailureOr<std::string> Driver::report(bool json) {
  if (failed(lowerToPairwise()))
    return failure();
  std::unique_ptr<KernelReports> reports;
  for (const std::unique_ptr<Target> &target : targets) {
    FailureOr<OwningOpRef<ModuleOp>> programs = lowerToTile(*target);
    if (failed(programs))
      return failure();
    auto run = [&](StringRef stage, function_ref<void(OpPassManager &)> build) {
      return runStage(**programs, stageOf(stage, *target), build);
    };
    if (failed(target->report(**programs, getProblem(), run, reports)))
      return failure();
    phases.begin();
  }
  return reports->print(json);
}

/// Which form each function has and why, a line each, as an artifact's manifest says it.
static std::vector<std::string> describeForms(ModuleOp functions) {
  std::vector<std::string> lines;
  for (auto function : functions.getOps<FunctionOp>()) {
    tile::FormAttr form = getForm(function);
    std::string reason = form.describeReason();
    StringRef role = stringifyFunctionRole(form.getFunction()), kind = stringifyForm(form.getKind());
    lines.push_back((role + ": " + (reason.empty() ? kind : StringRef(reason))).str());
  }
  return lines;
}

/// All levels of the first target side by side.
FailureOr<std::string> Driver::explain() {
  const Target &target = *targets.front();
  Explanation explanation(text, fileName, *module);
  CompileOptions shown = options;
  shown.spec = (*module->getOps<SpecOp>().begin()).getSymName().str();
  shown.targets = {target.getName()};
  if (failed(lowerToPairwise()))
    return failure();
  explains = true;
  explanation.addModule("pairwise", "Forward and backward", *module);
  std::vector<std::string> forms;
  FailureOr<OwningOpRef<ModuleOp>> programs = lowerToTile(target, [&](ModuleOp functions) {
    forms = describeForms(functions);
    explanation.addModule("kernels", "Kernels, and what has memory", functions);
  });
  if (failed(programs))
    return failure();
  explanation.addModule("tile", "Tile programs", **programs);
  FailureOr<std::string> assembly =
      target.print(**programs, getProblem(), Emission::Assembly,
                   [&](StringRef stage, function_ref<void(OpPassManager &)> build) -> LogicalResult {
                     if (failed(runStage(**programs, stageOf(stage, target), build)))
                       return failure();
                     if (stage == "simt")
                       explanation.addModule("simt", "Tiles over threads", **programs);
                     return stage == "llvm" ? explanation.traceAssembly(**programs) : success();
                   });
  if (failed(assembly))
    return failure();
  explanation.addAssembly("assembly", target.nameAssembly() + " for " + target.getName(), *assembly);
  return explanation.printPage(shown.getKey(), forms);
}

/// The text of one level, for people.
FailureOr<std::string> Driver::printLevel(Emission emission) {
  switch (emission) {
  case Emission::Explanation:
    return explain();
  case Emission::Pairwise:
    if (failed(lowerToPairwise()))
      return failure();
    return printModule(*module);
  case Emission::Report:
  case Emission::ReportJSON:
    return report(emission == Emission::ReportJSON);
  default:
    return printTargetLevel(emission);
  }
}
