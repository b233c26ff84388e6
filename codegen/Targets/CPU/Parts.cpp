// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/CPU/Parts.h"
#include "codegen/Targets/CPU/CPUPipeline.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Module.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::tile;

namespace {
/// Kernels are called by entry points of another object, and by nothing outside of the artifact.
constexpr StringLiteral kKernelPrefix = "taylor.";

/// Kernels with fewer operations share the part of the entry points: a part of their own costs more, some
/// milliseconds, than another core would save.
constexpr int64_t kLargeKernel = 400;

/// Code on its way to an object file of its own.
struct Part {
  OwningOpRef<ModuleOp> code;
  int64_t operations = 0;
  SmallVector<char, 0> object;
  bool isDone = false;
  std::string error; // why not; empty where a diagnostic said it
};
using Parts = std::vector<std::unique_ptr<Part>>;

int64_t countOperations(LLVM::LLVMFuncOp function) {
  int64_t count = 0;
  function->walk([&](Operation *) { ++count; });
  return count;
}

/// A module for code that is taken out of `module`.
std::unique_ptr<Part> makePart(ModuleOp module) {
  auto part = std::make_unique<Part>();
  part->code = ModuleOp::create(module.getLoc());
  (*part->code)->setAttrs(module->getAttrDictionary());
  return part;
}

void take(LLVM::LLVMFuncOp function, int64_t operations, Part &part) {
  function->remove();
  part.code->push_back(function);
  part.operations += operations;
}

/// Copies what the part's functions use: tables whole, functions as declarations.
void addUsedSymbols(ModuleOp part, ArrayRef<Operation *> symbols) {
  llvm::StringSet<> used;
  if (auto uses = SymbolTable::getSymbolUses(&part.getBodyRegion()))
    for (const SymbolTable::SymbolUse &use : *uses)
      used.insert(use.getSymbolRef().getRootReference());
  llvm::StringSet<> defined;
  for (auto symbol : part.getOps<SymbolOpInterface>())
    defined.insert(symbol.getName());
  OpBuilder builder = OpBuilder::atBlockBegin(part.getBody());
  for (Operation *op : symbols) {
    StringRef name = cast<SymbolOpInterface>(op).getName();
    if (!used.contains(name) || defined.contains(name))
      continue;
    if (isa<LLVM::LLVMFuncOp>(op))
      builder.insert(op->cloneWithoutRegions());
    else
      builder.clone(*op);
  }
}

/// A part for each large kernel, and the last for the rest.
Parts divide(ModuleOp module) {
  SmallVector<Operation *> symbols;
  for (Operation &op : *module.getBody())
    if (isa<SymbolOpInterface>(op))
      symbols.push_back(&op);
  Parts parts;
  std::unique_ptr<Part> rest = makePart(module);
  for (Operation *op : symbols) {
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (!function || function.isExternal())
      continue;
    int64_t operations = countOperations(function);
    bool isLarge = operations >= kLargeKernel && function.getSymName().starts_with(kKernelPrefix);
    take(function, operations, isLarge ? *parts.emplace_back(makePart(module)) : *rest);
  }
  parts.push_back(std::move(rest));
  for (std::unique_ptr<Part> &part : parts)
    addUsedSymbols(*part->code, symbols);
  return parts;
}

void emit(Part &part, const cpu::Processor &target, bool renames) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = cpu::translateToLLVM(*part.code, target, context);
  if (!code)
    return;
  for (llvm::Function &function : *code) {
    bool isKernel = function.getName().starts_with(kKernelPrefix);
    if (isKernel)
      function.setVisibility(llvm::GlobalValue::HiddenVisibility);
    if (renames && (isKernel || !function.isDeclaration()))
      function.setName(cpu::nameForTarget(function.getName(), target.name));
  }
  part.isDone = succeeded(cpu::emitHostObject(*code, target, part.object, part.error));
}
} // namespace

std::string cpu::nameForTarget(StringRef symbol, StringRef target) {
  symbol.consume_front("taylor");
  std::string name = target.str();
  std::replace_if(name.begin(), name.end(), [](char c) { return !llvm::isAlnum(c); }, '_');
  return ("taylor_" + name + symbol).str();
}

FailureOr<std::vector<SmallVector<char, 0>>> cpu::emitParts(ModuleOp module, const Processor &target,
                                                            bool renames) {
  Parts parts = divide(module);
  // The longest first: what comes of a part depends on no other.
  SmallVector<Part *> order = llvm::map_to_vector(parts, [](auto &part) { return part.get(); });
  llvm::sort(order, [](Part *a, Part *b) { return a->operations > b->operations; });
  parallelForEach(module.getContext(), order, [&](Part *part) { emit(*part, target, renames); });
  std::vector<SmallVector<char, 0>> objects;
  for (std::unique_ptr<Part> &part : parts) {
    if (!part->isDone) {
      if (!part->error.empty())
        module.emitError(part->error);
      return failure();
    }
    objects.push_back(std::move(part->object));
  }
  return objects;
}
