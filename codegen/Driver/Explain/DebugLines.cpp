// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Explain/Explanation.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace taylor;

std::set<unsigned> taylor::linesOf(Location location, StringRef file) {
  std::set<unsigned> lines;
  location->walk([&](Location part) {
    if (auto place = dyn_cast<FileLineColLoc>(part))
      // A module that is not written out has line 0.
      if (place.getLine() && place.getFilename() == file)
        lines.insert(place.getLine());
    return WalkResult::advance();
  });
  return lines;
}

FailureOr<std::vector<TracedFunction>> taylor::keepDebugLines(ModuleOp module, StringRef file) {
  std::vector<TracedFunction> functions;
  auto place = [&](unsigned line) -> Location {
    return FileLineColLoc::get(module.getContext(), file, line, /*column=*/0);
  };
  module->setLoc(place(1));
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    std::set<unsigned> own = linesOf(function.getLoc(), file);
    unsigned line = own.empty() ? 0 : *own.begin();
    if (!function.isExternal())
      functions.push_back({function.getSymName().str(), line});
    // LLVM has one line for an instruction.
    function.walk([&](Operation *op) {
      std::set<unsigned> lines = linesOf(op->getLoc(), file);
      op->setLoc(place(lines.empty() ? line : *lines.begin()));
    });
  }
  PassManager manager(module.getContext());
  LLVM::DIScopeForLLVMFuncOpPassOptions scopes;
  scopes.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  manager.addPass(LLVM::createDIScopeForLLVMFuncOpPass(scopes));
  if (failed(manager.run(module)))
    return failure();
  return functions;
}
