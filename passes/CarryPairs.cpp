// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over keys that go on where another call ended: from states, relative to an edge where they decay.
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "passes/PairwiseRewrite.h"
#include "passes/StateCarrier.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace taylor;

static constexpr StringLiteral kWhatStatesHold =
    "states carry causal sums of finitely many powers of one inner product, with factors of the query and of "
    "the key";

/// Weights that read places read those in the whole sequence; what compares them, in the mask, may count from
/// anywhere.
LogicalResult StateCarrier::movePlaces(PairwiseOp op) {
  for (Region *formula : {&op.getWeight(), &op.getMaximum()}) {
    SmallVector<IndexOp> indices;
    WalkResult sizes = formula->walk([&](Operation *scalar) {
      if (auto index = dyn_cast<IndexOp>(scalar); index && isTokenAxis(index.getAxis()))
        indices.push_back(index);
      auto size = dyn_cast<SizeOp>(scalar);
      return size && isTokenAxis(size.getAxis()) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (sizes.wasInterrupted())
      return refuse(op.getLoc(), "its weights read how many tokens there are", kWhatStatesHold);
    for (IndexOp index : indices) {
      auto scalar = cast<BlockArgument>(addScalarOperand(op, getPlaces(index.getAxis())));
      index.replaceAllUsesWith(formula->getArgument(scalar.getArgNumber()));
      index.erase();
    }
  }
  return success();
}

void StateCarrier::carryCount(PairwiseOp op, int64_t result, bool hasDocuments, Value &whole) {
  Operation *yield = op.getWeight().front().getTerminator();
  FloatAttr weight;
  matchPattern(yield->getOperand(op.getSum(result).getYielded()), m_Constant(&weight));
  SmallVector<Value> arrays{op.getResult(result), getPosition()};
  if (hasDocuments)
    arrays.push_back(getStarts("t"));
  whole = buildMap(builder, loc, arrays, {}, [&](OpBuilder &b, Location where, ValueRange x) -> Value {
    Value each = buildNumber(b, where, real(), weight.getValueAsDouble()), keys = x[1];
    if (hasDocuments) {
      keys = arith::SubFOp::create(b, where, keys, StopGradientOp::create(b, where, x[2]));
      keys = arith::MaximumFOp::create(b, where, keys, buildNumber(b, where, real(), 0.0));
    }
    keys = arith::MulFOp::create(b, where, keys, each);
    return arith::AddFOp::create(b, where, x[0], keys);
  });
}

LogicalResult StateCarrier::carryPairs(PairwiseOp op) {
  SmallVector<int64_t> wanted;
  SmallVector<bool> counted;
  for (PairSumAttr sum : op.getSums().getAsRange<PairSumAttr>()) {
    counted.push_back(isCount(op, sum));
    if (!counted.back())
      wanted.push_back(sum.getYielded());
  }
  SeparableSums sums(op);
  if (failed(wanted.empty() ? sums.readMask() : sums.run(wanted)))
    return refuse(sums.at, sums.reason, kWhatStatesHold);
  if (!sums.causal)
    return refuse(op.getLoc(), "queries see keys of later pieces", kWhatStatesHold);
  if (failed(movePlaces(op)))
    return failure();
  SmallVector<Operation *> before(op->getUsers());
  builder.setInsertionPointAfter(op);
  llvm::MapVector<int64_t, Value> whole;
  for (auto [index, result] : llvm::enumerate(op.getResults()))
    whole[index] = result;
  if (!wanted.empty() && failed(carrySums(op, wanted, counted, whole)))
    return failure();
  for (auto [index, isCount] : llvm::enumerate(counted))
    if (isCount)
      carryCount(op, index, bool(sums.documents), whole[index]);
  for (auto [index, result] : llvm::enumerate(op.getResults()))
    if (whole[index] != result)
      result.replaceUsesWithIf(whole[index],
                               [&](OpOperand &use) { return llvm::is_contained(before, use.getOwner()); });
  return success();
}

LogicalResult StateCarrier::carrySums(PairwiseOp op, ArrayRef<int64_t> wanted, ArrayRef<bool> counted,
                                      llvm::MapVector<int64_t, Value> &whole) {
  // Places are arrays by now.
  SeparableSums sums(op);
  if (failed(sums.run(wanted)))
    return refuse(sums.at, sums.reason, kWhatStatesHold);
  StateRewrite rows(op, sums, PairOutput::Rows, block, builder);
  if (failed(rows.plan(/*contracts=*/false)))
    return refuse(op.getLoc(), rows.reason, kWhatStatesHold);
  if (sums.columnExponent)
    rows.setDecay(carryDecay(op, sums));
  else if (sums.documents)
    rows.setDecay(carryDocuments());
  SmallVector<Value> initial;
  for (ArrayType type : rows.stateTypes()) {
    if (features && features != type.sizeOf("f"))
      return refuse(op.getLoc(),
                    "its states have " + Twine(type.sizeOf("f")) + " features, others " + Twine(features),
                    kWhatStatesHold);
    features = type.sizeOf("f");
    initial.push_back(addInitial("state", type));
  }
  SmallVector<Value> states;
  if (mode == CarryMode::Recurrent) {
    for (auto [index, isCount] : llvm::enumerate(counted))
      if (!isCount)
        whole[index] = {};
    states = rows.buildSteps(whole, initial);
  } else {
    states = rows.buildCarried(whole, initial);
  }
  for (auto [before, behind] : llvm::zip(initial, states))
    setFinal(before, behind);
  return success();
}

/// Of exp(a[t] - c[u]), states hold what keys count at the edge E, the least c so far: exp(E - c[u]), so that
/// no factor is above 1 where a and c fall. Where no token was before, there is no edge yet: it stands above
/// all c, and nothing of the states is read or kept.
CarriedDecay StateCarrier::carryDecay(PairwiseOp op, const SeparableSums &sums) {
  Location where = op.getLoc();
  Value column = buildFactor(builder, op, sums.columnExponent, {});
  Value row = buildFactor(builder, op, sums.rowExponent, {});
  ArrayType type = withBatch(arrayTypeOf(column).without({"u"})).clone(real());
  Value initial = addInitial("edge", type);
  Value first = buildMap(
      builder, where, {initial, getPosition()}, {}, [](OpBuilder &b, Location at, ValueRange x) -> Value {
        Type real = x[0].getType();
        Value none =
            arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ, x[1], buildNumber(b, at, real, 0.0));
        Value above = buildNumber(b, at, real, std::numeric_limits<float>::max());
        Value edge = StopGradientOp::create(b, at, x[0]);
        return arith::SelectOp::create(b, at, none, above, edge);
      });
  Value keys = sums.documents ? getStarts("u") : Value(), queries = sums.documents ? getStarts("t") : Value();
  // The edge behind a token, or before it.
  auto edgeAt = [&](bool exclusive) {
    // A constant to the derivative.
    Value largest =
        buildRunningMaximum(builder, column, "u", sums.documents, exclusive,
                            [](OpBuilder &b, Location at, ValueRange x) -> Value {
                              return StopGradientOp::create(b, at, arith::NegFOp::create(b, at, x[0]));
                            });
    SmallVector<Value> arrays{first, largest};
    if (keys)
      arrays.append({getPosition(), keys});
    return buildMap(builder, where, arrays, {}, [](OpBuilder &b, Location at, ValueRange x) -> Value {
      Value own = arith::NegFOp::create(b, at, x[1]);
      Value least = arith::MinimumFOp::create(b, at, x[0], own);
      if (x.size() > 2) {
        Value goesOn = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OLT, x[3], x[2]);
        least = arith::SelectOp::create(b, at, goesOn, least, own);
      }
      return StopGradientOp::create(b, at, least);
    });
  };
  // exp(x - y), and 0 where the predicate does not hold of the other two.
  auto factor = [&](Value x, Value y, arith::CmpFPredicate predicate = {}, ValueRange others = {}) {
    SmallVector<Value> arrays{x, y};
    llvm::append_range(arrays, others);
    return buildMap(builder, where, arrays, {}, [&](OpBuilder &b, Location at, ValueRange s) -> Value {
      Value exponent = arith::SubFOp::create(b, at, s[0], s[1]);
      if (s.size() == 2)
        return math::ExpOp::create(b, at, exponent);
      return buildExpOrZero(b, at, arith::CmpFOp::create(b, at, predicate, s[2], s[3]), exponent);
    });
  };
  auto ifDocuments = [&](Value x, Value y) { return keys ? SmallVector<Value>{x, y} : SmallVector<Value>(); };
  using Predicate = arith::CmpFPredicate;
  Value edge = edgeAt(/*exclusive=*/false), last = buildAtLast(edge, "u", first);
  setFinal(initial, last);
  if (mode == CarryMode::Recurrent) { // from token to token
    Value atQuery = AlignOp::create(builder, where, arrayTypeOf(edge).renamed("u", "t"), edge,
                                    builder.getStringAttr("t"));
    return {factor(row, atQuery), factor(edge, column),
            factor(edge, edgeAt(/*exclusive=*/true), Predicate::OLT,
                   keys ? ifDocuments(keys, getPlaces("u")) : SmallVector<Value>())};
  }
  Value lastKey = keys ? getLastStart() : Value();
  return {factor(row, first, Predicate::OLT, ifDocuments(queries, getPosition())),
          factor(last, column, Predicate::OEQ, ifDocuments(keys, lastKey)),
          factor(last, first, Predicate::OLT, ifDocuments(lastKey, getPosition()))};
}

/// Without a decay, a document keeps all or nothing.
CarriedDecay StateCarrier::carryDocuments() {
  using Predicate = arith::CmpFPredicate;
  if (mode == CarryMode::Recurrent)
    return {Value(), Value(), keepWhere(Predicate::OLT, getStarts("u"), getPlaces("u"))};
  return {keepWhere(Predicate::OLT, getStarts("t"), getPosition()),
          keepWhere(Predicate::OEQ, getStarts("u"), getLastStart()),
          keepWhere(Predicate::OLT, getLastStart(), getPosition())};
}
