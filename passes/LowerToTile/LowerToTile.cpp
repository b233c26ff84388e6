// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembles a tile program: tensors, workspace, and a kernel for each `fusion.kernel`.
#include "passes/Debug.h"
#include "passes/LowerToTile/KeptValues.h"
#include "passes/LowerToTile/PairEmitter.h"
#include "passes/LowerToTile/Passes.h"
#include "passes/LowerToTile/StateEmitter.h"

#include "dialect/Taylor/ArrayBuilder.h"
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

using fusion::KernelKind;
using fusion::KernelOp;
using fusion::StoreOp;

/// A result of the function, as a tensor.
struct Result {
  Value tensor;
  bool isOptional = false;
};

class ProgramAssembler {
public:
  ProgramAssembler(FunctionOp function, const TileSizes &sizes)
      : function(function), sizes(sizes), kept(function), builder(function) {}

  void run(StringRef name);

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
  void declareArraysOf(KernelOp kernel);
  Value declare(Location loc, const Twine &name, tile::ArrayType type);
  /// The memory of a kernel's sum over pairs, of a state or array that it stores, and of its sums over
  /// blocks.
  Value declareSum(KernelOp kernel, OpResult sum, const Twine &name);
  Value declareStored(KernelOp kernel, StoreOp store, const Twine &name);
  tile::ArrayType partsMemory(KernelOp kernel, ArrayType type);
  Location locationOf(KernelOp kernel);
  void emitKernel(KernelOp kernel);
  void emitPairsKernel(KernelOp kernel, TileEmitter &emitter, Frame &frame);
  void emitStored(StoreOp store, TileEmitter &emitter, Frame &frame);
  void storeTile(StoreOp store, Value tile, TileEmitter &emitter, Frame &frame);
  /// An i1 that is true if one of these results is asked for at run time; null: always.
  Value requested(ArrayAttr results, OpBuilder &at, Location loc);
  /// Of a kernel that is local to tokens: the operations over whose keys it loops.
  llvm::SetVector<Operation *> rowPairsOf(KernelOp kernel);
  int64_t blockSize(KernelOp kernel);
  /// A grid over `axes`, token axes in blocks; and the place of one of its blocks.
  SmallVector<tile::ExtentAttr> gridOf(ArrayRef<AxisRef> axes, int64_t block);
  Frame frameOf(ArrayRef<AxisRef> axes, int64_t block, tile::KernelOp kernel, TileEmitter &emitter);
  bool hasKeysOnGrid(KernelOp kernel) {
    return taylor::hasKeysOnGrid(cast<PairwiseOp>(kernel.getPlanned()), sizes);
  }
  bool hasDiagonalsOnGrid(KernelOp kernel) {
    return taylor::hasDiagonalsOnGrid(cast<PairwiseOp>(kernel.getPlanned()), sizes);
  }
  /// The last extent of a kernel of pairs: its blocks of keys or of diagonals, or in how many parts they are
  /// cut.
  tile::ExtentAttr partsOf(KernelOp kernel);
  /// Calls `body` for each of the heads (or groups) that a block of `sizes.heads` holds.
  void forHeadsOfBlock(AxisRef axis, TileEmitter &emitter, const Frame &frame,
                       function_ref<void(Frame &)> body);
  /// What becomes of each result of a kernel of pairs.
  SmallVector<PairResult> planResults(KernelOp kernel, TileEmitter &emitter);
  void emitStepsKernel(KernelOp kernel, TileEmitter &emitter, Frame &frame);
  /// The kernel that sums each chunk, and the one that sums over chunks.
  void emitStatesKernels(KernelOp kernel);
  /// From now on what the kernel computes is read from memory.
  void remember(KernelOp kernel);
  /// A kernel that zeroes the rows to which a kernel of pairs adds atomically.
  void emitZeroKernel(KernelOp kernel);

