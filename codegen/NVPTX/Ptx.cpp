// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/Ptx.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;

namespace {

/// One module on its way through LLVM.
class Compilation {
public:
  LogicalResult start(ModuleOp source, const simt::Target &target);
  void optimize();
  LogicalResult emit(std::string &text);
  llvm::Module &getModule() { return *module; }

private:
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};

} // namespace

/// Registers the backend, and makes pointers to shared memory 32 bits wide, as ldmatrix and cp.async want
/// them.
static void initializeBackend() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    auto &options = llvm::cl::getRegisteredOptions();
    if (auto found = options.find("nvptx-short-ptr"); found != options.end())
      static_cast<llvm::cl::opt<bool> *>(found->second)->setValue(true);
  });
}

LogicalResult Compilation::start(ModuleOp source, const simt::Target &target) {
  initializeBackend();
  module = translateModuleToLLVMIR(source, context, "taylor");
  if (!module)
    return failure();
  std::string error;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return source.emitError("requires an LLVM with the NVPTX backend: ") << error;
  machine.reset(backend->createTargetMachine(triple, target.name,
                                             ("+ptx" + llvm::Twine(target.ptxVersion)).str(), {},
                                             std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  module->setDataLayout(machine->createDataLayout());
  module->setTargetTriple(triple);
  return success();
}

void Compilation::optimize() {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(*module, modules);
}

LogicalResult Compilation::emit(std::string &text) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return failure();
  passes.run(*module);
  text.assign(bytes.begin(), bytes.end());
  return success();
}

FailureOr<std::string> simt::printOptimizedIR(ModuleOp module, const Target &target) {
  Compilation compilation;
  if (failed(compilation.start(module, target)))
    return failure();
  compilation.optimize();
  std::string text;
  llvm::raw_string_ostream stream(text);
  compilation.getModule().print(stream, nullptr);
  return text;
}

FailureOr<std::string> simt::printPtx(ModuleOp module, const Target &target) {
  Compilation compilation;
  std::string text;
  if (failed(compilation.start(module, target)))
    return failure();
  compilation.optimize();
  if (failed(compilation.emit(text)))
    return module.emitError("requires an LLVM that prints PTX for ") << target.name;
  return text;
}
