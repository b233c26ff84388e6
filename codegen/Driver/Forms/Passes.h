// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that decide which forms functions have on a target. They stand between passes/, which knows no
// target, and the targets' folders, which know no function.
#ifndef TAYLOR_CODEGEN_DRIVER_FORMS_PASSES_H
#define TAYLOR_CODEGEN_DRIVER_FORMS_PASSES_H

#include "codegen/Targets/Target.h"
#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"
#include "passes/EnumOption.h"
#include "passes/Passes.h"
#include "passes/Statistics.h"

namespace taylor {

#define GEN_PASS_DECL
#include "codegen/Driver/Forms/Passes.h.inc"

/// The form that is asked for; nothing where the compiler chooses.
inline std::optional<Form> formOf(FormChoice choice) {
  switch (choice) {
  case FormChoice::Auto:
    return std::nullopt;
  case FormChoice::Parallel:
    return Form::Parallel;
  case FormChoice::Long:
    return Form::Long;
  case FormChoice::Chunked:
    return Form::Chunked;
  case FormChoice::Recurrent:
    return Form::Recurrent;
  }
  llvm_unreachable("all choices are listed");
}

/// `form` of a function for a role: with pairs of states that a recurrence may keep in one array.
mlir::tile::FormAttr makeForm(FunctionOp function, FunctionRole role, Form kind);

/// `form` of a function that has one; with another reason.
inline mlir::tile::FormAttr getForm(FunctionOp function) {
  return llvm::cast<mlir::tile::FormAttr>(function.getFormAttr());
}
inline void setReason(FunctionOp function, const llvm::Twine &because) {
  function.setFormAttr(getForm(function).withReason(because));
}

/// The target of a name; null after an error of the module where there is none.
std::unique_ptr<Target> findTarget(mlir::ModuleOp module, llvm::StringRef name);

/// What a function's tiles are for, by its form and its role.
TileUse findTileUse(const Target &target, const TargetProblem &problem, FunctionOp function);

/// What decides how token after token is decoded.
struct StepOptions : mlir::PassPipelineOptions<StepOptions> {
  Option<Decode> decode{*this, "decode", llvm::cl::desc("what decodes, as in taylorc --decode"),
                        llvm::cl::init(Decode::Auto), wordsOf<Decode>()};
  Option<bool> states{*this, "states", llvm::cl::desc("calls carry states: no step over all keys"),
                      llvm::cl::init(false)};
  Option<int64_t> block{*this, "block", llvm::cl::desc("features of a state that lie together"),
                        llvm::cl::init(1)};
  Option<int64_t> channels{
      *this, "channels",
      llvm::cl::desc("numbers of one key and its value, which states are compared with; 0: any states do"),
      llvm::cl::init(128)};
  Option<int64_t> mostTokens{*this, "most-tokens",
                             llvm::cl::desc("keys of so many tokens may be as large as states"),
                             llvm::cl::init(kMostTokensOfStates)};
};

/// What calls hand on (taylor-plan-states), and the functions that decode (taylor-plan-steps); null: none.
struct CallPlan {
  std::optional<CarryMode> carry;
  std::optional<Decode> decode;
  /// No step over all keys.
  bool requiresStates = false;
  /// Features of a state that lie together.
  int64_t block = 1;
  /// Numbers of one key and its value, which states are compared with; 0: any states do.
  int64_t channels = 128;
  int64_t mostTokens = kMostTokensOfStates;
};
/// Adds the passes that do so, to a pipeline on specialised specifications.
void planCalls(mlir::OpPassManager &manager, const CallPlan &plan);

/// From a specialised specification to its functions, and those that decode: taylor-plan-states where they
/// carry states, taylor-plan-steps, taylor-to-pairwise, taylor-name-steps.
void buildStepPipeline(mlir::OpPassManager &manager, const StepOptions &options);
/// Makes the pipeline known as `taylor-to-steps`.
void registerStepPipeline();

#define GEN_PASS_REGISTRATION
#include "codegen/Driver/Forms/Passes.h.inc"

} // namespace taylor

#endif
