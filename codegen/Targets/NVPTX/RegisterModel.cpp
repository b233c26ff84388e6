// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/KernelSteps.h"
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::simt;
using tile::TileType;

scf::ForOp mlir::simt::getContractingLoop(tile::ContractOp contract) {
  auto carried = dyn_cast_or_null<BlockArgument>(contract.getC());
  auto loop = dyn_cast<scf::ForOp>(contract->getParentOp());
  if (!loop || !carried || carried.getOwner() != loop.getBody() || !carried.hasOneUse() ||
      !contract->hasOneUse() || loop.getTiedLoopYieldedValue(carried)->get() != contract.getResult())
    return nullptr;
  return loop;
}

int64_t mlir::simt::countTileRegisters(TileType tile) {
  Type element = tile.getElementType();
  int64_t bits = element.isIndex() ? 32 : element.getIntOrFloatBitWidth();
  return layoutOf(tile).getNumRegisters() * bits / 32;
}

/// Results of loops before this one that are read after it.
static SmallVector<Value> findWaiting(scf::ForOp loop) {
  auto isBehind = [&](Operation *user) {
    Operation *here = loop->getBlock()->findAncestorOpInBlock(*user);
    return here && loop->isBeforeInBlock(here);
  };
  SmallVector<Value> waiting;
  for (auto before : loop->getBlock()->getOps<scf::ForOp>())
    if (before->isBeforeInBlock(loop))
      llvm::copy_if(before.getResults(), std::back_inserter(waiting), [&](Value result) {
        return isa<TileType>(result.getType()) && llvm::any_of(result.getUsers(), isBehind);
      });
  return waiting;
}

int64_t mlir::simt::countLoopRegisters(scf::ForOp loop, function_ref<int64_t(TileType)> countRegisters) {
  int64_t carried = 0, computed = 0;
  for (auto [result, yielded] : llvm::zip(loop.getResults(), loop.getYieldedValues())) {
    auto contract = yielded.getDefiningOp<tile::ContractOp>();
    if (auto tile = dyn_cast<TileType>(result.getType()); tile && !(contract && getContractingLoop(contract)))
      carried += countRegisters(tile);
  }
  for (Value tile : findWaiting(loop))
    carried += countRegisters(cast<TileType>(tile.getType()));
  loop.walk([&](Operation *op) {
    TypeSwitch<Operation *>(op).Case<tile::DotOp, DotOp>([&](auto dot) {
      if (!dot.getC())
        computed += countRegisters(dot.getType());
    });
  });
  return carried + carried / 4 + computed;
}

//===----------------------------------------------------------------------===//
// What is alive at the same time
//===----------------------------------------------------------------------===//

namespace {

/// The tiles of a loop's body, followed from its end to its beginning.
class LiveTiles {
public:
  explicit LiveTiles(scf::ForOp loop) : loop(loop) {}

  int64_t countMost() {
    for (Operation *op = loop; op && !isa<tile::KernelOp>(op); op = op->getParentOp())
      keepAround(op);
    follow(*loop.getBody());
    return most;
  }

private:
  /// Of the addresses of what a thread loads of several rows, in pieces of 16 bytes. Those of one row lie at
  /// constant distances.
  static int64_t countAddressRegisters(tile::LoadOp load) {
    if (load.getType().getAxes().size() < 2)
      return 0;
    int64_t bits = cast<tile::ArrayType>(load.getArray().getType()).getElementType().getIntOrFloatBitWidth();
    return 2 * llvm::divideCeil(layoutOf(load.getType()).getNumRegisters() * bits, 128);
  }

  /// Positions and constants are made where they are read; buffers take none. What is loaded comes with its
  /// addresses.
  static int64_t registersOf(Value value) {
    auto pending = dyn_cast<PendingType>(value.getType());
    auto tile = pending ? pending.getTile() : dyn_cast<TileType>(value.getType());
    if (!tile || tile.getElementType().isIndex() || value.getDefiningOp<tile::SplatOp>())
      return 0;
    auto load = value.getDefiningOp<tile::LoadOp>();
    return countTileRegisters(tile) + (load ? countAddressRegisters(load) : 0);
  }

  void add(Value value) {
    if (int64_t registers = registersOf(value); registers && live.insert(value))
      total += registers;
    most = std::max(most, total);
  }
  void drop(Value value) {
    if (live.remove(value))
      total -= registersOf(value);
  }

  /// Whether a value of the block around `around` is needed after an iteration of the loop, which lies in it.
  bool isKept(Value value, Operation *around) const {
    return llvm::any_of(value.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner(), *here = around->getBlock()->findAncestorOpInBlock(*user);
      if (here != around)
        return here && around->isBeforeInBlock(here);
      return user != around && isa<scf::ForOp>(around);
    });
  }

  /// What is alive all the time: tiles from before the loop that it or what follows reads.
  void keepAround(Operation *around) {
    Block *block = around->getBlock();
    for (Value argument : block->getArguments())
      if (isKept(argument, around))
        add(argument);
    for (Operation &op : *block) {
      if (&op == around)
        break;
      for (Value result : op.getResults())
        if (isKept(result, around))
          add(result);
    }
  }

  /// What an op reads, in its regions too. A wait keeps the operands of its products until then.
  static SmallVector<Value> readBy(Operation *op) {
    SmallVector<Value> read(op->getOperands());
    if (auto await = dyn_cast<AwaitOp>(op))
      for (Value pending : await.getPending())
        for (auto start = pending.getDefiningOp<StartOp>(); start;
             start = start.getC() ? start.getC().getDefiningOp<StartOp>() : StartOp())
          read.push_back(start.getA());
    return read;
  }

  void follow(Block &block) {
    for (Operation &op : llvm::reverse(block)) {
      for (Value result : op.getResults())
        drop(result);
      // Elements of maps are computed one after the other; branches from what is alive after them.
      if (!isa<tile::MapOp>(op) && op.getNumRegions()) {
        llvm::SetVector<Value> behind = live, before = live;
        int64_t totalBehind = total;
        for (Region &region : op.getRegions()) {
          live = behind, total = totalBehind;
          if (!region.empty())
            follow(region.front());
          before.insert(live.begin(), live.end());
        }
        for (Value value : before)
          add(value);
      }
      for (Value value : readBy(&op))
        add(value);
    }
    for (Value argument : block.getArguments())
      drop(argument);
  }

  scf::ForOp loop;
  llvm::SetVector<Value> live;
  int64_t total = 0, most = 0;
};

} // namespace

int64_t mlir::simt::countLiveRegisters(scf::ForOp loop) { return LiveTiles(loop).countMost(); }
