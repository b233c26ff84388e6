// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fences between writes of threads and reads of started products. Passes.td has the rule.
#include "codegen/Targets/NVPTX/Accesses.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Debug.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "taylor-simt-fence-proxies"

namespace mlir::simt {
#define GEN_PASS_DEF_FENCEPROXIES
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;
using namespace mlir::simt;

namespace {

/// What the thread may have done to buffers that products read.
struct Unfenced {
  bool copies = false; ///< copies that no wait is known to have completed
  bool writes = false; ///< writes, and copies that a wait may have completed, since the last fence
  bool fenced = false; ///< such, before the last fence and since the last barrier

  bool operator==(const Unfenced &) const = default;
  Unfenced join(const Unfenced &other) const {
    return {copies || other.copies, writes || other.writes, fenced || other.fenced};
  }
};

class Fences {
public:
  explicit Fences(tile::KernelOp kernel) : kernel(kernel) {
    kernel.walk([&](StartOp start) {
      for (Value operand : {start.getA(), start.getB()})
        if (isa<BufferType>(operand.getType()))
          read.insert(getBuffer(operand));
    });
  }

  /// Returns the number of fences that stand at the end.
  size_t run() {
    if (read.empty())
      return 0;
    walk(*kernel.getBlock(), {});
    inserting = false;
    size_t dropped = isComplete() ? dropRedundant() : 0;
    LDBG() << "@" << kernel.getSymName() << ": " << inserted.size() << " fences, " << dropped
           << " of which a later one serves as well";
    return inserted.size() - dropped;
  }

private:
  Unfenced walk(Block &block, Unfenced state) {
    for (Operation &op : llvm::make_early_inc_range(block))
      state =
          llvm::TypeSwitch<Operation *, Unfenced>(&op)
              .Case([&](scf::ForOp loop) { return walk(loop, state); })
              .Case([&](scf::IfOp branch) {
                Unfenced after = walk(branch.getThenRegion().front(), state);
                return after.join(
                    branch.getElseRegion().empty() ? state : walk(branch.getElseRegion().front(), state));
              })
              .Case([&](RolesOp roles) { return walk(roles.getConsumerBlock(), state); })
              .Case([&](WaitOp wait) {
                return Unfenced{state.copies && wait.getGroups() > 0, state.copies || state.writes,
                                state.fenced};
              })
              .Case([&](ProxyFenceOp) { return Unfenced{state.copies, false, state.fenced || state.writes}; })
              .Case([&](BarrierOp barrier) {
                if (state.writes && inserting) {
                  OpBuilder builder(barrier);
                  inserted.push_back(ProxyFenceOp::create(builder, barrier.getLoc()));
                  state.writes = false;
                }
                return Unfenced{state.copies, state.writes, false};
              })
              .Case([&](StartOp) {
                complete &= !state.writes && !state.fenced;
                return state;
              })
              .Default([&](Operation *op) { return record(op, state); });
    return state;
  }

  /// The state at the head is what comes in joined with what an iteration leaves; fences only ever clear it.
  /// This ends: joining only sets its three flags.
  Unfenced walk(scf::ForOp loop, Unfenced before) {
    Unfenced head = before;
    while (true) {
      Unfenced next = head.join(walk(*loop.getBody(), head));
      if (next == head)
        return head;
      head = next;
    }
  }

  /// Whether a fence and then a barrier stand between all that threads wrote and each product.
  bool isComplete() {
    complete = true;
    walk(*kernel.getBlock(), {});
    return complete;
  }

  /// A fence that a later one serves as well: before another barrier, on the way to the first product.
  size_t dropRedundant() {
    size_t dropped = 0;
    for (ProxyFenceOp fence : inserted) {
      Operation *next = fence->getNextNode();
      fence->remove();
      if (isComplete()) {
        fence->destroy();
        ++dropped;
      } else {
        next->getBlock()->getOperations().insert(Block::iterator(next), fence);
      }
    }
    return dropped;
  }

  Unfenced record(Operation *op, Unfenced state) const {
    for (const Access &access : getAccesses(op))
      if (access.writes && read.contains(access.memory))
        (access.isAsynchronous ? state.copies : state.writes) = true;
    return state;
  }

  tile::KernelOp kernel;
  llvm::DenseSet<Value> read; ///< buffers that products read
  SmallVector<ProxyFenceOp> inserted;
  bool inserting = true, complete = true;
};

struct FenceProxies : simt::impl::FenceProxiesBase<FenceProxies> {
  using FenceProxiesBase::FenceProxiesBase;

  void runOnOperation() override {
    if (failed(requireLayoutsOfAll(getOperation())))
      return signalPassFailure();
    getOperation().walk([&](tile::KernelOp kernel) { numFences += Fences(kernel).run(); });
  }
};

} // namespace
