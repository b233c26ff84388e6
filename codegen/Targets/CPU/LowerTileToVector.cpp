// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/CPU/KernelEmitter.h"
#include "codegen/Targets/CPU/Passes.h"
#include "codegen/Targets/CPU/VectorOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Debug.h"

#define DEBUG_TYPE "taylor-lower-tile-to-vector"

namespace mlir::tile::cpu {
#define GEN_PASS_DEF_LOWERTILETOVECTOR
#include "codegen/Targets/CPU/Passes.h.inc"
} // namespace mlir::tile::cpu

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

namespace {

/// Functions of kernels, with a hash of their code.
using EmittedKernels = SmallVector<std::pair<func::FuncOp, llvm::hash_code>>;

class ProgramLowering {
public:
  /// `emitted`: kernels of all programs so far.
  ProgramLowering(ProgramOp program, const Processor &target, EmittedKernels &emitted,
                  ImplicitLocOpBuilder &b)
      : program(program), target(target), emitted(emitted), b(b),
        pointer(LLVM::LLVMPointerType::get(b.getContext())) {}

  /// Kernels whose code an earlier one has.
  unsigned numCopies = 0;

  /// Emits the functions; returns the entry of `taylor.functions`.
  FailureOr<DictionaryAttr> run() {
    for (KernelOp kernel : program.getBlock()->getOps<KernelOp>()) {
      size_t before = emitted.size();
      if (failed(emitKernel(kernel)))
        return failure();
      bool isCopy = emitted.size() == before;
      LDBG() << "@" << kernel.getSymName() << ": " << (isCopy ? "has the code of @" : "@")
             << kernels.back().getSymName();
      numCopies += isCopy;
    }
    emitWorkspace();
    emitBlocks();
    emitRun();
    return b.getDictionaryAttr({b.getNamedAttr("name", program.getSymNameAttr()),
                                b.getNamedAttr("kernels", b.getI64IntegerAttr(int64_t(kernels.size()))),
                                b.getNamedAttr("scratch", b.getI64IntegerAttr(scratchBytes))});
  }

private:
  func::FuncOp function(const Twine &name, TypeRange inputs, TypeRange results) {
    auto op = func::FuncOp::create(b, name.str(), b.getFunctionType(inputs, results));
    return op;
  }

  Value constant(int64_t value) { return arith::ConstantOp::create(b, b.getI64IntegerAttr(value)); }

  LogicalResult emitKernel(KernelOp kernel) {
    if (failed(checkScalarOps(kernel)))
      return failure();
    FailureOr<std::unique_ptr<KernelPlan>> plan = KernelPlan::build(kernel, target);
    if (failed(plan))
      return failure();
    Type i64 = b.getI64Type();
    func::FuncOp op = function("taylor." + program.getSymName() + "." + kernel.getSymName(),
                               {pointer, i64, i64, pointer}, {});
    op.setPrivate();
    KernelEmitter(kernel, **plan, target, b).emit(op);
    scratchBytes = std::max(scratchBytes, (*plan)->scratchBytes);
    kernels.push_back(shareCode(op));
    return success();
  }

  /// An earlier kernel with the code of `op`, which is erased, or else `op`. Tables of angles are such:
  /// forward and backward, and all forms, have them first in their workspace.
  func::FuncOp shareCode(func::FuncOp op) {
    llvm::hash_code hash = hashOperations(op);
    for (auto [earlier, itsHash] : emitted)
      if (hash == itsHash && OperationEquivalence::isRegionEquivalentTo(
                                 &earlier.getBody(), &op.getBody(), OperationEquivalence::IgnoreLocations)) {
        op.erase();
        return earlier;
      }
    emitted.push_back({op, hash});
    return op;
  }

  /// Of names, attributes and types: kernels that differ in anything else are rare.
  static llvm::hash_code hashOperations(func::FuncOp function) {
    llvm::hash_code hash(0);
    function.getBody().walk([&](Operation *op) {
      hash = llvm::hash_combine(hash,
                                OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                                  OperationEquivalence::ignoreHashValue,
                                                                  OperationEquivalence::IgnoreLocations));
    });
    return hash;
  }

