// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembles a tile program: tensors, workspace, and one kernel per entry of the partition.
#include "passes/Debug.h"
#include "passes/LowerToTile/LoweringInterface.h"
#include "passes/LowerToTile/PairEmitter.h"
#include "passes/LowerToTile/Partition.h"
#include "passes/LowerToTile/Passes.h"
#include "passes/LowerToTile/Precision.h"
#include "passes/LowerToTile/StateEmitter.h"

#include "dialect/Taylor/Axes.h"

#include "llvm/Support/SaveAndRestore.h"

#define DEBUG_TYPE "taylor-lower-to-tile"

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
  ProgramAssembler(FunctionOp function, const TileSizes &sizes)
      : function(function), sizes(sizes), partition(function, sizes), builder(function) {}

  LogicalResult run(StringRef name);

  /// Of the program, once it is made.
  unsigned numKernels = 0, numWorkspaces = 0;

private:
  tile::ArrayType storageOf(ArrayType type, Type elementType);
  /// The memory of one sum per part, which are added where they are read.
  tile::ArrayType inParts(Value array, tile::ExtentAttr parts);
  /// Numbers of tokens, where each block adds to one of them again and again: those of different heads lie
  /// `TileSizes::lineBytes` or more apart.
  tile::ArrayType apart(tile::ArrayType rows);
  void declareTensors();
  void declareWorkspace();
  Location locationOf(const KernelPlan &kernel);
  void emitKernel(KernelPlan &kernel);
  void emitPairsKernel(KernelPlan &kernel, TileEmitter &emitter, Frame &frame);
  void emitRoot(Root &root, TileEmitter &emitter, Frame &frame);
  void storeRoot(Root &root, Value tile, TileEmitter &emitter, Frame &frame);
  /// An i1 that is true if the demand holds at run time; null: always.
  Value requested(const Demand &demand, OpBuilder &at, Location loc);
  int64_t blockSize(const KernelPlan &kernel);
  /// A grid over `axes`, token axes in blocks; and the place of one of its blocks.
  SmallVector<tile::ExtentAttr> gridOf(ArrayRef<AxisRef> axes, int64_t block);
  Frame frameOf(ArrayRef<AxisRef> axes, int64_t block, tile::KernelOp kernel, TileEmitter &emitter);
  bool hasKeysOnGrid(const KernelPlan &kernel) {
    return PairEmitter::hasKeysOnGrid(cast<PairwiseOp>(kernel.op), sizes);
  }
  bool hasDiagonalsOnGrid(const KernelPlan &kernel) {
    return PairEmitter::hasDiagonalsOnGrid(cast<PairwiseOp>(kernel.op), sizes);
  }
  /// The last extent of a kernel of pairs: its blocks of keys or of diagonals, or in how many parts they are
  /// cut.
  tile::ExtentAttr partsOf(const KernelPlan &kernel);
  /// Calls `body` for each of the heads (or groups) that a block of `sizes.heads` holds.
  void forHeadsOfBlock(AxisRef axis, TileEmitter &emitter, const Frame &frame,
                       function_ref<void(Frame &)> body);
  /// What becomes of each result of a kernel of pairs.
  SmallVector<PairResult> planResults(const KernelPlan &kernel, TileEmitter &emitter);
  void emitStepsKernel(KernelPlan &kernel, TileEmitter &emitter, Frame &frame);
  /// The kernel that sums each chunk, and the one that sums over chunks.
  void emitStatesKernels(KernelPlan &kernel);
  /// From now on what the kernel computes is read from memory.
  void remember(KernelPlan &kernel);
  /// A kernel that zeroes the rows to which a kernel of pairs adds atomically.
  void emitZeroKernel(KernelPlan &kernel);

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

tile::ArrayType ProgramAssembler::inParts(Value array, tile::ExtentAttr parts) {
  tile::ArrayType type = storageOf(typeOf(array), typeOf(array).getScalarType());
  SmallVector<tile::Axis> axes{{builder.getStringAttr(TileEmitter::kPartAxis), parts}};
  llvm::append_range(axes, type.getAxes());
  return tile::ArrayType::get(builder.getContext(), axes, type.getElementType());
}

