// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/Frame/KernelFrame.h"
#include "codegen/Targets/Frame/Scalars.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile;

KernelFrame::KernelFrame(KernelOp kernel, OpBuilder &builder) : kernel(kernel), builder(builder) {
  types.addConversion([](Type type) { return type; });
  types.addConversion([this](IndexType) { return indexType(); });
}

LogicalResult KernelFrame::emitFrameOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) { return emitFor(loop); })
      .Case([&](scf::IfOp branch) { return emitIf(branch); })
      .Case([&](SizeOp size) {
        scalars[size] = sizes->size(size.getRole());
        return success();
      })
      .Case([&](RequestedOp requested) {
        Value address = addressOf(requested.getArray());
        Value null = LLVM::ZeroOp::create(builder, op->getLoc(), address.getType());
        scalars[requested] =
            LLVM::ICmpOp::create(builder, op->getLoc(), LLVM::ICmpPredicate::ne, address, null);
        return success();
      })
      .Default([&](Operation *) {
        auto operands = llvm::map_to_vector(op->getOperands(), [&](Value value) { return scalar(value); });
        scalars[op->getResult(0)] = cloneScalar(builder, op, operands, indexType());
        return success();
      });
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

void KernelFrame::openTiles(ValueRange values) {
  for (Value value : values)
    if (isa<TileType>(value.getType()))
      openTile(value);
}

void KernelFrame::moveTiles(ValueRange from, ValueRange to) {
  for (auto [value, target] : llvm::zip_equal(from, to))
    if (isa<TileType>(value.getType()))
      moveTile(value, target);
}

SmallVector<Value> KernelFrame::flatten(ValueRange values) {
  SmallVector<Value> flat;
  for (Value value : values) {
    if (isa<TileType>(value.getType()))
      llvm::append_range(flat, valuesOf(value));
    else
      flat.push_back(scalar(value));
  }
  return flat;
}

void KernelFrame::bind(ValueRange values, ValueRange flat) {
  for (Value value : values) {
    SmallVector<Type> own;
    (void)types.convertType(value.getType(), own);
    if (isa<TileType>(value.getType()))
      setValues(value, flat.take_front(own.size()));
    else
      scalars[value] = flat.front();
    flat = flat.drop_front(own.size());
  }
}

LogicalResult KernelFrame::emitInner(Block &from, Block &to, ValueRange targets) {
  OpBuilder::InsertionGuard guard(builder);
  // The builder of the operation has made a terminator where nothing is handed on.
  if (!to.empty())
    to.back().erase();
  builder.setInsertionPointToStart(&to);
  if (failed(emitBlock(from)))
    return failure();
  Operation *terminator = from.getTerminator();
  moveTiles(terminator->getOperands(), targets);
  scf::YieldOp::create(builder, terminator->getLoc(), flatten(terminator->getOperands()));
  return success();
}

LogicalResult KernelFrame::emitFor(scf::ForOp op) {
  openTiles(op.getRegionIterArgs());
  openTiles(op.getResults());
  moveTiles(op.getInitArgs(), op.getRegionIterArgs());
  auto loop = scf::ForOp::create(builder, op.getLoc(), scalar(op.getLowerBound()), scalar(op.getUpperBound()),
                                 scalar(op.getStep()), flatten(op.getInitArgs()));
  scalars[op.getInductionVar()] = loop.getInductionVar();
  bind(op.getRegionIterArgs(), loop.getRegionIterArgs());
  if (failed(emitInner(*op.getBody(), *loop.getBody(), op.getRegionIterArgs())))
    return failure();
  bind(op.getResults(), loop.getResults());
  return success();
}

LogicalResult KernelFrame::emitIf(scf::IfOp op) {
  openTiles(op.getResults());
  SmallVector<Type> results;
  if (failed(types.convertTypes(op.getResultTypes(), results)))
    return op.emitOpError("expected results of types that the target has");
  auto branch = scf::IfOp::create(builder, op.getLoc(), results, scalar(op.getCondition()),
                                  /*addThenBlock=*/true, /*addElseBlock=*/!op.getElseRegion().empty());
  for (auto [from, to] : llvm::zip(op->getRegions(), branch->getRegions()))
    if (!from.empty() && failed(emitInner(from.front(), to.front(), op.getResults())))
      return failure();
  bind(op.getResults(), branch.getResults());
  return success();
}
