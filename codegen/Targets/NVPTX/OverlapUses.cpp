// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last products of a member's iteration together with the first ones of the next. Passes.td has the rule.
#include "codegen/Targets/NVPTX/KernelSteps.h"
#include "codegen/Targets/NVPTX/LateSums.h"
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "passes/Debug.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "taylor-simt-overlap-uses"

namespace mlir::simt {
#define GEN_PASS_DEF_OVERLAPUSES
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;
using namespace mlir::simt;

namespace {

/// One loop of a member.
class UseRotation {
public:
  explicit UseRotation(scf::ForOp loop) : loop(loop), builder(loop), loc(loop.getLoc()), sums(loop) {}

  /// Whether the loop has late sums, of uses of rings that its iterations count.
  bool collect();
  /// Of tiles of the new loop: what it carries, multiplies, reads and computes in many steps.
  int64_t countRegisters();
  void emit();

private:
  bool isLateUse(Value slot);
  bool isCounted(Value number);
  bool isLeftOut(Operation *op) const { return leftOut.contains(op); }

  Value numberBefore(Value number, IRMapping &mapping);
  Value multiply(LateSum &sum, ValueRange tiles, Value base, IRMapping &mapping);
  scf::ForOp emitLoop(ValueRange firsts);

  scf::ForOp loop;
  OpBuilder builder;
  Location loc;
  LateSums sums;
  llvm::SetVector<Operation *> leftOut; ///< late products, and waits and releases of what they read
};

} // namespace

/// Whether the number is one more in each iteration than in the one before.
bool UseRotation::isCounted(Value number) {
  if (auto argument = dyn_cast<BlockArgument>(number)) {
    if (argument.getOwner() != loop.getBody() || argument == loop.getInductionVar())
      return false;
    auto next = loop.getTiedLoopYieldedValue(argument)->get().getDefiningOp<arith::AddIOp>();
    return next && next.getLhs() == argument && matchPattern(next.getRhs(), m_One());
  }
  // Blocks that go from place to place count on from the places before.
  auto sum = number.getDefiningOp<arith::AddIOp>();
  return sum && sum->getBlock() == loop.getBody() && loop.isDefinedOutsideOfLoop(sum.getLhs()) &&
         isCounted(sum.getRhs());
}

/// Whether the slot is a use of this iteration.
bool UseRotation::isLateUse(Value slot) {
  auto wait = slot.getDefiningOp<WaitFullOp>();
  return wait && wait->getBlock() == loop.getBody() && isCounted(wait.getNumber());
}

bool UseRotation::collect() {
  if (!sums.collect([&](Value slot) { return isLateUse(slot); }))
    return false;
  for (LateSum &sum : sums.getSums()) {
    auto isOfSum = [&](Operation *user) { return llvm::is_contained(sum.products, user); };
    for (DotOp dot : sum.products) {
      auto wait = dot.getB().getDefiningOp<WaitFullOp>();
      if (!llvm::all_of(wait->getUsers(), isOfSum))
        return false;
      leftOut.insert(dot);
      leftOut.insert(wait);
      for (auto release : loop.getBody()->getOps<ReleaseOp>())
        if (release.getRing() == wait.getRing() && release.getNumber() == wait.getNumber())
          leftOut.insert(release);
    }
  }
  return true;
}

/// Whether a thread computes many steps for each element. ptxas mixes them with those of others: one more
/// tile in f32 is alive, of arguments or of results.
static bool isLong(tile::MapOp map) {
  return llvm::any_of(*map.getBlock(), [](Operation &op) {
    return isa<math::TanhOp, math::Log1pOp, math::LogOp, math::ErfOp>(op);
  });
}

int64_t UseRotation::countRegisters() {
  int64_t read = 0, mixed = 0;
  loop.walk([&](Operation *op) {
    if (isa<ReadOp, tile::LoadOp>(op))
      read = std::max(read, countTileRegisters(cast<tile::TileType>(op->getResult(0).getType())));
    else if (auto map = dyn_cast<tile::MapOp>(op); map && isLong(map))
      for (Type type : map.getResultTypes())
        mixed = std::max(mixed, layoutOf(cast<tile::TileType>(type)).getNumRegisters());
  });
  return countLoopRegisters(loop, countTileRegisters) + sums.countWaiting() + read + mixed;
}

/// The number that the iteration before the one of `mapping` counted. It is made as early as it can be, since
/// nothing else keeps the products from starting next to the iteration's first ones.
Value UseRotation::numberBefore(Value number, IRMapping &mapping) {
  OpBuilder::InsertionGuard guard(builder);
  if (isa<BlockArgument>(number)) {
    builder.setInsertionPointAfterValue(mapping.lookup(number));
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    return arith::SubIOp::create(builder, loc, mapping.lookup(number), one);
  }
  auto sum = number.getDefiningOp<arith::AddIOp>();
  Value counted = numberBefore(sum.getRhs(), mapping);
  builder.setInsertionPointAfterValue(counted);
  return arith::AddIOp::create(builder, loc, sum.getLhs(), counted);
}

/// The products of a sum of the iteration before: each waits for its use. A use is released after the last
/// one that reads it.
Value UseRotation::multiply(LateSum &sum, ValueRange tiles, Value base, IRMapping &mapping) {
  llvm::SmallDenseMap<Value, Value> slots;
  for (auto [number, tile] : llvm::enumerate(tiles)) {
    DotOp dot = sum.products[number];
    auto wait = dot.getB().getDefiningOp<WaitFullOp>();
    Value &slot = slots[wait];
    if (!slot)
      slot =
          WaitFullOp::create(builder, wait.getLoc(), wait.getRing(), numberBefore(wait.getNumber(), mapping));
    base =
        DotOp::create(builder, dot.getLoc(), dot.getType(), dot.getKind(), tile, slot, base, dot.getOver());
    bool isLast = llvm::none_of(ArrayRef(sum.products).drop_front(number + 1),
                                [&](DotOp later) { return DotOp(later).getB() == wait; });
    if (isLast)
      ReleaseOp::create(builder, wait.getLoc(), wait.getRing(), slot.getDefiningOp<WaitFullOp>().getNumber());
  }
  return base;
}

scf::ForOp UseRotation::emitLoop(ValueRange firsts) {
  Value second = arith::AddIOp::create(builder, loc, loop.getLowerBound(), loop.getStep());
  auto made = scf::ForOp::create(builder, loc, second, loop.getUpperBound(), loop.getStep(), firsts);
  OpBuilder::InsertionGuard guard(builder);
  if (!made.getBody()->empty())
    made.getBody()->back().erase();
  builder.setInsertionPointToStart(made.getBody());
  sums.fillBody(
      builder, made, [&](Operation *op) { return isLeftOut(op); },
      [&](LateSum &sum, ValueRange tiles, Value base, IRMapping &mapping) {
        return multiply(sum, tiles, base, mapping);
      });
  return made;
}

void UseRotation::emit() {
  sums.roundLate();
  Value any = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, loop.getLowerBound(),
                                    loop.getUpperBound());
  // No use is counted where there is no iteration.
  auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), any, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, loop.getInitArgs());
  builder.setInsertionPointToStart(branch.thenBlock());
  IRMapping first;
  first.map(loop.getInductionVar(), loop.getLowerBound());
  for (auto [argument, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    first.map(argument, init);
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isLeftOut(&op))
      builder.clone(op, first);
  scf::ForOp made = emitLoop(sums.handedOn(first));
  SmallVector<Value> values =
      sums.finish(made, [&](LateSum &sum, ValueRange tiles, Value base, IRMapping &mapping) {
        return multiply(sum, tiles, base, mapping);
      });
  scf::YieldOp::create(builder, loc, values);
  loop.replaceAllUsesWith(branch.getResults());
  loop.erase();
}

namespace {
struct OverlapUses : simt::impl::OverlapUsesBase<OverlapUses> {
  using OverlapUsesBase::OverlapUsesBase;

  void runOnOperation() override {
    if (failed(requireLayoutsOfAll(getOperation())) || failed(requireUnscheduled(getOperation())))
      return signalPassFailure();
    SmallVector<std::pair<scf::ForOp, int64_t>> loops;
    getOperation().walk([&](RolesOp roles) {
      int64_t registers = roles.getConsumerRegisters() - scalars;
      if (isPersistent(roles->getParentOfType<tile::KernelOp>()))
        registers -= places;
      roles.getConsumer().walk([&](scf::ForOp loop) { loops.push_back({loop, registers}); });
    });
    for (auto [loop, registers] : loops) {
      UseRotation rotation(loop);
      if (!rotation.collect()) {
        LDBG() << loop.getLoc() << ": no late sums of uses that its iterations count";
        continue;
      }
      int64_t needed = rotation.countRegisters();
      LDBG() << loop.getLoc() << ": would need " << needed << " registers of " << registers;
      if (needed > registers)
        continue;
      rotation.emit();
      ++numLoops;
    }
  }
};
} // namespace
