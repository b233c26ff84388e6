// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an earlier map computed already is read and not computed again. Passes.td has the rule.
#include "dialect/Sources.h"
#include "passes/Debug.h"
#include "passes/LowerToTile/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"

#define DEBUG_TYPE "taylor-share-maps"

namespace taylor {
#define GEN_PASS_DEF_SHAREMAPSPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

using namespace mlir;
using namespace mlir::tile;

namespace {

/// Functions that take many instructions, where a load takes one.
bool isCostly(Operation &op) {
  if (isa<arith::DivFOp>(op))
    return true;
  return isa_and_nonnull<math::MathDialect>(op.getDialect()) &&
         !isa<math::FmaOp, math::AbsFOp, math::CopySignOp, math::FloorOp, math::CeilOp, math::RoundOp,
              math::RoundEvenOp, math::TruncOp>(op);
}

/// Whether an operation of `block` that `scalar` depends on is costly.
bool isCostly(Value scalar, Block *block, llvm::SmallDenseMap<Value, bool> &known) {
  Operation *op = scalar.getDefiningOp();
  if (!op || op->getBlock() != block)
    return false;
  if (auto it = known.find(scalar); it != known.end())
    return it->second;
  bool result =
      isCostly(*op) || llvm::any_of(op->getOperands(), [&](Value x) { return isCostly(x, block, known); });
  return known[scalar] = result;
}

/// Which scalars of a later map are the same functions of the same tiles as scalars of an earlier one.
class Twins {
public:
  Twins(MapOp first, MapOp second) {
    Block *from = first.getBlock(), *to = second.getBlock();
    for (BlockArgument argument : to->getArguments())
      for (auto [number, tile] : llvm::enumerate(first.getInputs()))
        if (tile == second.getInputs()[argument.getArgNumber()])
          twins.try_emplace(argument, from->getArgument(number));
    for (Operation &op : to->without_terminator())
      for (Operation &other : from->without_terminator())
        if (other.getName() == op.getName() && areTwins(op, other, to)) {
          for (auto [mine, its] : llvm::zip(op.getResults(), other.getResults()))
            twins.try_emplace(mine, its);
          break;
        }
  }

  /// Scalars of the later map that are `scalar` of the earlier one.
  SmallVector<Value> find(Value scalar) const {
    SmallVector<Value> found;
    for (auto [mine, its] : twins)
      if (its == scalar)
        found.push_back(mine);
    return found;
  }
  bool areTwins(Value mine, Value its) const {
    auto it = twins.find(mine);
    return it == twins.end() ? mine == its : it->second == its;
  }

private:
  bool areTwins(Operation &op, Operation &other, Block *block) const {
    auto same = [&](Value mine, Value its) {
      bool isOutside = mine.getParentBlock() != block;
      return success(isOutside ? mine == its : twins.contains(mine) && twins.lookup(mine) == its);
    };
    return OperationEquivalence::isEquivalentTo(&op, &other, same, /*markEquivalent=*/nullptr,
                                                OperationEquivalence::IgnoreLocations);
  }

  llvm::MapVector<Value, Value> twins;
};

/// Whether `scalar` reaches the results of its map only where `condition` holds.
bool isReadOnlyWhere(Value scalar, Value condition) {
  return llvm::all_of(scalar.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user->hasTrait<OpTrait::IsTerminator>())
      return false;
    if (auto select = dyn_cast<arith::SelectOp>(user); select && select.getCondition() == condition)
      return use.getOperandNumber() == 1;
    return llvm::all_of(user->getResults(), [&](Value result) { return isReadOnlyWhere(result, condition); });
  });
}

/// A result of an earlier map, and the scalar of the later one that it replaces.
struct Share {
  unsigned result;
  Value scalar;
};

