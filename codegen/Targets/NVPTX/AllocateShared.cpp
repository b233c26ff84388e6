// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Byte offsets of buffers. Passes.td has the rule.
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/PlaceBarriers.h"
#include "codegen/Targets/NVPTX/SharedPlan.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "dialect/Refusal.h"
#include "passes/Debug.h"

#define DEBUG_TYPE "taylor-simt-allocate-shared"

namespace mlir::simt {
#define GEN_PASS_DEF_ALLOCATESHARED
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;
using namespace mlir::simt;

namespace {

struct AllocateShared : simt::impl::AllocateSharedBase<AllocateShared> {
  using AllocateSharedBase::AllocateSharedBase;

  void runOnOperation() override {
    if (failed(requireLayoutsOfAll(getOperation())))
      return signalPassFailure();
    getOperation().walk([&](tile::KernelOp kernel) {
      if (failed(requireBarriers(kernel)) || failed(allocate(kernel)))
        signalPassFailure();
    });
  }

  LogicalResult allocate(tile::KernelOp kernel) {
    SharedPlan plan = planShared(kernel, chooseBufferLife(kernel, shared));
    LDBG() << "@" << kernel.getSymName() << ": " << plan.bytes << " bytes";
    for (auto &[op, offset] : plan.offsets)
      LDBG() << cast<AllocOp>(op).getName() << " at " << offset;
    if (plan.bytes > shared)
      return taylor::refuse(mlir::emitError(kernel.getLoc()))
             << "unsupported on this target: " << plan.bytes
             << " bytes of shared memory, where a block may use " << shared.getValue()
             << "; choose smaller tiles or fewer channels";
    numBuffers += plan.offsets.size();
    for (auto &[op, offset] : plan.offsets)
      cast<AllocOp>(op).setOffset(offset);
    for (auto &[op, places] : plan.rings) {
      cast<RingOp>(op).setOffset(places.first);
      cast<RingOp>(op).setSignals(places.second);
    }
    for (auto roles : kernel.getBlock()->getOps<RolesOp>())
      roles.setApart(plan.apart);
    setSharedBytes(kernel, plan.bytes);
    return placeBarriersBetweenSharers(kernel);
  }
};

} // namespace
