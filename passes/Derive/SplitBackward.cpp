// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Refusal.h"
#include "dialect/Sources.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/Carried.h"
#include "passes/Debug.h"
#include "passes/Derive/FunctionGraph.h"
#include "passes/Derive/MinimumCut.h"
#include "passes/Passes.h"

#include "mlir/IR/IRMapping.h"

#define DEBUG_TYPE "taylor-split-backward"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_SPLITBACKWARDPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

StringRef roleOf(Attribute name) { return cast<StringAttr>(name).getValue().split(':').first; }

/// An argument or a result of a function.
struct NamedValue {
  StringAttr name;
  Value value;
};

SmallVector<Value> valuesOf(ArrayRef<NamedValue> tensors) {
  return llvm::map_to_vector(tensors, [](const NamedValue &tensor) { return tensor.value; });
}

class Splitter {
public:
  explicit Splitter(FunctionOp joint)
      : joint(joint), builder(joint), graph(joint), block(joint.getBody().front()),
        yield(cast<YieldOp>(block.getTerminator())) {}
  LogicalResult run();
  size_t getNumSaved() const { return saved.size(); }

private:
  void chooseSaved();
  std::string nameOfSaved(Value value);
  /// A function with the operations that `results` need, up to `arguments`; of those only the ones that are
  /// read. Fails where results need another argument.
  LogicalResult build(FunctionRole role, ArrayRef<NamedValue> arguments, ArrayRef<NamedValue> results,
                      bool keepAllArguments);
  SmallVector<NamedValue> argumentsOf(StringRef role);
  SmallVector<NamedValue> resultsOf(StringRef role);
  /// The outputs that every backward gets.
  SmallVector<NamedValue> outputsToRead();

  FunctionOp joint;
  OpBuilder builder;
  FunctionGraph graph;
  Block &block;
  YieldOp yield;
  SmallVector<NamedValue> saved;
  llvm::StringMap<unsigned> names;
};

SmallVector<NamedValue> Splitter::argumentsOf(StringRef role) {
  SmallVector<NamedValue> tensors;
  for (auto [name, argument] : llvm::zip_equal(joint.getArgNames(), block.getArguments()))
    if (roleOf(name) == role)
      tensors.push_back({cast<StringAttr>(name), argument});
  return tensors;
}

SmallVector<NamedValue> Splitter::resultsOf(StringRef role) {
  SmallVector<NamedValue> tensors;
  for (auto [name, value] : llvm::zip_equal(*yield.getNames(), yield.getValues()))
    if (roleOf(name) == role)
      tensors.push_back({cast<StringAttr>(name), value});
  return tensors;
}

SmallVector<NamedValue> Splitter::outputsToRead() {
  SmallVector<NamedValue> outputs = resultsOf("output");
  llvm::erase_if(outputs, [](const NamedValue &output) { return isCarriedOutput(output.name); });
  return outputs;
}

/// Bytes per row of queries, in those of an f32, as far as sizes are known.
double costOf(ArrayType type) {
  constexpr double kUnknownChannels = 64.0, kSharedByRows = 1e-3;
  double elements = tokenAxis(type).empty() ? kSharedByRows : 1.0;
  for (auto [axis, size] : llvm::zip(type.getAxes(), type.getSizes()))
    if (!isRuntimeAxis(axis))
      elements *= size == ArrayType::kUnknown ? kUnknownChannels : static_cast<double>(size);
  return elements * type.getElementType().getIntOrFloatBitWidth() / 32;
}

std::string Splitter::nameOfSaved(Value value) {
  StringRef base = "row";
  if (auto pairwise = value.getDefiningOp<PairwiseOp>()) {
    PairSumAttr sum = pairwise.getSum(cast<OpResult>(value).getResultNumber());
    base = sum.getKind() == PairOutput::Maximum ? "maximum" : sum.getWeighted() ? "numerator" : "mass";
  }
  unsigned number = names[base]++;
  return base.str() + (number ? std::to_string(number + 1) : "");
}

void Splitter::chooseSaved() {
  // An output is there already; reading it is cheaper than anything that must be written for the purpose.
  constexpr double kOutputCost = 1e-6;
  llvm::SmallDenseSet<Value> outputs, needed;
  for (const NamedValue &output : outputsToRead())
    outputs.insert(output.value);

  // Only what a gradient needs may force something to be saved.
  walkSources(valuesOf(resultsOf("gradient")), [&](Value value) { return needed.insert(value).second; });

  MinimumCut cut;
  DenseMap<Value, unsigned> nodes;
  SmallVector<Value> values;
  for (Operation &op : block.without_terminator())
    for (Value result : op.getResults()) {
      if (!graph.dependsOnSums(result) || graph.dependsOnCotangents(result))
        continue;
      unsigned node = cut.addNode(outputs.contains(result) ? kOutputCost : costOf(arrayTypeOf(result)));
      nodes[result] = node;
      values.push_back(result);
      if (isa<PairwiseOp>(op))
        cut.markSource(node);
      for (Value operand : op.getOperands())
        if (auto it = nodes.find(operand); it != nodes.end())
          cut.addEdge(it->second, node);
    }
  for (auto [node, value] : llvm::enumerate(values))
    for (Operation *user : value.getUsers())
      if (user != yield && graph.dependsOnCotangents(user) &&
          llvm::any_of(user->getResults(), [&](Value result) { return needed.contains(result); }))
        cut.markSink(node);
  // A gradient that no cotangent reaches may still be a sum.
  for (const NamedValue &gradient : resultsOf("gradient"))
    if (auto it = nodes.find(gradient.value); it != nodes.end())
      cut.markSink(it->second);

  for (unsigned node : cut.solve()) {
    Value value = values[node];
    LDBG() << value.getLoc() << ": the cut has " << value.getType()
           << (outputs.contains(value) ? ", an output" : ", which is saved");
    if (!outputs.contains(value))
      saved.push_back({builder.getStringAttr("saved:" + nameOfSaved(value)), value});
  }
}

