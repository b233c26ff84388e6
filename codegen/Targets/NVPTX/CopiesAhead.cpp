// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One loop's copies ahead of their use. Positions are places in the loop's body: position p is before its op
// number p.
#include "codegen/Targets/NVPTX/CopiesAhead.h"
#include "codegen/Targets/NVPTX/SharedPlan.h"
#include "dialect/Sources.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Debug.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "taylor-simt-schedule-copies"

using namespace mlir;
using namespace mlir::simt;

namespace {

/// A copy that runs ahead, and the reads of its buffer: ops `firstRead` to `lastRead` of the body.
struct CopyStream {
  CopyOp copy;
  AllocOp buffer;
  SmallVector<Operation *> address; ///< ops of the body that the window follows from, in order
  unsigned firstRead, lastRead;
  int64_t slots = 1;
  unsigned wait = 0;          ///< sync point that waits for the copy
  unsigned refill = 0;        ///< first sync point after the last read
  bool nextIteration = false; ///< that sync point belongs to the iteration after the read
  unsigned group = 0;         ///< of the groups that one iteration commits
  bool isReplaced = false;    ///< a store of the same iteration replaces what was copied

  /// By how many iterations the copy is ahead of the iteration that issues it.
  int64_t ahead() const { return slots - nextIteration; }
};

class LoopPipeline {
public:
  LoopPipeline(scf::ForOp loop, const PipelineLimits &limits) : loop(loop), limits(limits) {}
  void run(PipelinedBuffers &pipelined);

private:
  // What runs ahead
  void moveInvariants();
  void findStreams(const PipelinedBuffers &pipelined);
  std::optional<CopyStream> asStream(CopyOp copy);
  bool collectAddress(CopyOp copy, SmallVector<Operation *> &address);
  bool isApart(tile::StoreOp store, const CopyStream &stream);
  unsigned positionOf(Operation *op);
  bool hasWork(unsigned from, unsigned to) const;

  // Slots, sync points and groups
  void chooseSlots();
  void choosePoints();
  void addPoint(unsigned position);
  unsigned latestPoint(unsigned position) const;
  void linkStreams();
  void moveUp();
  void formGroups();

  // The new loop
  void addSlotIndices();
  void emitPoint(unsigned point, Operation *before);
  void emitPrologue();
  void emitCopy(OpBuilder &builder, CopyStream &stream, Value iteration, Value condition, Value slot);
  Value isRunning(OpBuilder &builder, Value iteration);
  Value shifted(OpBuilder &builder, Value iteration, int64_t by);
  Value refillSlot(OpBuilder &builder, const CopyStream &stream);
  Value inSlot(OpBuilder &builder, CopyStream &stream, Value index);
  void hoistPrologue();
  void eraseOriginals();

  scf::ForOp loop;
  const PipelineLimits &limits;
  SmallVector<CopyStream> streams;
  SmallVector<bool> isWork;     ///< per op of the body: takes time that copies may hide behind
  SmallVector<unsigned> points; ///< sorted positions
  SmallVector<SmallVector<CopyStream *>> groups; ///< of one iteration, in the order of their commits
  llvm::DenseMap<int64_t, Value> slotIndex;      ///< number of slots -> the slot that this iteration reads
  SmallVector<Operation *> prologue;
};

//===----------------------------------------------------------------------===//
// What runs ahead
//===----------------------------------------------------------------------===//

unsigned LoopPipeline::positionOf(Operation *op) {
  Operation *ancestor = loop.getBody()->findAncestorOpInBlock(*op);
  return std::distance(loop.getBody()->begin(), Block::iterator(ancestor));
}

/// Moves numbers that are the same in all iterations out of the loop. A division must not fail where the loop
/// would not have run.
void LoopPipeline::moveInvariants() {
  for (Operation &op : llvm::make_early_inc_range(loop.getBody()->without_terminator())) {
    bool isNumber =
        op.getNumRegions() == 0 && op.getNumResults() == 1 && op.getResult(0).getType().isIntOrIndex();
    bool isDivision = isa<arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
                          arith::FloorDivSIOp, arith::RemSIOp, arith::RemUIOp>(op);
    auto isOutside = [&](Value value) { return loop.isDefinedOutsideOfLoop(value); };
    if (!isNumber || !(isPure(&op) || isDivision) || !llvm::all_of(op.getOperands(), isOutside))
      continue;
    op.moveBefore(loop);
    if (isPure(&op))
      continue;
    OpBuilder builder(&op);
    Value divisor = op.getOperand(1);
    Value zero = arith::ConstantOp::create(builder, op.getLoc(), builder.getZeroAttr(divisor.getType()));
    Value one = arith::ConstantOp::create(builder, op.getLoc(), builder.getOneAttr(divisor.getType()));
    Value isZero = arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::eq, divisor, zero);
    op.setOperand(1, arith::SelectOp::create(builder, op.getLoc(), isZero, one, divisor));
  }
}

