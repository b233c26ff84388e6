// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each tile is to a thread: registers, or an array in local memory.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_THREADTILES_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_THREADTILES_H

#include "codegen/Targets/NVPTX/Thread/ThreadPlaces.h"
#include <functional>
#include <map>

namespace mlir::simt {

/// A thread's part of a tile: one number per register of its layout. Numbers of 16 bits are kept in pairs,
/// registers 2 i and 2 i + 1, where their number is even.
struct ThreadRegisters {
  Type element; ///< as the thread computes: i32 for index
  bool paired = false;
  SmallVector<Value> parts;
};

/// Knows the registers of each tile, and gives and takes their numbers one by one.
class ThreadTiles {
public:
  explicit ThreadTiles(ThreadPlaces &places) : places(places) {}

  // Registers
  ThreadRegisters tileOf(Value tile);
  void setTile(Value tile, ArrayRef<Value> values);
  /// The same, of values that may be pairs already.
  void setParts(Value tile, ValueRange parts);
  /// Of sums that products are still adding to.
  void setPending(Value pending, ArrayRef<Value> sums);
  Value element(const ThreadRegisters &registers, int64_t index, Location loc);
  /// A tile whose numbers are loaded one by one where maps read them.
  void setLoad(Value tile, std::function<Value(int64_t)> load) { loads[tile] = std::move(load); }
  /// A number for a map: loaded here, or of a register.
  Value elementForMap(Value tile, int64_t index, Location loc);

  // Arrays in local memory
  /// An array, made at the kernel's start.
  Value makeLocal(Type element, int64_t count);
  Value placeInLocal(Value array, Type element, Value index);
  /// The array that a tile is; null: it is registers.
  Value localOf(Value tile) const { return locals.lookup(tile); }
  void setLocal(Value tile, Value array) { locals[tile] = array; }
  /// Bytes of all arrays.
  int64_t localBytes() const { return numLocalBytes; }

private:
  ThreadRegisters makeRegisters(Type element, ArrayRef<Value> values, Location loc);

  ThreadPlaces &places;
  DenseMap<Value, ThreadRegisters> tiles;
  DenseMap<Value, std::function<Value(int64_t)>> loads;
  DenseMap<Value, Value> locals;
  std::map<std::pair<void *, Block *>, ThreadRegisters> localReads; ///< what was read of them in a block
  int64_t numLocalBytes = 0;
};

/// The type in which a thread computes with elements: i32 for index.
Type elementTypeOf(Type element);
/// Whether a tile of so many registers keeps them in pairs.
bool isPaired(Type element, int64_t numRegisters);
/// Registers 0, 1, .. that step by 1 along the axis, each group of so many starting at a multiple.
int64_t leadingRegisters(LayoutAttr layout, StringRef axis);

} // namespace mlir::simt
#endif
