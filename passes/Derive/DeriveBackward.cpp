// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/ArrayBuilder.h"
#include "passes/Debug.h"
#include "passes/Passes.h"
#include "passes/Specification/Rewrites.h"

#include "mlir/IR/IRMapping.h"

#define DEBUG_TYPE "taylor-derive-backward"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_DERIVEBACKWARDPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

bool isReal(Value value) {
  auto array = dyn_cast<ArrayType>(value.getType());
  return array && isa<FloatType>(array.getElementType());
}

/// Cotangents of a graph of array operations, from its end to its start.
class Backward {
public:
  explicit Backward(OpBuilder &builder) : builder(builder) {}

  void add(Value value, Value cotangent) {
    if (!cotangent || !isReal(value))
      return;
    Value &sum = cotangents[value];
    sum = sum ? addUp(sum, cotangent) : cotangent;
  }
  Value lookup(Value value) const { return cotangents.lookup(value); }

  /// Passes the cotangents of an operation's results on to its operands.
  LogicalResult visit(Operation &op) {
    SmallVector<Value> results =
        llvm::map_to_vector(op.getResults(), [&](Value result) { return lookup(result); });
    if (llvm::none_of(results, [](Value cotangent) { return cotangent != nullptr; }))
      return success();
    auto rule = dyn_cast<DifferentiableOpInterface>(op);
    if (!rule)
      return op.emitError() << "requires a derivative of '" << op.getName() << "': lower it first "
                            << "(--taylor-expand-normalize, --taylor-recurrences-to-pairwise)";
    SmallVector<Value> operands;
    if (failed(rule.buildVectorJacobianProduct(builder, results, operands)))
      return failure();
    for (auto [operand, cotangent] : llvm::zip_equal(op.getOperands(), operands))
      add(operand, cotangent);
    return success();
  }

private:
  /// Where both terms are 0 on dead rows, so is their sum, and its guard says so.
  Value addUp(Value a, Value b) {
    Value sum = buildSum(builder, b.getLoc(), a, b);
    SmallVector<Value> live;
    for (Value count : guardsOf(a))
      if (llvm::is_contained(guardsOf(b), count))
        live.push_back(count);
    sum.getDefiningOp<MapOp>().getLiveMutable().assign(live);
    return sum;
  }
  static OperandRange guardsOf(Value value) {
    if (auto map = value.getDefiningOp<MapOp>())
      return map.getLive();
    if (auto reduce = value.getDefiningOp<ReduceOp>();
        reduce && reduce.getResult().getType().has(AxisRole::Query))
      return reduce.getLive();
    return OperandRange(nullptr, 0);
  }

  OpBuilder &builder;
  DenseMap<Value, Value> cotangents;
};

/// An array of zeros: the gradient of an input that no result depends on.
Value buildZeros(OpBuilder &builder, Location loc, ArrayType type) {
  return buildMap(
      builder, loc, {}, {},
      [&](OpBuilder &b, Location loc, ValueRange) { return buildNumber(b, loc, type.getScalarType(), 0.0); },
      type);
}

LogicalResult deriveFunction(SpecOp spec, bool forwardOnly) {
  orderAxes(spec);
  OpBuilder builder(spec);
  Location loc = spec.getLoc();
  Block &body = spec.getBody().front();
  auto specYield = cast<YieldOp>(body.getTerminator());
  ArrayAttr outputNames = *specYield.getNames();

  SmallVector<Attribute> argumentNames;
  auto role = [&](StringRef kind, Attribute name) -> Attribute {
    return builder.getStringAttr(kind + ":" + cast<StringAttr>(name).getValue());
  };
  for (Attribute name : spec.getArgNames())
    argumentNames.push_back(role("input", name));
  for (auto [name, value] : llvm::zip_equal(outputNames, specYield.getValues()))
    if (isReal(value) && !forwardOnly)
      argumentNames.push_back(role("cotangent", name));

  auto function =
      FunctionOp::create(builder, loc, FunctionOp::nameOf(spec.getSymName(), FunctionRole::Joint),
                         spec.getStepOf().value_or(spec.getSymName()), builder.getArrayAttr(argumentNames),
                         spec.getSourcesAttr(), spec.getParameters(), /*plan=*/{}, spec.getFormAttr(),
                         spec.getCarriesAttr(), spec.getPreparesKeys());
  function->setDiscardableAttrs(spec->getDiscardableAttrDictionary());
  Block *block = addBlock(function.getBody(), body.getArgumentTypes(), loc);
  IRMapping values;
  builder.setInsertionPointToStart(block);
  values.map(body.getArguments(), block->getArguments());
  for (Operation &op : body.without_terminator())
    builder.clone(op, values);

  SmallVector<Operation *> forward = llvm::map_to_vector(*block, [](Operation &op) { return &op; });
  Backward backward(builder);
  SmallVector<Value> yielded;
  SmallVector<Attribute> yieldedNames;
  for (auto [name, value] : llvm::zip_equal(outputNames, specYield.getValues())) {
    yielded.push_back(values.lookupOrDefault(value));
    yieldedNames.push_back(role("output", name));
    if (isReal(value) && !forwardOnly)
      backward.add(yielded.back(), block->addArgument(value.getType(), loc));
  }
  for (Operation *op : llvm::reverse(forward))
    if (failed(backward.visit(*op)))
      return failure();

  for (auto [name, argument] : llvm::zip(spec.getArgNames(), block->getArguments())) {
    if (!isReal(argument) || forwardOnly)
      continue;
    ArrayType type = arrayTypeOf(argument);
    Value gradient = backward.lookup(argument);
    LDBG() << name << (gradient ? ": gradient of " : ": no result depends on it, zeros of ") << type;
    yielded.push_back(gradient ? buildConversion(builder, loc, buildInOrder(builder, loc, gradient, type),
                                                 type.getElementType())
                               : buildZeros(builder, loc, type));
    yieldedNames.push_back(role("gradient", name));
  }
  YieldOp::create(builder, loc, yielded, builder.getArrayAttr(yieldedNames));
  spec.erase();
  return success();
}

class DeriveBackward : public ::taylor::impl::DeriveBackwardPassBase<DeriveBackward> {
public:
  using DeriveBackwardPassBase::DeriveBackwardPassBase;

private:
  void runOnOperation() override;
};

} // namespace

void DeriveBackward::runOnOperation() {
  for (SpecOp spec : llvm::make_early_inc_range(getOperation().getOps<SpecOp>())) {
    // What decodes has no gradients.
    bool isStep = spec.getStepOf().has_value();
    if (failed(deriveFunction(spec, forwardOnly || isStep)))
      return signalPassFailure();
    numDerived += !forwardOnly && !isStep;
  }
}