/// Ops of the body that operands of the copy follow from; false if not all are pure, or one depends on an
/// earlier iteration.
bool LoopPipeline::collectAddress(CopyOp copy, SmallVector<Operation *> &address) {
  llvm::SetVector<Operation *> found;
  SmallVector<Value> numbers(copy.getOffsets());
  for (Value value : {Value(copy.getCondition()), Value(copy.getEnd())})
    if (value)
      numbers.push_back(value);
  bool isKnown = true;
  taylor::walkSources(numbers, [&](Value value) {
    if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
      return false;
    Operation *op = value.getDefiningOp();
    isKnown = isKnown && op && isPure(op) && !op->getNumRegions();
    return isKnown && found.insert(op);
  });
  if (!isKnown)
    return false;
  address.assign(found.begin(), found.end());
  llvm::sort(address, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return true;
}

/// The store writes the window that the copy of the same iteration has read, after the last read of its
/// buffer, and no other iteration's copy reads it: one of the array's axes is at the loop's number, one
/// element of it.
bool LoopPipeline::isApart(tile::StoreOp store, const CopyStream &stream) {
  CopyOp copy = stream.copy;
  auto isNumber = [&](Value offset) {
    if (auto from = offset.getDefiningOp<arith::SubIOp>(); from && loop.isDefinedOutsideOfLoop(from.getLhs()))
      offset = from.getRhs();
    return offset == loop.getInductionVar();
  };
  tile::TileType tile = store.getTile().getType();
  // The same axes and offsets of the same array are the same window.
  auto inTile = [&](const tile::Axis &axis) {
    return tile.hasAxis(axis.getName()) && tile.getSize(axis.getName()) == axis.getSize();
  };
  AllocOp buffer = stream.buffer;
  ArrayRef<tile::Axis> copied = buffer.getType().getAxes();
  return positionOf(store) > stream.lastRead && copied.size() == tile.getAxes().size() &&
         llvm::all_of(copied, inTile) && store.getOffsets() == copy.getOffsets() &&
         store.getArrayAxes() == copy.getArrayAxes() && store.getTileAxes() == copy.getTileAxes() &&
         llvm::any_of(tile::getWindow(store.getArray().getType(), tile, store.getArrayAxes(),
                                      store.getTileAxes(), store.getOffsets()),
                      [&](const tile::WindowAxis &axis) {
                        return axis.tileAxis.empty() && axis.offset && isNumber(axis.offset);
                      });
}

std::optional<CopyStream> LoopPipeline::asStream(CopyOp copy) {
  CopyStream stream{copy, copy.getBuffer().getDefiningOp<AllocOp>(), {}, UINT_MAX, 0};
  if (!stream.buffer || stream.buffer.getType().getSlots() != 1 || !collectAddress(copy, stream.address))
    return std::nullopt;
  for (Operation *user : stream.buffer->getUsers()) {
    if (user == copy)
      continue;
    if (!isa<ReadOp, DotOp, ExpandOp, ContractOp>(user) || !loop->isProperAncestor(user) ||
        positionOf(user) <= positionOf(copy))
      return std::nullopt;
    stream.firstRead = std::min(stream.firstRead, positionOf(user));
    stream.lastRead = std::max(stream.lastRead, positionOf(user));
  }
  WalkResult written = loop.walk([&](Operation *op) {
    if (auto store = dyn_cast<tile::StoreOp>(op);
        store && store.getArray() == copy.getArray() && isApart(store, stream)) {
      stream.isReplaced = true;
      return WalkResult::advance();
    }
    for (const Access &access : getAccesses(op))
      if (access.writes && access.memory == copy.getArray())
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (written.wasInterrupted())
    return std::nullopt;
  return stream;
}

void LoopPipeline::findStreams(const PipelinedBuffers &pipelined) {
  for (Operation &op : *loop.getBody()) {
    auto computes = [](Type type) { return isa<tile::TileType>(type); };
    isWork.push_back(!isa<ReadOp>(op) && (op.getNumRegions() || isa<ContractOp>(op) ||
                                          llvm::any_of(op.getResultTypes(), computes)));
    if (auto copy = dyn_cast<CopyOp>(op); copy && !pipelined.contains(getBuffer(copy.getBuffer())))
      if (std::optional<CopyStream> stream = asStream(copy))
        streams.push_back(std::move(*stream));
  }
}

bool LoopPipeline::hasWork(unsigned from, unsigned to) const {
  return llvm::is_contained(ArrayRef(isWork).slice(from, std::max(from, to) - from), true);
}

//===----------------------------------------------------------------------===//
// Slots, sync points and groups
//===----------------------------------------------------------------------===//

void LoopPipeline::chooseSlots() {
  // With one slot, is there anything to do between the last read and the next first read?
  auto hides = [&](CopyStream *stream) {
    return hasWork(stream->lastRead + 1, isWork.size()) || hasWork(0, stream->firstRead);
  };
  auto bytes = [](CopyStream *stream) { return stream->buffer.getType().getSlotBytes(); };
  SmallVector<CopyStream *> order;
  for (CopyStream &stream : streams)
    if (bytes(&stream) % 16 == 0) // every slot's start has to suit copies of 16 bytes
      order.push_back(&stream);
  int64_t largest = 0;
  for (CopyStream *stream : order)
    largest = std::max(largest, bytes(stream));
  auto rank = [&](CopyStream *stream) {
    return std::tuple(bytes(stream) * 8 > largest, hides(stream), bytes(stream));
  };
  llvm::stable_sort(order, [&](CopyStream *a, CopyStream *b) { return rank(a) < rank(b); });
  auto kernel = loop->getParentOfType<tile::KernelOp>();
  // Running sums, in place of what they are summed from: a body takes no time compared with memory's, so
  // copies of several iterations have to be under way.
  int64_t deep = limits.slots > 1 ? 4 * limits.slots : limits.slots;
  auto mostOf = [&](const CopyStream *stream) { return stream->isReplaced ? deep : limits.slots; };
  SlotCounts slots;
  BufferLife life = chooseBufferLife(kernel, limits.shared);
  for (int64_t count = 2; count <= deep; ++count)
    for (CopyStream *stream : order) {
      if (stream->slots != count - 1 || count > mostOf(stream))
        continue;
      slots[stream->buffer] = count;
      if (planShared(kernel, life, slots).bytes <= limits.shared)
        stream->slots = count;
      else
        slots[stream->buffer] = count - 1;
    }
  for (const CopyStream &stream : streams)
    LDBG() << AllocOp(stream.buffer).getName() << ": " << stream.slots << " slots of "
           << AllocOp(stream.buffer).getType().getSlotBytes() << " bytes"
           << (stream.isReplaced ? ", replaced by what is summed" : "");
}

void LoopPipeline::addPoint(unsigned position) {
  auto at = llvm::lower_bound(points, position);
  if (at == points.end() || *at != position)
    points.insert(at, position);
}

/// Index of the last point that is not after `position`; there is one.
unsigned LoopPipeline::latestPoint(unsigned position) const {
  return std::distance(points.begin(), llvm::upper_bound(points, position)) - 1;
}

/// Which points wait for and refill a stream, for the points there are.
void LoopPipeline::linkStreams() {
  for (CopyStream &stream : streams) {
    stream.wait = latestPoint(stream.firstRead);
    auto after = llvm::upper_bound(points, stream.lastRead);
    stream.nextIteration = after == points.end();
    stream.refill = stream.nextIteration ? 0 : std::distance(points.begin(), after);
  }
}

void LoopPipeline::choosePoints() {
  SmallVector<CopyStream *> order = llvm::map_to_vector(streams, [](CopyStream &stream) { return &stream; });
  llvm::stable_sort(order, [](CopyStream *a, CopyStream *b) { return a->firstRead < b->firstRead; });
  auto earlier = [&](const CopyStream *stream) {
    return !points.empty() && points.front() <= stream->firstRead;
  };
  for (CopyStream *stream : order)
    if (stream->slots == 1 &&
        !(earlier(stream) && !hasWork(points[latestPoint(stream->firstRead)], stream->firstRead)))
      addPoint(stream->firstRead);
  for (CopyStream *stream : order)
    if (stream->slots > 1 && !earlier(stream))
      addPoint(stream->firstRead);
  // A slot cannot be refilled and waited for at the same point of the same iteration.
  for (CopyStream *stream : order) {
    linkStreams();
    if (stream->ahead() == 0 && stream->refill == stream->wait)
      addPoint(stream->lastRead + 1);
  }
  linkStreams();
  moveUp();
}

void LoopPipeline::moveUp() {
  for (auto [point, position] : llvm::enumerate(points)) {
    std::optional<unsigned> earliest;
    for (const CopyStream &stream : streams)
      if (stream.refill == point)
        earliest = std::max(earliest.value_or(0), stream.nextIteration ? 0 : stream.lastRead + 1);
    position = earliest.value_or(position);
  }
}

/// Refills of one point are in order of their waits, those with the same wait in one group.
void LoopPipeline::formGroups() {
  for (unsigned point = 0; point < points.size(); ++point) {
    auto due = [&](const CopyStream *stream) {
      return stream->ahead() * int64_t(points.size()) + stream->wait;
    };
    SmallVector<CopyStream *> refills;
    for (CopyStream &stream : streams)
      if (stream.refill == point)
        refills.push_back(&stream);
    llvm::stable_sort(refills, [&](CopyStream *a, CopyStream *b) { return due(a) < due(b); });
    for (auto [index, stream] : llvm::enumerate(refills)) {
      if (index == 0 || due(refills[index - 1]) != due(stream))
        groups.emplace_back();
      groups.back().push_back(stream);
      stream->group = groups.size() - 1;
    }
  }
}

//===----------------------------------------------------------------------===//
// The new loop
//===----------------------------------------------------------------------===//

Value constantIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// The slot after, or before, `slot` of a ring of `slots`.
Value stepSlot(OpBuilder &builder, Location loc, Value slot, int64_t slots, bool forward) {
  Value one = constantIndex(builder, loc, 1);
  if (slots == 2)
    return arith::SubIOp::create(builder, loc, one, slot);
  Value first = constantIndex(builder, loc, 0), last = constantIndex(builder, loc, slots - 1);
  Value isEnd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, slot, forward ? last : first);
  Value next = forward ? arith::AddIOp::create(builder, loc, slot, one).getResult()
                       : arith::SubIOp::create(builder, loc, slot, one).getResult();
  return arith::SelectOp::create(builder, loc, isEnd, forward ? first : last, next);
}

/// Counts the slot to read for each number of slots in the loop, and makes reads use it.
void LoopPipeline::addSlotIndices() {
  SmallVector<int64_t> counts;
  for (const CopyStream &stream : streams)
    if (stream.slots > 1 && !llvm::is_contained(counts, stream.slots))
      counts.push_back(stream.slots);
  if (counts.empty())
    return;
  IRRewriter rewriter(loop);
  Location loc = loop.getLoc();
  SmallVector<Value> zeros(counts.size(), constantIndex(rewriter, loc, 0));
  auto next = [&](OpBuilder &builder, Location loc, ArrayRef<BlockArgument> indices) {
    SmallVector<Value> values;
    for (auto [count, index] : llvm::zip(counts, indices))
      values.push_back(stepSlot(builder, loc, index, count, true));
    return values;
  };
  unsigned before = loop.getNumRegionIterArgs();
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(rewriter, zeros, false, next));
  for (auto [number, count] : llvm::enumerate(counts))
    slotIndex[count] = loop.getRegionIterArg(before + number);
  OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
  for (CopyStream &stream : streams) {
    if (stream.slots == 1)
      continue;
    BufferType type = stream.buffer.getType();
    stream.buffer.getResult().setType(BufferType::get(type.getContext(), stream.slots, type.getAxes(),
                                                      type.getElementType(), type.getSwizzle(),
                                                      type.getPanel()));
    Value slot = SlotOp::create(builder, stream.copy.getLoc(), stream.buffer, slotIndex[stream.slots]);
    stream.buffer.getResult().replaceUsesWithIf(slot, [&](OpOperand &use) {
      return use.getOwner() != stream.copy && use.getOwner() != slot.getDefiningOp();
    });
  }
}

Value LoopPipeline::shifted(OpBuilder &builder, Value iteration, int64_t by) {
  Location loc = loop.getLoc();
  if (by == 0)
    return iteration;
  Value step = loop.getStep();
  if (by > 1)
    step = builder.createOrFold<arith::MulIOp>(loc, step, constantIndex(builder, loc, by));
  return builder.createOrFold<arith::AddIOp>(loc, iteration, step);
}

Value LoopPipeline::isRunning(OpBuilder &builder, Value iteration) {
  auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  return builder.createOrFold<arith::CmpIOp>(loop.getLoc(), predicate, iteration, loop.getUpperBound());
}

/// The slot that the last read before the refill has read.
Value LoopPipeline::refillSlot(OpBuilder &builder, const CopyStream &stream) {
  if (stream.slots == 1)
    return {};
  Value index = slotIndex[stream.slots];
  return stream.nextIteration ? stepSlot(builder, loop.getLoc(), index, stream.slots, false) : index;
}

Value LoopPipeline::inSlot(OpBuilder &builder, CopyStream &stream, Value index) {
  return index ? SlotOp::create(builder, stream.copy.getLoc(), stream.buffer, index).getResult()
               : stream.buffer.getResult();
}

/// The copy for another iteration, under `condition` if there is one.
void LoopPipeline::emitCopy(OpBuilder &builder, CopyStream &stream, Value iteration, Value condition,
                            Value index) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iteration);
  for (Operation *op : stream.address)
    builder.clone(*op, mapping);
  Value own = mapping.lookupOrNull(stream.copy.getCondition());
  if (stream.copy.getCondition() && !own)
    own = stream.copy.getCondition();
  if (own)
    condition =
        condition ? arith::AndIOp::create(builder, stream.copy.getLoc(), own, condition).getResult() : own;
  Value slot = inSlot(builder, stream, index);
  CopyOp::create(
      builder, stream.copy.getLoc(), stream.copy.getArray(), stream.copy.getArrayAxes(),
      stream.copy.getTileAxes(),
      llvm::map_to_vector(stream.copy.getOffsets(), [&](Value v) { return mapping.lookupOrDefault(v); }),
      slot, condition, stream.copy.getEnd() ? mapping.lookupOrDefault(stream.copy.getEnd()) : Value(),
      stream.copy.getEndAxisAttr(), /*ring=*/Value(), /*number=*/Value());
}

