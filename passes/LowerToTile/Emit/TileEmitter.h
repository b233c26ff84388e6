// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Array values as tiles: what an array holds at one block of a kernel, computed from what lies in memory.
//
// Emission is on demand. A kernel asks for the tile of a value; loads happen where a value has memory,
// everything else is computed in place from its operands. So what fuses is decided by one thing only: which
// values have memory (taylor-keep-values).
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_TILEEMITTER_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_TILEEMITTER_H

#include "dialect/Tile/TileSizes.h"
#include "passes/LowerToTile/AngleTable.h"
#include "passes/LowerToTile/Emit/IndexEmitter.h"
#include "passes/LowerToTile/Emit/ScalarProgram.h"

namespace taylor {

/// Where arrays lie.
struct ArrayMemory {
  /// Array value -> tensor or workspace that holds it.
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  /// Reduction over tokens -> partial sums per block of tokens.
  llvm::DenseMap<mlir::Operation *, mlir::Value> partials;
  /// cos and sin.
  llvm::SmallVector<std::tuple<AngleTable, mlir::Value, mlir::Value>> angles;
};

class TileEmitter : public IndexEmitter {
public:
  /// An axis for which numbers lie apart (TileSizes::lineBytes): all of them are at its place 0.
  static constexpr llvm::StringLiteral kLineAxis = "line";
  /// Parts of a sum that several blocks make, blocks of tokens, and panels of features: on the grid, or along
  /// an axis of memory.
  static constexpr llvm::StringLiteral kPartAxis = "part", kBlockAxis = "block", kPanelAxis = "panel";
  /// Chunks of tokens, of states that lie in memory.
  static constexpr llvm::StringLiteral kChunkAxis = "c";
  /// Angles of a rotation, one for two channels.
  static constexpr llvm::StringLiteral kAngleAxis = "c";

  TileEmitter(mlir::OpBuilder &builder, mlir::Location loc, const ArrayMemory &memory, const TileSizes &sizes,
              FunctionOp function);

  /// The tile of an array at `frame`: token axes by the frame's windows, channels whole except for its window
  /// of them, b, h and g fixed.
  mlir::Value emit(mlir::Value array, Frame &frame);
  /// Type of that tile.
  mlir::tile::TileType tileType(ArrayType array, const Frame &frame);

  mlir::Value load(mlir::Value memory, mlir::tile::TileType type, const Frame &frame);
  void store(mlir::Value tile, mlir::Value memory, const Frame &frame);
  void accumulate(mlir::Value tile, mlir::Value memory, const Frame &frame, bool atomic = false);
  /// Stores a tile over [t, u] of sums along diagonals: its key j goes to part j.
  void storeWalk(mlir::Value tile, mlir::Value memory, const Frame &pair);

  /// One element, an index, of an array of positions that lies in memory: at a key, in the frame's batch.
  mlir::Value lookup(mlir::Value array, mlir::Value key, const Frame &frame);

  /// One partial sum: the reduction over what a block of tokens holds.
  mlir::Value emitPartial(ReduceOp op, Frame &frame);
  /// Writes the tables of cos and sin for one block of tokens.
  void emitAngles(const AngleTable &table, mlir::Value cosines, mlir::Value sines, Frame &frame);

  // For the operations' own code (LoweringInterface.td) and the kernels.
  /// The region of an operation on the tiles of its arrays; the results are 0 where a count is.
  llvm::SmallVector<mlir::Value> emitRegion(mlir::Region &region, mlir::ValueRange arrays,
                                            mlir::ValueRange live, Frame &frame);
  /// The tile of an array that has memory: a load, or the sum over the parts where it has them. Where `to` is
  /// given, the tile has the memory's axis `from` under that name.
  mlir::Value loadStored(mlir::Value memory, mlir::tile::TileType type, const Frame &frame,
                         llvm::StringRef from = {}, llvm::StringRef to = {});
  mlir::Value splat(mlir::tile::TileType type, double value);
  mlir::Value map(mlir::ValueRange tiles,
                  llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)> body);
  /// Two tiles element by element: the larger number, or the sum.
  mlir::Value combine(Reduction kind, mlir::Value a, mlir::Value b);
  /// for index = begin to end step step, carrying tiles.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value begin, mlir::Value end, int64_t step, mlir::ValueRange carried,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value index, mlir::ValueRange carried)> body);
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value begin, mlir::Value end, mlir::Value step, mlir::ValueRange carried,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value index, mlir::ValueRange carried)> body);

  /// Calls `body` for each head of the frame's group, or for all of them where it has none.
  llvm::SmallVector<mlir::Value> forHeads(
      const Frame &frame, mlir::ValueRange carried,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(const Frame &head, mlir::ValueRange carried)> body);

  const ArrayMemory &memory;
  const TileSizes &sizes;

private:
  template <typename Op, typename... Extra>
  void write(mlir::Value tile, mlir::Value memory, const Frame &frame, Extra... extra);
  void window(mlir::tile::ArrayType array, mlir::tile::TileType tile, const Frame &frame,
              llvm::SmallVectorImpl<mlir::Attribute> &axes, llvm::SmallVectorImpl<mlir::Attribute> &tileAxes,
              llvm::SmallVectorImpl<mlir::Value> &offsets);
};

/// A number that stands for minus infinity: -inf - -inf is NaN. Times log2(e) it is finite too.
double leastOf(mlir::Type type);

} // namespace taylor

#endif
