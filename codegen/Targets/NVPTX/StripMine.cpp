// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products and what lies between them, a strip at a time. Passes.td has the rule.
#include "codegen/Targets/NVPTX/KernelSteps.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "dialect/Sources.h"
#include "passes/Debug.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "taylor-simt-strip-mine"

namespace mlir::simt {
#define GEN_PASS_DEF_STRIPMINE
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;
using namespace mlir::simt;
using tile::Axis;
using tile::TileType;

namespace {

TileType typeOf(Value value) { return cast<TileType>(value.getType()); }

StringRef overOf(DotOp dot) { return cast<StringAttr>(dot.getOver()[0]).getValue(); }

/// Whether order among threads or in memory hangs on the op.
bool isSync(Operation *op) { return !isa<DotOp, ReadOp, tile::LoadOp>(op) && !isMemoryEffectFree(op); }

/// Products of one block over one axis, without a sync between, and all that is only computed for them.
class Strips {
public:
  Strips(SmallVector<DotOp> sums, int64_t strip) : sums(sums), axis(overOf(sums.front())), strip(strip) {}

  /// Whether there is a product among what is computed for the sums, and strips of everything exist.
  bool collect() {
    size = typeOf(sums.front().getA()).getSize(axis);
    if (size <= strip || size % strip)
      return false;
    for (DotOp sum : sums) {
      addSources(sum.getA());
      if (!canTake(sum.getA()) || !canTake(sum.getB()))
        return false;
    }
    dropSharedSources();
    if (llvm::none_of(chain, llvm::IsaPred<DotOp>))
      return false;
    return llvm::all_of(chain, [&](Operation *op) {
      return llvm::all_of(op->getOperands(), [&](Value operand) { return canTake(operand); });
    });
  }

  void emit() {
    OpBuilder builder(sums.back());
    SmallVector<Value> totals = llvm::map_to_vector(sums, [](DotOp sum) -> Value { return sum.getC(); });
    SmallVector<Operation *> ordered(chain.begin(), chain.end());
    llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (int64_t from = 0; from < size; from += strip) {
      if (from > 0)
        FenceOp::create(builder, sums.back().getLoc());
      IRMapping values;
      for (Operation *op : ordered)
        clone(builder, op, from, values);
      for (auto [sum, total] : llvm::zip(sums, totals))
        total = DotOp::create(builder, sum.getLoc(), sum.getType(), sum.getKind(),
                              take(builder, sum.getA(), from, values),
                              take(builder, sum.getB(), from, values), total, sum.getOver());
    }
    for (auto [sum, total] : llvm::zip(sums, totals)) {
      sum.getResult().replaceAllUsesWith(total);
      sum.erase();
    }
    for (Operation *op : llvm::reverse(ordered))
      op->erase();
  }

private:
  AxisSlice sliceAt(int64_t from) const { return {axis, from, strip, 1}; }

  bool hasAxis(Value value) const {
    if (auto buffer = dyn_cast<BufferType>(value.getType()))
      return buffer.getSize(axis);
    auto tile = dyn_cast<TileType>(value.getType());
    return tile && tile.hasAxis(axis);
  }

  void addSources(Value value) {
    taylor::walkSources(value, [&](Value source) {
      Operation *op = source.getDefiningOp();
      if (!op || op->getBlock() != sums.front()->getBlock() || !hasAxis(source) || chain.contains(op))
        return false;
      auto dot = dyn_cast<DotOp>(op);
      if (!isa<tile::MapOp, ReadOp>(op) && !(dot && !dot.getC() && overOf(dot) != axis))
        return false;
      for (Operation *next = op->getNextNode(); next != sums.back(); next = next->getNextNode())
        if (isSync(next))
          return false;
      return chain.insert(op);
    });
  }

  /// What something else reads as well stays whole, and so does what is computed for that.
  void dropSharedSources() {
    auto isShared = [&](Operation *op) {
      return llvm::any_of(
                 op->getUsers(),
                 [&](Operation *user) { return !chain.contains(user) && !llvm::is_contained(sums, user); }) ||
             llvm::any_of(op->getResults(), [&](Value result) { return !hasAxis(result); });
    };
    while (chain.remove_if(isShared))
      ;
  }