void LoopPipeline::emitPoint(unsigned point, Operation *before) {
  OpBuilder builder(before);
  Location loc = loop.getLoc();
  int64_t committed = llvm::count_if(groups, [&](auto &group) { return group.front()->refill < point; });
  std::optional<int64_t> wait;
  for (const CopyStream &stream : streams)
    if (stream.wait == point) {
      int64_t since = stream.ahead() * int64_t(groups.size()) + committed - stream.group - 1;
      wait = std::min(wait.value_or(since), since);
    }
  if (wait)
    WaitOp::create(builder, loc, *wait);
  BarrierOp::create(builder, loc);
  for (auto &group : groups) {
    if (group.front()->refill != point)
      continue;
    for (CopyStream *stream : group) {
      int64_t ahead = stream->ahead();
      Value iteration = shifted(builder, loop.getInductionVar(), ahead);
      emitCopy(builder, *stream, iteration, ahead ? isRunning(builder, iteration) : Value(),
               refillSlot(builder, *stream));
    }
    CommitOp::create(builder, loc);
  }
}

/// The points of the iterations before the first, as far as they refill slots for iterations that exist.
void LoopPipeline::emitPrologue() {
  int64_t virtualIterations = 0;
  for (const CopyStream &stream : streams)
    virtualIterations = std::max(virtualIterations, stream.ahead());
  Operation *previous = loop->getPrevNode();
  OpBuilder builder(loop);
  bool hasStarted = false;
  for (int64_t at = -virtualIterations; at < 0; ++at)
    for (auto &group : groups) {
      for (CopyStream *stream : group) {
        int64_t number = at + stream->ahead();
        if (number < 0)
          continue;
        hasStarted = true;
        Value iteration = shifted(builder, loop.getLowerBound(), number),
              condition = isRunning(builder, iteration);
        if (matchPattern(condition, m_Zero()))
          continue;
        if (matchPattern(condition, m_One()))
          condition = {};
        Value slot =
            stream->slots > 1 ? constantIndex(builder, loop.getLoc(), number % stream->slots) : Value();
        emitCopy(builder, *stream, iteration, condition, slot);
      }
      if (hasStarted)
        CommitOp::create(builder, loop.getLoc());
    }
  for (Operation *op = previous ? previous->getNextNode() : &loop->getBlock()->front(); op != loop;
       op = op->getNextNode())
    prologue.push_back(op);
}

