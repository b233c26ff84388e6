// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/CPU/CPUPipeline.h"
#include "codegen/Artifact/HostMachine.h"
#include "codegen/Targets/CPU/Parts.h"
#include "codegen/Targets/CPU/Passes.h"
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

using namespace mlir;
using namespace mlir::tile;

void cpu::registerCPUBackend(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, TileDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

LogicalResult cpu::lowerToVector(ModuleOp module, const Processor &target) {
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
/// For machines of the level that have the table's features: nothing else that LLVM knows of the processor is
/// used, so that the manifest's features are all that the code needs.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const cpu::Processor &target, std::string &error) {
  std::string features = "+" + llvm::join(target.features, ",+");
  // Whole registers: without it 512-bit vectors are split on some CPUs.
  if (target.vectorBytes == 64)
    features += ",-prefer-256-bit";
  return taylor::makeHostMachine(target.level, features, error);
}

LogicalResult emitCode(llvm::Module &module, const cpu::Processor &target, bool assembly,
                       SmallVectorImpl<char> &bytes, std::string &error) {
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(target, error);
  return success(machine && succeeded(taylor::emitHostCode(module, *machine, assembly, bytes, error)));
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

} // namespace

std::unique_ptr<llvm::Module> cpu::translateToLLVM(ModuleOp module, const Processor &target,
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
      function.addFnAttr("tune-cpu", target.cpu); // schedules, no instructions
      if (target.vectorBytes == 64)
        function.addFnAttr("prefer-vector-width", "512");
    }
  return result;
}

LogicalResult cpu::emitAssembly(llvm::Module &module, const Processor &target, std::string &text,
                                std::string &error) {
  SmallVector<char, 0> bytes;
  if (failed(emitCode(module, target, /*assembly=*/true, bytes, error)))
    return failure();
  text.assign(bytes.begin(), bytes.end());
  return success();
}

LogicalResult cpu::emitHostObject(llvm::Module &module, const Processor &target, SmallVectorImpl<char> &bytes,
                                  std::string &error) {
  return emitCode(module, target, /*assembly=*/false, bytes, error);
}

LogicalResult cpu::emitObject(ModuleOp module, const Processor &target, taylor::ArtifactCode &code) {
  auto functions = module->getAttrOfType<ArrayAttr>("taylor.functions");
  if (!functions)
    return module.emitError(
        "requires the attribute taylor.functions, which taylor-lower-tile-to-vector sets");
  taylor::HostCode host{target.name, listFunctions(functions), {}};
  // Callers without our runtime find the first target's functions by plain names.
  bool renames = !code.hosts.empty();
  if (renames)
    for (taylor::HostFunction &function : host.functions)
      function.symbol = nameForTarget(function.symbol, target.name);
  auto objects = emitParts(module, target, renames);
  if (failed(objects))
    return failure();
  host.objects = std::move(*objects);
  code.hosts.push_back(std::move(host));
  if (target.emulatesTiles)
    code.support = tileEmulationObject();
  return success();
}

LogicalResult cpu::compileTileModule(ModuleOp module, StringRef manifest, const Processor &target,
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
