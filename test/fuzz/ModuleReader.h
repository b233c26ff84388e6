// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules in text, read as the programs read them, with what must hold of every text: it is refused by a
// message, or it is a module that can be printed and read again.
#ifndef TAYLOR_TEST_FUZZ_MODULEREADER_H
#define TAYLOR_TEST_FUZZ_MODULEREADER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include <memory>

namespace taylor::fuzz {

class ModuleReader {
public:
  explicit ModuleReader(void (*registerDialects)(mlir::DialectRegistry &))
      : registerDialects(registerDialects) {}

  /// The module, verified, or null for a text that is refused. Aborts where that happens without a message,
  /// and where what is printed of a module is not read again.
  mlir::OwningOpRef<mlir::ModuleOp> read(llvm::StringRef text);

  /// Runs passes. Aborts where one fails without a message, or leaves what its verifiers refuse.
  bool run(mlir::ModuleOp module, llvm::function_ref<void(mlir::OpPassManager &)> build);

private:
  /// Whether `attempt` succeeds; aborts where it fails without a message.
  bool attempt(llvm::StringRef what, llvm::function_ref<bool()> attempt);

  void (*registerDialects)(mlir::DialectRegistry &);
  /// Attributes live as long as their context: a new one from time to time keeps the fuzzer's memory bounded.
  std::unique_ptr<mlir::MLIRContext> context;
  int uses = 0;
};

} // namespace taylor::fuzz

#endif
