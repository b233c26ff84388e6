// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/ProgramArrays.h"
#include "passes/LowerToTile/Emit/StateChunks.h"
#include "passes/LowerToTile/Fusion/KernelGrid.h"

#include "dialect/Taylor/ArrayBuilder.h"

using namespace mlir;
using namespace taylor;
using fusion::KernelOp;
using fusion::StoreOp;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

tile::ArrayType ProgramArrays::storageOf(ArrayType type, Type elementType) const {
  MLIRContext *context = type.getContext();
  SmallVector<tile::Axis> axes;
  for (auto [name, size] : llvm::zip(type.getAxes(), type.getSizes()))
    axes.push_back({name, isRuntimeAxis(name.getValue()) ? tile::ExtentAttr::get(name)
                                                         : tile::ExtentAttr::get(context, size)});
  return tile::ArrayType::get(context, axes, elementType);
}

tile::ArrayType ProgramArrays::inParts(Value array, tile::ExtentAttr parts) const {
  tile::ArrayType type = storageOf(arrayTypeOf(array), arrayTypeOf(array).getScalarType());
  MLIRContext *context = type.getContext();
  SmallVector<tile::Axis> axes{{StringAttr::get(context, TileEmitter::kPartAxis), parts}};
  llvm::append_range(axes, type.getAxes());
  return tile::ArrayType::get(context, axes, type.getElementType());
}

tile::ArrayType ProgramArrays::apart(tile::ArrayType rows) const {
  bool areNumbers = llvm::all_of(rows.getAxes(), [](const tile::Axis &axis) {
    return !axis.extent.isStatic() || axis.getName() == TileEmitter::kPartAxis;
  });
  if (!sizes.lineBytes || !areNumbers)
    return rows;
  // The tokens of a head lie side by side, since its block adds to one after the other. They have their
  // memory as many times as fills a line: 16 times for one token of f32, once for 16 or more.
  MLIRContext *context = rows.getContext();
  SmallVector<tile::Axis> axes, tokens;
  for (const tile::Axis &axis : rows.getAxes())
    (isTokenAxis(axis.getName()) ? tokens : axes).push_back(axis);
  uint64_t perLine =
      llvm::divideCeil(uint64_t(sizes.lineBytes), rows.getElementType().getIntOrFloatBitWidth() / 8);
  axes.push_back({StringAttr::get(context, TileEmitter::kLineAxis),
                  tile::ExtentAttr::get(context, int64_t(perLine), {tokens.front().getName()})});
  llvm::append_range(axes, tokens);
  return tile::ArrayType::get(context, axes, rows.getElementType());
}

tile::ArrayType ProgramArrays::partsMemory(KernelOp kernel, ArrayType type) const {
  MLIRContext *context = type.getContext();
  SmallVector<tile::Axis> axes;
  for (StringAttr axis : kernel.getGrid().getAsRange<StringAttr>()) {
    if (isTokenAxis(axis))
      axes.push_back({StringAttr::get(context, TileEmitter::kBlockAxis),
                      tile::ExtentAttr::get(axis, blockSize(kernel, sizes))});
    else
      axes.push_back({axis, tile::ExtentAttr::get(axis)});
  }
  for (const tile::Axis &axis : storageOf(type, type.getScalarType()).getAxes())
    if (!tile::isRole(axis.getName()))
      axes.push_back(axis);
  return tile::ArrayType::get(context, axes, type.getScalarType());
}

tile::ArrayType ProgramArrays::sumMemory(KernelOp kernel, OpResult sum) const {
  auto pairs = cast<PairwiseOp>(sum.getOwner());
  PairOutput kind = pairs.getSum(sum.getResultNumber()).getKind();
  bool sumsInMemory = kind == PairOutput::Rows || kind == PairOutput::Diagonals;
  if (kind != PairOutput::Total && !(sumsInMemory && !hasKeysOnGrid(kernel, sizes)))
    return storageOf(arrayTypeOf(sum), arrayTypeOf(sum).getScalarType());
  // One sum per part of the keys (or place of a key in its tile); they are added where they are read.
  return inParts(sum, hasDiagonalsOnGrid(kernel, sizes)
                          ? tile::ExtentAttr::get(sum.getContext(), diagonalTile(pairs, sizes))
                          : partsOf(kernel, sizes));
}

