// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Thread/Rearranger.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

using namespace mlir;
using namespace mlir::simt;
using tile::Axis;
using tile::ReductionKind;
using tile::TileType;

Value Rearranger::combine(ReductionKind kind, Value a, Value b) {
  OpBuilder &builder = places.builder;
  Location loc = places.kernel.getLoc();
  bool isFloat = isa<FloatType>(a.getType());
  switch (kind) {
  case ReductionKind::sum:
    return isFloat ? Value(arith::AddFOp::create(builder, loc, a, b))
                   : Value(arith::AddIOp::create(builder, loc, a, b));
  case ReductionKind::max:
    return isFloat ? Value(arith::MaximumFOp::create(builder, loc, a, b))
                   : Value(arith::MaxSIOp::create(builder, loc, a, b));
  case ReductionKind::min:
    return isFloat ? Value(arith::MinimumFOp::create(builder, loc, a, b))
                   : Value(arith::MinSIOp::create(builder, loc, a, b));
  }
  llvm_unreachable("all kinds are listed");
}

LogicalResult Rearranger::emitReduce(Operation *op, ReductionKind kind, Value input, Value result) {
  auto from = cast<TileType>(input.getType()), to = cast<TileType>(result.getType());
  LayoutAttr layout = layoutOf(from), rest = layoutOf(to);
  auto isReduced = [&](const Digit &digit) { return digit.axis && !to.hasAxis(digit.axis.getValue()); };
  if (!isa<ReduceWarpOp>(op) && llvm::any_of(layout.getWarps(), isReduced))
    return op->emitOpError(
        "requires the reduced axes within each warp; a simt.reduce_warp and a buffer reduce "
        "over several");
  if (!isa<ReduceWarpOp>(op) && !haveSamePlaces(rest, layout.project(to.getAxes())))
    return op->emitOpError() << "expected a result in the layout of the operand, but got " << to;
  // Two sums per result, of even and odd registers, so that one need not wait for the other.
  SmallVector<std::array<Value, 2>> sums(rest.getNumRegisters());
  ThreadRegisters registers = tiles.tileOf(input);
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; ++i) {
    int64_t place = rest.findRegister(layout, i);
    if (place < 0)
      return op->emitOpError() << "expected a result in the layout of the operand, but got " << to;
    Value &sum = sums[place][i % 2], value = tiles.element(registers, i, op->getLoc());
    sum = sum ? combine(kind, sum, value) : value;
  }
  SmallVector<Value> results;
  for (auto [even, odd] : sums)
    results.push_back(!odd ? even : !even ? odd : combine(kind, even, odd));
  for (auto [bit, digit] : llvm::enumerate(layout.getLanes()))
    if (isReduced(digit))
      for (Value &value : results)
        value = combine(kind, value, places.at(op).exchange(value, 1 << bit));
  tiles.setTile(result, results);
  return success();
}

LogicalResult Rearranger::emitScan(tile::ScanOp op) {
  OpBuilder &builder = places.builder;
  StringRef axis = op.getAxis();
  LayoutAttr layout = layoutOf(op.getType());
  if (layout.isAcrossLanes(axis) || layout.isAcrossWarps(axis))
    return op.emitOpError("requires the scanned axis in the registers of each thread");
  const ThreadRegisters registers = tiles.tileOf(op.getInput());
  int64_t count = layout.getNumRegisters(), size = op.getType().getSize(axis);
  SmallVector<Value> results(count);
  Value none = arith::ConstantOp::create(
      builder, op.getLoc(), builder.getFloatAttr(op.getType().getElementType(), identityOf(op.getKind())));
  for (int64_t start = 0; start < count; ++start) {
    if (layout.getOffset(start, axis) != 0)
      continue;
    Value combined, document;
    for (int64_t step = 0; step < size; ++step) {
      int64_t place = layout.findRegister(layout, start, axis, op.getReverse() ? size - 1 - step : step);
      Value value = tiles.element(registers, place, op.getLoc());
      if (op.getWithin()) {
        Value next = tiles.element(tiles.tileOf(op.getWithin()), place, op.getLoc());
        if (document) {
          Value same = arith::CmpFOp::create(builder, op.getLoc(), arith::CmpFPredicate::OEQ, next, document);
          combined = arith::SelectOp::create(builder, op.getLoc(), same, combined, none);
        }
        document = next;
      }
      Value before = combined ? combined : none;
      combined = combined ? combine(op.getKind(), combined, value) : value;
      results[place] = op.getExclusive() ? before : combined;
    }
  }
  tiles.setTile(op, results);
  return success();
}

