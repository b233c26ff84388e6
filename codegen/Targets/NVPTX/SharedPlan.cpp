// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/SharedPlan.h"
#include "codegen/Targets/NVPTX/Accesses.h"
#include "codegen/Targets/NVPTX/Contract.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::simt;

namespace {

/// Numbers of the first and the last op that need a buffer.
struct Lifetime {
  int64_t first = INT64_MAX, last = -1;

  void include(const Lifetime &other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
  bool overlaps(const Lifetime &other) const { return first <= other.last && other.first <= last; }
};

llvm::MapVector<Value, Lifetime> findLifetimes(tile::KernelOp kernel) {
  llvm::DenseMap<Operation *, int64_t> numbers;
  llvm::DenseMap<Operation *, int64_t> lastInside;
  int64_t next = 0;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    numbers[op] = next++;
    for (Operation *parent = op->getParentOp(); parent != kernel->getParentOp();
         parent = parent->getParentOp())
      if (isa<scf::ForOp>(parent))
        lastInside[parent] = numbers[op];
  });
  llvm::MapVector<Value, Lifetime> lifetimes;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (const Access &access : getAccesses(op)) {
      if (!isa<BufferType>(access.memory.getType()))
        continue;
      Lifetime lifetime{numbers[op], numbers[op]};
      for (Operation *parent = op->getParentOp(); parent != kernel; parent = parent->getParentOp())
        if (isa<scf::ForOp>(parent))
          lifetime.include({numbers[parent], lastInside[parent]});
      lifetimes[access.memory].include(lifetime);
    }
  });
  return lifetimes;
}

struct Placed {
  Lifetime lifetime;
  int64_t begin, end;
};

/// The first place of `bytes` bytes that nothing needed at the same time has.
int64_t findPlace(ArrayRef<Placed> placed, const Lifetime &lifetime, int64_t bytes, int64_t alignment) {
  int64_t begin = 0;
  for (bool moved = true; moved;) { // each move is beyond one more of those placed
    moved = false;
    for (const Placed &other : placed)
      if (lifetime.overlaps(other.lifetime) && begin < other.end && other.begin < begin + bytes) {
        begin = llvm::alignTo(other.end, alignment);
        moved = true;
      }
  }
  return begin;
}

/// A swizzle's pattern, and what bulk copies need (PTX ISA, "Swizzling Modes").
constexpr int64_t kPatternBytes = 1024;

void placeRings(tile::KernelOp kernel, RolesOp roles, SharedPlan &plan) {
  plan.apart = llvm::alignTo(plan.bytes, kPatternBytes);
  plan.bytes = plan.apart * int64_t(roles.getMembers());
  for (auto ring : kernel.getBlock()->getOps<RingOp>()) {
    BufferType buffer = ring.getType().getBuffer();
    plan.bytes = llvm::alignTo(plan.bytes, buffer.getSwizzle() ? kPatternBytes : 128);
    plan.rings[ring].first = plan.bytes;
    plan.bytes += ring.getType().getBytes();
  }
  plan.bytes = llvm::alignTo(plan.bytes, 16);
  for (auto &[ring, places] : plan.rings) {
    places.second = plan.bytes;
    auto op = cast<RingOp>(ring);
    plan.bytes += RingType::kSignalBytes * (op.getType().getBuffer().getSlots() + completesBoxes(op));
  }
}

} // namespace

SharedPlan mlir::simt::planShared(tile::KernelOp kernel, const llvm::DenseMap<Operation *, int64_t> &slots) {
  llvm::MapVector<Value, Lifetime> lifetimes = findLifetimes(kernel);
  SmallVector<AllocOp> allocs(kernel.getBlock()->getOps<AllocOp>());
  auto bytesOf = [&](AllocOp op) {
    BufferType type = op.getType();
    auto found = slots.find(op);
    return type.getSlotBytes() * (found == slots.end() ? type.getSlots() : found->second);
  };
  SmallVector<AllocOp> order(allocs);
  llvm::stable_sort(order, [&](AllocOp a, AllocOp b) { return bytesOf(a) > bytesOf(b); });
  SharedPlan plan;
  for (AllocOp op : allocs)
    plan.offsets[op] = 0;
  SmallVector<Placed> placed;
  for (AllocOp op : order) {
    Lifetime lifetime = lifetimes.lookup(op.getResult());
    int64_t bytes = bytesOf(op);
    int64_t begin = findPlace(placed, lifetime, bytes, op.getType().getSwizzle() ? 1024 : 16);
    plan.offsets[op] = begin;
    placed.push_back({lifetime, begin, begin + bytes});
    plan.bytes = std::max(plan.bytes, begin + bytes);
  }
  auto roles = kernel.getBlock()->getOps<RolesOp>();
  if (!roles.empty())
    placeRings(kernel, *roles.begin(), plan);
  return plan;
}
