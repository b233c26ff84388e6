// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products: verifiers, and what starts and awaits say of each other.
#include "codegen/Targets/NVPTX/Simt/Verify.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::simt;
using tile::TileType;

static bool canMultiply(ProductKind kind, Type element) {
  switch (kind) {
  case ProductKind::mma16:
  case ProductKind::wgmma:
    return element.isBF16() || element.isF16();
  case ProductKind::tf32:
    return element.isF32();
  case ProductKind::fma:
    return isa<FloatType>(element);
  }
  llvm_unreachable("unknown kind of product");
}

/// Of `simt.dot` and `simt.start`, whose result is `result`.
template <typename Product> static LogicalResult verifyProduct(Product op, TileType result) {
  if (op.getOver().size() != 1)
    return op.emitOpError() << "expected one axis to sum over, but got " << op.getOver().size();
  StringRef over = cast<StringAttr>(op.getOver()[0]).getValue();
  if (result.hasAxis(over))
    return op.emitOpError() << "expected a result without axis '" << over
                            << "', which is summed over, but got " << result;
  if (failed(verifyLayout(op, result)))
    return failure();
  std::optional<FragmentAxes> axes = getFragmentAxes(layoutOf(result));
  if (!axes || result.getAxes().size() != 2)
    return op.emitOpError() << "expected an accumulator of two axes, but got " << result;
  for (auto [operand, own] : {std::pair(op.getA(), axes->rows), std::pair(op.getB(), axes->columns)}) {
    auto buffer = dyn_cast<BufferType>(operand.getType());
    if (buffer && failed(verifyOneSlot(op, buffer)))
      return failure();
    TileType tile = buffer ? tileOf(buffer) : cast<TileType>(operand.getType());
    if (!buffer && failed(verifyLayout(op, tile)))
      return failure();
    if (tile.getAxes().size() != 2 || !tile.hasAxis(over) || tile.getSize(own) != result.getSize(own))
      return op.emitOpError() << "expected an operand of the axes '" << own << "' and '" << over
                              << "', but got " << operand.getType();
    if (!canMultiply(op.getKind(), tile.getElementType()))
      return op.emitOpError() << "expected operands for " << stringifyProductKind(op.getKind())
                              << ", but got " << operand.getType();
  }
  return success();
}

LogicalResult DotOp::verify() {
  if (failed(verifyProduct(*this, getType())))
    return failure();
  if (getC() && getC().getType() != getType())
    return emitOpError() << "expected an accumulator of type " << getType() << ", but got "
                         << getC().getType();
  return success();
}

LogicalResult StartOp::verify() {
  if (failed(verifyProduct(*this, getTile())))
    return failure();
  if (getKind() != ProductKind::wgmma)
    return emitOpError() << "expected a product that runs beside its threads, wgmma, but got "
                         << stringifyProductKind(getKind());
  if (Value c = getC()) {
    auto pending = dyn_cast<PendingType>(c.getType());
    Type tile = pending ? Type(pending.getTile()) : c.getType();
    if (tile != getTile())
      return emitOpError() << "expected an accumulator of type " << getTile() << ", but got " << c.getType();
  }
  if (isa<TileType>(getB().getType()))
    return emitOpError() << "expected b in a buffer, but got " << getB().getType();
  for (Value operand : {getA(), getB()})
    if (auto buffer = dyn_cast<BufferType>(operand.getType());
        buffer && (!buffer.getSwizzle() || buffer.getAxes().size() != 2))
      return emitOpError() << "expected a swizzled buffer of two axes, but got " << buffer;
  // ptxas 13.0 gives registers that every iteration reads to an operand of the same size that one computes.
  for (auto loop = (*this)->getParentOfType<scf::ForOp>(); loop && isa<TileType>(getA().getType());
       loop = loop->getParentOfType<scf::ForOp>())
    if (loop.isDefinedOutsideOfLoop(getA()))
      return emitOpError()
             << "unsupported left operand in registers that the loop around it does not change; "
                "expected it in a buffer, but got "
             << getA().getType();
  return verifyUse();
}

/// What is in flight is taken once, where it was started: whoever adds to it takes its registers.
LogicalResult StartOp::verifyUse() {
  for (Operation *user : getResult().getUsers())
    if (user->getBlock() != (*this)->getBlock() || !isa<StartOp, AwaitOp>(user))
      return emitOpError("expected its simt.await in the same block: loops and branches hold no product in "
                         "flight");
  if (!getResult().hasOneUse())
    return emitOpError() << "expected one simt.await, or simt.start that adds to it, but got "
                         << std::distance(getResult().use_begin(), getResult().use_end());
  return success();
}

LogicalResult AwaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange operands,
                                        DictionaryAttr, OpaqueProperties, RegionRange,
                                        SmallVectorImpl<Type> &types) {
  for (Value operand : operands) // those that are not pending are computed before
    if (auto pending = dyn_cast<PendingType>(operand.getType()))
      types.push_back(pending.getTile());
  return success();
}

LogicalResult AwaitOp::verify() {
  for (Value tile : getBefore())
    if (!cast<TileType>(tile.getType()).getElementType().isF32())
      return emitOpError() << "expected tiles of f32 to be computed before, but got " << tile.getType();
  // Groups of starts between those that are taken and this wait, in this block.
  for (Value pending : getPending()) {
    auto start = pending.getDefiningOp<StartOp>();
    if (!start)
      return emitOpError("expected what a simt.start gives");
    int64_t later = 0;
    for (Operation *op = start->getNextNode(); op && op != getOperation(); op = op->getNextNode())
      later += isa<StartOp>(op);
    if (int64_t(getGroups()) > later)
      return emitOpError() << "expected at most " << later
                           << " groups that may be incomplete, those started after what is taken, but got "
                           << getGroups();
  }
  return success();
}
