// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembles a tile program: tensors, workspace, and one kernel per entry of the partition.
#include "passes/LowerToTile/PairEmitter.h"
#include "passes/LowerToTile/Partition.h"
#include "passes/LowerToTile/Passes.h"

#include "dialect/Taylor/Axes.h"

namespace taylor {
#define GEN_PASS_DEF_LOWERTOTILEPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

using namespace mlir;
using namespace taylor;

namespace {

ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

class ProgramAssembler {
public:
  ProgramAssembler(FunctionOp function, const TileSizes &sizes, bool widenKeys)
      : function(function), sizes(sizes), partition(function, widenKeys), builder(function) {}

  LogicalResult run(StringRef name);

private:
  tile::ArrayType storageOf(ArrayType type, Type elementType);
  void declareTensors();
  void declareWorkspace();
  void emitKernel(KernelPlan &kernel);
  void emitScanKernel(KernelPlan &kernel, TileEmitter &emitter, Frame &frame);
  void emitPairsKernel(KernelPlan &kernel, TileEmitter &emitter, Frame &frame);
  void emitRoot(Root &root, TileEmitter &emitter, Frame &frame);
  void storeRoot(Root &root, Value tile, TileEmitter &emitter, Frame &frame);
  /// An i1 that is true if the demand holds at run time; null: always.
  Value requested(const Demand &demand, OpBuilder &at, Location loc);
  int64_t blockSize(const KernelPlan &kernel);
  /// In how many parts the keys of a kernel of pairs are cut.
  tile::ExtentAttr partsOf(const KernelPlan &kernel);

