// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses in shared memory: the thread's part is computed once, the rest are constants in the instructions.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_BUFFERADDRESS_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_BUFFERADDRESS_H

#include "codegen/Targets/NVPTX/Thread/SharedSlots.h"
#include <map>

namespace mlir::simt {

/// Bytes from the start of a slot to the element in row and column `row` and `column`, i32; `flip` flips bits
/// of the number of its chunk.
Value placeInSlot(Code code, BufferType type, Value row, Value column, int64_t flip = 0);

/// Elements of one slot at constant distances from the thread's own.
class BufferAddress {
public:
  /// `placeOf` gives the thread's place along each axis of the buffer.
  BufferAddress(ThreadPlaces &places, Location loc, SharedSlot slot,
                llvm::function_ref<ThreadOffset(StringRef)> placeOf);
  /// Address of the element that lies `offsetOf(axis)` further along each axis.
  Value at(llvm::function_ref<int64_t(StringRef)> offsetOf);

private:
  Value swizzled(int64_t rows, int64_t columns, int64_t &constant);
  Value ownPart(int64_t flip);
  Value general(int64_t rows, int64_t columns);

  ThreadPlaces &places;
  Location loc;
  SharedSlot slot;
  ThreadOffset row, column;
  std::map<int64_t, Value> own; ///< by the bits of the chunk's number that constants flip
};

/// Blocks of 8 x 8 numbers of 16 bits by ldmatrix (PTX ISA, "Warp-level matrix load instruction"). A thread
/// gets the neighbours 2 (lane % 4) and 1 more along `across`, in row lane / 4 along `down`.
class MatrixReader {
public:
  struct Block {
    int64_t down, across; ///< constant places
  };
  MatrixReader(ThreadPlaces &places, Location loc, SharedSlot slot, StringRef down, StringRef across,
               ArrayRef<Digit> warps)
      : places(places), loc(loc), slot(slot), down(down), across(across), warps(warps) {}
  /// Whether the buffer's rows are such that it can be read so.
  static bool canRead(BufferType buffer);
  /// One i32 per block: two numbers. Four blocks at once where their places are two steps of each of two
  /// kinds.
  SmallVector<Value> read(ArrayRef<Block> blocks);

private:
  BufferAddress &addressOf(ArrayRef<Digit> steps);

  ThreadPlaces &places;
  Location loc;
  SharedSlot slot;
  StringRef down, across;
  SmallVector<Digit> warps;
  SmallVector<std::pair<SmallVector<Digit>, std::unique_ptr<BufferAddress>>> addresses;
};

} // namespace mlir::simt
#endif