/// `second` with tiles of `first` in place of scalars, without what no one reads then; null where the new map
/// would not read a tile less of those it read.
MapOp rewrite(MapOp first, MapOp second, ArrayRef<Share> shares) {
  Block *block = second.getBlock();
  llvm::SmallDenseSet<Value> replaced, needed;
  for (const Share &share : shares)
    replaced.insert(share.scalar);
  taylor::walkSources(block->getTerminator()->getOperands(), [&](Value scalar) {
    return scalar.getParentBlock() == block && needed.insert(scalar).second && !replaced.contains(scalar);
  });
  auto isWide = [&](Value tile) {
    return cast<TileType>(tile.getType()).getAxes() ==
           cast<TileType>(second.getResult(0).getType()).getAxes();
  };
  SmallVector<Value> inputs;
  SmallVector<Value> scalars; // of the old map, for each input
  bool isFewer = false;
  for (auto [tile, argument] : llvm::zip(second.getInputs(), block->getArguments()))
    if (needed.contains(argument)) {
      inputs.push_back(tile);
      scalars.push_back(argument);
    } else {
      isFewer |= isWide(tile);
    }
  if (!isFewer)
    return {};
  for (const Share &share : shares)
    if (needed.contains(share.scalar)) {
      inputs.push_back(first.getResult(share.result));
      scalars.push_back(share.scalar);
    }
  OpBuilder builder(second);
  auto map =
      MapOp::create(builder, second.getLoc(), inputs, [&](OpBuilder &inner, Location, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(scalars, arguments);
        for (Operation &op : block->without_terminator())
          if (llvm::any_of(op.getResults(),
                           [&](Value x) { return needed.contains(x) && !replaced.contains(x); }))
            inner.clone(op, mapping);
        return llvm::map_to_vector(block->getTerminator()->getOperands(),
                                   [&](Value x) { return mapping.lookupOrDefault(x); });
      });
  if (map.getResultTypes() != second.getResultTypes()) { // an axis that only a dropped input had
    map.erase();
    return {};
  }
  return map;
}

/// The map in place of `second` where it computes what `first` did, or null.
MapOp share(MapOp first, MapOp second) {
  std::optional<Twins> twins;
  llvm::SmallDenseMap<Value, bool> costly;
  SmallVector<Share> shares;
  for (auto [number, scalar] : llvm::enumerate(first.getBlock()->getTerminator()->getOperands())) {
    if (!isCostly(scalar, first.getBlock(), costly))
      continue;
    if (!twins)
      twins.emplace(first, second);
    for (Value same : twins->find(scalar))
      shares.push_back({unsigned(number), same});
    // A masked tile has the value itself where the later map asks under the same mask.
    if (auto select = scalar.getDefiningOp<arith::SelectOp>())
      for (Value same : twins->find(select.getTrueValue()))
        for (Value condition : twins->find(select.getCondition()))
          if (isReadOnlyWhere(same, condition))
            shares.push_back({unsigned(number), same});
  }
  if (shares.empty())
    return {};
  MapOp shared = rewrite(first, second, shares);
  LDBG() << second.getLoc()
         << (shared ? ": reads what " : ": computes again, since it would read no tile less, what ")
         << first.getLoc() << " computed";
  return shared;
}

struct ShareMaps : taylor::impl::ShareMapsPassBase<ShareMaps> {
  using ShareMapsPassBase::ShareMapsPassBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    for (ProgramOp program : getOperation().getOps<ProgramOp>())
      if (isPlanned(program, [](const taylor::TileSizes &sizes) { return sizes.sharesMaps; }))
        program.walk([&](Block *block) {
          if (!isa<MapOp>(block->getParentOp()))
            blocks.push_back(block);
        });
    for (Block *block : blocks) {
      SmallVector<MapOp> maps(block->getOps<MapOp>());
      for (size_t second = 1; second < maps.size(); ++second)
        for (size_t first = 0; first < second; ++first)
          if (MapOp shared = share(maps[first], maps[second])) {
            ++numShared;
            maps[second].replaceAllUsesWith(shared);
            maps[second].erase();
            maps[second] = shared;
          }
    }
  }
};

} // namespace
