// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/fuzz/ModuleReader.h"

#include "codegen/Driver/SourceText.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace taylor;
using namespace taylor::fuzz;

namespace {

constexpr int kUsesOfContext = 500;

[[noreturn]] void giveUp(llvm::StringRef what, llvm::StringRef detail) {
  llvm::errs() << "fuzz: " << what << "\n" << detail << "\n";
  std::abort();
}

/// Verifies after each pass, where a failure is the pass's fault and not the text's.
struct VerifyBehindPasses : PassInstrumentation {
  void runAfterPass(Pass *pass, Operation *op) override {
    std::string messages;
    ScopedDiagnosticHandler collect(op->getContext(), [&](Diagnostic &message) {
      messages += message.str() + "\n";
      return success();
    });
    if (failed(verify(op)))
      giveUp("this pass leaves what is not valid", (pass->getName() + ": " + messages).str());
  }
};

} // namespace

bool ModuleReader::attempt(llvm::StringRef what, llvm::function_ref<bool()> attempt) {
  bool anyError = false;
  ScopedDiagnosticHandler watch(context.get(), [&](Diagnostic &message) {
    anyError |= message.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  bool good = attempt();
  if (!good && !anyError)
    giveUp("refused without a message", what);
  return good;
}

OwningOpRef<ModuleOp> ModuleReader::read(llvm::StringRef text) {
  if (!context || ++uses > kUsesOfContext) {
    DialectRegistry registry;
    registerDialects(registry);
    context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    uses = 0;
  }
  OwningOpRef<ModuleOp> module;
  auto parse = [&](llvm::StringRef source) {
    module = parseSourceString<ModuleOp>(source, context.get(), "fuzz");
    return bool(module);
  };
  // No program of ours hands such a text to MLIR's parser.
  if (findFatalFault(text))
    return nullptr;
  std::string source = text.str(); // ends in a zero byte, as the programs' do
  if (!attempt("the text", [&] { return parse(source); }))
    return nullptr;
  std::string printed;
  llvm::raw_string_ostream(printed) << *module;
  std::string messages;
  ScopedDiagnosticHandler collect(context.get(), [&](Diagnostic &message) {
    messages += message.str() + "\n";
    return success();
  });
  if (!parse(printed))
    giveUp("what is printed of this module is not read again", messages + printed);
  return module;
}

bool ModuleReader::run(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
  return attempt("a pass", [&] {
    PassManager manager(context.get(), ModuleOp::getOperationName());
    manager.enableVerifier(false); // the instrumentation's work
    manager.addInstrumentation(std::make_unique<VerifyBehindPasses>());
    build(manager);
    return succeeded(manager.run(module));
  });
}
