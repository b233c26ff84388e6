// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last products of an iteration together with the first ones of the next. Passes.td has the rule.
#include "codegen/Targets/NVPTX/Accesses.h"
#include "codegen/Targets/NVPTX/KernelSteps.h"
#include "codegen/Targets/NVPTX/LateSums.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "passes/Debug.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "taylor-simt-overlap-iterations"

namespace mlir::simt {
#define GEN_PASS_DEF_OVERLAPITERATIONS
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;
using namespace mlir::simt;
using tile::TileType;

namespace {

/// One loop.
class IterationRotation {
public:
  explicit IterationRotation(scf::ForOp loop) : loop(loop), builder(loop), loc(loop.getLoc()), sums(loop) {}

  /// Whether the loop has late sums, and other products that their tiles wait for.
  bool collect();
  /// Registers of the tiles that wait for the next iteration.
  int64_t countWaiting() { return sums.countWaiting(); }
  void emit();

private:
  bool isLateBuffer(Value buffer);
  bool isNumberOfIteration(Value value);
  bool isOfIteration(CopyOp copy);
  bool endsWithLoop(CopyOp copy);
  CopyOp fillingOf(Value buffer);

  AllocOp cloneBuffer(AllocOp buffer, StringRef suffix);
  void cloneCopy(CopyOp copy, Value iteration, Value buffer);
  bool isLate(Operation *op) const { return late.contains(op); }
  Value lastIteration();
  Value keepIfAny(Value value, Value otherwise, Value any);
  void emitFirst(Value any);
  void emitLoop();
  void emitLast();
  Value multiplyLate(LateSum &sum, ValueRange tiles, Value base, IRMapping &buffers);

  scf::ForOp loop;
  OpBuilder builder;
  Location loc;
  LateSums sums;
  llvm::SetVector<Operation *> late; ///< products of the sums, and the copies for them
  IRMapping lasts;                   ///< buffers of the late products after the loop
  SmallVector<Value> firsts;         ///< what the first iteration gives: the loop's values, then the tiles
  scf::ForOp made;
};

} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

/// The copy of the iteration that fills the buffer, if it is the only one.
CopyOp IterationRotation::fillingOf(Value buffer) {
  CopyOp filling;
  for (Operation *user : buffer.getUsers())
    if (auto copy = dyn_cast<CopyOp>(user)) {
      if (filling || copy->getBlock() != loop.getBody())
        return {};
      filling = copy;
    }
  return filling;
}

/// Whether the copy is the iteration's own, of every iteration: its window follows from the number.
bool IterationRotation::isOfIteration(CopyOp copy) {
  return !copy.getCondition() && isNumberOfIteration(copy.getEnd() ? copy.getEnd() : loop.getStep()) &&
         llvm::all_of(copy.getOffsets(), [&](Value offset) { return isNumberOfIteration(offset); });
}

/// Whether the copy is of rows from the iteration's number to the loop's end: where no iteration is left, of
/// none, and what stands in the buffer is zeros.
bool IterationRotation::endsWithLoop(CopyOp copy) {
  auto *axis = llvm::find(copy.getArrayAxes(), copy.getEndAxisAttr());
  return copy.getEnd() == loop.getUpperBound() && axis != copy.getArrayAxes().end() &&
         copy.getOffsets()[axis - copy.getArrayAxes().begin()] == loop.getInductionVar();
}

/// Whether the number follows from the iteration's and from values outside.
bool IterationRotation::isNumberOfIteration(Value value) {
  if (loop.isDefinedOutsideOfLoop(value) || value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() && isMemoryEffectFree(op) && !op->getNumRegions() &&
         value.getType().isIntOrIndex() &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isNumberOfIteration(operand); });
}

bool IterationRotation::isLateBuffer(Value buffer) {
  CopyOp copy = buffer.getDefiningOp<AllocOp>() ? fillingOf(buffer) : CopyOp();
  if (!copy || !isOfIteration(copy) || !endsWithLoop(copy))
    return false;
  auto isOwn = [&](Operation *user) {
    return user == copy ||
           (runsBeside(user) && user->getBlock() == loop.getBody() && cast<DotOp>(user).getC());
  };
  return llvm::all_of(buffer.getUsers(), isOwn);
}

