// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/Checks.h"
#include "codegen/run/TensorBuffer.h"
#include "dialect/Tile/Evaluator.h"
#include "mlir/Pass/PassManager.h"
#include "passes/LowerToTile/Passes.h"
#include "passes/Pipelines.h"

using namespace mlir;
using namespace taylor;
using namespace taylor::run;

namespace {

LogicalResult lower(ModuleOp module, const Problem &problem, const RunOptions &options) {
  PairwiseOptions pairwise;
  const AxisMap<int64_t> &sizes = problem.environment.sizes;
  if (sizes.contains(AxisRole::Channel))
    pairwise.headDim = sizes.lookup(AxisRole::Channel);
  if (sizes.contains(AxisRole::ValueChannel))
    pairwise.valueDim = sizes.lookup(AxisRole::ValueChannel);
  pairwise.dtype = options.compile.dtype;
  if (options.compile.mask)
    pairwise.mask = *options.compile.mask == Mask::Causal ? MaskChoice::Causal : MaskChoice::Bidirectional;
  std::string parameters;
  for (auto &[name, value] : options.compile.parameters)
    parameters += (parameters.empty() ? "" : ",") + name + "=" + value;
  pairwise.parameters = parameters;
  PassManager toPairwise(module.getContext()), toTile(module.getContext());
  buildPairwisePipeline(toPairwise, pairwise);
  if (failed(toPairwise.run(module)))
    return failure();
  setPlan(module, options.tiles);
  buildTilePipeline(toTile);
  return toTile.run(module);
}

/// The tensors of tile programs.
class ProgramTensors : public TensorBuffers {
public:
  ProgramTensors(const Problem &problem, const RunOptions &options)
      : TensorBuffers(options), problem(problem) {}

  void declare(tile::TensorOp tensor) {
    if (find(tensor.getName().str()))
      return;
    tile::ArrayType type = tensor.getResult().getType();
    reference::Shape shape;
    for (const tile::Axis &axis : type.getAxes())
      shape.append(axis.getName(),
                   axis.extent.evaluate([&](StringRef role) { return problem.environment.sizeOf(role); }));
    Type element = type.getElementType();
    Dtype dtype = element.isF64()    ? Dtype::F64
                  : element.isBF16() ? Dtype::BF16
                  : element.isF16()  ? Dtype::F16
                  : element.isF32()  ? Dtype::F32
                                     : Dtype::I32;
    add(tensor.getName().str(), shape, dtype);
  }

private:
  const Problem &problem;
};

LogicalResult evaluateProgram(ModuleOp module, FunctionRole role, ProgramTensors &tensors,
                              const Problem &problem) {
  StringRef name = stringifyFunctionRole(role);
  auto program = module.lookupSymbol<tile::ProgramOp>(name);
  if (!program)
    return fail("expected tile.program @" + name + ", but got none");
  const Environment &environment = problem.environment;
  tile::Sizes sizes;
  sizes.b = environment.sizeOf(AxisRole::Batch);
  sizes.h = environment.sizeOf(AxisRole::Head);
  sizes.g = environment.sizeOf(AxisRole::KeyHead);
  sizes.t = environment.sizeOf(AxisRole::Query);
  sizes.u = environment.sizeOf(AxisRole::Key);
  sizes.offset = environment.offset;
  SmallVector<tile::HostArray> arrays;
  for (auto tensor : program.getBlock()->getOps<tile::TensorOp>()) {
    TaylorTensor described = tensors.find(tensor.getName().str())->describe();
    tile::HostArray &array = arrays.emplace_back();
    array.data = described.data;
    array.strides.assign(described.strides, described.strides + described.rank);
  }
  return tile::evaluateProgram(program, sizes, arrays);
}

} // namespace

FailureOr<Outcome> taylor::run::runTilePrograms(const Problem &problem, const RunOptions &options,
                                                bool withGradients) {
  OwningOpRef<ModuleOp> module(cast<ModuleOp>(SpecOp(problem.spec)->getParentOfType<ModuleOp>()->clone()));
  if (failed(lower(*module, problem, options)))
    return failure();
  ProgramTensors tensors(problem, options);
  module->walk([&](tile::TensorOp tensor) { tensors.declare(tensor); });
  auto write = [&](const std::string &role, const Array &array) {
    if (TensorBuffer *buffer = tensors.find(role))
      buffer->write(array.values);
    return success();
  };
  if (failed(writeArguments(problem, withGradients, write)))
    return failure();
  if (failed(evaluateProgram(*module, FunctionRole::Forward, tensors, problem)) ||
      (withGradients && failed(evaluateProgram(*module, FunctionRole::Backward, tensors, problem))) ||
      failed(tensors.checkSurroundings("tile programs")))
    return failure();

  return tensors.readResults(problem, "program", withGradients);
}
