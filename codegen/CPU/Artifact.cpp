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
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ThreadPool.h"
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

/// One function of the artifact on its way to an object file of its own.
struct ObjectPart {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  SmallVector<char, 0> object;
  std::string error; // empty: none
};

/// Moves a function's kernels and entries into a module of their own, with copies of the tables they read.
OwningOpRef<ModuleOp> takeFunction(ModuleOp module, StringRef name) {
  OwningOpRef<ModuleOp> own = ModuleOp::create(module.getLoc());
  (*own)->setAttrs(module->getAttrDictionary());
  std::string kernels = ("taylor." + name + ".").str(), entries = ("taylor_" + name + "_").str();
  auto isEntry = [&](StringRef symbol) {
    return symbol.consume_front(entries) && llvm::is_contained({"workspace", "blocks", "run"}, symbol);
  };
  llvm::StringSet<> used;
  for (auto function : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
    StringRef symbol = function.getSymName();
    if (!symbol.starts_with(kernels) && !isEntry(symbol))
      continue;
    function->remove();
    own->push_back(function);
    if (auto uses = SymbolTable::getSymbolUses(function.getOperation()))
      for (const SymbolTable::SymbolUse &use : *uses)
        used.insert(use.getSymbolRef().getRootReference());
  }
  // Declarations, such as those of the matrix unit's emulation, and tables.
  OpBuilder builder = OpBuilder::atBlockBegin(own->getBody());
  for (Operation &op : *module.getBody())
    if (auto symbol = dyn_cast<SymbolOpInterface>(op); symbol && used.contains(symbol.getName()))
      builder.clone(op);
  return own;
}

/// Runs the code generator, one function after the other on each core that the process has: the longest
/// first. What comes of a function depends on nothing else.
void emitParts(ArrayRef<std::unique_ptr<ObjectPart>> parts, const cpu::Target &target) {
  auto emit = [&](ObjectPart &part) {
    std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(target, part.error);
    if (machine)
      (void)taylor::emitHostCode(*part.module, *machine, /*assembly=*/false, part.object, part.error);
  };
  std::vector<std::pair<size_t, ObjectPart *>> order;
  for (const std::unique_ptr<ObjectPart> &part : parts)
    order.push_back({part->module->getInstructionCount(), part.get()});
  llvm::stable_sort(order, [](auto &a, auto &b) { return a.first > b.first; });
  llvm::ThreadPoolStrategy strategy = llvm::hardware_concurrency(order.size());
  strategy.Limit = true; // no more threads than cores
  llvm::DefaultThreadPool threads(strategy);
  for (auto &[size, part] : order)
    threads.async([&emit, part = part] { emit(*part); });
  threads.wait();
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
  auto functions = module->getAttrOfType<ArrayAttr>("taylor.functions");
  if (!functions)
    return module.emitError(
        "requires the attribute taylor.functions, which taylor-lower-tile-to-vector sets");
  taylor::HostCode host{target.name, listFunctions(functions), {}};
  std::vector<std::unique_ptr<ObjectPart>> parts;
  for (taylor::HostFunction &function : host.functions) {
    parts.push_back(std::make_unique<ObjectPart>());
    OwningOpRef<ModuleOp> own = takeFunction(module, function.name);
    ObjectPart &part = *parts.back();
    part.module = translateToLLVM(*own, target, part.context);
    if (!part.module)
      return failure();
    // Another target's kernels have the same names.
    for (llvm::Function &inner : *part.module)
      if (!inner.isDeclaration() && !inner.getName().starts_with("taylor_"))
        inner.setLinkage(llvm::GlobalValue::InternalLinkage);
    // Callers without our runtime find the first target's functions by plain names.
    if (!code.hosts.empty())
      renameEntries(*part.module, function, target.name);
  }
  emitParts(parts, target);
  for (std::unique_ptr<ObjectPart> &part : parts) {
    if (!part->error.empty())
      return module.emitError(part->error);
    host.objects.push_back(std::move(part->object));
  }
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
