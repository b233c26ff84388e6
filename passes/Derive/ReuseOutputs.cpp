// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Carried.h"
#include "dialect/Taylor/RegionDerivative.h"
#include "passes/Algebra/Factors.h"
#include "passes/Debug.h"
#include "passes/Derive/FunctionGraph.h"
#include "passes/Passes.h"
#include "passes/States/SeparableSums.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

#define DEBUG_TYPE "taylor-reuse-outputs"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_REUSEOUTPUTSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// O = N * product(factors) / product(divisors), factors and divisors scalars of `map`.
struct ScaledSum {
  MapOp map;
  unsigned sum;
  SmallVector<Value> factors, divisors;
};

bool dependsOn(Value scalar, Value argument) { return collectScalars(scalar).contains(argument); }

bool isRowScalar(MapOp map, Value scalar) {
  return llvm::all_of(collectScalars(scalar), [&](Value part) {
    if (auto argument = dyn_cast<BlockArgument>(part))
      return llvm::all_of(arrayTypeOf(map.getArrays()[argument.getArgNumber()]).getAxes(),
                          [](StringAttr axis) { return isRuntimeAxis(axis); });
    auto index = part.getDefiningOp<IndexOp>();
    return !index || isRuntimeAxis(index.getAxis());
  });
}

/// Reads a map as a sum times row scalars.
std::optional<ScaledSum> readScaledSum(MapOp map, unsigned sum) {
  ScaledSum result{map, sum, {}, {}};
  Value argument = map.getBody().getArgument(sum);
  Value scalar = map.getBody().front().getTerminator()->getOperand(0);
  while (scalar != argument) {
    Operation *op = scalar.getDefiningOp();
    if (!isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op))
      return std::nullopt;
    bool inFirst = dependsOn(op->getOperand(0), argument), inSecond = dependsOn(op->getOperand(1), argument);
    if (inFirst == inSecond || (isa<arith::DivFOp>(op) && inSecond))
      return std::nullopt;
    Value other = op->getOperand(inFirst ? 1 : 0);
    if (!isRowScalar(map, other))
      return std::nullopt;
    (isa<arith::DivFOp>(op) ? result.divisors : result.factors).push_back(other);
    scalar = op->getOperand(inFirst ? 0 : 1);
  }
  return result;
}

/// Whether it is a number other than 0, or a product of such and of sizes.
bool isNonzeroNumber(Value scalar) {
  if (FloatAttr number; matchPattern(scalar, m_Constant(&number)))
    return !number.getValue().isZero();
  Operation *from = scalar.getDefiningOp();
  return isa_and_nonnull<SizeOp>(from) ||
         (isa_and_nonnull<arith::MulFOp, arith::DivFOp, arith::NegFOp, math::SqrtOp, math::RsqrtOp>(from) &&
          llvm::all_of(from->getOperands(), isNonzeroNumber));
}

/// May be divided by: never 0 where it was not already.
bool isSafeDivisor(Value factor) { return isNonzeroNumber(factor) || factor.getDefiningOp<math::RsqrtOp>(); }

/// Whether a divisor that is left has a part of what the map multiplied with: an argument by itself, a result
/// by its operation, since copies of one scalar are merged.
bool dividesByFactor(const Product &divisor, const ScaledSum &sum, const IRMapping &values) {
  for (Value factor : sum.factors)
    for (Value part : Product::read(factor).numerator) {
      if (isSafeDivisor(part))
        continue;
      Operation *above = part.getDefiningOp();
      for (Value left : divisor.numerator) {
        Operation *below = left.getDefiningOp();
        if (above ? below && below->getName() == above->getName() : left == values.lookupOrDefault(part))
          return true;
      }
    }
  return false;
}

