// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which blocks of a kernel take longest, from the bounds of its loops. Passes.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "taylor-order-grid"

namespace taylor {
#define GEN_PASS_DEF_ORDERGRIDPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

using namespace mlir;
using namespace mlir::tile;

namespace {

/// How a number changes from a block to the next one along the last extent of the grid.
enum class Trend { fixed, rising, falling, unknown };

Trend flipped(Trend trend) {
  return trend == Trend::rising ? Trend::falling : trend == Trend::falling ? Trend::rising : trend;
}

/// Of a sum, a minimum or a maximum of two.
Trend both(Trend a, Trend b) {
  return a == Trend::fixed || a == b ? b : b == Trend::fixed ? a : Trend::unknown;
}

class BlockOrder {
public:
  explicit BlockOrder(KernelOp kernel) : kernel(kernel), last(kernel.getBlock()->getArguments().back()) {}

  /// Null where no order is known, or all blocks take as long.
  LongestAttr find() {
    Trend work = Trend::fixed;
    kernel.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        work = both(work, trendOf(loop));
      else if (isa<scf::WhileOp>(op))
        work = Trend::unknown;
    });
    if (work == Trend::fixed || work == Trend::unknown)
      return {};
    auto [role, bytes] = findCommon();
    return LongestAttr::get(kernel.getContext(), work == Trend::rising ? End::last : End::first,
                            StringAttr::get(kernel.getContext(), role), bytes);
  }

private:
  /// Of a loop's number of iterations. Where a loop begins at what another one of its region ends at, they
  /// are one.
  Trend trendOf(scf::ForOp loop) {
    Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
    // From a multiple of the block's number on, in steps of as many times the number of blocks: equal shares,
    // except for one iteration.
    if (!getConstantIntValue(loop.getStep()) && trendOf(upper) == Trend::fixed)
      return flipped(trendOf(loop.getStep()));
    // max(end, begin) iterations end where the end does: the maximum is there for blocks that have none.
    if (auto most = upper.getDefiningOp<arith::MaxSIOp>()) {
      if (most.getLhs() == lower)
        upper = most.getRhs();
      else if (most.getRhs() == lower)
        upper = most.getLhs();
    }
    for (auto other : loop->getBlock()->getOps<scf::ForOp>()) {
      if (other != loop && other.getUpperBound() == loop.getLowerBound())
        lower = {};
      if (other != loop && other.getLowerBound() == loop.getUpperBound())
        upper = {};
    }
    Trend begin = lower ? trendOf(lower) : Trend::fixed, end = upper ? trendOf(upper) : Trend::fixed;
    return both(both(end, flipped(begin)), flipped(trendOf(loop.getStep())));
  }

  Trend trendOf(Value value) {
    if (auto found = trends.find(value); found != trends.end())
      return found->second;
    Trend trend = compute(value);
    trends[value] = trend;
    return trend;
  }

  Trend compute(Value value) {
    if (value == last)
      return Trend::rising;
    Operation *op = value.getDefiningOp();
    if (!op) {
      auto argument = cast<BlockArgument>(value);
      if (argument.getOwner() == kernel.getBlock())
        return Trend::fixed;
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      bool isPlace = loop && argument == loop.getInductionVar();
      return isPlace && trendOf(loop.getLowerBound()) == Trend::fixed &&
                     trendOf(loop.getUpperBound()) == Trend::fixed
                 ? Trend::fixed
                 : Trend::unknown;
    }
    auto of = [&](unsigned i) { return trendOf(op->getOperand(i)); };
    Trend trend =
        TypeSwitch<Operation *, Trend>(op)
            .Case<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp>([&](auto) { return both(of(0), of(1)); })
            .Case([&](arith::SubIOp) { return both(of(0), flipped(of(1))); })
            .Case(
                [&](arith::SelectOp) { return of(0) == Trend::fixed ? both(of(1), of(2)) : Trend::unknown; })
            .Case([&](arith::MulIOp) {
              std::optional<int64_t> left = getConstantIntValue(op->getOperand(0)),
                                     right = getConstantIntValue(op->getOperand(1));
              if (!left && !right)
                return Trend::unknown;
              Trend other = of(left ? 1 : 0);
              return (left ? *left : *right) >= 0 ? other : flipped(other);
            })
            .Case<arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>([&](auto) {
              std::optional<int64_t> by = getConstantIntValue(op->getOperand(1));
              return by && *by > 0 ? of(0) : Trend::unknown;
            })
            .Default([&](Operation *) { return Trend::unknown; });
    // Whatever else it computes: of what is the same in both blocks.
    bool isFixed = op->getNumRegions() == 0 && llvm::all_of(op->getOperands(), [&](Value operand) {
                     return trendOf(operand) == Trend::fixed;
                   });
    return isFixed ? Trend::fixed : trend;
  }

  /// Whether a place is another one in the next block, in the same iteration of the loops around it.
  bool isOfBlock(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      return value == last || (loop && argument != loop.getInductionVar());
    }
    Operation *op = value.getDefiningOp();
    return op->getNumRegions() > 0 || llvm::any_of(op->getOperands(), [&](Value x) { return isOfBlock(x); });
  }

  /// The tokens over which loops read what other blocks read too, and how many bytes of each.
  std::pair<StringRef, int64_t> findCommon() {
    llvm::MapVector<StringRef, int64_t> bytes;
    llvm::SmallDenseSet<Value> seen;
    kernel.walk([&](LoadOp load) {
      auto type = cast<ArrayType>(load.getArray().getType());
      if (!load->getParentOfType<scf::ForOp>() ||
          llvm::any_of(load.getOffsets(), [&](Value x) { return isOfBlock(x); }) ||
          !seen.insert(load.getArray()).second)
        return;
      StringRef role;
      int64_t row = (type.getElementType().getIntOrFloatBitWidth() + 7) / 8;
      for (const Axis &axis : type.getAxes()) {
        StringRef name =
            axis.extent.isStatic() || axis.extent.isParts() ? "" : axis.extent.getRole().getValue();
        if (axis.extent.isStatic())
          row *= axis.getSize();
        else if ((name == AxisRole::Query || name == AxisRole::Key) && axis.extent.getSize() == 1)
          role = name;
      }
      if (!role.empty())
        bytes[role] += row;
    });
    std::pair<StringRef, int64_t> most{"", 0};
    for (auto [role, count] : bytes)
      if (count > most.second)
        most = {role, count};
    return most;
  }

  KernelOp kernel;
  BlockArgument last;
  DenseMap<Value, Trend> trends;
};

class OrderGridPass : public taylor::impl::OrderGridPassBase<OrderGridPass> {
public:
  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      if (kernel.getGrid().empty())
        return;
      LongestAttr longest = BlockOrder(kernel).find();
      if (longest)
        LDBG() << "@" << kernel.getSymName() << ": " << longest;
      else
        LDBG() << "@" << kernel.getSymName() << ": blocks take as long, or no order is known";
      if (longest)
        kernel.setLongestAttr(longest);
      else
        kernel.removeLongestAttr();
      numOrdered += bool(longest);
    });
  }
};

} // namespace
