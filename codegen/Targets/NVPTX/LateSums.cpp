// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/LateSums.h"
#include "codegen/Targets/NVPTX/KernelSteps.h"
#include "dialect/Sources.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::simt;
using tile::TileType;

bool mlir::simt::runsBeside(Operation *op) {
  auto dot = dyn_cast_or_null<DotOp>(op);
  return dot && dot.getKind() == ProductKind::wgmma;
}

SmallVector<Value> LateSum::tiles() {
  return llvm::map_to_vector(products, [](DotOp dot) -> Value { return dot.getA(); });
}

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

std::optional<LateSum> LateSums::asLateSum(OpOperand &yielded, llvm::function_ref<bool(Value)> isLate) {
  auto isOwn = [&](Value tile) {
    return isa<TileType>(tile.getType()) && !loop.isDefinedOutsideOfLoop(tile) && !isa<BlockArgument>(tile);
  };
  LateSum sum;
  sum.number = yielded.getOperandNumber();
  for (Value value = yielded.get(); runsBeside(value.getDefiningOp()) && value.hasOneUse();) {
    auto dot = value.getDefiningOp<DotOp>();
    if (dot->getBlock() != loop.getBody() || !dot.getC() || !isOwn(dot.getA()) || !isLate(dot.getB()))
      break;
    sum.products.insert(sum.products.begin(), dot);
    value = dot.getC();
  }
  if (sum.products.empty())
    return std::nullopt;
  return sum;
}

bool LateSums::waitsForProduct(Value tile) {
  bool waits = false;
  auto visit = [&](Value value) {
    Operation *op = value.getDefiningOp();
    bool isInLoop = op && op->getBlock() == loop.getBody();
    waits = waits || (isInLoop && runsBeside(op));
    return isInLoop && !waits;
  };
  taylor::walkSources(tile, visit, taylor::operandsWithin);
  return waits;
}

bool LateSums::collect(llvm::function_ref<bool(Value)> isLate) {
  for (OpOperand &yielded : loop.getBody()->getTerminator()->getOpOperands())
    if (std::optional<LateSum> sum = asLateSum(yielded, isLate))
      sums.push_back(std::move(*sum));
  return !sums.empty() && llvm::all_of(sums, [&](LateSum &sum) {
    return llvm::all_of(sum.products, [&](DotOp dot) { return waitsForProduct(dot.getA()); });
  });
}

int64_t LateSums::countWaiting() {
  int64_t registers = 0;
  for (LateSum &sum : sums)
    for (Value tile : sum.tiles())
      registers += countTileRegisters(cast<TileType>(tile.getType()));
  return registers;
}

LateSum *LateSums::findSum(unsigned number) {
  auto found = llvm::find_if(sums, [&](LateSum &sum) { return sum.number == number; });
  return found == sums.end() ? nullptr : &*found;
}

//===----------------------------------------------------------------------===//
// The new loop
//===----------------------------------------------------------------------===//

void LateSums::roundLate() {
  for (LateSum &sum : sums)
    for (DotOp dot : sum.products) {
      auto map = dot.getA().getDefiningOp<tile::MapOp>();
      if (!map || map->getBlock() != loop.getBody())
        continue;
      unsigned number = cast<OpResult>(dot.getA()).getResultNumber();
      Operation *yield = map.getBody().front().getTerminator();
      auto rounded = yield->getOperand(number).getDefiningOp<arith::TruncFOp>();
      if (!rounded)
        continue;
      auto wide = llvm::find(yield->getOperands(), rounded.getIn());
      if (wide == yield->operand_end())
        continue;
      Value whole = map.getResult(std::distance(yield->operand_begin(), wide));
      OpBuilder builder(loop.getBody()->getTerminator());
      auto narrow = tile::MapOp::create(
          builder, dot.getLoc(), ValueRange{whole}, [&](OpBuilder &inner, Location at, ValueRange scalars) {
            return SmallVector<Value>{arith::TruncFOp::create(inner, at, rounded.getType(), scalars[0])};
          });
      narrow.getResult(0).setType(dot.getA().getType());
      dot->moveAfter(narrow);
      dot.getAMutable().assign(narrow.getResult(0));
    }
}

SmallVector<Value> LateSums::handedOn(IRMapping &mapping) {
  SmallVector<Value> values;
  for (auto [number, value] : llvm::enumerate(loop.getBody()->getTerminator()->getOperands())) {
    LateSum *sum = findSum(number);
    values.push_back(mapping.lookupOrDefault(sum ? sum->base() : value));
  }
  for (LateSum &sum : sums)
    for (Value tile : sum.tiles())
      values.push_back(mapping.lookup(tile));
  return values;
}

void LateSums::fillBody(OpBuilder &builder, scf::ForOp made, llvm::function_ref<bool(Operation *)> isLeftOut,
                        Multiply multiply) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), made.getInductionVar());
  size_t numValues = loop.getInitArgs().size();
  for (auto [old, argument] :
       llvm::zip(loop.getRegionIterArgs(), made.getRegionIterArgs().take_front(numValues)))
    mapping.map(old, argument);
  // Late products go right before the first op that reads their sum; starts move up from there.
  ValueRange tiles = made.getRegionIterArgs().drop_front(numValues);
  SmallVector<std::pair<LateSum *, ValueRange>> open;
  for (LateSum &sum : sums) {
    open.push_back({&sum, tiles.take_front(sum.products.size())});
    tiles = tiles.drop_front(sum.products.size());
  }
  auto multiplyIf = [&](llvm::function_ref<bool(Value)> isRead) {
    for (auto &[sum, left] : open) {
      if (!sum || !isRead(loop.getRegionIterArg(sum->number)))
        continue;
      BlockArgument carried = loop.getRegionIterArg(sum->number);
      mapping.map(carried, multiply(*sum, left, mapping.lookup(carried), mapping));
      sum = nullptr;
    }
  };
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isLeftOut(&op))
      continue;
    multiplyIf([&](Value value) {
      return op
          .walk([&](Operation *inner) {
            return llvm::is_contained(inner->getOperands(), value) ? WalkResult::interrupt()
                                                                   : WalkResult::advance();
          })
          .wasInterrupted();
    });
    builder.clone(op, mapping);
  }
  multiplyIf([](Value) { return true; });
  scf::YieldOp::create(builder, loop.getLoc(), handedOn(mapping));
}

SmallVector<Value> LateSums::finish(scf::ForOp made, Multiply multiply) {
  ResultRange results = made.getResults();
  SmallVector<Value> values(results.take_front(loop.getNumResults()));
  IRMapping mapping;
  for (auto [argument, value] : llvm::zip(loop.getRegionIterArgs(), values))
    mapping.map(argument, value);
  ValueRange tiles = results.drop_front(loop.getNumResults());
  for (LateSum &sum : sums) {
    values[sum.number] = multiply(sum, tiles.take_front(sum.products.size()), values[sum.number], mapping);
    tiles = tiles.drop_front(sum.products.size());
  }
  return values;
}
