// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Thread/ThreadTiles.h"
#include "codegen/Targets/Frame/Scalars.h"
#include <numeric>

using namespace mlir;
using namespace mlir::simt;
using tile::TileType;

Type mlir::simt::elementTypeOf(Type element) {
  return tile::scalarType(element, IntegerType::get(element.getContext(), 32));
}

bool mlir::simt::isPaired(Type element, int64_t numRegisters) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 16 && numRegisters % 2 == 0;
}

int64_t mlir::simt::leadingRegisters(LayoutAttr layout, StringRef axis) {
  int64_t together = 1;
  for (const Digit &digit : layout.getRegisters()) {
    if (!digit.isAlong(axis) || digit.stride != together)
      break;
    together *= digit.count;
  }
  for (const Digit &digit : llvm::concat<const Digit>(layout.getLanes(), layout.getWarps()))
    if (digit.isAlong(axis))
      together = std::gcd(together, digit.stride);
  return together;
}

static Type elementOf(Value tile) { return elementTypeOf(cast<TileType>(tile.getType()).getElementType()); }

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

Value ThreadTiles::element(const ThreadRegisters &registers, int64_t index, Location loc) {
  if (!registers.paired)
    return registers.parts[index];
  return places.at(loc).unpack(registers.parts[index / 2], index % 2);
}

ThreadRegisters ThreadTiles::makeRegisters(Type element, ArrayRef<Value> values, Location loc) {
  ThreadRegisters registers{element, false, {}};
  registers.paired = isPaired(element, values.size());
  if (!registers.paired) {
    registers.parts.assign(values.begin(), values.end());
    return registers;
  }
  for (size_t i = 0; i < values.size(); i += 2)
    registers.parts.push_back(places.at(loc).pack(values[i], values[i + 1]));
  return registers;
}

void ThreadTiles::setTile(Value tile, ArrayRef<Value> values) {
  tiles[tile] = makeRegisters(elementOf(tile), values, tile.getLoc());
}

void ThreadTiles::setParts(Value tile, ValueRange parts) {
  Type element = elementOf(tile);
  int64_t count = layoutOf(tile.getType()).getNumRegisters();
  tiles[tile] = {element, isPaired(element, count), llvm::to_vector(parts)};
}

void ThreadTiles::setPending(Value pending, ArrayRef<Value> sums) {
  tiles[pending] = {places.builder.getF32Type(), false, llvm::to_vector(sums)};
}

Value ThreadTiles::elementForMap(Value tile, int64_t index, Location loc) {
  auto load = loads.find(tile);
  return load == loads.end() ? element(tileOf(tile), index, loc) : load->second(index);
}

/// Local arrays are written anew in each round of a loop, and a reader's values are of the round that it is
/// in: what a loop carries is read before its end.
ThreadRegisters ThreadTiles::tileOf(Value tile) {
  auto local = locals.find(tile);
  if (local == locals.end())
    return tiles.find(tile)->second;
  OpBuilder &builder = places.builder;
  auto [known, isNew] = localReads.try_emplace({tile.getAsOpaquePointer(), builder.getInsertionBlock()});
  if (isNew) {
    Code code = places.at(tile.getLoc());
    Type element = elementOf(tile);
    SmallVector<Value> values;
    for (int64_t i = 0, e = layoutOf(tile.getType()).getNumRegisters(); i < e; ++i)
      values.push_back(LLVM::LoadOp::create(builder, code.loc, element,
                                            placeInLocal(local->second, element, code.i32(i))));
    known->second = makeRegisters(element, values, code.loc);
  }
  return known->second;
}

//===----------------------------------------------------------------------===//
// Arrays in local memory
//===----------------------------------------------------------------------===//

Value ThreadTiles::makeLocal(Type element, int64_t count) {
  numLocalBytes += count * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  return places.atStart([&] {
    Code code = places.at(places.kernel);
    auto pointer = LLVM::LLVMPointerType::get(code.builder.getContext());
    return LLVM::AllocaOp::create(code.builder, code.loc, pointer, element, code.i32(count)).getResult();
  });
}

Value ThreadTiles::placeInLocal(Value array, Type element, Value index) {
  return LLVM::GEPOp::create(places.builder, index.getLoc(), array.getType(), element, array,
                             ArrayRef<LLVM::GEPArg>{index});
}
