// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/States/DecayCarrier.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace taylor;

/// What `taylor.step_states` is to keep where a document begins. Between two tokens of one document it keeps
/// 0 to 1.
static constexpr double kOtherDocument = -1;

/// Before the first token the edge is above all c, so that nothing of the empty states is read or kept.
Value DecayCarrier::buildFirstEdge(Location at, Value initial) {
  return buildMap(
      builder, at, {initial, places.getPosition()}, {}, [](OpBuilder &b, Location at, ValueRange x) -> Value {
        Type real = x[0].getType();
        Value none =
            arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ, x[1], buildNumber(b, at, real, 0.0));
        Value above = buildNumber(b, at, real, std::numeric_limits<float>::max());
        Value edge = StopGradientOp::create(b, at, x[0]);
        return arith::SelectOp::create(b, at, none, above, edge);
      });
}

/// The edge is the least c so far; in a document that began in this call, the least of that document. A
/// constant for the derivative.
Value DecayCarrier::buildEdges(Location at, Value column, Value first, Value within, bool exclusive) {
  Value largest =
      buildRunningMaximum(builder, column, AxisRole::Key, within, exclusive,
                          [](OpBuilder &b, Location at, ValueRange x) -> Value {
                            return StopGradientOp::create(b, at, arith::NegFOp::create(b, at, x[0]));
                          });
  SmallVector<Value> arrays{first, largest};
  if (within)
    arrays.append({places.getPosition(), documents.getStarts(AxisRole::Key)});
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

Value DecayCarrier::buildDecay(Location at, Value x, Value y, const CarriedDocuments::Where &where) {
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
    if (scalar == array)
      for (BlockArgument argument : op.getScalarArguments(number))
        // Reading the weights as sums leaves scalars that no one reads.
        uses += llvm::count_if(argument.getUsers(), [](Operation *user) { return !isOpTriviallyDead(user); });
  return uses == 1;
}

bool DecayCarrier::isOwnSum(PairwiseOp op, Value row, Value column) {
  auto align = row.getDefiningOp<AlignOp>();
  return runningSums.contains(column) && align && align.getArray() == column && align->hasOneUse() &&
         isReadOnce(op, row) && isReadOnce(op, column) &&
         llvm::all_of(column.getUsers(), [&](Operation *user) { return user == op || user == align; });
}

void DecayCarrier::shortenSum(Location at, Value column, Value edge, Value last) {
  // A call without tokens hands on what it got.
  Value sum = runningSums.lookup(column);
  carried.setFinal(sum, places.buildAtLast(
                            {column, last}, AxisRole::Key, sum,
                            [](OpBuilder &b, Location at, ValueRange x) -> Value {
                              return arith::SubFOp::create(b, at, x[0], StopGradientOp::create(b, at, x[1]));
                            },
                            [](OpBuilder &, Location, ValueRange x) { return x[0]; }));
  carried.setFinal(edge, buildMap(builder, at, edge, {}, [&](OpBuilder &b, Location at, ValueRange x) {
                     Value given = StopGradientOp::create(b, at, x[0]);
                     return places.buildOrElse(b, at, AxisRole::Key, given,
                                               buildNumber(b, at, carried.real(), 0.0));
                   }));
}

/// States hold keys with the weight exp(E - c[u]). The edge E is the least c so far, so that no factor is
/// above 1 where a and c fall.
CarriedDecay DecayCarrier::carry(PairwiseOp op, const SeparableSums &sums) {
  Location at = op.getLoc();
  Value column = buildFactor(builder, op, sums.columnExponent, {});
  Value row = buildFactor(builder, op, sums.rowExponent, {});
  bool isOwn = isOwnSum(op, row, column);
  Value initial = carried.addInitial(
      "edge", withBatch(arrayTypeOf(column).without({AxisRole::Key})).clone(carried.real()));
  Value first = buildFirstEdge(at, initial);
  Value edge = buildEdges(at, column, first, sums.documents, /*exclusive=*/false);
  Value last = places.buildAtLast(edge, AxisRole::Key, first);
  carried.setFinal(initial, last);
  if (isOwn)
    shortenSum(at, column, initial, last);
  CarriedDecay decay;
  if (carried.mode == CarryMode::Recurrent) { // from token to token
    Value atQuery = AlignOp::create(builder, at, arrayTypeOf(edge).renamed(AxisRole::Key, AxisRole::Query),
                                    edge, axisAttr(builder, AxisRole::Query));
    decay.row = buildDecay(at, row, atQuery, {});
    decay.column = buildDecay(at, edge, column, {});
    Value before = buildEdges(at, column, first, sums.documents, /*exclusive=*/true);
    decay.keep = buildDecay(at, edge, before, {});
    if (sums.documents)
      decay.keep = documents.keepWhere(documents.goesOnAtKey(), decay.keep, kOtherDocument);
    return decay;
  }
  if (!sums.documents) {
    decay.row = buildDecay(at, row, first, {});
    decay.column = buildDecay(at, last, column, {});
    decay.keep = buildDecay(at, last, first, {});
    return decay;
  }
  decay = carryDocuments();
  decay.row = buildDecay(at, row, first, documents.goesOn(documents.getStarts(AxisRole::Query)));
  decay.column = buildDecay(at, last, column, documents.isLast(documents.getStarts(AxisRole::Key)));
  decay.keep = buildDecay(at, last, first, documents.goesOn(documents.getLastStart()));
  return decay;
}

/// Without a decay, a document keeps all or nothing.
CarriedDecay DecayCarrier::carryDocuments() {
  CarriedDecay decay;
  if (carried.mode == CarryMode::Recurrent) {
    decay.keep = documents.keepWhere(documents.goesOnAtKey(), {}, kOtherDocument);
    return decay;
  }
  decay.row = decay.ownRow = documents.keepWhere(documents.goesOn(documents.getStarts(AxisRole::Query)));
  decay.column = decay.ownColumn = documents.keepWhere(documents.isLast(documents.getStarts(AxisRole::Key)));
  decay.keep = decay.ownKeep = documents.keepWhere(documents.goesOn(documents.getLastStart()));
  return decay;
}
