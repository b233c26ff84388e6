// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Without an order of the kernel the last extent is the fastest. With `longest` the longest blocks come
// first, of a section of heads at a time: at most as many as fill the machine twice, and as the second-level
// cache holds what they read.
//
//     number   0 1 2 | 3 4 5 | 6 7 8 | 9 10 | 11 12 | 13 14       5 heads of 3 blocks; sections of up to 4
//     head     0 1 2 | 0 1 2 | 0 1 2 | 3 4  | 3  4  | 3  4
//     block    2     | 1     | 0     | 2    | 1     | 0           longest(last)
//
// Sections have equally many heads, except the last one: with one head left for it, its longest block would
// begin when all others end.
#include "codegen/Targets/NVPTX/Thread/GridOrder.h"
#include "dialect/Tile/Extents.h"

using namespace mlir;
using namespace mlir::simt;

/// A section has as many heads as give so many blocks, about twice as many as a large GPU runs at a time
/// (264: two on each multiprocessor of an H100), and at least so many heads; but no more than the cache
/// holds. More heads of short sequences would spread what is read at one time over more of the cache; fewer
/// of long ones took 1 to 5 % longer on an H200 (runtime/lab/gpu-check/RESULTS.md).
static constexpr int64_t kSectionBlocks = 512, kSectionHeads = 16;

Value GridOrder::headsOfSection(Code code, Value heads, Value blocks, const tile::SizeValues &sizes) {
  tile::LongestAttr longest = kernel.getLongestAttr();
  if (!longest.hasBytes() || cacheBytes == 0)
    return heads;
  auto atLeastOne = [&](Value value) {
    return code.select(code.lessUnsigned(value, code.i32(1)), code.i32(1), value);
  };
  // Tokens that the cache holds, by the tokens of a head.
  Value tokens = atLeastOne(code.narrow(sizes.size(longest.getRole())));
  Value held = code.divide(code.i32(cacheBytes / longest.getBytes()), tokens);
  auto least = [&](Value a, Value b) { return code.select(code.lessUnsigned(a, b), a, b); };
  auto most = [&](Value a, Value b) { return code.select(code.lessUnsigned(a, b), b, a); };
  Value filling = code.ceilDivide(code.i32(kSectionBlocks), atLeastOne(blocks));
  held = atLeastOne(least(least(held, most(filling, code.i32(kSectionHeads))), heads));
  return code.ceilDivide(heads, code.ceilDivide(heads, held));
}

SmallVector<Value> GridOrder::placesOf(Code code, Value number, const tile::SizeValues &sizes) {
  unsigned rank = kernel.getBlock()->getNumArguments();
  SmallVector<Value> places(rank);
  auto extentOf = [&](unsigned i) { return code.narrow(sizes.of(kernel.getExtent(i))); };
  auto setPlace = [&](unsigned i, Value place) {
    places[i] = arith::ExtUIOp::create(code.builder, code.loc, code.builder.getI64Type(), place);
  };
  if (tile::LongestAttr longest = kernel.getLongestAttr()) {
    Value count = extentOf(--rank), heads = code.i32(1);
    for (unsigned i = 0; i < rank; ++i)
      heads = code.mul(heads, extentOf(i));
    Value width = headsOfSection(code, heads, count, sizes);
    Value blocks = code.mul(width, count);
    Value section = code.divide(number, blocks), first = code.mul(section, width);
    Value inSection = code.sub(number, code.mul(section, blocks));
    // The last section may have fewer heads.
    Value left = code.sub(heads, first);
    width = code.select(code.lessUnsigned(left, width), left, width);
    Value row = code.divide(inSection, width);
    number = code.add(first, code.sub(inSection, code.mul(row, width)));
    bool isFirst = longest.getEnd() == tile::End::first;
    setPlace(rank, isFirst ? row : code.sub(code.sub(count, row), code.i32(1)));
  }
  tile::forPlacesInGrid(number, rank, extentOf, setPlace, code);
  return places;
}
