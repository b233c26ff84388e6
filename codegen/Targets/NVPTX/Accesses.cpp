// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Accesses.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::simt;

Value mlir::simt::getBuffer(Value slot) {
  while (isa_and_present<SlotOp, PartOp>(slot.getDefiningOp()))
    slot = slot.getDefiningOp()->getOperand(0);
  return slot;
}

SmallVector<Access> mlir::simt::getAccesses(Operation *op) {
  SmallVector<Access> accesses;
  auto reads = [&](Value memory) { accesses.push_back({memory, false, false}); };
  auto writes = [&](Value memory) { accesses.push_back({memory, true, false}); };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](CopyOp copy) {
        accesses.push_back({copy.getArray(), false, true});
        accesses.push_back({getBuffer(copy.getBuffer()), true, true});
      })
      .Case([&](ReadOp read) { reads(getBuffer(read.getBuffer())); })
      .Case([&](WriteOp write) { writes(getBuffer(write.getBuffer())); })
      .Case<DotOp, StartOp>([&](auto product) {
        for (Value operand : {product.getA(), product.getB()})
          if (isa<BufferType>(operand.getType()))
            reads(getBuffer(operand));
      })
      .Case([&](AwaitOp await) { // what was started may read until now
        for (Value pending : await.getPending())
          for (; pending; pending = pending.getDefiningOp<StartOp>().getC()) {
            auto start = pending.getDefiningOp<StartOp>();
            if (!start)
              break;
            for (Value operand : {start.getA(), start.getB()})
              if (isa<BufferType>(operand.getType()))
                reads(getBuffer(operand));
          }
      })
      .Case([&](ExpandOp expand) { reads(getBuffer(expand.getInput())); })
      .Case([&](ContractOp contract) {
        reads(getBuffer(contract.getInput()));
        reads(getBuffer(contract.getSums()));
        writes(getBuffer(contract.getSums()));
      })
      .Case<tile::LoadOp, tile::LookupOp>([&](auto load) { reads(load.getArray()); })
      .Case([&](tile::StoreOp store) { writes(store.getArray()); })
      .Case([&](tile::AccumulateOp accumulate) { writes(accumulate.getArray()); });
  return accesses;
}
