// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A structured walk that carries, for each buffer and array, what threads did since the last barrier. An
// access that conflicts with it gets a barrier just before: on a straight line that is the fewest. Conditions
// of scf.if and bounds of scf.for are the same for all threads of a block, so barriers may stand inside.
#include "codegen/Targets/NVPTX/PlaceBarriers.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Debug.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "taylor-simt-schedule-copies"

using namespace mlir;
using namespace mlir::simt;

namespace {

/// The smaller of two numbers of groups; none counts as infinitely many.
std::optional<int64_t> fewer(std::optional<int64_t> a, std::optional<int64_t> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

/// What other threads may still be doing to one memory.
struct Hazard {
  bool read = false, written = false; ///< since the last barrier
  /// Copies from or to it that no wait has covered: on every path at least so many groups were committed
  /// after theirs; -1 before their own is.
  std::optional<int64_t> reading, writing;

  bool operator==(const Hazard &) const = default;
  bool isNone() const { return *this == Hazard(); }
  void join(const Hazard &other) {
    read |= other.read;
    written |= other.written;
    reading = fewer(reading, other.reading);
    writing = fewer(writing, other.writing);
  }
};

/// The hazards at a place of the program, by `Memories` number.
struct BufferState {
  llvm::DenseMap<unsigned, Hazard> of;

  void join(const BufferState &other) {
    for (auto &[memory, hazard] : other.of)
      of[memory].join(hazard);
  }
  void commit() {
    for (auto &[memory, hazard] : of)
      for (std::optional<int64_t> *groups : {&hazard.reading, &hazard.writing})
        if (*groups)
          ++**groups;
  }
  /// Copies that the wait covers are now as if done by the thread itself.
  void wait(int64_t groups) {
    for (auto &[memory, hazard] : of) {
      if (hazard.reading && *hazard.reading >= groups) {
        hazard.reading.reset();
        hazard.read = true;
      }
      if (hazard.writing && *hazard.writing >= groups) {
        hazard.writing.reset();
        hazard.written = true;
      }
    }
  }
  void barrier() {
    for (auto &[memory, hazard] : of)
      hazard.read = hazard.written = false;
  }
  bool operator==(const BufferState &other) const {
    auto covers = [](const BufferState &a, const BufferState &b) {
      return llvm::all_of(b.of, [&](auto &entry) { return entry.second == a.of.lookup(entry.first); });
    };
    return covers(*this, other) && covers(other, *this);
  }
};

/// How an array is accessed: equal ones are accesses of the same elements by the same threads.
struct Spread {
  Value array;
  Type tile;
  SmallVector<Attribute> axes;
  SmallVector<Value> offsets;
  bool operator==(const Spread &) const = default;
};

/// None for buffers.
std::optional<Spread> spreadOf(Operation *op, Value memory) {
  if (!isa<tile::ArrayType>(memory.getType()))
    return std::nullopt;
  auto spread = [&](auto op, Type tile) {
    return Spread{memory, tile, {op.getArrayAxes(), op.getTileAxes()}, SmallVector<Value>(op.getOffsets())};
  };
  return llvm::TypeSwitch<Operation *, Spread>(op)
      .Case([&](CopyOp copy) { return spread(copy, copy.getBuffer().getType()); })
      .Case([&](tile::LoadOp load) { return spread(load, load.getType()); })
      .Case([&](tile::LookupOp lookup) { // no tile: one element, of all threads
        return Spread{memory, Type(), {}, SmallVector<Value>(lookup.getPlace())};
      })
      .Case([&](tile::StoreOp store) { return spread(store, store.getTile().getType()); })
      .Case([&](tile::AccumulateOp sum) { return spread(sum, sum.getTile().getType()); });
}

/// Numbers for all memory that ops access: one for a buffer, one for each spread of an array.
class Memories {
public:
  /// `betweenSharers`: only accesses of different buffers that share bytes conflict.
  Memories(tile::KernelOp kernel, bool betweenSharers) {
    kernel.walk([&](Operation *op) {
      for (const Access &access : getAccesses(op))
        add(op, access.memory);
    });
    if (betweenSharers)
      addSharers(kernel);
    else
      addConflicts();
  }

  unsigned numberOf(Operation *op, Value memory) const { return numbers.at({op, memory}); }
  /// Whose hazards matter to an access.
  ArrayRef<unsigned> conflicting(unsigned number) const { return conflicts[number]; }

private:
  void add(Operation *op, Value memory) {
    std::optional<Spread> spread = spreadOf(op, memory);
    unsigned number = 0;
    while (number < memories.size() && !(memories[number] == std::pair(memory, spread)))
      ++number;
    if (number == memories.size())
      memories.push_back({memory, spread});
    numbers[{op, memory}] = number;
  }
  void addSharers(tile::KernelOp kernel) {
    conflicts.resize(memories.size());
    for (auto [a, first] : llvm::enumerate(memories))
      for (auto [b, second] : llvm::enumerate(memories))
        if (auto one = first.first.getDefiningOp<AllocOp>(), other = second.first.getDefiningOp<AllocOp>();
            one && other && one != other && shareBytes(one, other))
          conflicts[a].push_back(b);
  }
  /// A buffer's slots may be accessed by any threads. An array's windows are equal or disjoint where they are
  /// accessed in the same way.
  void addConflicts() {
    conflicts.resize(memories.size());
    for (auto [a, first] : llvm::enumerate(memories))
      for (auto [b, second] : llvm::enumerate(memories))
        if (first.first == second.first && (a != b) == first.second.has_value())
          conflicts[a].push_back(b);
  }

  SmallVector<std::pair<Value, std::optional<Spread>>> memories;
  llvm::DenseMap<std::pair<Operation *, Value>, unsigned> numbers;
  SmallVector<SmallVector<unsigned>> conflicts;
};

/// Which wait and whether a barrier must come before an op, and because of which memory.
struct Need {
  std::optional<int64_t> wait;
  SmallVector<unsigned> because; ///< none: no barrier
};

class BarrierPlacement {
public:
  BarrierPlacement(tile::KernelOp kernel, const PipelinedBuffers &pipelined, bool betweenSharers)
      : kernel(kernel), pipelined(pipelined), memories(kernel, betweenSharers) {}
  void run() {
    BufferState state;
    walk(*kernel.getBlock(), state);
    dropRedundant();
  }
  /// The first access that lacks a barrier or a wait before it; null where none does.
  Operation *findUnmet() { return isComplete() ? nullptr : firstUnmet; }

private:
  void walk(Block &block, BufferState &state);
  void walk(scf::ForOp loop, BufferState &state);
  void walk(scf::IfOp branch, BufferState &state);
  void iterate(scf::ForOp loop, BufferState &state);
  void separate(scf::ForOp loop, BufferState &state);
  Need needOf(Operation *op, const BufferState &state);
  void insert(Operation *before, std::optional<int64_t> wait, BufferState &state);
  void record(Operation *op, BufferState &state);
  bool isComplete();
  void dropRedundant();
  bool isInItsLoop(Operation *op, Value buffer) const;

  tile::KernelOp kernel;
  const PipelinedBuffers &pipelined;
  Memories memories;
  bool inserting = true;
  SmallVector<BarrierOp> inserted;
  /// While not inserting: memory for which a barrier would have been needed.
  llvm::SetVector<unsigned> unmet;
  Operation *firstUnmet = nullptr;
};

bool BarrierPlacement::isInItsLoop(Operation *op, Value buffer) const {
  Operation *loop = pipelined.lookup(buffer);
  return loop && loop->isProperAncestor(op);
}

Need BarrierPlacement::needOf(Operation *op, const BufferState &state) {
  Need need;
  for (const Access &access : getAccesses(op)) {
    if (isInItsLoop(op, access.memory))
      continue;
    for (unsigned memory : memories.conflicting(memories.numberOf(op, access.memory))) {
      Hazard hazard = state.of.lookup(memory);
      std::optional<int64_t> copies = access.writes ? fewer(hazard.reading, hazard.writing) : hazard.writing;
      need.wait = fewer(need.wait, copies);
      if (copies || hazard.written || (access.writes && hazard.read))
        need.because.push_back(memory);
    }
  }
  return need;
}

void BarrierPlacement::record(Operation *op, BufferState &state) {
  for (const Access &access : getAccesses(op)) {
    // What is copied ahead of a loop has arrived when the loop ends; what it reads must be kept until then.
    auto copy = dyn_cast<CopyOp>(op);
    auto buffer = copy ? getBuffer(copy.getBuffer()).getDefiningOp<AllocOp>() : AllocOp();
    bool isAhead = buffer && buffer.getAhead();
    if (isAhead && access.writes)
      continue;
    Hazard &hazard = state.of[memories.numberOf(op, access.memory)];
    if (!access.isAsynchronous || isAhead)
      (access.writes ? hazard.written : hazard.read) = true;
    else
      (access.writes ? hazard.writing : hazard.reading) = -1;
  }
}

/// Wait and barrier before an op; while not inserting they are imagined only.
void BarrierPlacement::insert(Operation *before, std::optional<int64_t> wait, BufferState &state) {
  if (wait && *wait < 0) { // the copies' own group is still open
    if (inserting) {
      OpBuilder builder(before);
      CommitOp::create(builder, before->getLoc());
    }
    state.commit();
    wait = 0;
  }
  if (wait)
    state.wait(*wait);
  state.barrier();
  if (!inserting)
    return;
  LDBG() << before->getLoc() << ": a barrier before '" << before->getName() << "'";
  OpBuilder builder(before);
  if (wait)
    WaitOp::create(builder, before->getLoc(), *wait);
  bool isOfMember = bool(before->getParentOfType<RolesOp>());
  inserted.push_back(BarrierOp::create(builder, before->getLoc(), isOfMember));
}

void BarrierPlacement::walk(Block &block, BufferState &state) {
  for (Operation &op : llvm::make_early_inc_range(block))
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](scf::ForOp loop) { walk(loop, state); })
        .Case([&](scf::IfOp branch) { walk(branch, state); })
        // Rings keep a producer and its members apart; a member's own buffers are as a block's.
        .Case([&](RolesOp roles) { walk(roles.getConsumerBlock(), state); })
        .Case([&](CommitOp) { state.commit(); })
        .Case([&](WaitOp wait) { state.wait(wait.getGroups()); })
        .Case([&](BarrierOp) { state.barrier(); })
        .Default([&](Operation *op) {
          Need need = needOf(op, state);
          if (!need.because.empty()) {
            if (!inserting) {
              firstUnmet = unmet.empty() ? op : firstUnmet;
              unmet.insert_range(need.because);
            }
            insert(op, need.wait, state);
          }
          record(op, state);
        });
}

