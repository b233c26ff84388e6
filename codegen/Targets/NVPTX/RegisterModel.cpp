// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/KernelSteps.h"
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
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

/// Results of loops before this one that are read behind it.
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
