// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/States/PairCarrier.h"

#include "passes/Algebra/PairwiseRewrite.h"
#include "passes/Algebra/ScalarRanges.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace taylor;

static constexpr StringLiteral kWhatStatesHold =
    "states carry causal sums of finitely many powers of one inner product, with factors of the query and of "
    "the key";

LogicalResult PairCarrier::refusePairs(Location at, const Twine &why) {
  // In the recurrent mode the pass's message names the cache already, and the others are the cache.
  StringRef instead =
      carried.mode == CarryMode::Pieces ? "; --decode=cache goes on from keys and values instead" : "";
  return carried.refuse(at, why, (Twine(kWhatStatesHold) + instead).str());
}

/// Weights that read places read those in the whole sequence; what compares them, in the mask, may count from
/// anywhere.
LogicalResult PairCarrier::movePlaces(PairwiseOp op) {
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
      index.replaceAllUsesWith(addScalarOperand(op, places.getPlaces(index.getAxis()), formula));
      index.erase();
    }
  }
  return success();
}

void PairCarrier::carryCount(PairwiseOp op, int64_t result, bool hasDocuments, Value &whole) {
  Operation *yield = op.getWeight().front().getTerminator();
  FloatAttr weight;
  matchPattern(yield->getOperand(op.getSum(result).getYielded()), m_Constant(&weight));
  SmallVector<Value> arrays{op.getResult(result), places.getPosition()};
  if (hasDocuments)
    arrays.push_back(documents.getStarts(AxisRole::Query));
  whole = buildMap(builder, loc, arrays, {}, [&](OpBuilder &b, Location where, ValueRange x) -> Value {
    Value each = buildNumber(b, where, carried.real(), weight.getValueAsDouble()), keys = x[1];
    if (hasDocuments) {
      keys = arith::SubFOp::create(b, where, keys, StopGradientOp::create(b, where, x[2]));
      keys = arith::MaximumFOp::create(b, where, keys, buildNumber(b, where, carried.real(), 0.0));
    }
    keys = arith::MulFOp::create(b, where, keys, each);
    return arith::AddFOp::create(b, where, x[0], keys);
  });
}

LogicalResult PairCarrier::refuseLaterPieces(PairwiseOp op) {
  return carried.refuse(op.getLoc(), "queries see keys of later pieces", kWhatStatesHold);
}

/// Called first: a bidirectional sum also counts all keys, and the message would be about the size in that
/// count.
LogicalResult PairCarrier::checkCausal(Operation *op) {
  auto pairs = dyn_cast<PairwiseOp>(op);
  if (!pairs)
    return success();
  SeparableSums sums(pairs, /*acrossChunks=*/false);
  return succeeded(sums.readMask()) && !sums.causal ? refuseLaterPieces(pairs) : success();
}

LogicalResult PairCarrier::carry(PairwiseOp op) {
  SmallVector<int64_t> wanted = weightsOf(op);
  SmallVector<bool> counted = llvm::map_to_vector(op.getSums().getAsRange<PairSumAttr>(),
                                                  [&](PairSumAttr sum) { return isCount(op, sum); });
  SeparableSums sums(op, /*acrossChunks=*/false);
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

/// Whether every reader of a mass adds at least 0.1 to it, or takes the larger of it and such a number.
/// Weights are about 1, so 0.1 is more than an epsilon against division by 0.
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

/// A recurrence computes s^n, n > 1, as a sum of products of components. These cancel where s is near 0: the
/// error is relative to |q|^n |k|^n, and not to s^n as over pairs.
void PairCarrier::warnSmallMass(PairwiseOp op, const SeparableSums &sums) {
  auto [query, key] = op.getProduct(sums.score);
  if (rangeOfArray(query).low >= 0 && rangeOfArray(key).low >= 0)
    return;
  auto isHigh = [](const SeparableTerm &term) {
    auto lowest = llvm::find_if(term.series, [](double coefficient) { return coefficient != 0.0; });
    return term.product < 0 && lowest - term.series.begin() > 1;
  };
  for (auto [sum, result] : llvm::zip_equal(op.getSums().getAsRange<PairSumAttr>(), op.getResults())) {
    const auto &terms = sums.yielded[sum.getYielded()];
    if (!sum.getWeighted() && !isCount(op, sum) && !isRaised(result) && !terms.empty() &&
        llvm::all_of(terms, isHigh)) {
      carried.warn(
          op.getLoc(),
          "a mass without orders 0 and 1 has few digits as a recurrence in rows whose scores are all near "
          "0, where its features cancel: add an order 0, or to the mass a number of its usual size");
      return;
    }
  }
}

LogicalResult PairCarrier::carrySums(PairwiseOp op, ArrayRef<int64_t> wanted, ArrayRef<bool> counted,
                                     llvm::MapVector<int64_t, Value> &whole) {
  // Places are arrays by now.
  SeparableSums sums(op, /*acrossChunks=*/false);
  if (failed(sums.run(wanted)))
    return refusePairs(sums.at, sums.reason);
  StateRewrite rows(op, sums, PairOutput::Rows, block, builder);
  if (failed(rows.plan(/*contracts=*/false)))
    return refusePairs(op.getLoc(), rows.reason);
  if (rows.hasStates() && sums.columnExponent)
    rows.setDecay(decays.carry(op, sums));
  else if (rows.hasStates() && sums.documents)
    rows.setDecay(decays.carryDocuments());
  SmallVector<Value> initial;
  for (ArrayType type : rows.stateTypes())
    initial.push_back(carried.addInitial("state", type));
  SmallVector<Value> states;
  if (carried.mode == CarryMode::Recurrent) {
    warnSmallMass(op, sums);
    for (auto [index, isCount] : llvm::enumerate(counted))
      if (!isCount)
        whole[index] = {};
    states = rows.buildSteps(whole, initial);
  } else {
    states = rows.buildCarried(whole, initial);
  }
  for (auto [before, behind] : llvm::zip(initial, states))
    carried.setFinal(before, behind);
  return success();
}
