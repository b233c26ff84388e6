// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Fusion/FunctionRewrites.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/Algebra/PairwiseRewrite.h"

using namespace mlir;
using namespace taylor;

namespace {

/// Finds exponentials that are factors of weights at most 1 where the row has a weight of 1: of a difference
/// from a running maximum, or between running sums, by which weights decay.
class Factors {
public:
  static bool isFactor(Value exponent) {
    // Where a condition holds, or below a largest number.
    if (auto select = exponent.getDefiningOp<arith::SelectOp>())
      exponent = select.getTrueValue();
    auto difference = exponent.getDefiningOp<arith::SubFOp>();
    return difference && llvm::any_of(difference->getOperands(),
                                      [](Value operand) { return Factors().isRunning(operand); });
  }

private:
  /// Whether a scalar is made of a running sum or maximum: along tokens, of pairs, or read at an edge or at
  /// other tokens; also of what a forward saved, which is no one's feature.
  bool isRunning(Value scalar) {
    return llvm::any_of(collectScalars(scalar), [&](Value part) {
      auto argument = dyn_cast<BlockArgument>(part);
      return argument && isRunningArgument(argument);
    });
  }
  bool isRunningArgument(BlockArgument argument) {
    auto pairs = dyn_cast<PairwiseOp>(argument.getOwner()->getParentOp());
    if (pairs && pairs.hasMaximum() && argument == pairs.getWeight().getArguments().back())
      return true;
    Value array = arrayOf(argument);
    if (!array || !seen.insert(array).second)
      return false;
    if (auto given = dyn_cast<BlockArgument>(array)) {
      auto function = cast<FunctionOp>(given.getOwner()->getParentOp());
      return cast<StringAttr>(function.getArgNames()[given.getArgNumber()]).getValue().starts_with("saved:");
    }
    Operation *from = array.getDefiningOp();
    if (auto sums = dyn_cast<PairwiseOp>(from))
      return sums.getSum(cast<OpResult>(array).getResultNumber()).getKind() == PairOutput::Maximum;
    if (auto map = dyn_cast<MapOp>(from))
      return isRunning(map.getBody().front().getTerminator()->getOperand(0));
    return isa<ScanOp, EdgeOp, AlignOp>(from);
  }

  llvm::SmallDenseSet<Value> seen;
};

bool comparesWithZero(Operation *op) {
  return isa<arith::CmpFOp>(op) && llvm::any_of(op->getOperands(), [](Value operand) {
           return matchPattern(operand, m_AnyZeroFloat());
         });
}

/// Whether weights have factors exp(..) of the row: by these, numbers next to exponentials are shifted with
/// them (taylor-stabilize).
bool mixesExponentials(PairwiseOp pairs) {
  auto isOfRow = [&](Value part) {
    if (auto index = part.getDefiningOp<IndexOp>())
      return index.getAxis() != AxisRole::Key;
    auto argument = dyn_cast<BlockArgument>(part);
    if (!argument)
      return true;
    bool isMaximum = pairs.hasMaximum() && argument == argument.getOwner()->getArguments().back();
    Value array = pairs.getArrayOf(argument);
    return isMaximum ||
           (array && !arrayTypeOf(array).has(AxisRole::Key) && !arrayTypeOf(array).has(AxisRole::Lag));
  };
  return llvm::any_of(pairs.getWeight().getOps<math::ExpOp>(), [&](math::ExpOp exp) {
    return llvm::all_of(collectScalars(exp.getResult()), isOfRow);
  });
}

/// Walks from floors and comparisons to the quotients and square roots that they read, from a region into
/// those of the arrays that it reads.
class Nearest {
public:
  explicit Nearest(FunctionOp function) {
    function.walk([&](Operation *op) {
      if (!isa<math::FloorOp, arith::CmpFOp>(op))
        return;
      for (Value operand : op->getOperands()) {
        // No rounding changes the sign of the operand itself.
        bool isSign = comparesWithZero(op) && isRounded(operand);
        llvm::append_range(open, isSign ? ValueRange(operand.getDefiningOp()->getOperands()) : operand);
      }
    });
    while (!open.empty())
      visit(open.pop_back_val());
  }

  bool contains(Operation *op) const { return rounded.contains(op); }

  static bool isRounded(Value scalar) {
    Operation *from = scalar.getDefiningOp();
    return isa_and_nonnull<arith::DivFOp, math::SqrtOp>(from);
  }

private:
  void visit(Value value) {
    if (!value || !seen.insert(value).second)
      return;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return open.push_back(arrayOf(argument));
    Operation *from = value.getDefiningOp();
    if (isRounded(value))
      rounded.insert(from);
    if (auto map = dyn_cast<MapOp>(from))
      open.push_back(map.getBody().front().getTerminator()->getOperand(0));
    else if (isa<AlignOp, EdgeOp>(from) || isa<arith::ArithDialect, math::MathDialect>(from->getDialect()))
      llvm::append_range(open, from->getOperands());
  }

  SmallVector<Value> open;
  llvm::SmallDenseSet<Value> seen;
  llvm::SmallDenseSet<Operation *> rounded;
};

} // namespace

void taylor::relaxPrecision(FunctionOp function) {
  Nearest nearest(function);
  llvm::SmallDenseMap<Operation *, bool> mixes;
  function.walk([&](Operation *op) {
    if (op->getNumResults() == 1 && Nearest::isRounded(op->getResult(0)) && !nearest.contains(op))
      tile::relax(op);
    if (!isa<math::ExpOp, math::Exp2Op>(op))
      return;
    auto pairs = dyn_cast<PairwiseOp>(op->getParentOp());
    auto [known, isNew] = mixes.try_emplace(pairs, false);
    if (pairs && isNew)
      known->second = mixesExponentials(pairs);
    if (!known->second && Factors::isFactor(op->getOperand(0)))
      tile::relax(op);
  });
}