LogicalResult Rearranger::emitSlice(tile::SliceOp op) {
  LayoutAttr from = layoutOf(op.getInput().getType()), to = layoutOf(op.getType());
  StringRef axis = op.getAxis();
  SmallVector<Value> results;
  for (int64_t i = 0, e = to.getNumRegisters(); i < e; ++i) {
    int64_t offset = op.getOffset() + op.getStride() * to.getOffset(i, axis);
    int64_t place = haveSamePlaces(from, to, axis) ? from.findRegister(to, i, axis, offset) : -1;
    if (place < 0)
      return op.emitOpError() << "requires a renumbering of registers, but got " << op.getInput().getType()
                              << " and " << op.getType();
    results.push_back(tiles.element(tiles.tileOf(op.getInput()), place, op.getLoc()));
  }
  tiles.setTile(op, results);
  return success();
}

LogicalResult Rearranger::emitConcat(tile::ConcatOp op) {
  LayoutAttr to = layoutOf(op.getType());
  StringRef axis = op.getAxis();
  int64_t size = op.getA().getType().getSize(axis);
  SmallVector<Value> results;
  for (int64_t i = 0, e = to.getNumRegisters(); i < e; ++i) {
    int64_t offset = to.getOffset(i, axis);
    bool isFirst = op.getInterleaved() ? offset % 2 == 0 : offset < size;
    Value source = isFirst ? op.getA() : op.getB();
    offset = op.getInterleaved() ? offset / 2 : isFirst ? offset : offset - size;
    LayoutAttr from = layoutOf(source.getType());
    int64_t place = haveSamePlaces(from, to, axis) ? from.findRegister(to, i, axis, offset) : -1;
    if (place < 0)
      return op.emitOpError() << "requires a renumbering of registers, but got " << source.getType()
                              << " and " << op.getType();
    results.push_back(tiles.element(tiles.tileOf(source), place, op.getLoc()));
  }
  tiles.setTile(op, results);
  return success();
}

namespace {
/// A bit of the thread's number that chooses among registers that the thread holds anyway.
struct Choice {
  unsigned bit;
  Digit digit;
};
} // namespace

LogicalResult Rearranger::emitRelayout(RelayoutOp op) {
  LayoutAttr from = layoutOf(op.getInput().getType()), to = layoutOf(op.getType());
  const ThreadRegisters registers = tiles.tileOf(op.getInput());
  SmallVector<Choice> choices;
  auto needs = llvm::concat<const Digit>(to.getLanes(), to.getWarps());
  auto has = llvm::concat<const Digit>(from.getLanes(), from.getWarps());
  for (auto [bit, pair] : llvm::enumerate(llvm::zip(needs, has)))
    if (auto [need, have] = pair; !need.isReplica() && have.isReplica())
      choices.push_back({unsigned(bit), need});
  Code code = places.at(op);
  SmallVector<Value> results;
  for (int64_t i = 0, e = to.getNumRegisters(); i < e; ++i) {
    llvm::StringMap<int64_t> offsets;
    for (const Axis &axis : op.getType().getAxes())
      offsets[axis.getName()] = to.getOffset(i, axis.getName());
    // The value where the bits from `next` on are still to be asked.
    std::function<Value(size_t)> choose = [&](size_t next) -> Value {
      if (next == choices.size()) {
        int64_t place = from.findRegister([&](StringRef axis) { return offsets[axis]; });
        bool isThere = place >= 0 && llvm::all_of(offsets, [&](auto &offset) {
                         return from.getOffset(place, offset.getKey()) == offset.getValue();
                       });
        return isThere ? tiles.element(registers, place, op.getLoc()) : Value();
      }
      const Choice &choice = choices[next];
      Value clear = choose(next + 1);
      offsets[choice.digit.axis] += choice.digit.stride;
      Value set = choose(next + 1);
      offsets[choice.digit.axis] -= choice.digit.stride;
      if (!clear || !set)
        return {};
      Value isSet = places.atStart([&] {
        Value bit = code.bitAnd(places.thread(), code.i32(int64_t(1) << choice.bit));
        return code.lessUnsigned(code.i32(0), bit);
      });
      return code.select(isSet, set, clear);
    };
    Value value = choose(0);
    if (!value)
      return op.emitOpError() << "requires a renumbering of registers, but got " << op.getInput().getType()
                              << " and " << op.getType();
    results.push_back(value);
  }
  tiles.setTile(op, results);
  return success();
}