/// Replaces argument `index` of a map or reduction by O * divisors / factors. False if a factor that may be 0
/// stays below.
template <typename Op> bool readBack(Op op, unsigned index, const ScaledSum &sum, Value output) {
  Block &block = op.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  MapOp map = sum.map;
  IRMapping values;
  // One argument per array: factors cancel as values.
  auto addArray = [&](Value array) -> Value {
    if (auto it = llvm::find(op.getArrays(), array); it != op.getArrays().end())
      return block.getArgument(it - op.getArrays().begin());
    op.getArraysMutable().append(array);
    return block.addArgument(arrayTypeOf(array).getScalarType(), op.getLoc());
  };
  for (auto [number, array] : llvm::enumerate(map.getArrays()))
    if (number != sum.sum)
      values.map(Value(map.getBody().getArgument(number)), addArray(array));
  Value read = addArray(output);
  // The sum itself is cloned too, as an argument that nothing will use.
  values.map(Value(map.getBody().getArgument(sum.sum)), read);
  cloneScalars(builder, map.getBody().front(), values);
  Location loc = op.getLoc();
  for (Value divisor : sum.divisors)
    read = arith::MulFOp::create(builder, loc, read, values.lookupOrDefault(divisor));
  for (Value factor : sum.factors)
    read = arith::DivFOp::create(builder, loc, read, values.lookupOrDefault(factor));
  block.getArgument(index).replaceAllUsesWith(read);
  // The array stays an operand, unread, while the domain may need it; a scalar shared with the map must be
  // one value to cancel.
  IRRewriter rewriter(op.getContext());
  DominanceInfo dominance(op);
  eraseUnusedScalars(block);
  eliminateCommonSubExpressions(rewriter, dominance, op);
  cancelProducts(block);
  eraseUnusedScalars(block);
  return !llvm::any_of(block.without_terminator(), [&](Operation &scalar) {
    return isa<arith::DivFOp>(scalar) && dividesByFactor(Product::read(scalar.getOperand(1)), sum, values);
  });
}

/// Whether a map or reduction compares an array, a maximum with it say, or rounds it: what is read back is
/// rounded otherwise, and equal no more. Of the array times something the sign is the same.
bool isCompared(Operation *mapOrReduce, Value array) {
  Block &block = mapOrReduce->getRegion(0).front();
  llvm::SmallDenseSet<Value> reached, scaled; // what hangs on it, and what is it times something
  for (auto [operand, argument] : llvm::zip(mapOrReduce->getOperands(), block.getArguments()))
    if (operand == array) {
      reached.insert(argument);
      scaled.insert(argument);
    }
  for (Operation &scalar : block.without_terminator()) {
    auto isReached = [&](Value x) { return reached.contains(x); };
    if (llvm::none_of(scalar.getOperands(), isReached))
      continue;
    bool ofSign = llvm::all_of(scalar.getOperands(), [&](Value x) {
      return scaled.contains(x) || matchPattern(x, m_AnyZeroFloat());
    });
    if (isa<math::FloorOp, math::CeilOp, math::RoundEvenOp>(scalar) ||
        (isa<arith::CmpFOp>(scalar) && (!ofSign || llvm::all_of(scalar.getOperands(), isReached))))
      return true;
    Value result = scalar.getResult(0);
    reached.insert(result);
    if (isa<arith::MulFOp, arith::DivFOp, arith::NegFOp, math::AbsFOp>(scalar) &&
        llvm::count_if(scalar.getOperands(), isReached) == 1 &&
        scaled.contains(*llvm::find_if(scalar.getOperands(), isReached)))
      scaled.insert(result);
  }
  return false;
}

/// Whether a sum can be one over features too: in every form, it promises digits of its own, and not those of
/// code that rounds each result.
bool isSumOfFeatures(OpResult sum) {
  auto op = cast<PairwiseOp>(sum.getOwner());
  return areSeparable(op, op.getSum(sum.getResultNumber()).getYielded());
}

