// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// taylor-nvptx-emit: the LLVM dialect to LLVM IR, optimised, to PTX text.
#include "codegen/Artifact/LLVMSwitch.h"
#include "codegen/Targets/NVPTX/Emit/Emit.h"
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "codegen/Targets/NVPTX/Machines.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/Debug.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#define DEBUG_TYPE "taylor-nvptx-emit"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace mlir::simt {
#define GEN_PASS_DEF_EMITPTX
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;
using namespace mlir::simt;

void mlir::simt::registerNVPTXBackend(DialectRegistry &registry) {
  registry.insert<NVVM::NVVMDialect, LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

/// Pointers to shared memory of 32 bits.
static constexpr StringLiteral kShortPointers = "nvptx-short-ptr";
/// A branch around copies ends a block. The multiply-adds of a product would sink to after it, one by one,
/// and leave their operands, loaded before it, in registers: far more than there are.
static constexpr StringLiteral kNoSinking = "disable-machine-sink";
/// And so they would before, to after a barrier's branch or into the head of a loop that alone reads the
/// sums.
static constexpr StringLiteral kSinking = "instcombine-code-sinking";
/// Loads that other loads or stores make needless: kernels have none, and to look for them in code without
/// loops takes half of the time. Not required of LLVM: without this switch the code is the same.
static constexpr StringLiteral kLoadElimination = "enable-gvn-memdep";
/// A load of four numbers that are used one by one would become four loads, and late in the code generator
/// one again: the same code, after a third more of the time. Not required, likewise.
static constexpr StringLiteral kNoVectorCombine = "disable-vector-combine";

/// A message that names the first switch that this LLVM does not have; without it the code would be another.
static std::string checkSwitches() {
  for (StringRef name : {kShortPointers, kNoSinking, kSinking})
    if (!taylor::LLVMSwitch::exists(name))
      return ("requires the option '" + name +
              "' of LLVM's code generator, which LLVM " LLVM_VERSION_STRING
              " does not have here; build with an LLVM 22 that has the NVPTX target")
          .str();
  return "";
}

/// Once.
static void initializeNVPTX() {
  static const bool done = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)done;
}

static std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const simt::Machine &target,
                                                              std::string &error) {
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *llvmTarget = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!llvmTarget)
    return nullptr;
  llvm::TargetOptions options;
  // Products and sums are fused where the IR allows it, and only there.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(llvmTarget->createTargetMachine(
      triple, target.chip(), "+ptx" + std::to_string(target.ptxVersion), options, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  // What is worth unrolling is unrolled: the registers of a tile.
  tuning.LoopUnrolling = tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = false;
  llvm::PassBuilder passes(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(graphs);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, graphs, modules);
  taylor::LLVMSwitch noSinking(kSinking, false), wholeLoads(kNoVectorCombine, true);
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

std::string mlir::simt::emitPTX(ModuleOp module, const simt::Machine &target, std::string &error) {
  initializeNVPTX();
  error = checkSwitches();
  if (!error.empty())
    return "";
  taylor::LLVMSwitch shortPointers(kShortPointers, true), noLoadElimination(kLoadElimination, false);
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(target, error);
  if (!machine)
    return "";
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "taylor");
  if (!code) {
    error = "LLVM IR cannot hold the module";
    return "";
  }
  code->setTargetTriple(machine->getTargetTriple());
  code->setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : *code)
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::NoUnwind);
  optimize(*code, *machine);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  taylor::LLVMSwitch noSinking(kNoSinking, true); // read where passes are added
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    error = "LLVM cannot emit PTX for " + target.name;
    return "";
  }
  passes.run(*code);
  // Tabs would be escapes in the module's text.
  std::replace(text.begin(), text.end(), '\t', ' ');
  return std::string(text);
}

namespace {
/// The module is as taylor-nvptx-lower-to-llvm leaves it.
LogicalResult requireLLVM(ModuleOp module) {
  if (failed(requireThreadCode(module)))
    return failure();
  WalkResult walk = module.getBody()->walk([](Operation *op) -> WalkResult {
    if (isa<PTXOp>(op))
      return op->emitOpError("expected kernels that are not text yet; taylor-nvptx-emit has run already");
    if (!isa_and_present<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
      return op->emitOpError("expected ops of llvm and nvvm only; run taylor-nvptx-lower-to-llvm before");
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

/// Products that run while their threads go on are text, which LLVM takes for every GPU.
LogicalResult requireInstructions(ModuleOp module, const simt::Machine &target) {
  WalkResult walk = module.walk([&](LLVM::InlineAsmOp assembly) -> WalkResult {
    if (target.startsProducts || !assembly.getAsmString().contains("wgmma."))
      return WalkResult::advance();
    return assembly.emitOpError() << "unsupported instruction wgmma on target '" << target.name
                                  << "'; compile for sm_90a";
  });
  return failure(walk.wasInterrupted());
}

struct EmitPTX : simt::impl::EmitPTXBase<EmitPTX> {
  using EmitPTXBase::EmitPTXBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const simt::Machine *target = findTarget(targetName);
    if (!target) {
      module.emitError(describeUnknownTarget(targetName));
      return signalPassFailure();
    }
    if (failed(requireLLVM(module)) || failed(requireInstructions(module, *target)))
      return signalPassFailure();
    OpBuilder builder(&getContext());
    SmallVector<Attribute> entries;
    for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
      if (!function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) ||
          !function->hasAttr(NVVM::NVVMDialect::getReqntidAttrName()))
        continue;
      auto entry = function->getAttrOfType<EntryAttr>(kEntryAttr);
      if (!entry) {
        function.emitOpError("requires '") << kEntryAttr << "', by which a kernel is launched; "
                                           << "taylor-simt-lower-to-nvvm sets it";
        return signalPassFailure();
      }
      entries.push_back(entry);
    }
    if (entries.empty()) {
      emitErrorInside(
          module, "requires a kernel, an llvm.func with nvvm.kernel and nvvm.reqntid, but found none; run "
                  "taylor-simt-lower-to-nvvm before");
      return signalPassFailure();
    }
    std::string error, text = emitPTX(module, *target, error);
    if (!error.empty()) {
      module.emitError(error);
      return signalPassFailure();
    }
    LDBG() << target->name << ": " << text.size() << " characters";
    for (Attribute entry : entries)
      LDBG() << entry;
    numKernels += entries.size();
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (isa<LLVM::LLVMFuncOp>(op))
        op.erase();
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (isa<LLVM::GlobalOp>(op))
        op.erase();
    builder.setInsertionPointToEnd(module.getBody());
    PTXOp::create(builder, module.getLoc(), builder.getStringAttr(target->name),
                  builder.getArrayAttr(entries), builder.getStringAttr(text));
    module->removeAttr(LLVM::LLVMDialect::getTargetTripleAttrName());
    module->removeAttr(LLVM::LLVMDialect::getDataLayoutAttrName());
  }
};
} // namespace