  FunctionOp function;
  const TileSizes &sizes;
  KeptValues kept;
  OpBuilder builder;
  ArrayMemory memory;
  llvm::DenseMap<Value, Value> homes; // of values with memory, before their kernel has run
  llvm::DenseMap<Operation *, Value> partialHomes;
  llvm::DenseMap<StringAttr, Result> results; // by name
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
  tile::ArrayType type = storageOf(arrayTypeOf(array), arrayTypeOf(array).getScalarType());
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
          builder, argument.getLoc(),
          storageOf(arrayTypeOf(argument), arrayTypeOf(argument).getElementType()), name, UnitAttr());
  auto yield = cast<YieldOp>(function.getBody().front().getTerminator());
  for (auto [index, value] : llvm::enumerate(yield.getValues())) {
    auto name = cast<StringAttr>((*yield.getNames())[index]);
    bool isOptional = taylor::isOptional(function, index);
    Value tensor = tile::TensorOp::create(builder, yield.getLoc(),
                                          storageOf(arrayTypeOf(value), arrayTypeOf(value).getElementType()),
                                          name, isOptional ? builder.getUnitAttr() : UnitAttr());
    results[name] = {tensor, isOptional};
  }
}

Value ProgramAssembler::declare(Location loc, const Twine &name, tile::ArrayType type) {
  return tile::WorkspaceOp::create(builder, loc, type, builder.getStringAttr(name));
}

Value ProgramAssembler::declareSum(KernelOp kernel, OpResult sum, const Twine &name) {
  auto pairs = cast<PairwiseOp>(sum.getOwner());
  tile::ArrayType type = storageOf(arrayTypeOf(sum), arrayTypeOf(sum).getScalarType());
  PairOutput kind = pairs.getSum(sum.getResultNumber()).getKind();
  bool sumsInMemory = kind == PairOutput::Rows || kind == PairOutput::Diagonals;
  // One sum per part of the keys (or place of a key in its tile); they are added where they are read.
  if (kind == PairOutput::Total || (sumsInMemory && !hasKeysOnGrid(kernel)))
    type = inParts(sum, hasDiagonalsOnGrid(kernel)
                            ? tile::ExtentAttr::get(builder.getContext(), diagonalTile(pairs, sizes))
                            : partsOf(kernel));
  return declare(pairs.getLoc(), name, type);
}

/// One partial sum per block: the kernel's grid, then the channels.
tile::ArrayType ProgramAssembler::partsMemory(KernelOp kernel, ArrayType type) {
  SmallVector<tile::Axis> axes;
  for (StringRef axis : kernel.getAxes()) {
    if (isTokenAxis(axis))
      axes.push_back({builder.getStringAttr(TileEmitter::kBlockAxis),
                      tile::ExtentAttr::get(builder.getStringAttr(axis), blockSize(kernel))});
    else
      axes.push_back({builder.getStringAttr(axis), tile::ExtentAttr::get(builder.getStringAttr(axis))});
  }
  for (const tile::Axis &axis : storageOf(type, type.getScalarType()).getAxes())
    if (!tile::isRole(axis.getName()))
      axes.push_back(axis);
  return tile::ArrayType::get(builder.getContext(), axes, type.getScalarType());
}

Value ProgramAssembler::declareStored(KernelOp kernel, StoreOp store, const Twine &name) {
  Value value = store.getValue();
  ArrayType type = arrayTypeOf(value);
  Location loc = value.getLoc();
  auto firstResult = [&] { return results[cast<StringAttr>((*store.getNames())[0])].tensor; };
  if (isa_and_nonnull<StepStatesOp>(value.getDefiningOp()) && store.getNames())
    return firstResult();
  if (auto states = value.getDefiningOp<StatesOp>()) {
    // A result that nothing else reads is summed up in its place.
    auto readsNone = [](Operation *user) { return isa<YieldOp>(user) || fusion::isOfPlan(user); };
    if (store.getNames() && llvm::all_of(value.getUsers(), readsNone))
      return firstResult();
    return declare(loc, name, StateEmitter::memoryType(states, type));
  }
  return declare(loc, name,
                 store.getParts() ? partsMemory(kernel, type) : storageOf(type, type.getScalarType()));
}