tile::ArrayType ProgramAssembler::apart(tile::ArrayType rows) {
  bool areNumbers = llvm::all_of(rows.getAxes(), [](const tile::Axis &axis) {
    return !axis.extent.isStatic() || axis.getName() == TileEmitter::kPartAxis;
  });
  if (!sizes.lineBytes || !areNumbers)
    return rows;
  // The tokens of a head lie side by side, since its block adds to one after the other. They have their
  // memory as many times as fills a line: 16 times for one token of f32, once for 16 or more.
  MLIRContext *context = builder.getContext();
  SmallVector<tile::Axis> axes, tokens;
  for (const tile::Axis &axis : rows.getAxes())
    (isTokenAxis(axis.getName()) ? tokens : axes).push_back(axis);
  uint64_t perLine =
      llvm::divideCeil(uint64_t(sizes.lineBytes), rows.getElementType().getIntOrFloatBitWidth() / 8);
  axes.push_back({builder.getStringAttr(TileEmitter::kLineAxis),
                  tile::ExtentAttr::get(context, int64_t(perLine), {tokens.front().getName()})});
  llvm::append_range(axes, tokens);
  return tile::ArrayType::get(context, axes, rows.getElementType());
}

void ProgramAssembler::declareTensors() {
  // A call's sizes are those of its tensors: where none that is read or written has an axis, one that is
  // not read tells its size.
  llvm::SmallDenseSet<StringRef> told;
  auto tell = [&](Type type) {
    bool any = false;
    for (StringAttr axis : cast<ArrayType>(type).getAxes())
      any |= isRuntimeAxis(axis) && told.insert(axis).second;
    return any;
  };
  for (BlockArgument argument : function.getBody().getArguments())
    if (!argument.use_empty())
      tell(argument.getType());
  for (Type type : function.getBody().front().getTerminator()->getOperandTypes())
    tell(type);
  for (auto [argument, name] :
       llvm::zip(function.getBody().getArguments(), function.getArgNames().getAsRange<StringAttr>()))
    if (!argument.use_empty() || tell(argument.getType()))
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
      SmallVector<tile::Axis> axes = llvm::map_to_vector(kernel.angles->axes(), [&](StringRef axis) {
        return tile::Axis{builder.getStringAttr(axis), tile::ExtentAttr::get(builder.getStringAttr(axis))};
      });
      axes.push_back(tile::Axis::get(context, TileEmitter::kAngleAxis, kernel.angles->channels / 2));
      auto type = tile::ArrayType::get(context, axes, kernel.angles->elementType);
      Value cosines = declare(function.getLoc(), kernel.name + ".cos", type);
      Value sines = declare(function.getLoc(), kernel.name + ".sin", type);
      memory.angles.push_back({*kernel.angles, cosines, sines});
    }
    if (auto pairs = dyn_cast_or_null<PairwiseOp>(kernel.op))
      for (OpResult result : pairs.getResults())
        if (partition.hasMemory(result)) {
          tile::ArrayType type = storageOf(typeOf(result), typeOf(result).getScalarType());
          PairOutput kind = pairs.getSum(result.getResultNumber()).getKind();
          bool sumsInMemory = kind == PairOutput::Rows || kind == PairOutput::Diagonals;
          if (kind == PairOutput::Total || (sumsInMemory && !hasKeysOnGrid(kernel))) {
            // One sum per part of the keys (or place of a key in its tile); they are added where they are
            // read.
            auto parts =
                hasDiagonalsOnGrid(kernel)
                    ? tile::ExtentAttr::get(builder.getContext(), PairEmitter::diagonalTile(pairs, sizes))
                    : partsOf(kernel);
            type = inParts(result, parts);
          }
          homes[result] = declare(pairs.getLoc(), nextName(), type);
        }
    if (auto steps = dyn_cast_or_null<StepStatesOp>(kernel.op))
      for (Value row : steps.getRows())
        homes[row] = declare(steps.getLoc(), nextName(), apart(inParts(row, partsOf(kernel))));
    for (Root &root : kernel.roots) {
      if (!root.workspace)
        continue;
      ArrayType type = typeOf(root.value);
      Location loc = root.value.getLoc();
      if (isa_and_nonnull<StepStatesOp>(root.value.getDefiningOp())) {
        homes[root.value] = root.results.empty()
                                ? declare(loc, nextName(), storageOf(type, type.getScalarType()))
                                : results[root.results.front()];
        continue;
      }
      if (auto states = root.value.getDefiningOp<StatesOp>()) {
        // A result that nothing else reads is summed up in its place.
        if (!root.results.empty() && llvm::all_of(root.value.getUsers(), llvm::IsaPred<YieldOp>)) {
          homes[root.value] = results[root.results.front()];
          continue;
        }
        homes[root.value] = declare(loc, nextName(), StateEmitter::memoryType(states, type));
        continue;
      }
      if (!root.partial) {
        homes[root.value] = declare(loc, nextName(), storageOf(type, type.getScalarType()));
        continue;
      }
      // One partial sum per block: the kernel's grid, then the channels.
      SmallVector<tile::Axis> axes;
      for (StringRef axis : kernel.axes) {
        if (isTokenAxis(axis))
          axes.push_back({builder.getStringAttr(TileEmitter::kBlockAxis),
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

/// Partial sums are per block of `tokens`; loops over keys want blocks of queries.
int64_t ProgramAssembler::blockSize(const KernelPlan &kernel) {
  if (kernel.rowPairs.empty() || llvm::any_of(kernel.roots, [](const Root &root) { return root.partial; }))
    return sizes.tokens;
  int64_t queries = std::numeric_limits<int64_t>::max();
  for (Operation *op : kernel.rowPairs)
    queries = std::min(queries, PairEmitter::rowTile(cast<PairwiseOp>(op), sizes).queries);
  return queries;
}

tile::ExtentAttr ProgramAssembler::partsOf(const KernelPlan &kernel) {
  bool isPairs = kernel.kind == KernelPlan::Kind::Pairs;
  if (isPairs && hasDiagonalsOnGrid(kernel))
    return tile::ExtentAttr::get(axisAttr(builder, AxisRole::Lag),
                                 PairEmitter::diagonalTile(cast<PairwiseOp>(kernel.op), sizes));
  if (isPairs && hasKeysOnGrid(kernel))
    return tile::ExtentAttr::get(axisAttr(builder, AxisRole::Key),
                                 PairEmitter::columnTile(cast<PairwiseOp>(kernel.op), sizes).keys);
  if (kernel.axes.size() < 2)
    return tile::ExtentAttr::get(builder.getContext(), kernel.axes.empty() ? sizes.blocks : 1);
  return tile::ExtentAttr::get(builder.getContext(), sizes.blocks,
                               {StringRef(kernel.axes[0]), StringRef(kernel.axes[1])});
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
  llvm::SaveAndRestore<Location> place(emitter.loc, root.value.getLoc());
  Value tile = root.partial ? emitter.emitPartial(cast<ReduceOp>(root.value.getDefiningOp()), frame)
                            : emitter.emit(root.value, frame);
  storeRoot(root, tile, emitter, frame);
}

SmallVector<PairResult> ProgramAssembler::planResults(const KernelPlan &kernel, TileEmitter &emitter) {
  auto pairs = cast<PairwiseOp>(kernel.op);
  SmallVector<PairResult> plans;
  for (auto [result, sum] : llvm::zip(pairs.getResults(), pairs.getSums().getAsRange<PairSumAttr>())) {
    PairResult &plan = plans.emplace_back();
    plan.requested = requested(partition.demands.lookup(result), emitter.builder, emitter.loc);
    if (sum.getKind() != PairOutput::Columns)
      plan.memory = homes[result];
  }
  return plans;
}

void ProgramAssembler::emitZeroKernel(KernelPlan &kernel) {
  auto pairs = cast<PairwiseOp>(kernel.op);
  SmallVector<Value> rows;
  for (auto [result, sum] : llvm::zip(pairs.getResults(), pairs.getSums().getAsRange<PairSumAttr>()))
    if (sum.getKind() == PairOutput::Rows)
      rows.push_back(result);
  if (rows.empty())
    return;
  SmallVector<AxisRef> axes = gridAxes(rows);
  int64_t block = PairEmitter::columnTile(pairs, sizes).queries;
  Location loc = pairs.getLoc();
  auto op = tile::KernelOp::create(builder, loc, kernel.name + "_zero", gridOf(axes, block));
  OpBuilder inside = OpBuilder::atBlockEnd(op.getBlock());
  TileEmitter emitter(inside, loc, memory, sizes, function);
  Frame frame = frameOf(axes, block, op, emitter);
  PairEmitter(emitter, pairs).zeroRows(frame, planResults(kernel, emitter));
}

void ProgramAssembler::emitStatesKernels(KernelPlan &kernel) {
  auto op = cast<StatesOp>(kernel.op);
  Location loc = op.getLoc();
  SmallVector<Value> arrays = llvm::map_to_vector(op.getResults(), [&](Value state) { return homes[state]; });
  MLIRContext *context = builder.getContext();
  auto panelsOf = [&](int64_t features) {
    return tile::ExtentAttr::get(context, StateEmitter::panelsOf(op, features));
  };
  Demand all;
  for (Root &root : kernel.roots)
    all.join(root.demand);
  // Grid: batch and heads, then what `extra` lists.
  auto emit = [&](const Twine &name, ArrayRef<std::pair<StringRef, tile::ExtentAttr>> extra,
                  function_ref<void(StateEmitter &, Frame &)> body) {
    SmallVector<tile::ExtentAttr> grid = gridOf(kernel.axes, 1);
    for (auto [axis, extent] : extra)
      grid.push_back(extent);
    auto made = tile::KernelOp::create(builder, loc, name.str(), grid);
    OpBuilder inside = OpBuilder::atBlockEnd(made.getBlock());
    if (Value asked = requested(all, inside, loc)) {
      auto branch = scf::IfOp::create(inside, loc, asked, /*withElseRegion=*/false);
      inside.setInsertionPointToStart(branch.thenBlock());
    }
    TileEmitter emitter(inside, loc, memory, sizes, function);
    Frame frame = frameOf(kernel.axes, 1, made, emitter);
    for (auto [number, entry] : llvm::enumerate(extra))
      frame.indices[entry.first] = made.getBlock()->getArgument(kernel.axes.size() + number);
    StateEmitter states(emitter);
    body(states, frame);
  };
  SmallVector<std::pair<StringRef, tile::ExtentAttr>> extra;
  if (op.getChunk())
    extra.push_back({TileEmitter::kChunkAxis,
                     tile::ExtentAttr::get(axisAttr(builder, AxisRole::Query), int64_t(op.getChunk()))});
  if (sizes.featuresOnGrid)
    extra.push_back({TileEmitter::kPanelAxis, panelsOf(sizes.stateFeatures)});
  emit(kernel.name, extra, [&](StateEmitter &states, Frame &frame) { states.emitSums(op, frame, arrays); });
  if (op.getChunk())
    emit(kernel.name + "_pass", {{TileEmitter::kPanelAxis, panelsOf(sizes.getPassFeatures())}},
         [&](StateEmitter &states, Frame &frame) { states.emitPass(op, frame, arrays); });
  remember(kernel);
}

void ProgramAssembler::emitStepsKernel(KernelPlan &kernel, TileEmitter &emitter, Frame &frame) {
  auto op = cast<StepStatesOp>(kernel.op);
  auto memoryOf = [&](ResultRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return homes[value]; });
  };
  StateEmitter(emitter).emitSteps(op, frame, emitter.extent(partsOf(kernel)), memoryOf(op.getRows()),
                                  memoryOf(op.getStates()));
}

void ProgramAssembler::emitPairsKernel(KernelPlan &kernel, TileEmitter &emitter, Frame &frame) {
  auto pairs = cast<PairwiseOp>(kernel.op);
  SmallVector<PairResult> plans = planResults(kernel, emitter);
  if (hasDiagonalsOnGrid(kernel))
    return PairEmitter(emitter, pairs).emitDiagonals(frame, emitter.extent(partsOf(kernel)), plans);
  // Where sums into columns are complete, they are stored, and with them what depends on nothing else.
  bool groups = llvm::is_contained(kernel.axes, AxisRole::KeyHead);
  auto finish = [&](Frame &done) {
    bool ofHead = groups && done.indices.contains(AxisRole::Head);
    auto belongs = [&](Value value) { return !groups || typeOf(value).has(AxisRole::Head) == ofHead; };
    for (auto [result, sum] : llvm::zip(pairs.getResults(), pairs.getSums().getAsRange<PairSumAttr>()))
      if (sum.getKind() == PairOutput::Columns && belongs(result) && homes.contains(result))
        emitter.store(done.tiles.lookup(result), homes[result], done);
    for (Root &root : kernel.roots)
      if (belongs(root.value))
        emitRoot(root, emitter, done);
  };
  PairEmitter(emitter, pairs).emitColumns(frame, emitter.extent(partsOf(kernel)), plans, finish);
}

SmallVector<tile::ExtentAttr> ProgramAssembler::gridOf(ArrayRef<AxisRef> axes, int64_t block) {
  return llvm::map_to_vector(axes, [&](StringRef axis) {
    return tile::ExtentAttr::get(builder.getStringAttr(axis), isTokenAxis(axis) ? block : 1);
  });
}

Frame ProgramAssembler::frameOf(ArrayRef<AxisRef> axes, int64_t block, tile::KernelOp kernel,
                                TileEmitter &emitter) {
  Frame frame;
  for (auto [axis, index] : llvm::zip(axes, kernel.getBlock()->getArguments())) {
    if (!isTokenAxis(axis)) {
      frame.indices[axis] = index;
      continue;
    }
    frame.indices[TileEmitter::kBlockAxis] = index;
    Value start = arith::MulIOp::create(emitter.builder, emitter.loc, index, emitter.constant(block));
    frame = frame.at(axis, start, block);
  }
  return frame;
}

/// Of the operation that it loops over; else of the rotations whose angles it makes; else of its first root.
Location ProgramAssembler::locationOf(const KernelPlan &kernel) {
  if (kernel.op)
    return kernel.op->getLoc();
  if (!kernel.angles)
    return kernel.roots[0].value.getLoc();
  SmallVector<Location> rotations;
  function.walk([&](LoweringOpInterface op) {
    if (op.getAngles() == kernel.angles)
      rotations.push_back(op.getLoc());
  });
  return builder.getFusedLoc(rotations);
}

void ProgramAssembler::forHeadsOfBlock(AxisRef axis, TileEmitter &emitter, const Frame &frame,
                                       function_ref<void(Frame &)> body) {
  Value count = emitter.constant(sizes.heads);
  Value first = arith::MulIOp::create(emitter.builder, emitter.loc, frame.indices.lookup(axis), count);
  Value past =
      arith::MinSIOp::create(emitter.builder, emitter.loc, emitter.add(first, count), emitter.size(axis));
  emitter.loop(first, past, 1, {}, [&](Value head, ValueRange) {
    Frame inside = frame;
    inside.indices[axis] = head;
    body(inside);
    return SmallVector<Value>();
  });
}

void ProgramAssembler::emitKernel(KernelPlan &kernel) {
  int64_t block = blockSize(kernel);
  SmallVector<tile::ExtentAttr> grid = gridOf(kernel.axes, block);
  auto heads = llvm::find_if(
      kernel.axes, [](StringRef axis) { return axis == AxisRole::Head || axis == AxisRole::KeyHead; });
  // A loop over keys is work enough for a block, and threads for each head.
  bool manyHeads = kernel.kind == KernelPlan::Kind::Local && kernel.rowPairs.empty() && sizes.heads > 1 &&
                   heads != kernel.axes.end();
  if (manyHeads)
    grid[heads - kernel.axes.begin()] = tile::ExtentAttr::get(builder.getStringAttr(*heads), sizes.heads);
  Location loc = locationOf(kernel);
  bool inParts = kernel.kind == KernelPlan::Kind::Pairs || kernel.kind == KernelPlan::Kind::Steps;
  if (inParts)
    grid.push_back(partsOf(kernel));
  if (!kernel.channels.name.empty())
    grid.push_back(tile::ExtentAttr::get(builder.getContext(),
                                         llvm::divideCeil(kernel.channels.size, sizes.stateFeatures)));
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
  Frame frame = frameOf(kernel.axes, block, op, emitter);
  for (Operation *pairs : kernel.rowPairs)
    if (Demand ofRows = partition.demandOfRows(kernel, pairs); !(ofRows == all))
      if (Value asked = requested(ofRows, inside, loc))
        frame.asked[pairs] = asked;
  if (inParts)
    frame.indices[TileEmitter::kPartAxis] = op.getBlock()->getArguments().back();
  if (!kernel.channels.name.empty()) {
    frame.channel = kernel.channels.name;
    frame.channelSize = sizes.stateFeatures;
    frame.channelStart = arith::MulIOp::create(inside, loc, op.getBlock()->getArguments().back(),
                                               emitter.constant(frame.channelSize));
  }
  switch (kernel.kind) {
  case KernelPlan::Kind::Angles: {
    auto &[table, cosines, sines] =
        *llvm::find_if(memory.angles, [&](auto &entry) { return std::get<0>(entry) == *kernel.angles; });
    emitter.emitAngles(table, cosines, sines, frame);
    break;
  }
  case KernelPlan::Kind::Local: {
    auto emitRoots = [&](Frame &frame) {
      for (Root &root : kernel.roots)
        emitRoot(root, emitter, frame);
    };
    if (manyHeads)
      forHeadsOfBlock(*heads, emitter, frame, emitRoots);
    else
      emitRoots(frame);
    break;
  }
  case KernelPlan::Kind::Scan:
    cast<LoweringOpInterface>(kernel.op).emitWalk(
        emitter, frame, [&](Value tile, Frame &at) { storeRoot(kernel.roots.front(), tile, emitter, at); });
    break;
  case KernelPlan::Kind::Steps:
    emitStepsKernel(kernel, emitter, frame);
    break;
  case KernelPlan::Kind::Pairs:
    emitPairsKernel(kernel, emitter, frame);
    break;
  case KernelPlan::Kind::States:
    llvm_unreachable("two kernels");
  }

  remember(kernel);
}

void ProgramAssembler::remember(KernelPlan &kernel) {
  for (Root &root : kernel.roots)
    if (root.workspace && root.partial)
      memory.partials[root.value.getDefiningOp()] = partialHomes[root.value.getDefiningOp()];
    else if (root.workspace)
      memory.values[root.value] = homes[root.value];
  if (auto steps = dyn_cast_or_null<StepStatesOp>(kernel.op))
    for (Value row : steps.getRows())
      memory.values[row] = homes[row];
  if (auto pairs = dyn_cast_or_null<PairwiseOp>(kernel.op))
    for (Value result : pairs.getResults())
      if (homes.contains(result))
        memory.values[result] = homes[result];
}

LogicalResult ProgramAssembler::run(StringRef name) {
  if (failed(partition.run()))
    return failure();
  auto plan = cast_if_present<tile::PlanAttr>(function.getPlanAttr());
  auto form = cast_if_present<tile::FormAttr>(function.getFormAttr());
  auto program = tile::ProgramOp::create(builder, function.getLoc(), name, plan, form);
  builder.setInsertionPointToStart(program.getBlock());
  declareTensors();
  declareWorkspace();
  for (KernelPlan &kernel : partition.kernels) {
    if (kernel.kind == KernelPlan::Kind::States) {
      emitStatesKernels(kernel);
      continue;
    }
    if (kernel.kind == KernelPlan::Kind::Pairs && hasKeysOnGrid(kernel))
      emitZeroKernel(kernel);
    emitKernel(kernel);
  }
  auto countOf = [&](auto ops) { return std::distance(ops.begin(), ops.end()); };
  numKernels = countOf(program.getBlock()->getOps<tile::KernelOp>());
  numWorkspaces = countOf(program.getBlock()->getOps<tile::WorkspaceOp>());
  return success();
}

struct LowerToTile : taylor::impl::LowerToTilePassBase<LowerToTile> {
  void getDependentDialects(DialectRegistry &registry) const override {
    LowerToTilePassBase::getDependentDialects(registry);
    registerLowering(registry);
  }
  void runOnOperation() override {
    llvm::StringMap<int> parts;
    SmallVector<FunctionOp> functions(getOperation().getOps<FunctionOp>());
    // "softmax.forward" is called "forward", unless the module has several.
    auto shortName = [](FunctionOp function) { return function.getSymName().rsplit('.').second; };
    for (FunctionOp function : functions)
      ++parts[shortName(function)];
    for (FunctionOp function : functions) {
      StringRef part = shortName(function);
      relaxPrecision(function);
      std::string name = part.empty() || parts[part] > 1 ? function.getSymName().str() : part.str();
      TileSizes sizes = tile::getTileSizes(function);
      ProgramAssembler assembler(function, sizes);
      if (failed(assembler.run(name)))
        return signalPassFailure();
      numKernels += assembler.numKernels;
      numWorkspaces += assembler.numWorkspaces;
      function.erase();
    }
  }
};

} // namespace
