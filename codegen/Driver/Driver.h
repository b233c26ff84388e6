// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the text of a specification to an artifact: a named pipeline of the passes that taylor-opt runs one by
// one.
#ifndef TAYLOR_CODEGEN_DRIVER_DRIVER_H
#define TAYLOR_CODEGEN_DRIVER_DRIVER_H

#include "codegen/CPU/Targets.h"
#include "codegen/Driver/CompileOptions.h"
#include "codegen/Manifest.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include <functional>

namespace taylor {

/// Where a compilation stops, and what it gives there.
enum class Emission { Torch, Pairwise, Tile, Vector, LLVM, Assembly, Manifest, Artifact };

/// What a compilation gives: the text of a level; for an artifact the bytes of the shared object.
struct Compilation {
  std::string output;
  /// JSON (runtime/MANIFEST.md), for a manifest and an artifact; the object has it inside.
  std::string manifest;
};

/// One specification on its way down. Errors are diagnostics of the context, at the place that caused them;
/// `chooseTarget` comes first, since an option has no place.
class Driver {
public:
  /// Called with the name of each stage and the module after it, where given.
  using StageObserver = std::function<void(llvm::StringRef stage, mlir::ModuleOp module)>;

  Driver(mlir::MLIRContext &context, CompileOptions options)
      : context(context), options(std::move(options)) {}

  /// The options' target: which code `compile` makes below the level of tiles, and its tile sizes. A message
  /// where it is unknown, or where this computer is none of the table.
  std::string chooseTarget();
  /// Parses `text`, keeps the specification that the options name, and sets its parameters and mask.
  mlir::LogicalResult load(llvm::StringRef text, llvm::StringRef fileName);
  mlir::FailureOr<Compilation> compile(Emission emission);

  StageObserver onStage;

private:
  mlir::FailureOr<SpecOp> selectSpec();
  mlir::LogicalResult setMask(SpecOp spec);
  mlir::LogicalResult runStage(llvm::StringRef stage, llvm::function_ref<void(mlir::OpPassManager &)> build);
  mlir::LogicalResult lowerToPairwise();
  mlir::LogicalResult lowerToTile();
  mlir::FailureOr<std::string> emitMachineLevel(Emission emission);
  mlir::FailureOr<std::string> linkObject(llvm::ArrayRef<char> object);
  std::string printModule();

  mlir::MLIRContext &context;
  CompileOptions options;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::tile::cpu::Target target;
  Manifest manifest;
  std::string text;
};

} // namespace taylor

#endif
