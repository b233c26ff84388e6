// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Thread/ThreadPlaces.h"
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <numeric>

using namespace mlir;
using namespace mlir::simt;

ThreadPlaces::ThreadPlaces(tile::KernelOp kernel, OpBuilder &builder, const DenseMap<Value, Value> &scalars)
    : kernel(kernel), builder(builder), scalars(scalars) {
  team.numWarps = getNumWarps(kernel);
}

//===----------------------------------------------------------------------===//
// What is computed once
//===----------------------------------------------------------------------===//

void ThreadPlaces::endStart() {
  startEnd = at(kernel).i32(0).getDefiningOp();
  builder.setInsertionPointAfter(startEnd);
}

void ThreadPlaces::eraseMarks() {
  startEnd->erase();
  for (auto [loop, end] : startEnds)
    end->erase();
}

LogicalResult ThreadPlaces::emitRole(Team role, function_ref<LogicalResult()> emit) {
  Team all = std::exchange(team, role);
  Operation *outer = startEnd;
  endStart();
  LogicalResult result = emit();
  startEnd->erase();
  startEnd = outer;
  team = all;
  return result;
}

Operation *ThreadPlaces::getEndOfStart() {
  Block *block = builder.getInsertionBlock();
  Block::iterator here = builder.getInsertionPoint();
  Operation *found = nullptr;
  while (true) {
    for (Block::iterator it = here; !found && it != block->begin();)
      if (isa<scf::ForOp>(--it))
        found = &*it;
    Operation *parent = block->getParentOp();
    if (isa<scf::ForOp>(parent))
      return startEnd;
    if (isa<LLVM::LLVMFuncOp>(parent))
      break;
    here = parent->getIterator();
    block = parent->getBlock();
  }
  if (!found)
    return startEnd;
  Operation *&end = startEnds[found];
  if (!end) {
    builder.setInsertionPointAfter(found);
    end = Code(builder, found->getLoc()).i32(0).getDefiningOp();
  }
  return end;
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

void ThreadPlaces::readThread(LLVM::GlobalOp shared) {
  team.thread = NVVM::ThreadIdXOp::create(builder, kernel.getLoc(), builder.getI32Type());
  base = LLVM::AddressOfOp::create(builder, kernel.getLoc(), shared);
}

void ThreadPlaces::emitBarrier(Location loc) {
  Code code = at(loc);
  if (!team.member)
    return code.barrier();
  // Barrier 0 is the block's.
  constexpr int64_t warpThreads = 32;
  NVVM::BarrierOp::create(builder, loc, Type(), code.add(team.member, 1),
                          code.i32(warpThreads * team.numWarps), NVVM::BarrierReductionAttr(), Value());
}

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

ThreadOffset ThreadPlaces::placeOf(ArrayRef<Digit> lanes, ArrayRef<Digit> warps, StringRef axis) {
  return atStart([&] {
    Code code(builder, kernel.getLoc());
    unsigned numBits = lanes.size() + warps.size();
    ThreadOffset place{code.i32(0), 0, 0};
    for (const BitField &field : fieldsOf(lanes, warps, axis)) {
      Value part = code.shiftRight(team.thread, field.low);
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

Value ThreadPlaces::isWriter(LayoutAttr layout) {
  int64_t copies = 0;
  for (auto [bit, digit] : llvm::enumerate(llvm::concat<const Digit>(layout.getLanes(), layout.getWarps())))
    copies |= int64_t(digit.isReplica()) << bit;
  if (!copies)
    return {};
  return atStart([&] {
    Code code(builder, kernel.getLoc());
    return code.lessUnsigned(code.bitAnd(team.thread, code.i32(copies)), code.i32(1));
  });
}
