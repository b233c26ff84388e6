// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions are text, since MLIR's ops for them are such too.
#include "codegen/Targets/NVPTX/Thread/RingSignals.h"
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::simt;

void RingSignals::initialise(RolesOp roles) {
  OpBuilder &builder = places.builder;
  tile::KernelOp kernel = places.kernel;
  Code code = places.at(kernel);
  int64_t readers = places.numWarps() * int64_t(roles.getMembers());
  Value isFirst = code.lessUnsigned(places.thread(), code.i32(1));
  auto branch = scf::IfOp::create(builder, code.loc, isFirst, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    auto initialise = [&](Value signal, int64_t arrivals) {
      code.assembly("mbarrier.init.shared.b64 [$0], $1;", "r,r,~{memory}", {}, {signal, code.i32(arrivals)});
    };
    for (auto ring : kernel.getBlock()->getOps<RingOp>()) {
      int64_t slots = ring.getType().getBuffer().getSlots();
      for (int64_t slot = 0; slot < slots; ++slot)
        for (bool isEmpty : {false, true})
          initialise(signalOf(ring, code.i32(slot), isEmpty), isEmpty ? readers : 1);
      if (completesBoxes(ring))
        initialise(ownSignalOf(ring), 1);
    }
    code.assembly("fence.mbarrier_init.release.cluster;", "~{memory}", {}, {});
  }
  code.barrier();
}

Value RingSignals::signalOf(RingOp ring, Value slot, bool isEmpty) {
  Code code = places.at(ring);
  Value base =
      LLVM::PtrToIntOp::create(code.builder, code.loc, code.builder.getI32Type(), places.sharedBase());
  int64_t place = int64_t(*ring.getSignals()) + (isEmpty ? RingType::kSignalBytes / 2 : 0);
  return code.add(code.add(base, place), code.mul(slot, RingType::kSignalBytes));
}

Value RingSignals::ownSignalOf(RingOp ring) {
  // After those of the slots.
  return signalOf(ring, places.at(ring).i32(ring.getType().getBuffer().getSlots()), false);
}

void RingSignals::wait(Location loc, Value signal, Value parity) {
  places.at(loc).assembly("{\n.reg .pred P1;\nWAIT:\nmbarrier.try_wait.parity.shared.b64 P1, [$0], $1;\n"
                          "@P1 bra DONE;\nbra WAIT;\nDONE:\n}",
                          "r,r,~{memory}", {}, {signal, parity});
}

Value RingSignals::phaseOf(Location loc, Value signal) {
  Code code = places.at(loc);
  return code
      .assembly("{\n.reg .pred P1;\nmbarrier.test_wait.parity.shared.b64 P1, [$1], $2;\n"
                "selp.b32 $0, 1, 0, P1;\n}",
                "=r,r,r,~{memory}", {code.builder.getI32Type()}, {signal, code.i32(0)})
      .front();
}

void RingSignals::arrive(Location loc, Value signal, Value isOne) {
  places.at(loc).assembly("@$1 mbarrier.arrive.shared.b64 _, [$0];", "r,b,~{memory}", {}, {signal, isOne});
}

void RingSignals::arriveBefore(Location loc, Value signal, int64_t bytes) {
  Code code = places.at(loc);
  code.assembly("mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;", "r,r,~{memory}", {},
                {signal, code.i32(bytes)});
}

void RingSignals::arriveAfterCopies(Location loc, Value signal) {
  places.at(loc).assembly("cp.async.mbarrier.arrive.shared.b64 [$0];", "r,~{memory}", {}, {signal});
}
