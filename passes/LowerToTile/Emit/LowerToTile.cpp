// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembles a tile program: its arrays, and a kernel for each `fusion.kernel`.
#include "passes/Debug.h"
#include "passes/LowerToTile/Emit/PairColumns.h"
#include "passes/LowerToTile/Emit/PairDiagonals.h"
#include "passes/LowerToTile/Emit/ProgramArrays.h"
#include "passes/LowerToTile/Emit/StateSteps.h"
#include "passes/LowerToTile/Emit/StateSums.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/Fusion/FunctionRewrites.h"
#include "passes/LowerToTile/Fusion/KernelGrid.h"
#include "passes/LowerToTile/Passes.h"

#include "dialect/Taylor/ArrayBuilder.h"

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

class ProgramAssembler {
public:
  ProgramAssembler(FunctionOp function, const TileSizes &sizes)
      : function(function), sizes(sizes), builder(function), arrays(function, sizes) {}

  void run(StringRef name);

  /// Of the program, once it is made.
  unsigned numKernels = 0, numWorkspaces = 0;

private:
  Location locationOf(KernelOp kernel);
  void emitKernel(KernelOp kernel);
  void emitPairsKernel(KernelOp kernel, TileEmitter &emitter, Frame &frame);
  void emitStored(StoreOp store, TileEmitter &emitter, Frame &frame);
  void storeTile(StoreOp store, Value tile, TileEmitter &emitter, Frame &frame);
  /// An i1 that is true if one of these results is asked for at run time; null: always.
  Value requested(ArrayAttr results, OpBuilder &at, Location loc);
  /// A grid over `axes`, token axes in blocks; and the place of one of its blocks.
  SmallVector<tile::ExtentAttr> gridOf(ArrayRef<AxisRef> axes, int64_t block);
  Frame frameOf(ArrayRef<AxisRef> axes, int64_t block, tile::KernelOp kernel, TileEmitter &emitter);
  /// Calls `body` for each of the heads (or groups) that a block of `sizes.heads` holds.
  void forHeadsOfBlock(AxisRef axis, TileEmitter &emitter, const Frame &frame,
                       function_ref<void(Frame &)> body);
  /// What becomes of each result of a kernel of pairs.
  SmallVector<PairResult> planResults(KernelOp kernel, TileEmitter &emitter);
  void emitStepsKernel(KernelOp kernel, TileEmitter &emitter, Frame &frame);
  /// The kernel that sums each chunk, and the one that sums over chunks.
  void emitStatesKernels(KernelOp kernel);
  /// A kernel that zeroes the rows to which a kernel of pairs adds atomically.
  void emitZeroKernel(KernelOp kernel);

  FunctionOp function;
  const TileSizes &sizes;
  OpBuilder builder;
  ProgramArrays arrays;
};

Value ProgramAssembler::requested(ArrayAttr names, OpBuilder &at, Location loc) {
  Value any;
  if (names)
    for (StringAttr name : names.getAsRange<StringAttr>()) {
      Value one = tile::RequestedOp::create(at, loc, at.getI1Type(), arrays.getResult(name).tensor);
      any = any ? Value(arith::OrIOp::create(at, loc, any, one)) : one;
    }
  return any;
}

void ProgramAssembler::storeTile(StoreOp store, Value tile, TileEmitter &emitter, Frame &frame) {
  if (store.getWorkspace())
    emitter.store(tile, arrays.getHome(store), frame);
  if (!store.getNames())
    return;
  for (StringAttr name : store.getNames()->getAsRange<StringAttr>()) {
    ProgramArrays::Result result = arrays.getResult(name);
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
      plan.memory = arrays.getHome(result);
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
  TileEmitter emitter(inside, loc, arrays.getMemory(), sizes, function);
  Frame frame = frameOf(axes, block, op, emitter);
  PairColumns(emitter, pairs, planResults(kernel, emitter)).zeroRows(frame);
}

void ProgramAssembler::emitStatesKernels(KernelOp kernel) {
  auto op = cast<StatesOp>(kernel.getPlanned());
  Location loc = op.getLoc();
  SmallVector<Value> homes =
      llvm::map_to_vector(op.getResults(), [&](Value state) { return arrays.getHome(state); });
  MLIRContext *context = builder.getContext();
  auto panelsOf = [&](int64_t features) {
    return tile::ExtentAttr::get(context, StatePanels::panelsOf(op, features));
  };
  // Grid: batch and heads, then what `extra` lists.
  auto emit = [&](const Twine &name, ArrayRef<std::pair<StringRef, tile::ExtentAttr>> extra,
                  function_ref<void(StateSums &, Frame &)> body) {
    SmallVector<tile::ExtentAttr> grid = gridOf(kernel.getAxes(), 1);
    for (auto [axis, extent] : extra)
      grid.push_back(extent);
    auto made = tile::KernelOp::create(builder, loc, name.str(), grid);
    OpBuilder inside = OpBuilder::atBlockEnd(made.getBlock());
    if (Value asked = requested(kernel.getAskedAttr(), inside, loc)) {
      auto branch = scf::IfOp::create(inside, loc, asked, /*withElseRegion=*/false);
      inside.setInsertionPointToStart(branch.thenBlock());
    }
    TileEmitter emitter(inside, loc, arrays.getMemory(), sizes, function);
    Frame frame = frameOf(kernel.getAxes(), 1, made, emitter);
    for (auto [number, entry] : llvm::enumerate(extra))
      frame.indices[entry.first] = made.getBlock()->getArgument(kernel.getGrid().size() + number);
    StateSums states(emitter, op, homes);
    body(states, frame);
  };
  SmallVector<std::pair<StringRef, tile::ExtentAttr>> extra;
  if (op.getChunk())
    extra.push_back({TileEmitter::kChunkAxis,
                     tile::ExtentAttr::get(axisAttr(builder, AxisRole::Query), int64_t(op.getChunk()))});
  if (sizes.featuresOnGrid)
    extra.push_back({TileEmitter::kPanelAxis, panelsOf(sizes.stateFeatures)});
  emit(*kernel.getSymName(), extra, [](StateSums &states, Frame &frame) { states.emitSums(frame); });
  if (op.getChunk())
    emit(*kernel.getSymName() + "_pass", {{TileEmitter::kPanelAxis, panelsOf(sizes.getPassFeatures())}},
         [](StateSums &states, Frame &frame) { states.emitPass(frame); });
  arrays.remember(kernel);
}

void ProgramAssembler::emitStepsKernel(KernelOp kernel, TileEmitter &emitter, Frame &frame) {
  auto op = cast<StepStatesOp>(kernel.getPlanned());
  auto memoryOf = [&](ResultRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return arrays.getHome(value); });
  };
  StateSteps(emitter, op, memoryOf(op.getRows()), memoryOf(op.getStates()))
      .emit(frame, emitter.extent(partsOf(kernel, sizes)));
}

