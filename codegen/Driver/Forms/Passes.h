// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that decide which forms functions have on a target. They stand between passes/, which knows no
// target, and the targets' folders, which know no function.
#ifndef TAYLOR_CODEGEN_DRIVER_FORMS_PASSES_H
#define TAYLOR_CODEGEN_DRIVER_FORMS_PASSES_H

#include "codegen/Targets/Target.h"
#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/Pass/Pass.h"
#include "passes/Statistics.h"

namespace taylor {

#define GEN_PASS_DECL
#include "codegen/Driver/Forms/Passes.h.inc"

/// `form` of a function that has `name`: with pairs of states that a recurrence may keep in one array.
mlir::tile::FormAttr makeForm(FunctionOp function, llvm::StringRef name);

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

#define GEN_PASS_REGISTRATION
#include "codegen/Driver/Forms/Passes.h.inc"

} // namespace taylor

#endif
