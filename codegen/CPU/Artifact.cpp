// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/Artifact.h"
#include "codegen/CPU/Passes.h"
#include "codegen/HostMachine.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::tile;

void cpu::registerCPUBackend(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, TileDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

LogicalResult cpu::lowerToVector(ModuleOp module, const Target &target) {
  PassManager pm(module.getContext());
  buildVectorPipeline(pm, target.name);
  return pm.run(module);
}

LogicalResult cpu::lowerToLLVMDialect(ModuleOp module) {
  PassManager pm(module.getContext());
  buildLLVMPipeline(pm);
  return pm.run(module);
}

namespace {
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const cpu::Target &target, std::string &error) {
  std::string features;
  if (target.native)
    for (auto &[feature, enabled] : llvm::sys::getHostCPUFeatures())
      features += (features.empty() ? "" : ",") + std::string(enabled ? "+" : "-") + feature.str();
  // Whole registers: without it 512-bit vectors are split on some CPUs.
  if (target.vectorBytes == 64)
    features += (features.empty() ? "" : ",") + std::string("-prefer-256-bit");
  return taylor::makeHostMachine(target.cpu, features, error);
}

/// The functions that `translateToLLVM` leaves in the module, by their names there.
std::vector<taylor::HostFunction> listFunctions(ArrayAttr functions) {
  std::vector<taylor::HostFunction> list;
  for (auto entry : functions.getAsRange<DictionaryAttr>()) {
    std::string name = entry.getAs<StringAttr>("name").str();
    list.push_back({name, "taylor_" + name, entry.getAs<IntegerAttr>("kernels").getInt(),
                    entry.getAs<IntegerAttr>("scratch").getInt()});
  }
  return list;
}

/// Gives the entry points of a function names that no other target has.
void renameEntries(llvm::Module &module, taylor::HostFunction &function, StringRef target) {
  std::string symbol = ("taylor_" + target + "_" + function.name).str();
  std::replace_if(symbol.begin(), symbol.end(), [](char c) { return !llvm::isAlnum(c); }, '_');
  for (const char *suffix : {"_workspace", "_blocks", "_run"})
    module.getFunction(function.symbol + suffix)->setName(symbol + suffix);
  function.symbol = symbol;
}
} // namespace

std::unique_ptr<llvm::Module> cpu::translateToLLVM(ModuleOp module, const Target &target,
                                                   llvm::LLVMContext &context) {
  if (!module->getAttrOfType<ArrayAttr>("taylor.functions")) {
    module.emitError("requires the attribute taylor.functions, which taylor-lower-tile-to-vector sets");
    return nullptr;
  }
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(module, context, "taylor");
  if (!result)
    return nullptr;
  for (llvm::Function &function : *result)
    if (!function.isDeclaration()) {
      function.addFnAttr(llvm::Attribute::NoUnwind);
      if (target.vectorBytes == 64)
        function.addFnAttr("prefer-vector-width", "512");
    }
  return result;
}

LogicalResult cpu::emitAssembly(llvm::Module &module, const Target &target, std::string &text,
                                std::string &error) {
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(target, error);
  SmallVector<char, 0> bytes;
  if (!machine || failed(taylor::emitHostCode(module, *machine, /*assembly=*/true, bytes, error)))
    return failure();
  text.assign(bytes.begin(), bytes.end());
  return success();
}

LogicalResult cpu::emitObject(ModuleOp module, const Target &target, taylor::ArtifactCode &code) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated = translateToLLVM(module, target, context);
  if (!translated)
    return failure();
  taylor::HostCode host{target.name, listFunctions(module->getAttrOfType<ArrayAttr>("taylor.functions")), {}};
  // Another target's kernels have the same names.
  for (llvm::Function &function : *translated)
    if (!function.isDeclaration() && !function.getName().starts_with("taylor_"))
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  // Callers without our runtime find the first target's functions by plain names.
  if (!code.hosts.empty())
    for (taylor::HostFunction &function : host.functions)
      renameEntries(*translated, function, target.name);
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(target, error);
  if (!machine || failed(taylor::emitHostCode(*translated, *machine, /*assembly=*/false, host.object, error)))
    return module.emitError(error);
  code.hosts.push_back(std::move(host));
  if (target.emulatesTiles)
    code.support = tileEmulationObject();
  return success();
}

LogicalResult cpu::compileTileModule(ModuleOp module, StringRef manifest, const Target &target,
                                     StringRef path) {
  taylor::ArtifactCode code;
  std::string error;
  if (failed(lowerToVector(module, target)) || failed(lowerToLLVMDialect(module)) ||
      failed(emitObject(module, target, code)))
    return failure();
  if (failed(taylor::writeArtifact(code, manifest, path, error)))
    return module.emitError(error);
  return success();
}
