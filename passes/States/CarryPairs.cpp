// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over keys that go on where another call ended: from states, relative to an edge where they decay.
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "passes/Algebra/PairwiseRewrite.h"
#include "passes/Algebra/ScalarRanges.h"
#include "passes/States/StateCarrier.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace taylor;

static constexpr StringLiteral kWhatStatesHold =
    "states carry causal sums of finitely many powers of one inner product, with factors of the query and of "
    "the key";

LogicalResult StateCarrier::refusePairs(Location at, const Twine &why) {
  // Of the other modes, one says so of everything that it refuses, and one is it.
  StringRef instead =
      mode == CarryMode::Pieces ? "; --decode=cache goes on from keys and values instead" : "";
  return refuse(at, why, (Twine(kWhatStatesHold) + instead).str());
}

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
      return refusePairs(op.getLoc(), "its weights read how many tokens there are");
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
    arrays.push_back(getStarts(AxisRole::Query));
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

LogicalResult StateCarrier::refuseLaterPieces(PairwiseOp op) {
  return refuse(op.getLoc(), "queries see keys of later pieces", kWhatStatesHold);
}

LogicalResult StateCarrier::carryPairs(PairwiseOp op) {
  SmallVector<int64_t> wanted = weightsOf(op);
  SmallVector<bool> counted = llvm::map_to_vector(op.getSums().getAsRange<PairSumAttr>(),
                                                  [&](PairSumAttr sum) { return isCount(op, sum); });
  SeparableSums sums(op);
  if (failed(wanted.empty() ? sums.readMask() : sums.run(wanted)))
    return refusePairs(sums.at, sums.reason);
  if (!sums.causal)
    return refuseLaterPieces(op);
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

/// Whether all that reads a mass adds a number of a usual size to it, or takes no less than such: weights of
/// order 1 are meant, of which a tenth is no epsilon.
static bool isRaised(Value mass) {
  constexpr double usual = 0.1;
  auto raises = [&](Operation *reader) {
    return isa<arith::AddFOp, arith::MaximumFOp>(reader) && llvm::any_of(reader->getOperands(), [&](Value x) {
             FloatAttr number;
             return matchPattern(x, m_Constant(&number)) && number.getValueAsDouble() >= usual;
           });
  };
  return llvm::all_of(mass.getUses(), [&](OpOperand &use) {
    auto map = dyn_cast<MapOp>(use.getOwner());
    return map && use.getOperandNumber() < map.getArrays().size() &&
           llvm::all_of(map.getBody().getArgument(use.getOperandNumber()).getUsers(), raises);
  });
}

/// A power s^n, n > 1, is there a sum of products of components, which cancel where s is near 0: its error is
/// relative to |q|^n |k|^n, where that of a power of the sum s is relative to s^n.
void StateCarrier::warnSmallMass(PairwiseOp op, const SeparableSums &sums) {
  auto [query, key] = op.getProduct(sums.score);
  if (rangeOfArray(query).low >= 0 && rangeOfArray(key).low >= 0)
    return;
  auto isHigh = [](const SeparableTerm &term) {
    auto lowest = llvm::find_if(term.series, [](double coefficient) { return coefficient != 0.0; });
    return term.product < 0 && lowest - term.series.begin() > 1;
  };
  for (auto [sum, result] : llvm::zip_equal(op.getSums().getAsRange<PairSumAttr>(), op.getResults())) {
    const auto &terms = sums.yielded[sum.getYielded()];
    if (sum.getArray() < 0 && !isCount(op, sum) && !isRaised(result) && !terms.empty() &&
        llvm::all_of(terms, isHigh)) {
      emitWarning(op.getLoc())
          << "a mass without orders 0 and 1 has few digits as a recurrence in rows whose scores are all near "
             "0, where its features cancel: add an order 0, or to the mass a number of its usual size";
      return;
    }
  }
}

LogicalResult StateCarrier::carrySums(PairwiseOp op, ArrayRef<int64_t> wanted, ArrayRef<bool> counted,
                                      llvm::MapVector<int64_t, Value> &whole) {
  // Places are arrays by now.
  SeparableSums sums(op);
  if (failed(sums.run(wanted)))
    return refusePairs(sums.at, sums.reason);
  StateRewrite rows(op, sums, PairOutput::Rows, block, builder);
  if (failed(rows.plan(/*contracts=*/false)))
    return refusePairs(op.getLoc(), rows.reason);
  if (rows.hasStates() && sums.columnExponent)
    rows.setDecay(carryDecay(op, sums));
  else if (rows.hasStates() && sums.documents)
    rows.setDecay(carryDocuments());
  SmallVector<Value> initial;
  for (ArrayType type : rows.stateTypes())
    initial.push_back(addInitial("state", type));
  SmallVector<Value> states;
  if (mode == CarryMode::Recurrent) {
    warnSmallMass(op, sums);
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

/// Where no token was before, it stands above all c, and nothing of the states is read or kept.
Value StateCarrier::buildFirstEdge(Location at, Value initial) {
  return buildMap(
      builder, at, {initial, getPosition()}, {}, [](OpBuilder &b, Location at, ValueRange x) -> Value {
        Type real = x[0].getType();
        Value none =
            arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ, x[1], buildNumber(b, at, real, 0.0));
        Value above = buildNumber(b, at, real, std::numeric_limits<float>::max());
        Value edge = StopGradientOp::create(b, at, x[0]);
        return arith::SelectOp::create(b, at, none, above, edge);
      });
}

/// The least c so far: of the document alone, if it began in this call. A constant to the derivative.
Value StateCarrier::buildEdges(Location at, Value column, Value first, Value within, bool exclusive) {
  Value largest =
      buildRunningMaximum(builder, column, AxisRole::Key, within, exclusive,
                          [](OpBuilder &b, Location at, ValueRange x) -> Value {
                            return StopGradientOp::create(b, at, arith::NegFOp::create(b, at, x[0]));
                          });
  SmallVector<Value> arrays{first, largest};
  if (within)
    arrays.append({getPosition(), getStarts(AxisRole::Key)});
  return buildMap(builder, at, arrays, {}, [](OpBuilder &b, Location at, ValueRange x) -> Value {
    Value own = arith::NegFOp::create(b, at, x[1]);
    Value least = arith::MinimumFOp::create(b, at, x[0], own);
    if (x.size() > 2) {
      Value goesOn = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OLT, x[3], x[2]);
      least = arith::SelectOp::create(b, at, goesOn, least, own);
    }
    return StopGradientOp::create(b, at, least);
  });
}

Value StateCarrier::buildDecay(Location at, Value x, Value y, const Where &where) {
  SmallVector<Value> arrays{x, y};
  if (where.x)
    arrays.append({where.x, where.y});
  return buildMap(builder, at, arrays, {}, [&](OpBuilder &b, Location at, ValueRange s) -> Value {
    Value exponent = arith::SubFOp::create(b, at, s[0], s[1]);
    if (!where.x)
      return math::ExpOp::create(b, at, exponent);
    return buildExpOrZero(b, at, arith::CmpFOp::create(b, at, where.predicate, s[2], s[3]), exponent);
  });
}

/// Whether one scalar alone, of all regions, reads an array.
static bool isReadOnce(PairwiseOp op, Value array) {
  int64_t uses = 0;
  for (auto [number, scalar] : llvm::enumerate(op.getScalars()))
    if (op.getArrays()[scalar] == array)
      for (Region &region : op->getRegions()) {
        if (region.empty())
          continue;
        // Reading the weights as sums leaves scalars that nobody reads.
        uses += llvm::count_if(region.getArgument(op.getNumProducts(region) + number).getUsers(),
                               [](Operation *user) { return !isOpTriviallyDead(user); });
      }
  return uses == 1;
}

bool StateCarrier::isOwnSum(PairwiseOp op, Value row, Value column) {
  auto align = row.getDefiningOp<AlignOp>();
  return runningSums.contains(column) && align && align.getArray() == column && align->hasOneUse() &&
         isReadOnce(op, row) && isReadOnce(op, column) &&
         llvm::all_of(column.getUsers(), [&](Operation *user) { return user == op || user == align; });
}

void StateCarrier::shortenSum(Location at, Value column, Value edge, Value last) {
  // A call without tokens hands on what it got.
  Value sum = runningSums.lookup(column);
  setFinal(sum, buildAtLast(
                    {column, last}, AxisRole::Key, sum,
                    [](OpBuilder &b, Location at, ValueRange x) -> Value {
                      return arith::SubFOp::create(b, at, x[0], StopGradientOp::create(b, at, x[1]));
                    },
                    [](OpBuilder &, Location, ValueRange x) { return x[0]; }));
  setFinal(edge, buildMap(builder, at, edge, {}, [&](OpBuilder &b, Location at, ValueRange x) {
             Value given = StopGradientOp::create(b, at, x[0]);
             return buildOrElse(b, at, AxisRole::Key, given, buildNumber(b, at, real(), 0.0));
           }));
}

/// Of exp(a[t] - c[u]), states hold what keys count at the edge E, the least c so far: exp(E - c[u]), so that
/// no factor is above 1 where a and c fall.
CarriedDecay StateCarrier::carryDecay(PairwiseOp op, const SeparableSums &sums) {
  Location at = op.getLoc();
  Value column = buildFactor(builder, op, sums.columnExponent, {});
  Value row = buildFactor(builder, op, sums.rowExponent, {});
  bool isOwn = isOwnSum(op, row, column);
  Value initial = addInitial("edge", withBatch(arrayTypeOf(column).without({AxisRole::Key})).clone(real()));
  Value first = buildFirstEdge(at, initial);
  Value edge = buildEdges(at, column, first, sums.documents, /*exclusive=*/false);
  Value last = buildAtLast(edge, AxisRole::Key, first);
  setFinal(initial, last);
  if (isOwn)
    shortenSum(at, column, initial, last);
  if (mode == CarryMode::Recurrent) { // from token to token
    Value atQuery = AlignOp::create(builder, at, arrayTypeOf(edge).renamed(AxisRole::Key, AxisRole::Query),
                                    edge, axisAttr(builder, AxisRole::Query));
    return {buildDecay(at, row, atQuery, {}), buildDecay(at, edge, column, {}),
            buildDecay(at, edge, buildEdges(at, column, first, sums.documents, /*exclusive=*/true),
                       sums.documents ? goesOnAtKey() : Where()),
            Value(), Value()};
  }
  if (!sums.documents)
    return {buildDecay(at, row, first, {}), buildDecay(at, last, column, {}), buildDecay(at, last, first, {}),
            Value(), Value()};
  return {buildDecay(at, row, first, goesOn(getStarts(AxisRole::Query))),
          buildDecay(at, last, column, isLast(getStarts(AxisRole::Key))),
          buildDecay(at, last, first, goesOn(getLastStart())), keepWhere(goesOn(getStarts(AxisRole::Query))),
          keepWhere(isLast(getStarts(AxisRole::Key)))};
}

/// Without a decay, a document keeps all or nothing.
CarriedDecay StateCarrier::carryDocuments() {
  if (mode == CarryMode::Recurrent)
    return {Value(), Value(), keepWhere(goesOnAtKey()), Value(), Value()};
  Value row = keepWhere(goesOn(getStarts(AxisRole::Query))),
        column = keepWhere(isLast(getStarts(AxisRole::Key)));
  return {row, column, keepWhere(goesOn(getLastStart())), row, column};
}
