// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One simt.dot: the sums that a thread has a part of, and operands read step by step along the summed axis,
// between the instructions that multiply them, so that few are in registers at once.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_PRODUCTEMITTER_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_PRODUCTEMITTER_H

#include "codegen/Targets/NVPTX/Thread/BufferAddress.h"
#include "codegen/Targets/NVPTX/Thread/ThreadTiles.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::simt {

/// The blocks of 16 (or 8) rows and 8 columns that a thread has a part of, by the places of its first
/// elements.
struct Accumulator {
  LayoutAttr layout;
  FragmentAxes axes;
  llvm::SmallSetVector<int64_t, 8> rows, columns;
  bool hasUpper = false;     ///< also rows 8 to 15 of each block
  SmallVector<Value> values; ///< by register

  explicit Accumulator(LayoutAttr layout);
  /// The register at a place, -1 if none.
  int64_t at(int64_t row, int64_t column) const;
  /// c0 to c3 of a block (PTX ISA, "Matrix Fragments for mma.m16n8k16"): -1 for rows that are not there.
  std::array<int64_t, 4> block(int64_t row, int64_t column) const;
};

/// Emits one simt.dot.
class ProductEmitter {
public:
  ProductEmitter(ThreadPlaces &places, ThreadTiles &tiles, SharedSlots &slots, DotOp op);
  LogicalResult emit();

private:
  /// a or b: a tile or a slot with its own axis and the summed one.
  struct Operand {
    Value value;
    StringRef own;
    std::unique_ptr<MatrixReader> matrices; ///< ldmatrix
    std::unique_ptr<BufferAddress> address; ///< plain loads
    bool isTile() const { return isa<tile::TileType>(value.getType()); }
    BufferType buffer() const { return cast<BufferType>(value.getType()); }
  };

  LogicalResult check(int64_t step);
  LogicalResult open(Operand &operand);
  // ProductEmitter.cpp: mma.sync
  void emitMatrices(int64_t step);
  SmallVector<Value> readRows(Operand &a, int64_t row, int64_t k);
  SmallVector<Value> readColumns(Operand &b, ArrayRef<int64_t> columns, int64_t k);
  SmallVector<Value> readHalves(Operand &operand, ArrayRef<MatrixReader::Block> blocks);
  SmallVector<Value> readTF32(Operand &operand, int64_t own, int64_t k);
  void multiply(ArrayRef<Value> a, ArrayRef<Value> b, int64_t row, int64_t column);
  // ScalarProduct.cpp: one multiply-add per pair of elements
  void emitScalars();
  SmallVector<Value> readScalars(Operand &operand, int64_t own, int64_t k, int64_t count);
  Value fetchScalar(Operand &operand, int64_t own, int64_t k);

  ThreadPlaces &places;
  ThreadTiles &tiles;
  SharedSlots &slots;
  DotOp op;
  Code code;
  Accumulator sum;
  StringRef over;
  int64_t size = 0;  ///< of the summed axis
  int64_t depth = 0; ///< the part of it that one mma.sync sums over: 16 or 8
  Operand a, b;
  Type element; ///< of the sums
};

} // namespace mlir::simt
#endif
