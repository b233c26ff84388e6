// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sequence in pieces: what the sums of one piece leave behind is what the next begins from. Passes.td has
// the rule.
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "passes/Passes.h"
#include "passes/SeparableSums.h"
#include "passes/StateRewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_CARRYSTATESPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// A place among the tokens, or how many there are.
bool isPlace(Operation *scalar) {
  StringRef axis;
  if (auto index = dyn_cast<IndexOp>(scalar))
    axis = index.getAxis();
  else if (auto size = dyn_cast<SizeOp>(scalar))
    axis = size.getAxis();
  return axis == "t" || axis == "u";
}

bool readsPlace(Region &region) {
  return region
      .walk(
          [](Operation *scalar) { return isPlace(scalar) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// Adds states to one specification, whose sums over keys are `taylor.pairwise`.
class StateCarrier {
public:
  StateCarrier(SpecOp spec, int64_t block, bool recurrent)
      : spec(spec), block(block), recurrent(recurrent), builder(spec.getContext()), loc(spec.getLoc()) {}

  LogicalResult run() {
    if (failed(check()))
      return failure();
    SmallVector<PairwiseOp> operations(spec.getBody().front().getOps<PairwiseOp>());
    for (PairwiseOp op : operations)
      if (failed(carry(op)))
        return failure();
    return failed(carryRotations()) || failed(carryPosition()) ? failure() : finish();
  }

private:
  LogicalResult refuse(Location at, const Twine &why) {
    return emitError(at, recurrent ? "unsupported recurrent form: " : "unsupported --states: ")
           << why
           << "; states carry causal sums of finitely many powers of one inner product, with factors of the "
           << "query and of the key";
  }

  /// What reads its place among the tokens, or earlier tokens, beside the sums.
  LogicalResult check() {
    for (Operation &op : spec.getBody().front()) {
      if (isa<ScanOp, ConvolveOp>(op))
        return refuse(op.getLoc(),
                      "'" + Twine(op.getName().getStringRef()) + "' depends on the piece before");
      auto pairs = dyn_cast<PairwiseOp>(op);
      if (pairs && (readsPlace(pairs.getWeight()) || readsPlace(pairs.getMaximum())))
        return refuse(op.getLoc(), "its weights read positions");
    }
    return success();
  }

  /// Adds an argument that the caller brings, and whose gradient there is.
  Value addInput(StringRef name, ArrayType type) {
    MLIRContext *context = spec.getContext();
    SmallVector<Attribute> names(spec.getArgNames().begin(), spec.getArgNames().end());
    SmallVector<Attribute> sources(spec.getSources().begin(), spec.getSources().end());
    names.push_back(builder.getStringAttr("initial." + name));
    sources.push_back(
        SourceAttr::get(context, SourceKind::Input, false, Initial::Zeros, FloatAttr(), FloatAttr()));
    spec.setArgNamesAttr(builder.getArrayAttr(names));
    spec.setSourcesAttr(builder.getArrayAttr(sources));
    return spec.getBody().front().addArgument(type, loc);
  }

  LogicalResult carry(PairwiseOp op);
  /// The operation's results in `whole`, with what `initial` holds; and the states behind the last token.
  FailureOr<SmallVector<Value>> buildStates(StateRewrite &rows, PairwiseOp op,
                                            llvm::MapVector<int64_t, Value> &whole, ArrayRef<Value> initial);
  LogicalResult carryRotations();
  LogicalResult carryPosition();
  LogicalResult finish();

  /// Keys of the pieces before, [b].
  Value getPosition() {
    if (!position)
      position = addInput("position", joinAxes({}, real(), {"b"}));
    return position;
  }
  Type real() { return realTypeOf(spec.getContext(), spec.getBody().front().getArgumentTypes()); }

  SpecOp spec;
  int64_t block;
  bool recurrent;
  OpBuilder builder;
  Location loc;
  Value position;
  /// Operations that count from the first token of all already.
  llvm::SmallDenseSet<Operation *> moved;
  /// Rows of all states; 0: none yet.
  int64_t features = 0;
  SmallVector<std::pair<std::string, Value>> finals;
};

FailureOr<SmallVector<Value>> StateCarrier::buildStates(StateRewrite &rows, PairwiseOp op,
                                                        llvm::MapVector<int64_t, Value> &whole,
                                                        ArrayRef<Value> initial) {
  if (!recurrent)
    return rows.buildCarried(whole, initial);
  for (auto [index, sum] : llvm::enumerate(op.getSums().getAsRange<PairSumAttr>()))
    if (!isCount(op, sum))
      whole[index] = {};
  return rows.buildSteps(whole, initial);
}

LogicalResult StateCarrier::carry(PairwiseOp op) {
  Operation *yield = op.getWeight().front().getTerminator();
  SmallVector<int64_t> wanted;
  SmallVector<bool> counted;
  for (PairSumAttr sum : op.getSums().getAsRange<PairSumAttr>()) {
    counted.push_back(isCount(op, sum));
    if (!counted.back())
      wanted.push_back(sum.getYielded());
  }
  SeparableSums sums(op);
  if (failed(wanted.empty() ? sums.readMask() : sums.run(wanted)))
    return refuse(sums.at, sums.reason);
  if (!sums.causal)
    return refuse(op.getLoc(), "queries see keys of later pieces");
  if (sums.rowExponent)
    return refuse(op.getLoc(), "its weights decay");
  builder.setInsertionPointAfter(op);
  llvm::MapVector<int64_t, Value> whole;
  for (auto [index, result] : llvm::enumerate(op.getResults()))
    whole[index] = result;
  SmallVector<Operation *> before;
  for (Operation *user : op->getUsers())
    before.push_back(user);
  if (!wanted.empty()) {
    StateRewrite rows(op, sums, PairOutput::Rows, block, builder);
    if (failed(rows.plan()))
      return refuse(op.getLoc(), rows.reason);
    SmallVector<Value> initial;
    for (ArrayType type : rows.stateTypes()) {
      if (features && features != type.sizeOf("f"))
        return refuse(op.getLoc(),
                      "its states have " + Twine(type.sizeOf("f")) + " features, others " + Twine(features));
      features = type.sizeOf("f");
      initial.push_back(addInput("state" + std::to_string(finals.size() + initial.size()), type));
    }
    size_t first = finals.size();
    FailureOr<SmallVector<Value>> states = buildStates(rows, op, whole, initial);
    if (failed(states))
      return refuse(op.getLoc(), rows.reason);
    for (auto [index, sum] : llvm::enumerate(*states))
      finals.emplace_back("state" + std::to_string(first + index), sum);
  }
  for (auto [index, isCount] : llvm::enumerate(counted))
    if (isCount) {
      Value count = op.getResult(index);
      FloatAttr weight;
      matchPattern(yield->getOperand(op.getSum(index).getYielded()), m_Constant(&weight));
      whole[index] = buildMap(builder, loc, {count, getPosition()}, {},
                              [&](OpBuilder &b, Location where, ValueRange x) -> Value {
                                Value each = buildNumber(b, where, real(), weight.getValueAsDouble());
                                Value keys = arith::MulFOp::create(b, where, x[1], each);
                                return arith::AddFOp::create(b, where, x[0], keys);
                              });
    }
  for (auto [index, result] : llvm::enumerate(op.getResults()))
    if (whole[index] != result)
      result.replaceUsesWithIf(whole[index],
                               [&](OpOperand &use) { return llvm::is_contained(before, use.getOwner()); });
  return success();
}

/// The formula of a map in which places and sizes are those of the whole sequence, an array of each batch's
/// own.
static void addPosition(OpBuilder &builder, MapOp op, Value position) {
  builder.setInsertionPoint(op);
  SmallVector<Value> arrays(op.getArrays());
  arrays.push_back(position);
  ArrayType type = op.getResult().getType();
  SmallVector<StringAttr> axes{builder.getStringAttr("b")};
  SmallVector<int64_t> sizes{ArrayType::kUnknown};
  if (!type.has("b")) {
    llvm::append_range(axes, type.getAxes());
    llvm::append_range(sizes, type.getSizes());
    type = ArrayType::get(builder.getContext(), axes, sizes, type.getElementType());
  }
  Value moved = buildMap(
      builder, op.getLoc(), arrays, op.getLive(),
      [&](OpBuilder &b, Location where, ValueRange x) -> Value {
        IRMapping values;
        values.map(op.getBody().getArguments(), x.drop_back());
        op.getBody().walk([&](Operation *scalar) {
          if (!isPlace(scalar))
            return;
          Value place = b.clone(*scalar)->getResult(0);
          values.map(scalar->getResult(0), arith::AddFOp::create(b, where, place, x.back()).getResult());
        });
        return cloneScalar(b, op.getBody().front().getTerminator()->getOperand(0), values);
      },
      type);
  op.getResult().replaceAllUsesWith(moved);
  op.erase();
}

/// Rotations go on at the tokens' places in the whole sequence.
LogicalResult StateCarrier::carryRotations() {
  llvm::StringMap<Value> places;
  for (RopeOp rope : llvm::make_early_inc_range(spec.getBody().front().getOps<RopeOp>())) {
    if (rope.getPositions())
      continue;
    if (!arrayTypeOf(rope.getArray()).has("b"))
      return refuse(rope.getLoc(), "'taylor.rope' rotates an array without batches, each of which has a "
                                   "position of its own");
    StringRef token = rope.getToken();
    Value &place = places[token];
    if (!place) {
      builder.setInsertionPoint(rope);
      place = buildMap(
          builder, loc, getPosition(), {},
          [&](OpBuilder &b, Location where, ValueRange x) -> Value {
            Value index = IndexOp::create(b, where, real(), builder.getStringAttr(token));
            return arith::AddFOp::create(b, where, index, x[0]);
          },
          joinAxes({}, real(), {"b", token}));
    }
    rope.getPositionsMutable().assign(place);
    moved.insert(place.getDefiningOp());
  }
  return success();
}

LogicalResult StateCarrier::carryPosition() {
  auto gains = [](Operation *op) {
    return llvm::any_of(op->getOperands(), [](Value x) { return arrayTypeOf(x).has("b"); }) &&
           llvm::any_of(op->getResults(), [](Value y) { return !arrayTypeOf(y).has("b"); });
  };
  for (Operation &op : llvm::make_early_inc_range(spec.getBody().front().without_terminator())) {
    if (isa<PairwiseOp>(op) || moved.contains(&op) ||
        (llvm::none_of(op.getRegions(), readsPlace) && !(isa<MapOp>(op) && gains(&op))))
      continue;
    auto map = dyn_cast<MapOp>(op);
    if (!map)
      return refuse(op.getLoc(), "'" + Twine(op.getName().getStringRef()) + "' reads positions");
    addPosition(builder, map, getPosition());
  }
  return success();
}

LogicalResult StateCarrier::finish() {
  Operation *yield = spec.getBody().front().getTerminator();
  builder.setInsertionPoint(yield);
  if (position) {
    Value next =
        buildMap(builder, loc, position, {}, [&](OpBuilder &b, Location where, ValueRange x) -> Value {
          Value keys = SizeOp::create(b, where, real(), builder.getStringAttr("u"));
          return arith::AddFOp::create(b, where, x[0], keys);
        });
    finals.emplace_back("position", next);
  }
  if (finals.empty())
    return refuse(loc, "it has no sums over keys");
  SmallVector<Value> values(cast<YieldOp>(yield).getValues());
  SmallVector<Attribute> names(cast<YieldOp>(yield).getNames()->begin(),
                               cast<YieldOp>(yield).getNames()->end());
  for (auto &[name, value] : finals) {
    values.push_back(value);
    names.push_back(builder.getStringAttr("final." + name));
  }
  YieldOp::create(builder, yield->getLoc(), values, builder.getArrayAttr(names));
  yield->erase();
  return success();
}

struct CarryStates : taylor::impl::CarryStatesPassBase<CarryStates> {
  using CarryStatesPassBase::CarryStatesPassBase;

  void runOnOperation() override {
    for (SpecOp spec : getOperation().getOps<SpecOp>())
      if (failed(StateCarrier(spec, featureBlock, recurrent).run()))
        return signalPassFailure();
  }
};

} // namespace
