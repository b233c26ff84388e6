// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which place a thread's number stands for, and what is known of places.
#include "codegen/Targets/NVPTX/Thread/ThreadEmitter.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace mlir::simt;

namespace {
/// Neighbouring bits of the thread's number whose strides double: one field.
struct BitField {
  unsigned low, count;
  int64_t stride;
};
} // namespace

static SmallVector<BitField> fieldsOf(ArrayRef<Digit> lanes, ArrayRef<Digit> warps, StringRef axis) {
  SmallVector<BitField> fields;
  unsigned bit = 0;
  for (const Digit &digit : llvm::concat<const Digit>(lanes, warps)) {
    if (digit.isAlong(axis)) {
      BitField *last = fields.empty() ? nullptr : &fields.back();
      if (last && last->low + last->count == bit && digit.stride == last->stride << last->count)
        ++last->count;
      else
        fields.push_back({bit, 1, digit.stride});
    }
    ++bit;
  }
  return fields;
}

ThreadOffset ThreadEmitter::placeOf(ArrayRef<Digit> lanes, ArrayRef<Digit> warps, StringRef axis) {
  return atStart([&] {
    Code code(builder, kernel.getLoc());
    unsigned numBits = lanes.size() + warps.size();
    ThreadOffset place{code.i32(0), 0, 0};
    for (const BitField &field : fieldsOf(lanes, warps, axis)) {
      Value part = code.shiftRight(thread, field.low);
      if (field.low + field.count < numBits)
        part = code.bitAnd(part, code.i32((1 << field.count) - 1));
      place.value = code.add(place.value, code.mul(part, field.stride));
      place.divisor = std::gcd(place.divisor, field.stride);
      int64_t bits = ((int64_t(1) << field.count) - 1) * field.stride;
      bool known = llvm::isPowerOf2_64(field.stride) && place.bits >= 0 && (place.bits & bits) == 0;
      place.bits = known ? place.bits | bits : -1;
    }
    return place;
  });
}

Value ThreadEmitter::isWriter(LayoutAttr layout) {
  int64_t copies = 0;
  for (auto [bit, digit] : llvm::enumerate(llvm::concat<const Digit>(layout.getLanes(), layout.getWarps())))
    copies |= int64_t(digit.isReplica()) << bit;
  if (!copies)
    return {};
  return atStart([&] {
    Code code(builder, kernel.getLoc());
    return code.lessUnsigned(code.bitAnd(thread, code.i32(copies)), code.i32(1));
  });
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

static scf::ForOp loopOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  return loop && argument == loop.getInductionVar() ? loop : scf::ForOp();
}

bool mlir::simt::isNonNegative(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return !constant.isNegative();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (isa<tile::KernelOp, RolesOp>(argument.getOwner()->getParentOp()))
      return true;
    scf::ForOp loop = loopOf(value);
    return loop && isNonNegative(loop.getLowerBound());
  }
  Operation *op = value.getDefiningOp();
  if (isa<OwnTilesOp, PlaceOp>(op))
    return true;
  if (auto size = dyn_cast<tile::SizeOp>(op))
    return size.getRole() != tile::kOffset;
  if (isa<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp,
          arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemSIOp, arith::RemUIOp, arith::MinSIOp,
          arith::MinUIOp, arith::MaxUIOp>(op))
    return llvm::all_of(op->getOperands(), isNonNegative);
  if (isa<arith::MaxSIOp>(op))
    return llvm::any_of(op->getOperands(), isNonNegative);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isNonNegative(select.getTrueValue()) && isNonNegative(select.getFalseValue());
  return false;
}

int64_t mlir::simt::divisorOf(Value value) {
  APInt constant;
  if (!value)
    return 0;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return std::abs(constant.getSExtValue());
  if (scf::ForOp loop = loopOf(value))
    return std::gcd(divisorOf(loop.getLowerBound()), divisorOf(loop.getStep()));
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::MulIOp>(op))
    return divisorOf(op->getOperand(0)) * divisorOf(op->getOperand(1));
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
                      arith::MaxUIOp>(op))
    return std::gcd(divisorOf(op->getOperand(0)), divisorOf(op->getOperand(1)));
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return std::gcd(divisorOf(select.getTrueValue()), divisorOf(select.getFalseValue()));
  return 1;
}
