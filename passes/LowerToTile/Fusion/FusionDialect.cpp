// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Fusion/FusionDialect.h"

#include "dialect/Tile/TileSyntax.h"

using namespace mlir;
using namespace taylor;
using namespace taylor::fusion;
using tile::parseNames;
using tile::printNames;

#include "passes/LowerToTile/Fusion/FusionDialect.cpp.inc"
#include "passes/LowerToTile/Fusion/FusionEnums.cpp.inc"
#define GET_OP_CLASSES
#include "passes/LowerToTile/Fusion/FusionOps.cpp.inc"

void FusionDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "passes/LowerToTile/Fusion/FusionOps.cpp.inc"
      >();
}

SmallVector<KeepOp> fusion::getKept(FunctionOp function) {
  return llvm::to_vector(function.getBody().getOps<KeepOp>());
}

SmallVector<KernelOp> fusion::getKernels(FunctionOp function) {
  return llvm::to_vector(function.getBody().getOps<KernelOp>());
}

bool fusion::isOfPlan(Operation *op) { return isa<FusionDialect>(op->getDialect()); }

void fusion::eraseKernels(FunctionOp function) {
  for (KernelOp kernel : getKernels(function))
    kernel.erase();
}

void fusion::eraseEmptyKernels(FunctionOp function) {
  for (KernelOp kernel : getKernels(function))
    if (kernel.isLocal() && kernel.getBlock()->empty())
      kernel.erase();
}

bool fusion::haveSameGrid(KernelOp a, KernelOp b) {
  return a.getGridAttr() == b.getGridAttr() && a.getChannelsAttr() == b.getChannelsAttr() &&
         a.getChannelsSizeAttr() == b.getChannelsSizeAttr();
}

//===----------------------------------------------------------------------===//
// keep, store, sum, table
//===----------------------------------------------------------------------===//

static LogicalResult verifyParts(Operation *op, Value value) {
  if (!value.getDefiningOp<ReduceOp>())
    return op->emitOpError("expected parts of a result of taylor.reduce");
  return success();
}

LogicalResult KeepOp::verify() {
  if (isa<BlockArgument>(getValue()))
    return emitOpError("expected a computed value, but got an argument, which has memory");
  if (getApart() && !getValue().getDefiningOp<PairwiseOp>())
    return emitOpError("expected a result of taylor.pairwise to be kept apart");
  return getParts() ? verifyParts(*this, getValue()) : success();
}

LogicalResult StoreOp::verify() {
  if (!getWorkspace() && !getNames())
    return emitOpError("requires a place: 'in workspace', or 'as' results of the function");
  if (getParts() && failed(verifyParts(*this, getValue())))
    return failure();
  auto function = (*this)->getParentOfType<FunctionOp>();
  auto keeps = [&](KeepOp keep) { return keep.getValue() == getValue() && keep.getParts() == getParts(); };
  if (getWorkspace() && llvm::none_of(getKept(function), keeps))
    return emitOpError("requires a fusion.keep of what it stores in workspace");
  auto yield = cast<YieldOp>(function.getBody().front().getTerminator());
  for (StringAttr name : getNames().value_or(ArrayAttr::get(getContext(), {})).getAsRange<StringAttr>()) {
    auto isResult = [&](auto result) {
      return std::get<0>(result) == getValue() && std::get<1>(result) == name;
    };
    if (llvm::none_of(llvm::zip(yield.getValues(), *yield.getNames()), isResult))
      return emitOpError("expected a value that the function yields as ") << name;
  }
  return success();
}

LogicalResult SumOp::verify() {
  if (!getValue().getDefiningOp<PairwiseOp>())
    return emitOpError("expected a result of taylor.pairwise");
  return success();
}

LogicalResult TableOp::verify() {
  auto op = getRotated().getDefiningOp<ArrayOpInterface>();
  if (!op || !op.isRotation())
    return emitOpError("expected a result of a rotation, as taylor.rope is one");
  return success();
}

//===----------------------------------------------------------------------===//
// kernel
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, KernelKind kind, int64_t stage,
                     ArrayRef<AxisRef> axes) {
  auto &properties = state.getOrAddProperties<Properties>();
  properties.kind = KernelKindAttr::get(builder.getContext(), kind);
  properties.stage = builder.getI64IntegerAttr(stage);
  properties.grid = axesAttr(builder, axes);
  state.addRegion()->emplaceBlock();
}

std::vector<StoreOp> KernelOp::getStores() {
  auto ops = getBlock()->getOps<StoreOp>();
  return {ops.begin(), ops.end()};
}

std::vector<SumOp> KernelOp::getSums() {
  auto ops = getBlock()->getOps<SumOp>();
  return {ops.begin(), ops.end()};
}

SmallVector<AxisRef> KernelOp::getAxes() {
  return llvm::map_to_vector(getGrid().getAsRange<StringAttr>(),
                             [](StringAttr axis) { return AxisRef(axis); });
}

Operation *KernelOp::getPlanned() {
  switch (getKind()) {
  case KernelKind::Angles:
  case KernelKind::Local:
    return nullptr;
  case KernelKind::Pairs:
    return getSums().front().getValue().getDefiningOp();
  case KernelKind::Scan:
  case KernelKind::States:
  case KernelKind::Steps:
    return getStores().front().getValue().getDefiningOp();
  }
  llvm_unreachable("all kinds are above");
}

TableOp KernelOp::getTable() {
  auto tables = getBlock()->getOps<TableOp>();
  return tables.empty() ? TableOp() : *tables.begin();
}

Value KernelOp::getRotated() {
  TableOp table = getTable();
  return table ? table.getRotated() : Value();
}

LogicalResult KernelOp::verify() {
  for (AxisRef axis : getAxes())
    if (!isRuntimeAxis(axis))
      return emitOpError("expected a grid over b, h, g, t, u and lag, but got '") << axis << "'";
  if (getChannels().has_value() != getChannelsSize().has_value())
    return emitOpError("requires a size of its channels");
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  for (Operation &op : *getBlock())
    if (!isa<StoreOp, SumOp, TableOp>(op))
      return op.emitOpError("expected fusion.store, fusion.sum and fusion.table alone in fusion.kernel");
  std::vector<StoreOp> stores = getStores();
  std::vector<SumOp> sums = getSums();
  if ((getKind() == KernelKind::Angles) != (getRotated() != nullptr))
    return emitOpError("expected a fusion.table in kernels of kind 'angles', and in no other");
  if ((getKind() == KernelKind::Steps) != getBecause().has_value())
    return emitOpError("expected 'because' of kernels of kind 'steps', and of no other");
  if (getKind() == KernelKind::Pairs && sums.empty())
    return emitOpError("requires a fusion.sum in a kernel of kind 'pairs'");
  if (getKind() != KernelKind::Pairs && getKind() != KernelKind::Angles && stores.empty())
    return emitOpError("requires a fusion.store in a kernel of kind '")
           << stringifyKernelKind(getKind()) << "'";
  if (Operation *planned = getPlanned()) {
    auto isOther = [&](auto op) { return op.getValue().getDefiningOp() != planned; };
    if (getKind() == KernelKind::Pairs ? llvm::any_of(sums, isOther) : llvm::any_of(stores, isOther))
      return emitOpError("expected results of one operation in a kernel of kind '")
             << stringifyKernelKind(getKind()) << "'";
  }
  return success();
}