tile::ArrayType ProgramArrays::storedMemory(KernelOp kernel, StoreOp store) const {
  ArrayType type = arrayTypeOf(store.getValue());
  if (auto states = store.getValue().getDefiningOp<StatesOp>())
    return StateChunks::memoryType(states, type);
  return store.getParts() ? partsMemory(kernel, type) : storageOf(type, type.getScalarType());
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void ProgramArrays::declareTensors(OpBuilder &program) {
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
          program, argument.getLoc(),
          storageOf(arrayTypeOf(argument), arrayTypeOf(argument).getElementType()), name, UnitAttr());
  auto yield = cast<YieldOp>(function.getBody().front().getTerminator());
  for (auto [index, value] : llvm::enumerate(yield.getValues())) {
    auto name = cast<StringAttr>((*yield.getNames())[index]);
    bool isOptional = taylor::isOptional(function, index);
    Value tensor = tile::TensorOp::create(program, yield.getLoc(),
                                          storageOf(arrayTypeOf(value), arrayTypeOf(value).getElementType()),
                                          name, isOptional ? program.getUnitAttr() : UnitAttr());
    results[name] = {tensor, isOptional};
  }
}

static Value declareWorkspace(OpBuilder &program, Location loc, const Twine &name, tile::ArrayType type,
                              StringAttr because) {
  return tile::WorkspaceOp::create(program, loc, type, program.getStringAttr(name), because);
}

void ProgramArrays::declareAngles(KernelOp kernel, OpBuilder &program) {
  AngleTable table = *cast<LoweringOpInterface>(kernel.getRotated().getDefiningOp()).getAngles();
  MLIRContext *context = program.getContext();
  SmallVector<tile::Axis> axes = llvm::map_to_vector(table.axes(), [&](StringRef axis) {
    return tile::Axis{program.getStringAttr(axis), tile::ExtentAttr::get(program.getStringAttr(axis))};
  });
  axes.push_back(tile::Axis::get(context, TileEmitter::kAngleAxis, table.channels / 2));
  auto type = tile::ArrayType::get(context, axes, table.elementType);
  StringRef name = *kernel.getSymName();
  StringAttr because = kernel.getTable().getBecauseAttr();
  Value cosines = declareWorkspace(program, function.getLoc(), name + ".cos", type, because);
  Value sines = declareWorkspace(program, function.getLoc(), name + ".sin", type, because);
  memory.angles.push_back({table, cosines, sines});
}

Value ProgramArrays::resultInPlace(StoreOp store) const {
  if (!store.getNames() || !isa_and_nonnull<StepStatesOp, StatesOp>(store.getValue().getDefiningOp()))
    return {};
  // A recurrence works in the memory of its states. A state that nothing else reads is summed up in its
  // place.
  auto readsNone = [](Operation *user) { return isa<YieldOp>(user) || fusion::isOfPlan(user); };
  if (store.getValue().getDefiningOp<StatesOp>() && !llvm::all_of(store.getValue().getUsers(), readsNone))
    return {};
  return getResult(cast<StringAttr>((*store.getNames())[0])).tensor;
}

void ProgramArrays::declareArraysOf(KernelOp kernel, OpBuilder &program) {
  int count = 0;
  auto declare = [&](Location loc, tile::ArrayType type, StringAttr because) {
    return declareWorkspace(program, loc, *kernel.getSymName() + "." + Twine(count++), type, because);
  };
  if (kernel.getRotated())
    declareAngles(kernel, program);
  Operation *planned = kernel.getPlanned();
  if (auto pairs = dyn_cast_or_null<PairwiseOp>(planned))
    for (OpResult result : pairs->getResults())
      if (kept.contains(result))
        homes[result] = declare(pairs.getLoc(), sumMemory(kernel, result), kept.getReason(result));
  if (auto steps = dyn_cast_or_null<StepStatesOp>(planned))
    for (Value row : steps.getRows())
      homes[row] =
          declare(steps.getLoc(), apart(inParts(row, partsOf(kernel, sizes))), kernel.getBecauseAttr());
  for (StoreOp store : kernel.getStores()) {
    if (!store.getWorkspace())
      continue;
    Value home = resultInPlace(store);
    if (!home)
      home = declare(store.getValue().getLoc(), storedMemory(kernel, store),
                     kept.getReason(store.getValue(), store.getParts()));
    if (store.getParts())
      partsHomes[store.getValue().getDefiningOp()] = home;
    else
      homes[store.getValue()] = home;
  }
}

void ProgramArrays::declare(OpBuilder &program) {
  declareTensors(program);
  for (KernelOp kernel : fusion::getKernels(function))
    declareArraysOf(kernel, program);
}

//===----------------------------------------------------------------------===//
// What lies where
//===----------------------------------------------------------------------===//

Value ProgramArrays::getHome(StoreOp store) const {
  return store.getParts() ? partsHomes.lookup(store.getValue().getDefiningOp()) : getHome(store.getValue());
}

void ProgramArrays::remember(KernelOp kernel) {
  for (StoreOp store : kernel.getStores()) {
    Value value = store.getValue();
    if (store.getWorkspace() && store.getParts())
      memory.partials[value.getDefiningOp()] = getHome(store);
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