/// A result before it was rounded, from the rounded one and the rest, which is rounded alike: half the bytes
/// of the result itself. What gradients read of a rounded result, weights alone should cancel, and its error
/// stays.
Value buildUnrounded(Value rounded, Value result) {
  OpBuilder builder(rounded.getContext());
  builder.setInsertionPointAfterValue(rounded);
  Location loc = rounded.getLoc();
  Value rest = buildMap(builder, loc, {result, rounded}, {}, [](OpBuilder &b, Location at, ValueRange x) {
    return arith::SubFOp::create(b, at, x[0], x[1]).getResult();
  });
  rest = buildConversion(builder, loc, rest, arrayTypeOf(rounded).getElementType());
  return buildSum(builder, loc, rounded, rest);
}

class ReuseOutputs : public ::taylor::impl::ReuseOutputsPassBase<ReuseOutputs> {
  void runOnOperation() override;
  void reuse(Value output, const FunctionGraph &graph);
};

} // namespace

void ReuseOutputs::reuse(Value output, const FunctionGraph &graph) {
  auto map = output.getDefiningOp<MapOp>();
  // A rounded result is a map of its own, that changes nothing else.
  if (map && map.getArrays().size() == 1 && map.getBody().front().without_terminator().empty() &&
      arrayTypeOf(output).getElementType() != arrayTypeOf(output).getScalarType())
    if (auto inner = map.getArrays()[0].getDefiningOp<MapOp>())
      map = inner;
  if (!map || graph.dependsOnCotangents(map.getOperation()))
    return;
  for (auto [number, array] : llvm::enumerate(map.getArrays())) {
    ArrayType type = arrayTypeOf(array);
    if (!array.getDefiningOp<PairwiseOp>() || type.getAxes() != arrayTypeOf(output).getAxes())
      continue;
    std::optional<ScaledSum> sum = readScaledSum(map, number);
    if (!sum)
      continue;
    SmallVector<Operation *> users;
    bool possible = true;
    for (Operation *user : array.getUsers()) {
      if (!graph.dependsOnCotangents(user) || llvm::is_contained(users, user))
        continue;
      possible &= isa<MapOp, ReduceOp>(user) && !isCompared(user, array);
      users.push_back(user);
    }
    if (!possible)
      LDBG() << array.getLoc() << ": saved, since an operation compares it or is no map or reduction";
    if (!possible || users.empty())
      continue;
    bool isRounded = map.getResult() != output;
    Value result = isRounded && isSumOfFeatures(cast<OpResult>(array))
                       ? buildUnrounded(output, map.getResult())
                       : output;
    // Try on copies; all or nothing, since one user that needs the sum needs it saved.
    SmallVector<Operation *> copies;
    bool done = true;
    for (Operation *user : users) {
      OpBuilder builder(user);
      Operation *copy = builder.clone(*user);
      copies.push_back(copy);
      auto tryOn = [&](auto op) {
        for (unsigned i = 0, e = op.getArrays().size(); i < e; ++i)
          if (op.getArrays()[i] == array)
            done &= readBack(op, i, *sum, result);
      };
      if (auto reduce = dyn_cast<ReduceOp>(copy))
        tryOn(reduce);
      else
        tryOn(cast<MapOp>(copy));
    }
    LDBG() << array.getLoc()
           << (done ? ": read from the output " : ": saved, since a factor that may be 0 does not cancel in ")
           << output.getLoc();
    numReused += done;
    for (auto [user, copy] : llvm::zip_equal(users, copies)) {
      if (done)
        user->replaceAllUsesWith(copy);
      (done ? user : copy)->erase();
    }
  }
}

void ReuseOutputs::runOnOperation() {
  FunctionGraph graph(getOperation());
  auto yield = cast<YieldOp>(getOperation().getBody().front().getTerminator());
  for (auto [name, value] : llvm::zip_equal(*yield.getNames(), yield.getValues()))
    if (StringRef role = cast<StringAttr>(name); role.starts_with("output:") && !isCarriedOutput(role))
      reuse(value, graph);
  // What read a sum may have stood in front of the output.
  sortTopologically(&getOperation().getBody().front());
}