  FunctionOp function;
  const TileSizes &sizes;
  Partition partition;
  OpBuilder builder;
  ArrayMemory memory;
  llvm::DenseMap<Value, Value> homes; // of values with memory, before their kernel has run
  llvm::DenseMap<Operation *, Value> partialHomes;
  SmallVector<Value> results; // tensors, by number
};

tile::ArrayType ProgramAssembler::storageOf(ArrayType type, Type elementType) {
  MLIRContext *context = builder.getContext();
  SmallVector<tile::Axis> axes;
  for (auto [name, size] : llvm::zip(type.getAxes(), type.getSizes()))
    axes.push_back({name, isRuntimeAxis(name.getValue()) ? tile::ExtentAttr::get(name)
                                                         : tile::ExtentAttr::get(context, size)});
  return tile::ArrayType::get(context, axes, elementType);
}

void ProgramAssembler::declareTensors() {
  for (auto [argument, name] :
       llvm::zip(function.getBody().getArguments(), function.getArgNames().getAsRange<StringAttr>()))
    if (!argument.use_empty())
      memory.values[argument] = tile::TensorOp::create(
          builder, argument.getLoc(), storageOf(typeOf(argument), typeOf(argument).getElementType()), name,
          UnitAttr());
  auto yield = cast<YieldOp>(function.getBody().front().getTerminator());
  for (auto [index, value] : llvm::enumerate(yield.getValues())) {
    auto name = cast<StringAttr>((*yield.getNames())[index]);
    results.push_back(tile::TensorOp::create(
        builder, yield.getLoc(), storageOf(typeOf(value), typeOf(value).getElementType()), name,
        partition.isOptional(index) ? builder.getUnitAttr() : UnitAttr()));
  }
}

void ProgramAssembler::declareWorkspace() {
  auto declare = [&](Location loc, const std::string &name, tile::ArrayType type) -> Value {
    return tile::WorkspaceOp::create(builder, loc, type, builder.getStringAttr(name));
  };
  for (KernelPlan &kernel : partition.kernels) {
    int count = 0;
    auto nextName = [&] { return kernel.name + "." + std::to_string(count++); };
    if (kernel.angles) {
      MLIRContext *context = builder.getContext();
      auto type = tile::ArrayType::get(
          context,
          {tile::Axis{builder.getStringAttr(kernel.angles->token),
                      tile::ExtentAttr::get(builder.getStringAttr(kernel.angles->token))},
           tile::Axis::get(context, "c", kernel.angles->channels / 2)},
          kernel.angles->elementType);
      Value cosines = declare(function.getLoc(), kernel.name + ".cos", type);
      Value sines = declare(function.getLoc(), kernel.name + ".sin", type);
      memory.angles.push_back({*kernel.angles, cosines, sines});
    }
    if (auto pairs = dyn_cast_or_null<PairwiseOp>(kernel.op))
      for (OpResult result : pairs.getResults())
        if (partition.hasMemory(result)) {
          tile::ArrayType type = storageOf(typeOf(result), typeOf(result).getScalarType());
          auto sum = pairs.getSum(result.getResultNumber());
          if (sum.getKind() != PairOutput::Columns) {
            // One sum per part of the keys; they are added where they are read.
            SmallVector<tile::Axis> axes{{builder.getStringAttr("part"), partsOf(kernel)}};
            llvm::append_range(axes, type.getAxes());
            type = tile::ArrayType::get(builder.getContext(), axes, type.getElementType());
          }
          homes[result] = declare(pairs.getLoc(), nextName(), type);
        }
    for (Root &root : kernel.roots) {
      if (!root.workspace)
        continue;
      ArrayType type = typeOf(root.value);
      Location loc = root.value.getLoc();
      if (!root.partial) {
        homes[root.value] = declare(loc, nextName(), storageOf(type, type.getScalarType()));
        continue;
      }
      // One partial sum per block: the kernel's grid, then the channels.
      SmallVector<tile::Axis> axes;
      for (StringRef axis : kernel.axes) {
        if (axis == "t" || axis == "u")
          axes.push_back({builder.getStringAttr("block"),
                          tile::ExtentAttr::get(builder.getStringAttr(axis), blockSize(kernel))});
        else
          axes.push_back({builder.getStringAttr(axis), tile::ExtentAttr::get(builder.getStringAttr(axis))});
      }
      for (const tile::Axis &axis : storageOf(type, type.getScalarType()).getAxes())
        if (!tile::isRole(axis.getName()))
          axes.push_back(axis);
      partialHomes[root.value.getDefiningOp()] =
          declare(loc, nextName(), tile::ArrayType::get(builder.getContext(), axes, type.getScalarType()));
    }
  }
}

Value ProgramAssembler::requested(const Demand &demand, OpBuilder &at, Location loc) {
  if (demand.always || demand.results.empty())
    return {};
  Value any;
  for (unsigned result : demand.results) {
    Value one = tile::RequestedOp::create(at, loc, at.getI1Type(), results[result]);
    any = any ? Value(arith::OrIOp::create(at, loc, any, one)) : one;
  }
  return any;
}

/// Partial sums are per block of `tokens`; loops over keys want blocks of `queries`.
int64_t ProgramAssembler::blockSize(const KernelPlan &kernel) {
  bool partial = llvm::any_of(kernel.roots, [](const Root &root) { return root.partial; });
  return kernel.attends && !partial ? sizes.queries : sizes.tokens;
}

tile::ExtentAttr ProgramAssembler::partsOf(const KernelPlan &kernel) {
  if (kernel.axes.size() < 2)
    return tile::ExtentAttr::get(builder.getContext(), kernel.axes.empty() ? sizes.blocks : 1);
  return tile::ExtentAttr::get(builder.getStringAttr(kernel.axes[0] + "*" + kernel.axes[1]), sizes.blocks);
}

void ProgramAssembler::storeRoot(Root &root, Value tile, TileEmitter &emitter, Frame &frame) {
  if (root.workspace)
    emitter.store(tile, root.partial ? partialHomes[root.value.getDefiningOp()] : homes[root.value], frame);
  for (unsigned result : root.results) {
    if (!partition.isOptional(result)) {
      emitter.store(tile, results[result], frame);
      continue;
    }
    Value asked =
        tile::RequestedOp::create(emitter.builder, emitter.loc, emitter.builder.getI1Type(), results[result]);
    auto branch = scf::IfOp::create(emitter.builder, emitter.loc, asked, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(emitter.builder);
    emitter.builder.setInsertionPointToStart(branch.thenBlock());
    emitter.store(tile, results[result], frame);
  }
}

void ProgramAssembler::emitRoot(Root &root, TileEmitter &emitter, Frame &frame) {
  Value tile = root.partial ? emitter.emitPartial(cast<ReduceOp>(root.value.getDefiningOp()), frame)
                            : emitter.emit(root.value, frame);
  storeRoot(root, tile, emitter, frame);
}

void ProgramAssembler::emitScanKernel(KernelPlan &kernel, TileEmitter &emitter, Frame &frame) {
  auto scan = cast<ScanOp>(kernel.op);
  Root &root = kernel.roots.front();
  StringRef token = scan.getAxis();
  Value blocks = arith::CeilDivSIOp::create(emitter.builder, emitter.loc, emitter.size(token),
                                            emitter.constant(sizes.tokens));
  Frame probe = frame.at(token, emitter.constant(0), sizes.tokens);
  tile::TileType carryType = emitter.tileType(typeOf(scan), probe).without({token});
  emitter.loop(
      emitter.constant(0), blocks, 1, emitter.splat(carryType, 0.0), [&](Value index, ValueRange carried) {
        if (scan.getReverse()) {
          Value last = arith::SubIOp::create(emitter.builder, emitter.loc, blocks, emitter.constant(1));
          index = arith::SubIOp::create(emitter.builder, emitter.loc, last, index);
        }
        Value start =
            arith::MulIOp::create(emitter.builder, emitter.loc, index, emitter.constant(sizes.tokens));
        Frame block = frame.at(token, start, sizes.tokens);
        auto [sum, carry] = emitter.emitScan(scan, carried.front(), block);
        storeRoot(root, sum, emitter, block);
        return SmallVector<Value>{carry};
      });
}

void ProgramAssembler::emitPairsKernel(KernelPlan &kernel, TileEmitter &emitter, Frame &frame) {
  auto pairs = cast<PairwiseOp>(kernel.op);
  SmallVector<PairResult> plans;
  for (auto [result, sum] : llvm::zip(pairs.getResults(), pairs.getSums().getAsRange<PairSumAttr>())) {
    PairResult &plan = plans.emplace_back();
    plan.requested = requested(partition.demands.lookup(result), emitter.builder, emitter.loc);
    if (sum.getKind() == PairOutput::Columns)
      continue;
    plan.memory = homes[result];
  }
  // Where sums into columns are complete, they are stored, and with them what depends on nothing else.
  bool groups = llvm::is_contained(kernel.axes, "g");
  auto finish = [&](Frame &done) {
    bool ofHead = groups && done.indices.contains("h");
    auto belongs = [&](Value value) { return !groups || typeOf(value).has("h") == ofHead; };
    for (auto [result, sum] : llvm::zip(pairs.getResults(), pairs.getSums().getAsRange<PairSumAttr>()))
      if (sum.getKind() == PairOutput::Columns && belongs(result) && homes.contains(result))
        emitter.store(done.tiles.lookup(result), homes[result], done);
    for (Root &root : kernel.roots)
      if (belongs(root.value))
        emitRoot(root, emitter, done);
  };
  PairEmitter(emitter, pairs).emitColumns(frame, emitter.extent(partsOf(kernel)), plans, finish);
}

void ProgramAssembler::emitKernel(KernelPlan &kernel) {
  SmallVector<tile::ExtentAttr> grid;
  int64_t block = blockSize(kernel);
  for (StringRef axis : kernel.axes)
    grid.push_back(
        tile::ExtentAttr::get(builder.getStringAttr(axis), axis == "t" || axis == "u" ? block : 1));
  Location loc = kernel.op              ? kernel.op->getLoc()
                 : kernel.roots.empty() ? function.getLoc()
                                        : kernel.roots[0].value.getLoc();
  if (kernel.kind == KernelPlan::Kind::Pairs)
    grid.push_back(partsOf(kernel));
  auto op = tile::KernelOp::create(builder, loc, kernel.name, grid);
  OpBuilder inside = OpBuilder::atBlockEnd(op.getBlock());

  Demand all;
  for (Root &root : kernel.roots)
    all.join(root.demand);
  if (auto pairs = dyn_cast_or_null<PairwiseOp>(kernel.op))
    for (Value result : pairs.getResults())
      all.join(partition.demands.lookup(result));
  if (Value asked = requested(all, inside, loc)) {
    auto branch = scf::IfOp::create(inside, loc, asked, /*withElseRegion=*/false);
    inside.setInsertionPointToStart(branch.thenBlock());
  }

  TileEmitter emitter(inside, loc, memory, sizes, function);
  Frame frame;
  for (auto [axis, index] : llvm::zip(kernel.axes, op.getBlock()->getArguments())) {
    if (axis != "t" && axis != "u") {
      frame.indices[axis] = index;
      continue;
    }
    frame.indices["block"] = index;
    frame = frame.at(axis, arith::MulIOp::create(inside, loc, index, emitter.constant(block)), block);
  }
  if (kernel.kind == KernelPlan::Kind::Pairs)
    frame.indices["part"] = op.getBlock()->getArguments().back();
  switch (kernel.kind) {
  case KernelPlan::Kind::Angles: {
    auto &[table, cosines, sines] =
        *llvm::find_if(memory.angles, [&](auto &entry) { return std::get<0>(entry) == *kernel.angles; });
    emitter.emitAngles(table, cosines, sines, frame);
    break;
  }
  case KernelPlan::Kind::Local:
    for (Root &root : kernel.roots)
      emitRoot(root, emitter, frame);
    break;
  case KernelPlan::Kind::Scan:
    emitScanKernel(kernel, emitter, frame);
    break;
  case KernelPlan::Kind::Pairs:
    emitPairsKernel(kernel, emitter, frame);
    break;
  }

  // From now on it is read from memory.
  for (Root &root : kernel.roots)
    if (root.workspace && root.partial)
      memory.partials[root.value.getDefiningOp()] = partialHomes[root.value.getDefiningOp()];
    else if (root.workspace)
      memory.values[root.value] = homes[root.value];
  if (auto pairs = dyn_cast_or_null<PairwiseOp>(kernel.op))
    for (Value result : pairs.getResults())
      if (homes.contains(result))
        memory.values[result] = homes[result];
}

LogicalResult ProgramAssembler::run(StringRef name) {
  if (failed(partition.run()))
    return failure();
  auto program = tile::ProgramOp::create(builder, function.getLoc(), name);
  builder.setInsertionPointToStart(program.getBlock());
  declareTensors();
  declareWorkspace();
  for (KernelPlan &kernel : partition.kernels)
    emitKernel(kernel);
  return success();
}

struct LowerToTile : taylor::impl::LowerToTilePassBase<LowerToTile> {
  using LowerToTilePassBase::LowerToTilePassBase;

  void runOnOperation() override {
    TileSizes sizes{tokens, queries, keys, edgeKeys, outerKeys, blocks};
    llvm::StringMap<int> parts;
    SmallVector<FunctionOp> functions(getOperation().getOps<FunctionOp>());
    // "softmax.forward" is called "forward", unless the module has several.
    auto shortName = [](FunctionOp function) { return function.getSymName().rsplit('.').second; };
    for (FunctionOp function : functions)
      ++parts[shortName(function)];
    for (FunctionOp function : functions) {
      StringRef part = shortName(function);
      std::string name = part.empty() || parts[part] > 1 ? function.getSymName().str() : part.str();
      if (failed(ProgramAssembler(function, sizes, widenKeys).run(name)))
        return signalPassFailure();
      function.erase();
    }
  }
};

} // namespace
