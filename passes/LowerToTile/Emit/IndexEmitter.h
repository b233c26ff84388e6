// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic of a block: sizes, where it is in arrays, and the positions of its tokens.
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_INDEXEMITTER_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_INDEXEMITTER_H

#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Tile/TileDialect.h"

namespace taylor {

/// The place of a block: indices of b, h, g where fixed, and windows of tokens. Also the tiles made there so
/// far. Copies see what their original has made until then: a loop's body works on a copy.
struct Frame {
  AxisMap<mlir::Value> indices;
  mlir::Value tStart, uStart, lagStart;
  /// Without a size of its own, lag is the difference of t and u: an array with lag gives a tile over [t, u].
  /// A window of t or u without a size is one token of arrays in memory, whose tiles have no such axis.
  int64_t tSize = 0, uSize = 0, lagSize = 0;
  /// A window of a channel axis, where blocks have no tokens and many channels; else empty.
  llvm::StringRef channel;
  mlir::Value channelStart;
  int64_t channelSize = 0;
  /// Where the window ends before the array does, since no pair sees later tokens: they are loaded as 0.
  /// Null: with the array.
  mlir::Value tEnd, uEnd;
  llvm::DenseMap<mlir::Value, mlir::Value> tiles;
  /// Whether anyone asks for what loops over keys sum into rows, where the kernel computes more than that.
  llvm::DenseMap<mlir::Operation *, mlir::Value> asked;

  mlir::Value start(AxisRef token) const {
    return token == AxisRole::Query ? tStart : token == AxisRole::Key ? uStart : lagStart;
  }
  int64_t size(AxisRef token) const {
    return token == AxisRole::Query ? tSize : token == AxisRole::Key ? uSize : lagSize;
  }
  /// Another window; forgets the tiles made so far.
  Frame at(AxisRef token, mlir::Value start, int64_t size) const;
};

class IndexEmitter {
public:
  IndexEmitter(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// From now on channels have the sizes that they have in an operation: a free axis may have another
  /// elsewhere.
  void noteChannels(mlir::Operation *op);
  /// Index of b, h or g where it is fixed, else null; a group's index follows from its head's.
  mlir::Value indexOf(AxisRef axis, const Frame &frame);
  /// Positions along an axis that tiles have: offset + t, u, their difference, or the number of a channel.
  mlir::Value positions(AxisRef axis, const Frame &frame);
  /// Numbers of a window's tokens: positions without the offset.
  mlir::Value tokenNumbers(AxisRef token, const Frame &frame);
  /// Of a channel of the operation that is being emitted.
  int64_t channelSize(AxisRef axis) const { return channelSizes.lookup(axis); }
  mlir::Value size(AxisRef role);
  /// The first position of a token axis, and the one past its last: of t offset and offset + T.
  mlir::Value firstPosition(AxisRef token);
  mlir::Value endPosition(AxisRef token);
  /// Where an array with lag has the lag of the first query and key of a tile: t - u + U, after the margin.
  mlir::Value lagStart(const Frame &pair);
  /// The last key of a window that there is.
  mlir::Value lastKey(const Frame &keys);
  mlir::Value constant(int64_t value);
  mlir::Value extent(mlir::tile::ExtentAttr extent);
  mlir::Value add(mlir::Value a, mlir::Value b);
  /// heads per group, H / G
  mlir::Value headsPerGroup();
  /// The first head of the frame's group (of all, where it has none), and how many there are.
  std::pair<mlir::Value, mlir::Value> headsOf(const Frame &frame);

  mlir::OpBuilder &builder;
  /// Of what is emitted: the array's that is being made.
  mlir::Location loc;

private:
  llvm::StringMap<int64_t> channelSizes;
};

} // namespace taylor

#endif