LogicalResult Splitter::build(FunctionRole role, ArrayRef<NamedValue> arguments, ArrayRef<NamedValue> results,
                              bool keepAllArguments) {
  llvm::SmallDenseSet<Value> available, read;
  available.insert_range(valuesOf(arguments));
  llvm::SmallDenseSet<Operation *> operations;
  BlockArgument missing;
  walkSources(valuesOf(results), [&](Value value) {
    if (available.contains(value)) {
      read.insert(value);
      return false;
    }
    if (Operation *op = value.getDefiningOp())
      operations.insert(op);
    else if (!missing)
      missing = cast<BlockArgument>(value);
    return true;
  });
  if (missing)
    return refuse(joint.emitError("unsupported results: those of its "))
           << stringifyFunctionRole(role) << " part need " << joint.getArgNames()[missing.getArgNumber()]
           << ", which that part does not have";

  SmallVector<NamedValue> used;
  for (const NamedValue &argument : arguments)
    if (keepAllArguments || read.contains(argument.value))
      used.push_back(argument);
  auto namesOf = [&](ArrayRef<NamedValue> tensors) {
    return builder.getArrayAttr(
        llvm::map_to_vector(tensors, [](const NamedValue &tensor) { return Attribute(tensor.name); }));
  };
  OpBuilder::InsertionGuard guard(builder);
  StringRef name = joint.getSymName().rsplit('.').first;
  auto function = FunctionOp::create(
      builder, joint.getLoc(), FunctionOp::nameOf(name, role), joint.getSpecName(), namesOf(used),
      keepAllArguments ? joint.getSourcesAttr() : ArrayAttr(), joint.getParameters(), /*plan=*/{},
      joint.getFormAttr(), joint.getCarriesAttr(), joint.getPreparesKeys());
  function->setDiscardableAttrs(joint->getDiscardableAttrDictionary());
  Block *body = addBlock(function.getBody(), {}, joint.getLoc());
  builder.setInsertionPointToStart(body);
  IRMapping mapped;
  for (const NamedValue &argument : used)
    mapped.map(argument.value, body->addArgument(argument.value.getType(), argument.value.getLoc()));
  for (Operation &op : block.without_terminator()) {
    if (!operations.contains(&op))
      continue;
    Operation *copy = builder.clone(op);
    for (OpOperand &operand : copy->getOpOperands())
      operand.set(mapped.lookupOrDefault(operand.get()));
    for (auto [old, now] : llvm::zip_equal(op.getResults(), copy->getResults()))
      if (!mapped.contains(old))
        mapped.map(old, now);
  }
  SmallVector<Value> yielded = llvm::map_to_vector(
      results, [&](const NamedValue &result) { return mapped.lookupOrDefault(result.value); });
  YieldOp::create(builder, joint.getLoc(), yielded, namesOf(results));
  return success();
}

LogicalResult Splitter::run() {
  chooseSaved();
  SmallVector<NamedValue> inputs = argumentsOf("input"), outputs = outputsToRead();
  SmallVector<NamedValue> forwardResults = resultsOf("output"), backwardArguments = inputs;
  llvm::append_range(forwardResults, saved);
  llvm::append_range(backwardArguments, outputs);
  llvm::append_range(backwardArguments, saved);
  llvm::append_range(backwardArguments, argumentsOf("cotangent"));
  if (failed(build(FunctionRole::Forward, inputs, forwardResults, /*keepAllArguments=*/true)))
    return failure();
  SmallVector<NamedValue> gradients = resultsOf("gradient");
  if (!gradients.empty() &&
      failed(build(FunctionRole::Backward, backwardArguments, gradients, /*keepAllArguments=*/false)))
    return failure();
  joint.erase();
  return success();
}

class SplitBackward : public ::taylor::impl::SplitBackwardPassBase<SplitBackward> {
  void runOnOperation() override;
};

} // namespace

void SplitBackward::runOnOperation() {
  for (FunctionOp function : llvm::make_early_inc_range(getOperation().getOps<FunctionOp>())) {
    if (!function.getSymName().ends_with(".joint"))
      continue;
    Splitter splitter(function);
    if (failed(splitter.run()))
      return signalPassFailure();
    numSaved += splitter.getNumSaved();
  }
}