void BarrierPlacement::walk(scf::IfOp branch, BufferState &state) {
  BufferState otherwise = state;
  walk(branch.getThenRegion().front(), state);
  if (!branch.getElseRegion().empty())
    walk(branch.getElseRegion().front(), otherwise);
  state.join(otherwise);
}

/// From hazards before the loop to those after it, through any number of iterations.
void BarrierPlacement::iterate(scf::ForOp loop, BufferState &state) {
  BufferState start = state, end;
  // This ends: joining only sets flags, and only lowers numbers of groups, to -1 at the least.
  while (true) {
    end = start;
    walk(*loop.getBody(), end);
    BufferState next = start;
    next.join(end);
    if (next == start)
      break;
    start = std::move(next);
  }
  state.join(end);
}

void BarrierPlacement::walk(scf::ForOp loop, BufferState &state) {
  if (inserting) {
    // First what the loop needs by itself, from one iteration to the next included. This ends: an op gets
    // another barrier only with a wait for fewer groups.
    for (size_t before = inserted.size() + 1; before != inserted.size();) {
      before = inserted.size();
      BufferState none;
      iterate(loop, none);
    }
    separate(loop, state);
  }
  iterate(loop, state);
}

/// What comes before the loop is kept apart from its body by a barrier before the loop, unless those in the
/// body do that.
void BarrierPlacement::separate(scf::ForOp loop, BufferState &state) {
  for (bool all : {false, true}) {
    inserting = false;
    unmet.clear();
    BufferState inside = state;
    iterate(loop, inside);
    inserting = true;
    if (unmet.empty())
      return;
    std::optional<int64_t> wait;
    for (auto &[memory, hazard] : state.of)
      if (all || unmet.contains(memory))
        wait = fewer(wait, fewer(hazard.reading, hazard.writing));
    insert(loop, wait, state);
  }
}