void ProgramAssembler::emitPairsKernel(KernelOp kernel, TileEmitter &emitter, Frame &frame) {
  auto pairs = cast<PairwiseOp>(kernel.getPlanned());
  SmallVector<PairResult> plans = planResults(kernel, emitter);
  if (hasDiagonalsOnGrid(kernel, sizes))
    return PairDiagonals(emitter, pairs, plans).emit(frame, emitter.extent(partsOf(kernel, sizes)));
  // Where sums into columns are complete, they are stored, and with them what depends on nothing else.
  bool groups = llvm::is_contained(kernel.getAxes(), AxisRole::KeyHead);
  auto finish = [&](Frame &done) {
    bool ofHead = groups && done.indices.contains(AxisRole::Head);
    auto belongs = [&](Value value) { return !groups || arrayTypeOf(value).has(AxisRole::Head) == ofHead; };
    for (auto [result, sum] : llvm::zip(pairs.getResults(), pairs.getSums().getAsRange<PairSumAttr>()))
      if (sum.getKind() == PairOutput::Columns && belongs(result) && arrays.getHome(result))
        emitter.store(done.tiles.lookup(result), arrays.getHome(result), done);
    for (StoreOp store : kernel.getStores())
      if (belongs(store.getValue()))
        emitStored(store, emitter, done);
  };
  PairColumns(emitter, pairs, plans).emit(frame, emitter.extent(partsOf(kernel, sizes)), finish);
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
/// And that of the plan.
Location ProgramAssembler::locationOf(KernelOp kernel) {
  SmallVector<Location> locations;
  Value rotated = kernel.getRotated();
  if (Operation *planned = kernel.getPlanned())
    locations.push_back(planned->getLoc());
  else if (!rotated)
    locations.push_back(kernel.getStores().front().getValue().getLoc());
  else
    function.walk([&](LoweringOpInterface op) {
      if (op.getAngles() == cast<LoweringOpInterface>(rotated.getDefiningOp()).getAngles())
        locations.push_back(op.getLoc());
    });
  locations.push_back(kernel.getLoc());
  return builder.getFusedLoc(locations);
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
  int64_t block = blockSize(kernel, sizes);
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
    grid.push_back(partsOf(kernel, sizes));
  if (kernel.getChannels())
    grid.push_back(tile::ExtentAttr::get(builder.getContext(),
                                         llvm::divideCeil(*kernel.getChannelsSize(), sizes.stateFeatures)));
  auto op = tile::KernelOp::create(builder, loc, *kernel.getSymName(), grid);
  OpBuilder inside = OpBuilder::atBlockEnd(op.getBlock());
  if (Value asked = requested(kernel.getAskedAttr(), inside, loc)) {
    auto branch = scf::IfOp::create(inside, loc, asked, /*withElseRegion=*/false);
    inside.setInsertionPointToStart(branch.thenBlock());
  }

  TileEmitter emitter(inside, loc, arrays.getMemory(), sizes, function);
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
    const auto &[table, cosines, sines] =
        *llvm::find_if(arrays.getMemory().angles, [&](auto &entry) { return std::get<0>(entry) == wanted; });
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

  arrays.remember(kernel);
}

void ProgramAssembler::run(StringRef name) {
  auto plan = cast_if_present<tile::PlanAttr>(function.getPlanAttr());
  auto form = cast_if_present<tile::FormAttr>(function.getFormAttr());
  auto program = tile::ProgramOp::create(builder, function.getLoc(), name, plan, form);
  builder.setInsertionPointToStart(program.getBlock());
  arrays.declare(builder);
  for (KernelOp kernel : fusion::getKernels(function)) {
    if (kernel.getKind() == KernelKind::States) {
      emitStatesKernels(kernel);
      continue;
    }
    if (kernel.getKind() == KernelKind::Pairs && hasKeysOnGrid(kernel, sizes))
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
    auto shortName = [](FunctionOp function) { return function.getShortName(); };
    for (FunctionOp function : functions)
      ++parts[shortName(function)];
    for (FunctionOp function : functions) {
      StringRef part = shortName(function);
      if (failed(checkPlan(function)))
        return signalPassFailure();
      relaxPrecision(function);
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