void ProgramAssembler::declareArraysOf(KernelOp kernel) {
  std::string prefix = (*kernel.getSymName() + ".").str();
  int count = 0;
  auto isDeclared = [](Value memory) { return memory.getDefiningOp<tile::WorkspaceOp>(); };
  if (Value rotated = kernel.getRotated()) {
    AngleTable table = *cast<LoweringOpInterface>(rotated.getDefiningOp()).getAngles();
    MLIRContext *context = builder.getContext();
    SmallVector<tile::Axis> axes = llvm::map_to_vector(table.axes(), [&](StringRef axis) {
      return tile::Axis{builder.getStringAttr(axis), tile::ExtentAttr::get(builder.getStringAttr(axis))};
    });
    axes.push_back(tile::Axis::get(context, TileEmitter::kAngleAxis, table.channels / 2));
    auto type = tile::ArrayType::get(context, axes, table.elementType);
    Value cosines = declare(function.getLoc(), prefix + "cos", type);
    Value sines = declare(function.getLoc(), prefix + "sin", type);
    memory.angles.push_back({table, cosines, sines});
  }
  Operation *planned = kernel.getPlanned();
  if (auto pairs = dyn_cast_or_null<PairwiseOp>(planned))
    for (OpResult result : pairs->getResults())
      if (kept.contains(result))
        homes[result] = declareSum(kernel, result, prefix + Twine(count++));
  if (auto steps = dyn_cast_or_null<StepStatesOp>(planned))
    for (Value row : steps.getRows())
      homes[row] = declare(steps.getLoc(), prefix + Twine(count++), apart(inParts(row, partsOf(kernel))));
  for (StoreOp store : kernel.getStores()) {
    if (!store.getWorkspace())
      continue;
    Value home = declareStored(kernel, store, prefix + Twine(count));
    count += isDeclared(home) ? 1 : 0;
    if (store.getParts())
      partialHomes[store.getValue().getDefiningOp()] = home;
    else
      homes[store.getValue()] = home;
  }
}

void ProgramAssembler::declareWorkspace() {
  for (KernelOp kernel : fusion::getKernels(function))
    declareArraysOf(kernel);
}

Value ProgramAssembler::requested(ArrayAttr names, OpBuilder &at, Location loc) {
  Value any;
  if (names)
    for (StringAttr name : names.getAsRange<StringAttr>()) {
      Value one = tile::RequestedOp::create(at, loc, at.getI1Type(), results[name].tensor);
      any = any ? Value(arith::OrIOp::create(at, loc, any, one)) : one;
    }
  return any;
}

llvm::SetVector<Operation *> ProgramAssembler::rowPairsOf(KernelOp kernel) {
  llvm::SetVector<Operation *> pairs;
  if (kernel.isLocal())
    for (fusion::SumOp sum : kernel.getSums())
      pairs.insert(sum.getValue().getDefiningOp());
  return pairs;
}

/// Partial sums are per block of `tokens`; loops over keys want blocks of queries.
int64_t ProgramAssembler::blockSize(KernelOp kernel) {
  llvm::SetVector<Operation *> rowPairs = rowPairsOf(kernel);
  if (rowPairs.empty() || llvm::any_of(kernel.getStores(), [](StoreOp store) { return store.getParts(); }))
    return sizes.tokens;
  int64_t queries = std::numeric_limits<int64_t>::max();
  for (Operation *op : rowPairs)
    queries = std::min(queries, rowTile(cast<PairwiseOp>(op), sizes).queries);
  return queries;
}