bool BarrierPlacement::isComplete() {
  inserting = false;
  unmet.clear();
  BufferState state;
  walk(*kernel.getBlock(), state);
  inserting = true;
  return unmet.empty();
}

/// A loop's barriers were put in first for one iteration and then for successive ones; the latter may serve
/// the former too.
void BarrierPlacement::dropRedundant() {
  for (BarrierOp barrier : inserted) {
    Operation *next = barrier->getNextNode();
    Block *block = barrier->getBlock();
    barrier->remove();
    if (isComplete())
      barrier->destroy();
    else
      block->getOperations().insert(next ? Block::iterator(next) : block->end(), barrier);
  }
}

LogicalResult verifyControlFlow(tile::KernelOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) {
    if (getAccesses(op).empty())
      return WalkResult::advance();
    Operation *parent = op->getParentOp();
    while (isa<scf::ForOp, scf::IfOp, RolesOp>(parent))
      parent = parent->getParentOp();
    if (parent == kernel)
      return WalkResult::advance();
    op->emitOpError() << "requires scf.for and scf.if as the only control flow around it, but got '"
                      << parent->getName() << "'";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Of a kernel that is scheduled already: the loop of a buffer whose copies run ahead is the innermost one
/// with a copy directly in its body and all reads inside.
PipelinedBuffers findPipelined(tile::KernelOp kernel) {
  PipelinedBuffers loops;
  llvm::MapVector<Value, SmallVector<Operation *>> reads;
  kernel.walk([&](Operation *op) {
    for (const Access &access : getAccesses(op))
      if (!access.writes)
        reads[access.memory].push_back(op);
  });
  kernel.walk([&](CopyOp copy) { // inner loops come first
    Value buffer = getBuffer(copy.getBuffer());
    auto loop = dyn_cast<scf::ForOp>(copy->getParentOp());
    auto alloc = buffer.getDefiningOp<AllocOp>();
    if (loop && alloc && alloc.getAhead() &&
        llvm::all_of(reads.lookup(buffer), [&](Operation *read) { return loop->isProperAncestor(read); }))
      loops.try_emplace(buffer, loop);
  });
  return loops;
}

} // namespace