  /// Whether a strip of the operand exists, or it is taken whole.
  bool canTake(Value value) const {
    if (!hasAxis(value))
      return true;
    if (auto buffer = dyn_cast<BufferType>(value.getType()))
      return buffer.getAxes().front().getName() == axis && buffer.getAxes().size() <= 2;
    for (int64_t from = 0; from < size; from += strip)
      if (!cutLayout(layoutOf(value.getType()), sliceAt(from)))
        return false;
    return true;
  }

  TileType stripOf(TileType tile, int64_t from) const {
    SmallVector<Axis> axes;
    for (const Axis &each : tile.getAxes())
      axes.push_back(each.getName() == axis ? Axis::get(tile.getContext(), axis, strip) : each);
    LayoutAttr cut = cutLayout(layoutOf(tile), sliceAt(from));
    return TileType::get(tile.getContext(), axes, tile.getElementType()).withLayout(cut);
  }

  Value take(OpBuilder &builder, Value value, int64_t from, IRMapping &values) {
    if (Value made = values.lookupOrNull(value))
      return made;
    if (!hasAxis(value))
      return value;
    Location loc = value.getLoc();
    Value part;
    if (auto buffer = dyn_cast<BufferType>(value.getType())) {
      part = PartOp::create(builder, loc, buffer.getPart(strip), value, from);
    } else {
      part = tile::SliceOp::create(builder, loc, stripOf(typeOf(value), from), value, axis, from, strip,
                                   /*stride=*/1);
    }
    values.map(value, part);
    return part;
  }

  void clone(OpBuilder &builder, Operation *op, int64_t from, IRMapping &values) {
    for (Value operand : op->getOperands())
      values.map(operand, take(builder, operand, from, values));
    Operation *made = builder.clone(*op, values);
    for (auto [old, result] : llvm::zip(op->getResults(), made->getResults()))
      result.setType(stripOf(typeOf(old), from));
  }

  SmallVector<DotOp> sums;
  StringRef axis;
  int64_t strip, size = 0;
  llvm::SetVector<Operation *> chain;
};

/// Runs of products that add to sums, over one axis, with nothing between that must keep its place.
SmallVector<SmallVector<DotOp>> findSums(Block &block) {
  SmallVector<SmallVector<DotOp>> runs;
  bool open = false;
  for (Operation &op : block) {
    auto dot = dyn_cast<DotOp>(op);
    bool isSum = dot && dot.getC() && dot.getOver().size() == 1 && isa<TileType>(dot.getA().getType()) &&
                 dot.getKind() == ProductKind::mma16;
    auto isRead = [&](DotOp sum) {
      return llvm::any_of(sum->getUsers(),
                          [&](Operation *user) { return block.findAncestorOpInBlock(*user) == &op; });
    };
    bool readsRun = open && llvm::any_of(runs.back(), isRead);
    open &= !isSync(&op) && !readsRun;
    if (!isSum)
      continue;
    if (!open || overOf(dot) != overOf(runs.back().front()))
      runs.emplace_back();
    runs.back().push_back(dot);
    open = true;
  }
  return runs;
}

struct StripMine : simt::impl::StripMineBase<StripMine> {
  using StripMineBase::StripMineBase;

  void runOnOperation() override {
    if (strip < 16 || strip % 16) {
      getOperation().emitError() << "expected strip to be a multiple of 16, but got " << strip.getValue();
      return signalPassFailure();
    }
    if (failed(requireLayoutsOfAll(getOperation())))
      return signalPassFailure();
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      int64_t needed = countLoopRegisters(loop, countTileRegisters);
      LDBG() << loop.getLoc() << ": needs " << needed << " registers of " << registers.getValue();
      if (needed > registers)
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      for (const SmallVector<DotOp> &sums : findSums(*loop.getBody()))
        if (Strips strips(sums, strip); strips.collect()) {
          LDBG() << sums.front()->getLoc() << ": " << sums.size() << " products in strips of "
                 << strip.getValue();
          strips.emit();
          ++numStripped;
        }
  }
};

} // namespace
