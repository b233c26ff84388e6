// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of a kernel, except its tiles: sizes, scalars, loops and branches. See README.md.
#ifndef TAYLOR_CODEGEN_TARGETS_FRAME_KERNELFRAME_H
#define TAYLOR_CODEGEN_TARGETS_FRAME_KERNELFRAME_H

#include "codegen/Targets/Frame/SizeValues.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include <optional>

namespace mlir::tile {

/// A target's emitter derives from it, and emits operations on tiles. A tile is memory, which has an address
/// that the target knows, or a list of values, or both: what it is decides how loops and branches hand it on.
class KernelFrame {
public:
  KernelFrame(const KernelFrame &) = delete;

protected:
  KernelFrame(KernelOp kernel, OpBuilder &builder);
  virtual ~KernelFrame() = default;

  /// Emits a loop, a branch, a size, whether a tensor is requested, or a scalar op.
  LogicalResult emitFrameOp(Operation *op);

  /// Emits all operations of a block except its terminator, at the builder's place.
  virtual LogicalResult emitBlock(Block &block) = 0;
  /// An array's address, null where no caller asks for the tensor.
  virtual Value addressOf(Value array) = 0;

  /// The values that a tile is, of the types that `types` converts its type to: none, of a tile that is
  /// memory.
  virtual SmallVector<Value> valuesOf(Value tile) { return {}; }
  /// The tile is these values from here on.
  virtual void setValues(Value tile, ValueRange values) {}
  /// Before a loop or branch that has the tile as an argument or result: it gets its memory.
  virtual void openTile(Value tile) {}
  /// The tile `to` of a loop or branch has the elements of `from` from here on: they are moved to its memory.
  virtual void moveTile(Value from, Value to) {}

  /// What a scalar of the program is: an index has 64 bits.
  Value scalar(Value value) const { return scalars.lookup(value); }
  Type indexType() const { return builder.getI64Type(); }

  KernelOp kernel;
  OpBuilder &builder;
  std::optional<SizeValues> sizes; ///< set where the code begins
  DenseMap<Value, Value> scalars;
  TypeConverter types; ///< the target adds what a tile is

private:
  LogicalResult emitFor(scf::ForOp op);
  LogicalResult emitIf(scf::IfOp op);
  /// Emits a block of a loop or a branch, whose results `targets` are for.
  LogicalResult emitInner(Block &from, Block &to, ValueRange targets);
  void openTiles(ValueRange values);
  void moveTiles(ValueRange from, ValueRange to);
  SmallVector<Value> flatten(ValueRange values);
  void bind(ValueRange values, ValueRange flat);
};

} // namespace mlir::tile
#endif