bool mlir::simt::shareBytes(AllocOp a, AllocOp b) {
  if (!a.getOffset() || !b.getOffset())
    return false;
  auto endOf = [](AllocOp op) {
    BufferType type = op.getType();
    return int64_t(*op.getOffset()) + type.getSlots() * type.getSlotBytes();
  };
  return int64_t(*a.getOffset()) < endOf(b) && int64_t(*b.getOffset()) < endOf(a);
}

LogicalResult mlir::simt::placeBarriers(tile::KernelOp kernel, const PipelinedBuffers &pipelined) {
  if (failed(verifyControlFlow(kernel)))
    return failure();
  BarrierPlacement(kernel, pipelined, false).run();
  return success();
}

LogicalResult mlir::simt::placeBarriersBetweenSharers(tile::KernelOp kernel) {
  if (failed(verifyControlFlow(kernel)))
    return failure();
  BarrierPlacement(kernel, PipelinedBuffers(), true).run();
  return success();
}

LogicalResult mlir::simt::requireBarriers(tile::KernelOp kernel) {
  if (failed(verifyControlFlow(kernel)))
    return failure();
  Operation *unmet = BarrierPlacement(kernel, findPipelined(kernel), false).findUnmet();
  if (!unmet)
    return success();
  return unmet->emitOpError("requires waits and barriers that keep it apart from other accesses of its "
                            "memory; run taylor-simt-schedule-copies before");
}