/// Whether the op is a branch inside which nothing is accessed.
bool isPlainBranch(Operation *op) {
  return isa<scf::IfOp>(op) && !op->walk([](Operation *inner) {
                                    return getAccesses(inner).empty() ? WalkResult::advance()
                                                                      : WalkResult::interrupt();
                                  }).wasInterrupted();
}

/// Puts the prologue before the reads that come before the loop, so that its copies are under way while these
/// wait for theirs; `early`: before loads as well. Copies that stand between move along.
void LoopPipeline::hoistPrologue() {
  if (prologue.empty())
    return;
  Operation *target = nullptr;
  llvm::SetVector<Operation *> moved(prologue.begin(), prologue.end());
  llvm::DenseSet<Value> filled; ///< buffers of copies that move
  auto touchesFilled = [&](Operation *op) {
    return llvm::any_of(getAccesses(op),
                        [&](const Access &access) { return filled.contains(access.memory); });
  };
  for (Operation *op = prologue.front()->getPrevNode(); op && !touchesFilled(op); op = op->getPrevNode()) {
    bool isCopy = isa<CopyOp>(op);
    if ((op->getNumRegions() && !isa<tile::MapOp>(op) && !(limits.early && isPlainBranch(op))) ||
        (isCopy && !limits.early) ||
        isa<CommitOp, WaitOp, BarrierOp, AllocOp, ContractOp, tile::StoreOp, tile::AccumulateOp>(op))
      break;
    if (isCopy) {
      moved.insert(op);
      filled.insert(getBuffer(cast<CopyOp>(op).getBuffer()));
    }
    if (isa<ReadOp, DotOp, ExpandOp>(op) || (limits.early && isa<tile::LoadOp>(op)))
      target = op;
  }
  if (!target)
    return;
  moved.remove_if([&](Operation *op) { return op->isBeforeInBlock(target); });
  // What the prologue needs and what comes after the target moves along.
  for (size_t i = 0; i < moved.size(); ++i)
    for (Value operand : moved[i]->getOperands()) {
      Operation *op = operand.getDefiningOp();
      if (!op || op->getBlock() != target->getBlock() || op->isBeforeInBlock(target))
        continue;
      bool isMovable = limits.early ? isMemoryEffectFree(op) : isPure(op);
      if (!moved.contains(op) && (!isMovable || op->getNumRegions()))
        return;
      moved.insert(op);
    }
  SmallVector<Operation *> order = moved.takeVector();
  llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  SmallVector<Operation *> after =
      llvm::map_to_vector(order, [](Operation *op) { return op->getNextNode(); });
  auto kernel = loop->getParentOfType<tile::KernelOp>();
  BufferLife life = chooseBufferLife(kernel, limits.shared);
  for (Operation *op : order)
    op->moveBefore(target);
  // Its buffers are needed earlier now; if that costs too much, all goes back, last op first.
  bool hasRoom = planShared(kernel, life).bytes <= limits.shared;
  LDBG() << loop.getLoc()
         << (hasRoom ? ": its first copies start before " : ": no room to start its copies before ")
         << target->getLoc();
  if (hasRoom)
    return;
  for (auto [op, next] : llvm::reverse(llvm::zip(order, after)))
    op->moveBefore(next);
}

