// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/SharedPlan.h"
#include "codegen/Targets/NVPTX/Accesses.h"
#include "codegen/Targets/NVPTX/LaunchContract.h"
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

/// The numbers of a kernel's ops, in the order of its text.
class OpNumbers {
public:
  explicit OpNumbers(tile::KernelOp kernel) {
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      first[op] = last[op] = next++;
      for (Operation *parent = op->getParentOp(); parent != kernel->getParentOp();
           parent = parent->getParentOp())
        last[parent] = first[op];
    });
  }
  /// Of the op and all in its regions.
  Lifetime spanOf(Operation *op) const { return {first.lookup(op), last.lookup(op)}; }

private:
  llvm::DenseMap<Operation *, int64_t> first, last;
  int64_t next = 0;
};

/// An op that accesses a buffer.
struct BufferAccess {
  Operation *op;
  bool writes, reads;
};

/// The innermost block that all accesses lie in.
Block *findCommonBlock(ArrayRef<BufferAccess> accesses) {
  Block *block = accesses.front().op->getBlock();
  while (!llvm::all_of(accesses,
                       [&](const BufferAccess &access) { return block->findAncestorOpInBlock(*access.op); }))
    block = block->getParentOp()->getBlock();
  return block;
}

/// The span of a buffer in one iteration of the loops around all of its accesses, if each iteration begins
/// with a write of it: nothing goes from one to the next.
std::optional<Lifetime> findLifeInIteration(const OpNumbers &numbers, ArrayRef<BufferAccess> accesses) {
  Block *block = findCommonBlock(accesses);
  const BufferAccess &first = accesses.front();
  if (first.op->getBlock() != block || !first.writes || first.reads)
    return std::nullopt;
  Lifetime lifetime;
  for (const BufferAccess &access : accesses)
    lifetime.include(numbers.spanOf(block->findAncestorOpInBlock(*access.op)));
  return lifetime;
}

/// From the first access to the last one, and all of each loop with one.
Lifetime findLifeInLoops(const OpNumbers &numbers, ArrayRef<BufferAccess> accesses) {
  Lifetime lifetime;
  for (const BufferAccess &access : accesses)
    for (Operation *op = access.op; !isa<tile::KernelOp>(op); op = op->getParentOp())
      if (op == access.op || isa<scf::ForOp>(op))
        lifetime.include(numbers.spanOf(op));
  return lifetime;
}

llvm::MapVector<Value, Lifetime> findLifetimes(tile::KernelOp kernel, BufferLife life) {
  llvm::MapVector<Value, SmallVector<BufferAccess>> accesses;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (const Access &access : getAccesses(op)) {
      if (!isa<BufferType>(access.memory.getType()))
        continue;
      SmallVector<BufferAccess> &ofBuffer = accesses[access.memory];
      if (ofBuffer.empty() || ofBuffer.back().op != op)
        ofBuffer.push_back({op, false, false});
      (access.writes ? ofBuffer.back().writes : ofBuffer.back().reads) = true;
    }
  });
  OpNumbers numbers(kernel);
  llvm::MapVector<Value, Lifetime> lifetimes;
  for (auto &[buffer, ofBuffer] : accesses) {
    std::optional<Lifetime> inIteration;
    if (life == BufferLife::Iterations)
      inIteration = findLifeInIteration(numbers, ofBuffer);
    lifetimes[buffer] = inIteration ? *inIteration : findLifeInLoops(numbers, ofBuffer);
  }
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

SharedPlan mlir::simt::planShared(tile::KernelOp kernel, BufferLife life, const SlotCounts &slots) {
  llvm::MapVector<Value, Lifetime> lifetimes = findLifetimes(kernel, life);
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

BufferLife mlir::simt::chooseBufferLife(tile::KernelOp kernel, int64_t limit) {
  return planShared(kernel, BufferLife::Loops).bytes > limit ? BufferLife::Iterations : BufferLife::Loops;
}