bool IterationRotation::collect() {
  if (!sums.collect([&](Value buffer) { return isLateBuffer(buffer); }))
    return false;
  for (LateSum &sum : sums.getSums())
    for (DotOp dot : sum.products) {
      late.insert(dot);
      late.insert(fillingOf(dot.getB()));
    }
  // What the late products read must have no other reader.
  auto isOwn = [&](Operation *user) { return isLate(user); };
  for (LateSum &sum : sums.getSums())
    for (DotOp dot : sum.products)
      if (!llvm::all_of(dot.getB().getUsers(), isOwn))
        return false;
  // Other buffers are filled by one copy of the iteration each, or outside.
  for (auto copy : loop.getBody()->getOps<CopyOp>())
    if (!copy.getBuffer().getDefiningOp<AllocOp>() || !isOfIteration(copy) ||
        fillingOf(copy.getBuffer()) != copy ||
        !llvm::all_of(copy.getBuffer().getUsers(), [&](Operation *user) { return loop->isAncestor(user); }))
      return false;
  WalkResult writes = loop.walk([&](Operation *op) {
    for (const Access &access : getAccesses(op))
      if (access.writes && !(isa<CopyOp>(op) && op->getBlock() == loop.getBody()))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return !writes.wasInterrupted();
}

//===----------------------------------------------------------------------===//
// The new loop
//===----------------------------------------------------------------------===//

AllocOp IterationRotation::cloneBuffer(AllocOp buffer, StringRef suffix) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(buffer);
  auto own = cast<AllocOp>(builder.clone(*buffer));
  own.setName((buffer.getName() + suffix).str());
  return own;
}

/// The copy of another iteration, with the numbers that its window follows from.
void IterationRotation::cloneCopy(CopyOp copy, Value iteration, Value buffer) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iteration);
  mapping.map(copy.getBuffer(), buffer);
  std::function<void(Value)> take = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (loop.isDefinedOutsideOfLoop(value) || mapping.contains(value) || !op)
      return;
    llvm::for_each(op->getOperands(), take);
    builder.clone(*op, mapping);
  };
  llvm::for_each(copy.getOffsets(), take);
  if (copy.getEnd())
    take(copy.getEnd());
  builder.clone(*copy, mapping);
}

/// The number of the last iteration, or of the first where there is none.
Value IterationRotation::lastIteration() {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
        one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value range = arith::SubIOp::create(builder, loc, loop.getUpperBound(), loop.getLowerBound());
  Value before = arith::MaxSIOp::create(builder, loc, arith::SubIOp::create(builder, loc, range, one), zero);
  Value steps = arith::DivSIOp::create(builder, loc, before, loop.getStep());
  return arith::AddIOp::create(builder, loc, loop.getLowerBound(),
                               arith::MulIOp::create(builder, loc, steps, loop.getStep()));
}

Value IterationRotation::keepIfAny(Value value, Value otherwise, Value any) {
  auto type = dyn_cast<TileType>(value.getType());
  if (!type)
    return arith::SelectOp::create(builder, loc, any, value, otherwise);
  bool isZero = !otherwise;
  SmallVector<Value> inputs{value};
  if (!isZero)
    inputs.push_back(otherwise);
  auto map =
      tile::MapOp::create(builder, loc, inputs, [&](OpBuilder &inner, Location at, ValueRange scalars) {
        Value other =
            isZero ? Value(arith::ConstantOp::create(inner, at, inner.getZeroAttr(type.getElementType())))
                   : scalars[1];
        return SmallVector<Value>{arith::SelectOp::create(inner, at, any, scalars[0], other)};
      });
  map.getResult(0).setType(type);
  return map.getResult(0);
}

