// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sequence in pieces: what one piece leaves behind is what the next begins from. Passes.td has the rule.
#include "dialect/Refusal.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/Carried.h"
#include "passes/Debug.h"
#include "passes/Passes.h"
#include "passes/Specification/Rewrites.h"
#include "passes/States/StateCarrier.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#define DEBUG_TYPE "taylor-carry-states"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_CARRYSTATESPASS
#include "passes/Passes.h.inc"
} // namespace taylor

StateCarrier::StateCarrier(SpecOp spec, int64_t block, CarryMode mode)
    : spec(spec), block(block), mode(mode), builder(spec.getContext()), loc(spec.getLoc()) {}

Type StateCarrier::real() { return realTypeOf(spec.getContext(), body().getArgumentTypes()); }

LogicalResult StateCarrier::refuse(Location at, const Twine &why, StringRef wayOut) {
  StringRef what = mode == CarryMode::Recurrent ? "unsupported recurrent form: "
                   : isOverKeys()               ? "unsupported --decode over all keys: "
                                                : "unsupported --states: ";
  InFlightDiagnostic error = taylor::refuse(emitError(at)) << what << why << "; " << wayOut;
  if (mode == CarryMode::Recurrent)
    error << "; --decode=cache keeps keys and values instead";
  return error;
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

Value StateCarrier::addInitial(StringRef kind, ArrayType type, bool numbered) {
  MLIRContext *context = spec.getContext();
  std::string name = kind.str();
  if (numbered)
    name += std::to_string(kinds[kind]++);
  SmallVector<Attribute> names(spec.getArgNames().begin(), spec.getArgNames().end());
  SmallVector<Attribute> sources(spec.getSources().begin(), spec.getSources().end());
  names.push_back(builder.getStringAttr("initial." + name));
  sources.push_back(
      SourceAttr::get(context, SourceKind::Input, false, Initial::Zeros, FloatAttr(), FloatAttr()));
  spec.setArgNamesAttr(builder.getArrayAttr(names));
  spec.setSourcesAttr(builder.getArrayAttr(sources));
  Value argument = body().addArgument(type, loc);
  carried.push_back({name, argument, {}});
  return argument;
}

void StateCarrier::setFinal(Value initial, Value final) {
  llvm::find_if(carried, [&](const Carried &one) { return one.initial == initial; })->final = final;
}

LogicalResult StateCarrier::finish() {
  Operation *yield = body().getTerminator();
  builder.setInsertionPoint(yield);
  if (position && mode != CarryMode::Queries) {
    Operation *placeholder = position.getDefiningOp();
    Value given = addInitial("position", arrayTypeOf(position), /*numbered=*/false);
    position.replaceAllUsesWith(given);
    placeholder->erase();
    setFinal(given,
             buildMap(builder, loc, given, {}, [&](OpBuilder &b, Location where, ValueRange x) -> Value {
               Value keys = SizeOp::create(b, where, real(), axisAttr(builder, AxisRole::Key));
               return arith::AddFOp::create(b, where, x[0], keys);
             }));
  }
  if (carried.empty() && isOverKeys())
    return success();
  if (carried.empty())
    return refuse(loc, "nothing in it depends on tokens before", "compile without");
  SmallVector<Value> values(cast<YieldOp>(yield).getValues());
  SmallVector<Attribute> names(cast<YieldOp>(yield).getNames()->begin(),
                               cast<YieldOp>(yield).getNames()->end());
  for (const Carried &one : carried) {
    LDBG() << one.name << ": " << one.initial.getType();
    values.push_back(one.final);
    names.push_back(builder.getStringAttr("final." + one.name));
  }
  YieldOp::create(builder, yield->getLoc(), values, builder.getArrayAttr(names));
  yield->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Value StateCarrier::getPosition() {
  if (position)
    return position;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&body());
  return position = buildMap(
             builder, loc, {}, {},
             [&](OpBuilder &b, Location where, ValueRange) -> Value {
               Value keys = SizeOp::create(b, where, real(), axisAttr(builder, AxisRole::Key));
               Value queries = SizeOp::create(b, where, real(), axisAttr(builder, AxisRole::Query));
               return arith::SubFOp::create(b, where, keys, queries);
             },
             joinAxes({}, real(), {AxisRole::Batch}));
}

Value StateCarrier::getPlaces(AxisRef token) {
  Value &known = places[token];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  Value before = getPosition();
  builder.setInsertionPointAfterValue(before);
  return known = buildMap(
             builder, loc, before, {},
             [&](OpBuilder &b, Location where, ValueRange x) -> Value {
               Value index = IndexOp::create(b, where, real(), builder.getStringAttr(token));
               return arith::AddFOp::create(b, where, index, x[0]);
             },
             joinAxes({}, real(), {AxisRole::Batch, token}));
}

/// Queries are the last of the call's tokens.
Value StateCarrier::buildLocalIndex(OpBuilder &b, Location where, AxisRef token) {
  Value index = IndexOp::create(b, where, real(), builder.getStringAttr(token));
  if (token == AxisRole::Key)
    return index;
  Value keys = SizeOp::create(b, where, real(), axisAttr(builder, AxisRole::Key));
  Value queries = SizeOp::create(b, where, real(), axisAttr(builder, AxisRole::Query));
  return arith::SubFOp::create(b, where, index, arith::SubFOp::create(b, where, keys, queries));
}

/// A place among the tokens, or how many there are.
static bool isPlace(Operation *scalar) {
  if (auto index = dyn_cast<IndexOp>(scalar))
    return index.getAxis() == AxisRole::Query || index.getAxis() == AxisRole::Key;
  auto size = dyn_cast<SizeOp>(scalar);
  return size && (size.getAxis() == AxisRole::Query || size.getAxis() == AxisRole::Key);
}

/// How many tokens there are bounds a count of those before. Anything else that reads it changes with each
/// piece.
LogicalResult StateCarrier::checkSize(SizeOp size) {
  if (llvm::all_of(size->getUsers(), llvm::IsaPred<arith::MinimumFOp>))
    return success();
  return refuse(size.getLoc(),
                "size(" + size.getAxis() + ") is known where the sequence ends, not in its pieces",
                "take the length from an input or a parameter");
}

LogicalResult StateCarrier::movePlaces(Region &formula, MutableOperandRange arrays) {
  SmallVector<Operation *> found;
  formula.walk([&](Operation *scalar) {
    if (isPlace(scalar))
      found.push_back(scalar);
  });
  if (found.empty())
    return success();
  for (Operation *scalar : found)
    if (auto size = dyn_cast<SizeOp>(scalar); size && failed(checkSize(size)))
      return failure();
  arrays.append(getPosition());
  Value before = formula.front().addArgument(real(), loc);
  for (Operation *scalar : found) {
    OpBuilder inner(scalar->getContext());
    inner.setInsertionPointAfter(scalar);
    Value place = scalar->getResult(0);
    Value moved = arith::AddFOp::create(inner, scalar->getLoc(), place, before);
    place.replaceAllUsesExcept(moved, moved.getDefiningOp());
  }
  return success();
}

/// What depends on the calls before is each batch's own.
void StateCarrier::widen(Operation *op) {
  auto has = [](Value array) {
    return isa<ArrayType>(array.getType()) && arrayTypeOf(array).has(AxisRole::Batch);
  };
  if (llvm::none_of(op->getOperands(), has))
    return;
  for (Value result : op->getResults())
    result.setType(withBatch(arrayTypeOf(result)));
}

/// Rotations go on at the tokens' places in the whole sequence.
void StateCarrier::carryPlaces(ArrayOpInterface op) {
  std::optional<MutableOperandRange> given = op.getPlaces();
  if (!given || !given->empty())
    return;
  given->assign(getPlaces(op.getToken()));
  Value array = op->getOperand(0);
  if (arrayTypeOf(array).has(AxisRole::Batch))
    return;
  builder.setInsertionPoint(op);
  ArrayType type = arrayTypeOf(array);
  op->setOperand(0, buildMap(
                        builder, loc, array, {}, [](OpBuilder &, Location, ValueRange x) { return x[0]; },
                        withBatch(type.clone(type.getScalarType()))));
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

/// Ahead of all else: a bidirectional sum has a count of all keys, whose size would be refused in its place.
LogicalResult StateCarrier::checkCausal(Operation *op) {
  auto pairs = dyn_cast<PairwiseOp>(op);
  if (!pairs)
    return success();
  SeparableSums sums(pairs);
  return succeeded(sums.readMask()) && !sums.causal ? refuseLaterPieces(pairs) : success();
}

static bool readsEarlier(Reach reach) {
  return reach == Reach::Window || reach == Reach::Before || reach == Reach::After;
}

LogicalResult StateCarrier::carry(Operation *op) {
  if (mode == CarryMode::Queries) {
    bool ofQueries = llvm::any_of(op->getResultTypes(), [](Type type) {
      return isa<ArrayType>(type) && cast<ArrayType>(type).has(AxisRole::Query);
    });
    auto array = dyn_cast<ArrayOpInterface>(op);
    if (ofQueries && array && readsEarlier(array.getReach()))
      return carryTokens(array);
    if (array && array.getReach() == Reach::Aligned && !ofQueries)
      return refuse(op->getLoc(),
                    "'" + op->getName().getStringRef() +
                        "' to u reads queries of earlier calls, and keys alone are kept",
                    "take what it reads from an input over u, or keep states");
    // All keys are there, but of the queries the last ones.
    WalkResult sizes = op->walk([&](SizeOp size) -> WalkResult {
      return size.getAxis() == AxisRole::Query ? checkSize(size) : success();
    });
    return failure(sizes.wasInterrupted());
  }
  if (auto formula = dyn_cast<FormulaOpInterface>(op);
      formula && failed(movePlaces(formula.getBody(), formula.getArraysMutable())))
    return failure();
  auto array = dyn_cast<ArrayOpInterface>(op);
  if (array)
    carryPlaces(array);
  widen(op);
  if (array && readsEarlier(array.getReach()))
    return carryTokens(array);
  if (auto pairs = dyn_cast<PairwiseOp>(op))
    return carryPairs(pairs);
  return success();
}

LogicalResult StateCarrier::run() {
  SmallVector<Operation *> operations =
      llvm::map_to_vector(body().without_terminator(), [](Operation &op) { return &op; });
  builder.setInsertionPointToStart(&body());
  partDocuments();
  if (mode != CarryMode::Queries)
    for (Operation *op : operations)
      if (failed(checkCausal(op)))
        return failure();
  for (Operation *op : operations) {
    if (failed(carry(op)))
      return failure();
    if (mode == CarryMode::Queries)
      widen(op);
  }
  return finish();
}

namespace {

struct CarryStates : taylor::impl::CarryStatesPassBase<CarryStates> {
  using CarryStatesPassBase::CarryStatesPassBase;

  void runOnOperation() override {
    for (SpecOp spec : getOperation().getOps<SpecOp>()) {
      CarryMode mode = queriesOnly ? spec.getPreparesKeys() ? CarryMode::Keys : CarryMode::Queries
                       : recurrent ? CarryMode::Recurrent
                                   : CarryMode::Pieces;
      orderAxes(spec);
      StateCarrier carrier(spec, featureBlock, mode);
      if (failed(carrier.run()))
        return signalPassFailure();
      numCarried += carrier.getNumCarried();
    }
  }
};

} // namespace
