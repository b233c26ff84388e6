// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Monomials of vectors in shared memory, and their adjoint. A panel of at most 64 features is one of two
// kinds, which the program finds out when it runs:
//
//   a group     x[i] x[j] for all i of one block of 8 components and all j of another, times further
//               components in orders above 2: 16 numbers at two places make 64 features
//   blocks      of 8 each: components by themselves (order 1), or a one and seven zeros (order 0)
//
// Which blocks stands in tables in global memory, as the places of their bytes in a row of the vectors.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_FEATURES_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_FEATURES_H

#include "codegen/Targets/NVPTX/Thread/SharedSlots.h"
#include "codegen/Targets/NVPTX/Thread/ThreadTiles.h"
#include <map>
#include <set>

namespace mlir::simt {

/// The features of a program: groups, then blocks.
class FeatureTable {
public:
  static constexpr int64_t kBlockSize = 8, kGroupSize = kBlockSize * kBlockSize;

  /// The tables are globals of the module in which `code` writes. `vectors` is the buffer's type, `panel` the
  /// size of panels: what the last one has past the last feature has weight 0.
  FeatureTable(Code code, tile::FeaturesAttr features, std::optional<ArrayAttr> weights, BufferType vectors,
               FloatType number, int64_t panel);

  /// Columns are bytes in a row, i32.
  struct Group {
    SmallVector<Value> others; ///< single components, negative: none
    Value first, last;         ///< blocks
    Value weight;              ///< null: 1
  };
  Group group(Code code, Value number) const;
  struct Block {
    Value column; ///< negative: of a constant
    Value weight;
  };
  Block block(Code code, Value number) const;

  int64_t numGroups = 0, numBlocks = 0;
  /// Whether some block is no block of components.
  bool hasConstants = false;

private:
  /// Rows of so many i32, and a weight each.
  struct Table {
    int64_t width = 0;
    Value columns, weights;
  };
  struct Rows {
    SmallVector<int32_t> columns;
    SmallVector<double> weights;
  };
  Table makeTable(Code code, const Twine &name, const Rows &rows, int64_t width);
  Value makeGlobal(Code code, const Twine &name, DenseElementsAttr values);
  SmallVector<Value> columnsAt(Code code, const Table &table, Value number) const;
  Value weightAt(Code code, const Table &table, Value number) const;

  FloatType number;
  bool weighted;
  int64_t numOthers = 0; ///< components of a group outside its two blocks
  Table groups, blocks;
};

/// Elements of a slot with a row per token, in columns that are known when the program runs.
class ComponentRows {
public:
  /// `token` and `inner`: the thread's place among tokens and in a block of 8 components, known at the start.
  ComponentRows(ThreadPlaces &places, Location loc, SharedSlot slot, Value token, Value inner,
                FloatType number)
      : places(places), loc(loc), slot(slot), token(token), inner(inner), number(number) {}
  /// `count` neighbours from component `component` of the block at `column`, of a token so much further on.
  SmallVector<Value> read(int64_t tokens, Value column, int64_t component, int64_t count);
  void add(int64_t tokens, Value column, ArrayRef<Value> values, Value guard);

private:
  Value pointer(int64_t tokens, Value column, int64_t component);

  ThreadPlaces &places;
  Location loc;
  SharedSlot slot;
  Value token, inner;
  FloatType number;
  /// By tokens modulo 8 and chunks of 16 bytes: where the row begins, and bits that a column's place flips.
  std::map<std::pair<int64_t, int64_t>, std::pair<Value, Value>> rows;
};

/// Emits one simt.expand or simt.contract.
class FeatureEmitter {
public:
  FeatureEmitter(ThreadPlaces &places, ThreadTiles &tiles, SharedSlots &slots, ExpandOp op);
  FeatureEmitter(ThreadPlaces &places, ThreadTiles &tiles, SharedSlots &slots, ContractOp op);
  /// Each thread the elements of its registers.
  LogicalResult expand(ExpandOp op);
  /// Each thread adds to the sums of components that lie where its features lie.
  LogicalResult contract(ContractOp op);

private:
  FeatureEmitter(ThreadPlaces &places, ThreadTiles &tiles, SharedSlots &slots, Operation *op, Value vectors,
                 StringRef axis, tile::FeaturesAttr features, Value start, tile::TileType panel,
                 StringRef to);
  LogicalResult check();
  /// Emits what the panel's kind asks for; results are of the types, or none.
  SmallVector<Value> forKind(TypeRange types, const FeatureTable &table,
                             llvm::function_ref<SmallVector<Value>(const FeatureTable::Group &)> ofGroup,
                             llvm::function_ref<SmallVector<Value>(Value firstBlock)> ofBlocks);

  /// Where a register's feature lies: the token, the block of 8 in the panel, the place in it.
  struct FeaturePlace {
    int64_t token, block, inBlock;
  };
  FeaturePlace placeOf(int64_t index) const;
  /// How many neighbours of such a place, one further on each, a thread has in registers: a power of two.
  int64_t neighbours(int64_t FeaturePlace::*place, int64_t divisor) const;

  /// The weight times the components outside the two blocks; null: 1.
  Value factorOf(ComponentRows &single, const FeatureTable::Group &group, int64_t token,
                 std::optional<size_t> without = std::nullopt);
  SmallVector<Value> expandGroup(const FeatureTable::Group &group);
  SmallVector<Value> expandBlocks(const FeatureTable &table, Value firstBlock);
  // ContractFeatures.cpp
  Value cotangentAt(ContractOp op, const FeaturePlace &place);
  SmallVector<Value> toOwnPair(ArrayRef<Value> ofBlock);
  void contractGroup(ContractOp op, const FeatureTable::Group &group);
  void contractOther(ContractOp op, const FeatureTable::Group &group, size_t other, int64_t token,
                     Value cotangent);
  void contractBlocks(ContractOp op, const FeatureTable &table, Value firstBlock);

  Value multiply(Value a, Value b) const;
  /// a b + c; null: a is 1, c is 0.
  Value multiplyAdd(Value a, Value b, Value c) const;
  Value lane() const;
  ComponentRows rowsOf(SharedSlot slot, Value inner) {
    return ComponentRows(places, code.loc, slot, token, inner, number);
  }

  ThreadPlaces &places;
  ThreadTiles &tiles;
  SharedSlots &slots;
  Operation *op;
  Code code;
  SharedSlot vectors;
  StringRef axis, to;
  tile::FeaturesAttr features;
  Value start; ///< as the program has it
  tile::TileType panel;
  LayoutAttr layout;
  FloatType number;
  int64_t size;
  StringRef tokens;
  Value token, block, inBlock, none; ///< the thread's place in the panel
};

/// The type in which numbers are multiplied: f32 for those of 16 bits.
FloatType numberTypeOf(Type element);

} // namespace mlir::simt
#endif