/// The first iteration without its late products, before the loop.
void IterationRotation::emitFirst(Value any) {
  IRMapping first;
  first.map(loop.getInductionVar(), loop.getLowerBound());
  for (auto [argument, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    first.map(argument, init);
  for (auto copy : loop.getBody()->getOps<CopyOp>())
    if (!isLate(copy)) {
      AllocOp own = cloneBuffer(copy.getBuffer().getDefiningOp<AllocOp>(), ".first");
      first.map(copy.getBuffer(), own.getResult());
      cloneCopy(copy, loop.getLowerBound(), own);
    }
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isLate(&op) && !isa<CopyOp>(op))
      builder.clone(op, first);
  // Where there is no iteration: what the loop began with, and zeros to multiply.
  for (auto [number, value] : llvm::enumerate(sums.handedOn(first)))
    firsts.push_back(
        keepIfAny(value, number < loop.getInitArgs().size() ? loop.getInitArgs()[number] : Value(), any));
}

/// The products of a sum, of an earlier iteration's tiles.
Value IterationRotation::multiplyLate(LateSum &sum, ValueRange tiles, Value base, IRMapping &buffers) {
  for (auto [dot, tile] : llvm::zip(sum.products, tiles))
    base = DotOp::create(builder, dot.getLoc(), dot.getType(), dot.getKind(), tile,
                         buffers.lookupOrDefault(dot.getB()), base, dot.getOver());
  return base;
}

void IterationRotation::emitLoop() {
  Value second = arith::AddIOp::create(builder, loc, loop.getLowerBound(), loop.getStep());
  made = scf::ForOp::create(builder, loc, second, loop.getUpperBound(), loop.getStep(), firsts);
  OpBuilder::InsertionGuard guard(builder);
  if (!made.getBody()->empty())
    made.getBody()->back().erase();
  builder.setInsertionPointToStart(made.getBody());
  Value before = arith::SubIOp::create(builder, loc, made.getInductionVar(), loop.getStep());
  for (Operation *op : late)
    if (auto copy = dyn_cast<CopyOp>(op))
      cloneCopy(copy, before, copy.getBuffer());
  IRMapping same;
  sums.fillBody(
      builder, made, [&](Operation *op) { return isLate(op); },
      [&](LateSum &sum, ValueRange tiles, Value base, IRMapping &) {
        return multiplyLate(sum, tiles, base, same);
      });
}

/// The late products of the last iteration, after the loop.
void IterationRotation::emitLast() {
  builder.setInsertionPointAfter(made);
  loop.replaceAllUsesWith(sums.finish(made, [&](LateSum &sum, ValueRange tiles, Value base, IRMapping &) {
    return multiplyLate(sum, tiles, base, lasts);
  }));
}

void IterationRotation::emit() {
  sums.roundLate();
  builder.setInsertionPoint(loop);
  Value any = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, loop.getLowerBound(),
                                    loop.getUpperBound());
  Value last = lastIteration();
  for (Operation *op : late)
    if (auto copy = dyn_cast<CopyOp>(op)) {
      AllocOp own = cloneBuffer(copy.getBuffer().getDefiningOp<AllocOp>(), ".last");
      lasts.map(copy.getBuffer(), own.getResult());
      cloneCopy(copy, last, own);
    }
  emitFirst(any);
  emitLoop();
  emitLast();
  loop.erase();
}

namespace {
struct OverlapIterations : simt::impl::OverlapIterationsBase<OverlapIterations> {
  using OverlapIterationsBase::OverlapIterationsBase;

  void runOnOperation() override {
    if (failed(requireLayoutsOfAll(getOperation())) || failed(requireUnscheduled(getOperation())))
      return signalPassFailure();
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](tile::KernelOp kernel) {
      if (countShared(kernel) >= alone)
        kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    });
    for (scf::ForOp loop : loops) {
      IterationRotation rotation(loop);
      if (!rotation.collect()) {
        LDBG() << loop.getLoc() << ": no products that can be late";
        continue;
      }
      bool hasRoom = fits(loop, rotation);
      LDBG() << loop.getLoc() << ": tiles of " << rotation.countWaiting()
             << " registers wait for an iteration" << (hasRoom ? "" : ", for which there is no room");
      if (!hasRoom)
        continue;
      rotation.emit();
      ++numLoops;
    }
  }

  /// Bytes of all buffers, with two slots for those that loops fill.
  static int64_t countShared(tile::KernelOp kernel) {
    int64_t bytes = 0;
    for (auto buffer : kernel.getBlock()->getOps<AllocOp>()) {
      bool isFilled = llvm::any_of(buffer->getUsers(), [](Operation *user) {
        return isa<CopyOp>(user) && isa<scf::ForOp>(user->getParentOp());
      });
      bytes += buffer.getType().getSlotBytes() * (isFilled ? 2 : 1);
    }
    return bytes;
  }

  bool fits(scf::ForOp loop, IterationRotation &rotation) {
    // Each buffer that the loop fills has another one, for the first iteration or the last.
    int64_t bytes = countShared(loop->getParentOfType<tile::KernelOp>());
    for (auto copy : loop.getBody()->getOps<CopyOp>())
      bytes += copy.getBuffer().getType().getSlotBytes();
    return bytes <= shared &&
           countLoopRegisters(loop, countTileRegisters) + rotation.countWaiting() <= registers;
  }
};
} // namespace
