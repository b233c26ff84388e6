// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the text of a specification to an artifact: a named pipeline of the passes that taylor-opt runs one by
// one.
#ifndef TAYLOR_CODEGEN_DRIVER_DRIVER_H
#define TAYLOR_CODEGEN_DRIVER_DRIVER_H

#include "codegen/Driver/CompileOptions.h"
#include "codegen/Driver/Phases.h"
#include "codegen/Targets/Target.h"
#include "dialect/Taylor/TaylorDialect.h"
#include "passes/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

namespace taylor {

struct CallPlan;

/// What a compilation gives: the text of a level; for an explanation a page of all levels (HTML); for an
/// artifact the bytes of the shared object.
struct Compilation {
  std::string output;
  /// JSON (runtime/MANIFEST.md), for a manifest and an artifact; the object has it inside.
  std::string manifest;
};

/// Why there are no targets: one is unknown or named twice, or it is known and refuses (TAYLOR_REFUSED) what
/// is asked of it.
struct TargetFault {
  std::string message;
  bool isRefusal = false;
};

/// One specification on its way down. Errors are diagnostics of the context, at the place that caused them;
/// `chooseTargets` comes first, since an option has no place.
class Driver {
public:
  /// Called with the name of each stage and the module after it, where given.
  using StageObserver = std::function<void(llvm::StringRef stage, mlir::ModuleOp module)>;

  Driver(mlir::MLIRContext &context, CompileOptions options)
      : context(context), options(std::move(options)) {}

  /// The options' targets: for which machines `compile` makes tiles and code. Nothing where all of them are
  /// known and can do what the options and the emission ask for.
  std::optional<TargetFault> chooseTargets(Emission emission);
  /// Parses `text`, keeps the specification that the options name, and sets its parameters and mask.
  mlir::LogicalResult load(llvm::StringRef text, llvm::StringRef fileName);
  mlir::FailureOr<Compilation> compile(Emission emission);

  StageObserver onStage;
  /// Says how far a compilation is.
  Phases phases;

private:
  std::string checkTarget(const Target &target, Emission emission);
  mlir::LogicalResult runPasses(mlir::ModuleOp module, llvm::function_ref<void(mlir::OpPassManager &)> build);
  void observe(llvm::StringRef stage, mlir::ModuleOp module);
  mlir::LogicalResult runStage(mlir::ModuleOp module, llvm::StringRef stage,
                               llvm::function_ref<void(mlir::OpPassManager &)> build);
  mlir::LogicalResult lowerToPairwise();
  TargetProblem getProblem() const;
  CallPlan chooseCalls();
  void declareInterface(mlir::OpPassManager &manager);
  /// `onKernels` sees the functions with their kernels (`fusion.kernel`), before there are programs.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  lowerToTile(const Target &target, llvm::function_ref<void(mlir::ModuleOp)> onKernels = {});
  std::string stageOf(llvm::StringRef stage, const Target &target) const;
  mlir::FailureOr<std::string> printLevel(Emission emission);
  mlir::FailureOr<std::string> printSeriesLevel();
  mlir::FailureOr<std::string> printTargetLevel(Emission emission);
  mlir::FailureOr<std::string> explain();
  mlir::FailureOr<std::string> report(bool json);
  mlir::LogicalResult compileTarget(const Target &target, Emission emission, ArtifactCode &code);
  RequestAttr describeRequest();
  mlir::FailureOr<Compilation> compileTargets(Emission emission);

  mlir::MLIRContext &context;
  CompileOptions options;
  /// As TargetProblem has them, of the specification.
  int64_t widestKey = 0, widestValue = 0;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<std::unique_ptr<Target>> targets;
  /// Whether there will be a manifest: modules get the attributes that it is read of.
  bool describes = false;
  /// Whether a page will show one form of each function, and say from where on another one pays.
  bool explains = false;
  /// Of each target, as its code generator left it: the manifest is read of their attributes.
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> compiled;
  std::string text, fileName;
};

} // namespace taylor

#endif