tile::ExtentAttr ProgramAssembler::partsOf(KernelOp kernel) {
  bool isPairs = kernel.getKind() == KernelKind::Pairs;
  if (isPairs && hasDiagonalsOnGrid(kernel))
    return tile::ExtentAttr::get(axisAttr(builder, AxisRole::Lag),
                                 diagonalTile(cast<PairwiseOp>(kernel.getPlanned()), sizes));
  if (isPairs && hasKeysOnGrid(kernel))
    return tile::ExtentAttr::get(axisAttr(builder, AxisRole::Key),
                                 columnTile(cast<PairwiseOp>(kernel.getPlanned()), sizes).keys);
  SmallVector<AxisRef> axes = kernel.getAxes();
  if (axes.size() < 2)
    return tile::ExtentAttr::get(builder.getContext(), axes.empty() ? sizes.blocks : 1);
  return tile::ExtentAttr::get(builder.getContext(), sizes.blocks, {StringRef(axes[0]), StringRef(axes[1])});
}

void ProgramAssembler::storeTile(StoreOp store, Value tile, TileEmitter &emitter, Frame &frame) {
  Value value = store.getValue();
  if (store.getWorkspace())
    emitter.store(tile, store.getParts() ? partialHomes[value.getDefiningOp()] : homes[value], frame);
  if (!store.getNames())
    return;
  for (StringAttr name : store.getNames()->getAsRange<StringAttr>()) {
    Result result = results[name];
    if (!result.isOptional) {
      emitter.store(tile, result.tensor, frame);
      continue;
    }
    Value asked =
        tile::RequestedOp::create(emitter.builder, emitter.loc, emitter.builder.getI1Type(), result.tensor);
    auto branch = scf::IfOp::create(emitter.builder, emitter.loc, asked, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(emitter.builder);
    emitter.builder.setInsertionPointToStart(branch.thenBlock());
    emitter.store(tile, result.tensor, frame);
  }
}

void ProgramAssembler::emitStored(StoreOp store, TileEmitter &emitter, Frame &frame) {
  llvm::SaveAndRestore<Location> place(emitter.loc, store.getValue().getLoc());
  Value tile = store.getParts() ? emitter.emitPartial(cast<ReduceOp>(store.getValue().getDefiningOp()), frame)
                                : emitter.emit(store.getValue(), frame);
  storeTile(store, tile, emitter, frame);
}

SmallVector<PairResult> ProgramAssembler::planResults(KernelOp kernel, TileEmitter &emitter) {
  auto pairs = cast<PairwiseOp>(kernel.getPlanned());
  SmallVector<PairResult> plans(pairs.getNumResults());
  for (fusion::SumOp sum : kernel.getSums()) {
    auto result = cast<OpResult>(sum.getValue());
    PairResult &plan = plans[result.getResultNumber()];
    plan.requested = requested(sum.getAskedAttr(), emitter.builder, emitter.loc);
    if (pairs.getSum(result.getResultNumber()).getKind() != PairOutput::Columns)
      plan.memory = homes[result];
  }
  return plans;
}

void ProgramAssembler::emitZeroKernel(KernelOp kernel) {
  auto pairs = cast<PairwiseOp>(kernel.getPlanned());
  SmallVector<Value> rows;
  for (auto [result, sum] : llvm::zip(pairs.getResults(), pairs.getSums().getAsRange<PairSumAttr>()))
    if (sum.getKind() == PairOutput::Rows)
      rows.push_back(result);
  if (rows.empty())
    return;
  SmallVector<AxisRef> axes = gridAxes(rows);
  int64_t block = columnTile(pairs, sizes).queries;
  Location loc = pairs.getLoc();
  auto op = tile::KernelOp::create(builder, loc, (*kernel.getSymName() + "_zero").str(), gridOf(axes, block));
  OpBuilder inside = OpBuilder::atBlockEnd(op.getBlock());
  TileEmitter emitter(inside, loc, memory, sizes, function);
  Frame frame = frameOf(axes, block, op, emitter);
  PairEmitter(emitter, pairs).zeroRows(frame, planResults(kernel, emitter));
}

void ProgramAssembler::emitStatesKernels(KernelOp kernel) {
  auto op = cast<StatesOp>(kernel.getPlanned());
  Location loc = op.getLoc();
  SmallVector<Value> arrays = llvm::map_to_vector(op.getResults(), [&](Value state) { return homes[state]; });
  MLIRContext *context = builder.getContext();
  auto panelsOf = [&](int64_t features) {
    return tile::ExtentAttr::get(context, StateEmitter::panelsOf(op, features));
  };
  // Grid: batch and heads, then what `extra` lists.
  auto emit = [&](const Twine &name, ArrayRef<std::pair<StringRef, tile::ExtentAttr>> extra,
                  function_ref<void(StateEmitter &, Frame &)> body) {
    SmallVector<tile::ExtentAttr> grid = gridOf(kernel.getAxes(), 1);
    for (auto [axis, extent] : extra)
      grid.push_back(extent);
    auto made = tile::KernelOp::create(builder, loc, name.str(), grid);
    OpBuilder inside = OpBuilder::atBlockEnd(made.getBlock());
    if (Value asked = requested(kernel.getAskedAttr(), inside, loc)) {
      auto branch = scf::IfOp::create(inside, loc, asked, /*withElseRegion=*/false);
      inside.setInsertionPointToStart(branch.thenBlock());
    }
    TileEmitter emitter(inside, loc, memory, sizes, function);
    Frame frame = frameOf(kernel.getAxes(), 1, made, emitter);
    for (auto [number, entry] : llvm::enumerate(extra))
      frame.indices[entry.first] = made.getBlock()->getArgument(kernel.getGrid().size() + number);
    StateEmitter states(emitter);
    body(states, frame);
  };
  SmallVector<std::pair<StringRef, tile::ExtentAttr>> extra;
  if (op.getChunk())
    extra.push_back({TileEmitter::kChunkAxis,
                     tile::ExtentAttr::get(axisAttr(builder, AxisRole::Query), int64_t(op.getChunk()))});
  if (sizes.featuresOnGrid)
    extra.push_back({TileEmitter::kPanelAxis, panelsOf(sizes.stateFeatures)});
  emit(*kernel.getSymName(), extra,
       [&](StateEmitter &states, Frame &frame) { states.emitSums(op, frame, arrays); });
  if (op.getChunk())
    emit(*kernel.getSymName() + "_pass", {{TileEmitter::kPanelAxis, panelsOf(sizes.getPassFeatures())}},
         [&](StateEmitter &states, Frame &frame) { states.emitPass(op, frame, arrays); });
  remember(kernel);
}

void ProgramAssembler::emitStepsKernel(KernelOp kernel, TileEmitter &emitter, Frame &frame) {
  auto op = cast<StepStatesOp>(kernel.getPlanned());
  auto memoryOf = [&](ResultRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return homes[value]; });
  };
  StateEmitter(emitter).emitSteps(op, frame, emitter.extent(partsOf(kernel)), memoryOf(op.getRows()),
                                  memoryOf(op.getStates()));
}