  void emitWorkspace() {
    func::FuncOp op = function("taylor_" + program.getSymName() + "_workspace", {pointer}, {b.getI64Type()});
    OpBuilder::InsertionGuard guard(b);
    Block *entry = op.addEntryBlock();
    b.setInsertionPointToStart(entry);
    SizeValues sizes = loadSizes(b, entry->getArgument(0));
    Value bytes = constant(0);
    for (WorkspaceOp workspace : program.getBlock()->getOps<WorkspaceOp>())
      bytes = sizes.add(bytes, sizes.workspaceBytes(workspace.getType()));
    func::ReturnOp::create(b, bytes);
  }

  void emitBlocks() {
    Type i64 = b.getI64Type();
    func::FuncOp op = function("taylor_" + program.getSymName() + "_blocks", {pointer, i64}, {i64});
    OpBuilder::InsertionGuard guard(b);
    Block *entry = op.addEntryBlock();
    b.setInsertionPointToStart(entry);
    SizeValues sizes = loadSizes(b, entry->getArgument(0));
    Value result = constant(0);
    for (auto [i, kernel] : llvm::enumerate(program.getBlock()->getOps<KernelOp>())) {
      Value blocks = sizes.blocksOf(kernel);
      Value isThis =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, entry->getArgument(1), constant(int64_t(i)));
      result = arith::SelectOp::create(b, isThis, blocks, result);
    }
    func::ReturnOp::create(b, result);
  }

  void emitRun() {
    Type i64 = b.getI64Type();
    func::FuncOp op =
        function("taylor_" + program.getSymName() + "_run", {pointer, i64, i64, i64, pointer}, {});
    OpBuilder::InsertionGuard guard(b);
    Block *entry = op.addEntryBlock();
    b.setInsertionPointToStart(entry);
    for (auto [i, kernel] : llvm::enumerate(kernels)) {
      Value isThis =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, entry->getArgument(1), constant(int64_t(i)));
      scf::IfOp::create(b, isThis, [&](OpBuilder &, Location) {
        func::CallOp::create(b, kernel,
                             ValueRange{entry->getArgument(0), entry->getArgument(2), entry->getArgument(3),
                                        entry->getArgument(4)});
        scf::YieldOp::create(b);
      });
    }
    func::ReturnOp::create(b);
  }

  ProgramOp program;
  const Processor &target;
  EmittedKernels &emitted;
  ImplicitLocOpBuilder &b;
  Type pointer;
  SmallVector<func::FuncOp> kernels;
  int64_t scratchBytes = 64;
};

struct LowerTileToVectorPass : cpu::impl::LowerTileToVectorBase<LowerTileToVectorPass> {
  using LowerTileToVectorBase::LowerTileToVectorBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::string error;
    std::optional<Processor> target = findTarget(targetName, error);
    if (!target) {
      module.emitError(error);
      return signalPassFailure();
    }
    ImplicitLocOpBuilder b(module.getLoc(), &getContext());
    SmallVector<Attribute> functions;
    EmittedKernels emitted;
    for (ProgramOp program : llvm::make_early_inc_range(module.getOps<ProgramOp>())) {
      b.setInsertionPoint(program);
      b.setLoc(program.getLoc());
      ProgramLowering lowering(program, *target, emitted, b);
      FailureOr<DictionaryAttr> entry = lowering.run();
      if (failed(entry))
        return signalPassFailure();
      auto kernels = program.getBlock()->getOps<KernelOp>();
      numKernels += std::distance(kernels.begin(), kernels.end());
      numCopies += lowering.numCopies;
      functions.push_back(*entry);
      program.erase();
    }
    module->setAttr("taylor.functions", b.getArrayAttr(functions));
  }
};

} // namespace