void LoopPipeline::eraseOriginals() {
  llvm::SetVector<Operation *> addresses;
  for (CopyStream &stream : streams) {
    addresses.insert_range(stream.address);
    stream.copy.erase();
  }
  SmallVector<Operation *> order = addresses.takeVector();
  llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : llvm::reverse(order))
    if (op->use_empty())
      op->erase();
}

void LoopPipeline::run(PipelinedBuffers &pipelined) {
  moveInvariants();
  findStreams(pipelined);
  if (streams.empty())
    return;
  chooseSlots();
  choosePoints();
  formGroups();
  SmallVector<Operation *> anchors;
  for (unsigned position : points)
    anchors.push_back(&*std::next(loop.getBody()->begin(), position));
  addSlotIndices();
  for (auto [point, anchor] : llvm::enumerate(anchors))
    emitPoint(point, anchor);
  emitPrologue();
  eraseOriginals();
  hoistPrologue();
  for (CopyStream &stream : streams) {
    stream.buffer.setAhead(true);
    pipelined[stream.buffer] = loop;
  }
}

} // namespace

void mlir::simt::pipelineLoop(scf::ForOp loop, const PipelineLimits &limits, PipelinedBuffers &pipelined) {
  LoopPipeline(loop, limits).run(pipelined);
}
