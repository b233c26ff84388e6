// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dependent launches: when the next kernel may begin, and what it must wait for. Passes.td has the rule.
#include "codegen/Targets/NVPTX/Accesses.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "passes/Debug.h"
#include "llvm/ADT/DenseSet.h"

#define DEBUG_TYPE "taylor-simt-start-early"

namespace mlir::simt {
#define GEN_PASS_DEF_STARTEARLY
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;
using namespace mlir::simt;

namespace {

struct StartEarly : simt::impl::StartEarlyBase<StartEarly> {
  void runOnOperation() override {
    if (failed(requirePrograms(getOperation())))
      return signalPassFailure();
    for (auto program : getOperation().getOps<tile::ProgramOp>())
      runOnProgram(program);
  }

private:
  void runOnProgram(tile::ProgramOp program) {
    if (program
            .walk([](Operation *op) {
              return isa<StartNextOp, AwaitPreviousOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted())
      return; // it was here before
    auto kernels = llvm::to_vector(program.getBlock()->getOps<tile::KernelOp>());
    llvm::DenseSet<Value> written;
    program.walk([&](Operation *op) {
      for (const Access &access : getAccesses(op))
        if (access.writes)
          written.insert(access.memory);
    });
    for (tile::KernelOp kernel : kernels) {
      Block &body = *kernel.getBlock();
      if (kernel != kernels.front()) {
        Operation *first = findFirst(body, written);
        OpBuilder builder = first ? OpBuilder(first) : OpBuilder::atBlockEnd(&body);
        AwaitPreviousOp::create(builder, kernel.getLoc());
        LDBG() << "@" << kernel.getSymName() << ": waits before "
               << (first ? first->getName().getStringRef() : "its end");
        ++numEarly;
      }
      if (kernel != kernels.back()) {
        OpBuilder builder = OpBuilder::atBlockBegin(&body);
        StartNextOp::create(builder, kernel.getLoc());
      }
    }
  }

  /// The first op of the block that touches one of the arrays, by itself or within.
  static Operation *findFirst(Block &block, const llvm::DenseSet<Value> &arrays) {
    for (Operation &op : block) {
      WalkResult found = op.walk([&](Operation *inside) {
        return llvm::any_of(getAccesses(inside),
                            [&](const Access &access) { return arrays.contains(access.memory); })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (found.wasInterrupted())
        return &op;
    }
    return nullptr;
  }
};

} // namespace
