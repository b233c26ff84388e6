// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Artifact/HostMachine.h"
#include "codegen/Artifact/LLVMSwitch.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;

std::unique_ptr<llvm::TargetMachine> taylor::makeHostMachine(StringRef cpu, StringRef features,
                                                             std::string &error) {
  static bool once = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)once;
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast; // a * b + c in one rounding
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, cpu, features, options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine)
    error = "LLVM has no code generator for " + cpu.str();
  return machine;
}

/// Loop strength reduction is left out: addresses are emitted as increments already, so it finds nothing, in
/// a sixth of the code generator's time. Read where passes are added, one thread after the other.
static constexpr llvm::StringLiteral kNoStrengthReduction = "disable-lsr";

LogicalResult taylor::emitHostCode(llvm::Module &module, llvm::TargetMachine &machine, bool assembly,
                                   SmallVectorImpl<char> &out, std::string &error) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple());
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  auto type = assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  {
    static std::mutex adding;
    std::lock_guard lock(adding);
    LLVMSwitch noStrengthReduction(kNoStrengthReduction, true);
    if (machine.addPassesToEmitFile(passes, stream, nullptr, type)) {
      error = ("LLVM cannot emit this file type for " + machine.getTargetCPU()).str();
      return failure();
    }
  }
  passes.run(module);
  return success();
}