void ProgramAssembler::emitPairsKernel(KernelOp kernel, TileEmitter &emitter, Frame &frame) {
  auto pairs = cast<PairwiseOp>(kernel.getPlanned());
  SmallVector<PairResult> plans = planResults(kernel, emitter);
  if (hasDiagonalsOnGrid(kernel))
    return PairEmitter(emitter, pairs).emitDiagonals(frame, emitter.extent(partsOf(kernel)), plans);
  // Where sums into columns are complete, they are stored, and with them what depends on nothing else.
  bool groups = llvm::is_contained(kernel.getAxes(), AxisRole::KeyHead);
  auto finish = [&](Frame &done) {
    bool ofHead = groups && done.indices.contains(AxisRole::Head);
    auto belongs = [&](Value value) { return !groups || arrayTypeOf(value).has(AxisRole::Head) == ofHead; };
    for (auto [result, sum] : llvm::zip(pairs.getResults(), pairs.getSums().getAsRange<PairSumAttr>()))
      if (sum.getKind() == PairOutput::Columns && belongs(result) && homes.contains(result))
        emitter.store(done.tiles.lookup(result), homes[result], done);
    for (StoreOp store : kernel.getStores())
      if (belongs(store.getValue()))
        emitStored(store, emitter, done);
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

/// Of the operation that it loops over; else of the rotations whose angles it makes; else of its first store.
Location ProgramAssembler::locationOf(KernelOp kernel) {
  if (Operation *planned = kernel.getPlanned())
    return planned->getLoc();
  Value rotated = kernel.getRotated();
  if (!rotated)
    return kernel.getStores().front().getValue().getLoc();
  std::optional<AngleTable> table = cast<LoweringOpInterface>(rotated.getDefiningOp()).getAngles();
  SmallVector<Location> rotations;
  function.walk([&](LoweringOpInterface op) {
    if (op.getAngles() == table)
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

void ProgramAssembler::emitKernel(KernelOp kernel) {
  int64_t block = blockSize(kernel);
  SmallVector<AxisRef> axes = kernel.getAxes();
  SmallVector<tile::ExtentAttr> grid = gridOf(axes, block);
  llvm::SetVector<Operation *> rowPairs = rowPairsOf(kernel);
  auto *heads =
      llvm::find_if(axes, [](StringRef axis) { return axis == AxisRole::Head || axis == AxisRole::KeyHead; });
  // A loop over keys is work enough for a block, and threads for each head.
  bool manyHeads = kernel.isLocal() && rowPairs.empty() && sizes.heads > 1 && heads != axes.end();
  if (manyHeads)
    grid[heads - axes.begin()] = tile::ExtentAttr::get(builder.getStringAttr(*heads), sizes.heads);
  Location loc = locationOf(kernel);
  bool inParts = kernel.getKind() == KernelKind::Pairs || kernel.getKind() == KernelKind::Steps;
  if (inParts)
    grid.push_back(partsOf(kernel));
  if (kernel.getChannels())
    grid.push_back(tile::ExtentAttr::get(builder.getContext(),
                                         llvm::divideCeil(*kernel.getChannelsSize(), sizes.stateFeatures)));
  auto op = tile::KernelOp::create(builder, loc, *kernel.getSymName(), grid);
  OpBuilder inside = OpBuilder::atBlockEnd(op.getBlock());
  if (Value asked = requested(kernel.getAskedAttr(), inside, loc)) {
    auto branch = scf::IfOp::create(inside, loc, asked, /*withElseRegion=*/false);
    inside.setInsertionPointToStart(branch.thenBlock());
  }

  TileEmitter emitter(inside, loc, memory, sizes, function);
  Frame frame = frameOf(axes, block, op, emitter);
  if (kernel.isLocal())
    for (fusion::SumOp sum : kernel.getSums())
      if (Operation *pairs = sum.getValue().getDefiningOp(); !frame.asked.contains(pairs))
        if (Value asked = requested(sum.getAskedAttr(), inside, loc))
          frame.asked[pairs] = asked;
  if (inParts)
    frame.indices[TileEmitter::kPartAxis] = op.getBlock()->getArguments().back();
  if (kernel.getChannels()) {
    frame.channel = *kernel.getChannels();
    frame.channelSize = sizes.stateFeatures;
    frame.channelStart = arith::MulIOp::create(inside, loc, op.getBlock()->getArguments().back(),
                                               emitter.constant(frame.channelSize));
  }
  switch (kernel.getKind()) {
  case KernelKind::Angles: {
    AngleTable wanted = *cast<LoweringOpInterface>(kernel.getRotated().getDefiningOp()).getAngles();
    auto &[table, cosines, sines] =
        *llvm::find_if(memory.angles, [&](auto &entry) { return std::get<0>(entry) == wanted; });
    emitter.emitAngles(table, cosines, sines, frame);
    break;
  }
  case KernelKind::Local: {
    auto emitAll = [&](Frame &frame) {
      for (StoreOp store : kernel.getStores())
        emitStored(store, emitter, frame);
    };
    if (manyHeads)
      forHeadsOfBlock(*heads, emitter, frame, emitAll);
    else
      emitAll(frame);
    break;
  }
  case KernelKind::Scan:
    cast<LoweringOpInterface>(kernel.getPlanned()).emitWalk(emitter, frame, [&](Value tile, Frame &at) {
      storeTile(kernel.getStores().front(), tile, emitter, at);
    });
    break;
  case KernelKind::Steps:
    emitStepsKernel(kernel, emitter, frame);
    break;
  case KernelKind::Pairs:
    emitPairsKernel(kernel, emitter, frame);
    break;
  case KernelKind::States:
    llvm_unreachable("two kernels");
  }

  remember(kernel);
}

void ProgramAssembler::remember(KernelOp kernel) {
  for (StoreOp store : kernel.getStores()) {
    Value value = store.getValue();
    if (store.getWorkspace() && store.getParts())
      memory.partials[value.getDefiningOp()] = partialHomes[value.getDefiningOp()];
    else if (store.getWorkspace())
      memory.values[value] = homes[value];
  }
  Operation *planned = kernel.getPlanned();
  if (auto steps = dyn_cast_or_null<StepStatesOp>(planned))
    for (Value row : steps.getRows())
      memory.values[row] = homes[row];
  if (auto pairs = dyn_cast_or_null<PairwiseOp>(planned))
    for (Value result : pairs.getResults())
      if (homes.contains(result))
        memory.values[result] = homes[result];
}

void ProgramAssembler::run(StringRef name) {
  auto plan = cast_if_present<tile::PlanAttr>(function.getPlanAttr());
  auto form = cast_if_present<tile::FormAttr>(function.getFormAttr());
  auto program = tile::ProgramOp::create(builder, function.getLoc(), name, plan, form);
  builder.setInsertionPointToStart(program.getBlock());
  declareTensors();
  declareWorkspace();
  for (KernelOp kernel : fusion::getKernels(function)) {
    if (kernel.getKind() == KernelKind::States) {
      emitStatesKernels(kernel);
      continue;
    }
    if (kernel.getKind() == KernelKind::Pairs && hasKeysOnGrid(kernel))
      emitZeroKernel(kernel);
    emitKernel(kernel);
  }
  auto countOf = [&](auto ops) { return std::distance(ops.begin(), ops.end()); };
  numKernels = countOf(program.getBlock()->getOps<tile::KernelOp>());
  numWorkspaces = countOf(program.getBlock()->getOps<tile::WorkspaceOp>());
}

/// Whether all results are stored by kernels, which have names.
LogicalResult checkPlan(FunctionOp function) {
  SmallVector<KernelOp> kernels = fusion::getKernels(function);
  bool isNamed = llvm::all_of(kernels, [](KernelOp kernel) { return kernel.getSymName().has_value(); });
  bool hasResults = function.getBody().front().getTerminator()->getNumOperands() > 0;
  if (!isNamed || (kernels.empty() && hasResults))
    return function.emitOpError("requires kernels, in order: run taylor-plan-kernels before");
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
      if (failed(checkPlan(function)))
        return signalPassFailure();
      std::string name = part.empty() || parts[part] > 1 ? function.getSymName().str() : part.str();
      TileSizes sizes = tile::getTileSizes(function);
      ProgramAssembler assembler(function, sizes);
      assembler.run(name);
      LDBG() << "program " << name << ": " << assembler.numKernels << " kernels, " << assembler.numWorkspaces
             << " arrays in workspace";
      numKernels += assembler.numKernels;
      numWorkspaces += assembler.numWorkspaces;
      function.erase();
    }
  }
};

} // namespace
