// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A producer that copies, and members that compute. Passes.td has the rule.
#include "codegen/Targets/NVPTX/KernelSteps.h"
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/RoleStreams.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "passes/Debug.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

#define DEBUG_TYPE "taylor-simt-assign-roles"

namespace mlir::simt {
#define GEN_PASS_DEF_ASSIGNROLES
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;
using namespace mlir::simt;

namespace {

/// How the registers of a multiprocessor are shared: of a thread of the producer and of a member, and what a
/// member's loop may hold of them in tiles: a quarter of what it carries is counted for copies of it, which
/// matrix units do without (dk and dv of 128 channels count 224, and ptxas spills nothing in their loop).
/// `alive`: all tiles that a thread holds at the same time. Two members need not count them: their loops over
/// keys hold up to 262 and spill nothing (HOPPER.md, "Registers").
struct RegisterBudget {
  int64_t members, producer, consumer, tiles, alive;
};
constexpr RegisterBudget kRegisters[] = {{3, 32, 160, 128, 160},
                                         {2, 40, 232, 224, std::numeric_limits<int64_t>::max()}};

/// Gives one kernel its roles.
class RoleEmitter {
public:
  RoleEmitter(tile::KernelOp kernel, RoleStreams &streams, const RegisterBudget &registers, int64_t slots)
      : kernel(kernel), streams(streams), registers(registers), slots(slots), members(registers.members),
        gang(streams.getGang()), places(streams.getPlaces()), builder(kernel.getContext()) {}

  void emit();

private:
  // Places and bounds of members
  Value makeMember(OpBuilder &builder, Value number);
  Value cloneFor(OpBuilder &builder, Value value, IRMapping &mapping);
  Value extremeOf(OpBuilder &builder, Value value, IRMapping &common, bool largest);
  Value countIterations(OpBuilder &builder, Location loc, Value from, Value to, Value step);

  // The producer
  void emitProducer(Block &from, IRMapping &mapping, llvm::DenseMap<Operation *, Value> &counters);
  void emitProducerLoop(scf::ForOp loop, IRMapping &mapping, llvm::DenseMap<Operation *, Value> &counters);
  void emitFills(StreamLoop &entry, IRMapping &mapping, Value number);
  Value constant(OpBuilder &builder, Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  // The members
  void emitConsumer(StreamLoop &entry);
  void readRing(StreamLoop &entry, RoleStream &stream, Value number);
  void passBy(OpBuilder &builder, StreamLoop &entry, Value from, Value to);

  tile::KernelOp kernel;
  RoleStreams &streams;
  RegisterBudget registers;
  int64_t slots, members;
  BlockArgument gang; ///< the kernel's last place: of a gang of members
  int64_t places;     ///< along the last extent, where they are known: panels of features
  OpBuilder builder;
  RolesOp roles;
  llvm::DenseSet<Operation *> ofGang; ///< what makes a member's place of it
};

} // namespace

//===----------------------------------------------------------------------===//
// Places and bounds
//===----------------------------------------------------------------------===//

/// The last place of a member: of the kernel's tiles the one of its number in the gang. Where there are no
/// more, the last one again.
Value RoleEmitter::makeMember(OpBuilder &builder, Value number) {
  Location loc = kernel.getLoc();
  tile::ExtentAttr extent = kernel.getExtent(gang.getArgNumber());
  Value last;
  if (places) {
    last = constant(builder, loc, places - 1);
  } else {
    Value size = tile::SizeOp::create(builder, loc, builder.getIndexType(), extent.getRole());
    int64_t tokens = extent.getSize() / members; // the kernel's extent is already that of gangs
    if (tokens > 1)
      size = arith::DivSIOp::create(
          builder, loc, arith::AddIOp::create(builder, loc, size, constant(builder, loc, tokens - 1)),
          constant(builder, loc, tokens));
    last = arith::MaxSIOp::create(builder, loc,
                                  arith::SubIOp::create(builder, loc, size, constant(builder, loc, 1)),
                                  constant(builder, loc, 0));
  }
  Value first = arith::MulIOp::create(builder, loc, gang, constant(builder, loc, members));
  ofGang.insert(first.getDefiningOp());
  return arith::MinSIOp::create(builder, loc, arith::AddIOp::create(builder, loc, first, number), last);
}

/// The number as it is where `mapping` holds: ops that it follows from are cloned, each once. What all
/// members have alike a member has already.
Value RoleEmitter::cloneFor(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  bool isInMember = roles.getConsumer().isAncestor(builder.getInsertionBlock()->getParent());
  if (!op || isa<tile::ProgramOp>(op->getParentOp()) || (isInMember && !streams.followsMember(value)))
    return value;
  for (Value operand : op->getOperands())
    cloneFor(builder, operand, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// The smallest or largest of a number over all members. `common` has what is the same for all.
Value RoleEmitter::extremeOf(OpBuilder &builder, Value value, IRMapping &common, bool largest) {
  if (!streams.followsMember(value))
    return cloneFor(builder, value, common);
  Value extreme;
  for (int64_t number = 0; number < members; ++number) {
    IRMapping mapping = common;
    mapping.map(gang, makeMember(builder, constant(builder, kernel.getLoc(), number)));
    Value own = cloneFor(builder, value, mapping);
    if (!extreme)
      extreme = own;
    else if (largest)
      extreme = arith::MaxSIOp::create(builder, value.getLoc(), extreme, own);
    else
      extreme = arith::MinSIOp::create(builder, value.getLoc(), extreme, own);
  }
  return extreme;
}

Value RoleEmitter::countIterations(OpBuilder &builder, Location loc, Value from, Value to, Value step) {
  Value range = arith::MaxSIOp::create(builder, loc, arith::SubIOp::create(builder, loc, to, from),
                                       constant(builder, loc, 0));
  Value up = arith::AddIOp::create(builder, loc, range,
                                   arith::SubIOp::create(builder, loc, step, constant(builder, loc, 1)));
  return arith::DivSIOp::create(builder, loc, up, step);
}

//===----------------------------------------------------------------------===//
// The producer: loops and branches around copies, and the numbers that they need
//===----------------------------------------------------------------------===//

void RoleEmitter::emitFills(StreamLoop &entry, IRMapping &mapping, Value number) {
  for (RoleStream &stream : entry.streams) {
    CopyOp copy = stream.copy;
    SmallVector<Value> offsets = llvm::map_to_vector(
        copy.getOffsets(), [&](Value offset) { return cloneFor(builder, offset, mapping); });
    Value end = copy.getEnd() ? extremeOf(builder, copy.getEnd(), mapping, /*largest=*/true) : Value();
    // A member that sees nothing ends where it begins, which may be past the array.
    if (end && streams.followsMember(copy.getEnd())) {
      Value size =
          tile::SizeOp::create(builder, copy.getLoc(), builder.getIndexType(), copy.getEndAxisAttr());
      end = arith::MinSIOp::create(builder, copy.getLoc(), end, size);
    }
    Value slot = AcquireOp::create(builder, copy.getLoc(), stream.ring, number);
    // Other proxies than the matrix units' would have to be told of a bulk copy.
    bool isMultiplied = llvm::all_of(stream.buffer->getUsers(),
                                     [&](Operation *user) { return user == copy || isStarted(user); });
    bool isBulk = isMultiplied && getBox(copy);
    CopyOp::create(builder, copy.getLoc(), copy.getArray(), copy.getArrayAxes(), copy.getTileAxes(), offsets,
                   slot, /*condition=*/Value(), end, copy.getEndAxisAttr(), stream.ring, number, isBulk);
  }
}

void RoleEmitter::emitProducerLoop(scf::ForOp loop, IRMapping &mapping,
                                   llvm::DenseMap<Operation *, Value> &counters) {
  SmallVector<StreamLoop *> inside = streams.getLoopsIn(loop);
  Location loc = loop.getLoc();
  SmallVector<Value> inits;
  for (StreamLoop *entry : inside) {
    Value &counter = counters[entry->loop];
    inits.push_back(counter ? counter : constant(builder, loc, 0));
  }
  auto made = scf::ForOp::create(builder, loc, extremeOf(builder, loop.getLowerBound(), mapping, false),
                                 extremeOf(builder, loop.getUpperBound(), mapping, true),
                                 cloneFor(builder, loop.getStep(), mapping), inits);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(made.getBody());
  IRMapping own = mapping;
  own.map(loop.getInductionVar(), made.getInductionVar());
  for (auto [entry, argument] : llvm::zip(inside, made.getRegionIterArgs()))
    counters[entry->loop] = argument;
  if (inside.size() == 1 && inside[0]->loop == loop) {
    Value number = made.getRegionIterArg(0);
    emitFills(*inside[0], own, number);
    counters[loop] = arith::AddIOp::create(builder, loc, number, constant(builder, loc, 1));
  } else {
    emitProducer(*loop.getBody(), own, counters);
  }
  scf::YieldOp::create(builder, loc,
                       llvm::map_to_vector(inside, [&](StreamLoop *entry) { return counters[entry->loop]; }));
  for (auto [entry, result] : llvm::zip(inside, made.getResults()))
    counters[entry->loop] = result;
}

void RoleEmitter::emitProducer(Block &from, IRMapping &mapping,
                               llvm::DenseMap<Operation *, Value> &counters) {
  for (Operation &op : from) {
    if (!streams.isSkeleton(&op))
      continue;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      emitProducerLoop(loop, mapping, counters);
      continue;
    }
    auto branch = cast<scf::IfOp>(op);
    auto made = scf::IfOp::create(builder, op.getLoc(), cloneFor(builder, branch.getCondition(), mapping),
                                  /*withElseRegion=*/!branch.getElseRegion().empty());
    OpBuilder::InsertionGuard guard(builder);
    for (auto [old, region] : llvm::zip(branch->getRegions(), made->getRegions())) {
      if (old.empty())
        continue;
      builder.setInsertionPoint(region.front().getTerminator());
      IRMapping own = mapping;
      llvm::DenseMap<Operation *, Value> inner; // no loop is around: uses count from 0
      emitProducer(old.front(), own, inner);
    }
  }
}

//===----------------------------------------------------------------------===//
// A member
//===----------------------------------------------------------------------===//

/// Waits before the first reader, and releases after the last one.
void RoleEmitter::readRing(StreamLoop &entry, RoleStream &stream, Value number) {
  Block *body = entry.loop.getBody();
  stream.copy.erase();
  Operation *first = nullptr, *last = nullptr;
  for (Operation *user : stream.buffer->getUsers()) {
    Operation *here = body->findAncestorOpInBlock(*user);
    first = !first || here->isBeforeInBlock(first) ? here : first;
    last = !last || last->isBeforeInBlock(here) ? here : last;
    // Of a tile in registers, where it is read may follow what the tile is for: few hold it then.
    if (auto read = dyn_cast<ReadOp>(user))
      for (Operation *reader : read->getUsers())
        if (Operation *there = body->findAncestorOpInBlock(*reader))
          last = last->isBeforeInBlock(there) ? there : last;
  }
  OpBuilder at(first ? first : body->getTerminator());
  Value slot = WaitFullOp::create(at, entry.loop.getLoc(), stream.ring, number);
  if (last)
    at.setInsertionPointAfter(last);
  ReleaseOp::create(at, entry.loop.getLoc(), stream.ring, number);
  stream.buffer.getResult().replaceAllUsesWith(slot);
  stream.buffer.erase();
}

/// Uses from `from` to before `to`, which only other members read.
void RoleEmitter::passBy(OpBuilder &builder, StreamLoop &entry, Value from, Value to) {
  Location loc = entry.loop.getLoc();
  auto loop = scf::ForOp::create(builder, loc, from, to, constant(builder, loc, 1));
  OpBuilder at(loop.getBody()->getTerminator());
  for (RoleStream &stream : entry.streams) {
    WaitFullOp::create(at, loc, stream.ring, loop.getInductionVar());
    ReleaseOp::create(at, loc, stream.ring, loop.getInductionVar());
  }
}

void RoleEmitter::emitConsumer(StreamLoop &entry) {
  IRRewriter rewriter(kernel.getContext());
  Location loc = entry.loop.getLoc();
  // Counters of the loops around; each yields what the loop inside leaves.
  Value before;
  SmallVector<std::pair<scf::ForOp, unsigned>> carried;
  auto addCounter = [&](scf::ForOp loop, Value init, llvm::function_ref<Value(OpBuilder &, Value)> next) {
    rewriter.setInsertionPoint(loop);
    auto made = cast<scf::ForOp>(
        *loop.replaceWithAdditionalYields(rewriter, ValueRange{init}, false,
                                          [&](OpBuilder &inner, Location, ArrayRef<BlockArgument> arguments) {
                                            return SmallVector<Value>{next(inner, arguments.back())};
                                          }));
    for (StreamLoop &other : streams.getLoops()) {
      if (other.loop == loop)
        other.loop = made;
      for (scf::ForOp &outer : other.around)
        if (outer == loop)
          outer = made;
    }
    return made;
  };
  rewriter.setInsertionPoint(entry.around.empty() ? entry.loop : entry.around.front());
  before = constant(rewriter, loc, 0);
  for (size_t i = 0; i < entry.around.size(); ++i) {
    scf::ForOp made =
        addCounter(entry.around[i], before, [](OpBuilder &, Value argument) { return argument; });
    before = made.getRegionIterArgs().back();
    carried.push_back({made, made.getNumRegionIterArgs() - 1});
  }
  scf::ForOp loop = entry.loop;
  rewriter.setInsertionPoint(loop);
  bool lowerDiffers = streams.followsMember(loop.getLowerBound()),
       differs = lowerDiffers || streams.followsMember(loop.getUpperBound());
  Value from = before, all;
  if (differs) {
    // Outside of the loop: its own values are those of this member.
    IRMapping common;
    Value lower = extremeOf(rewriter, loop.getLowerBound(), common, /*largest=*/false);
    Value upper = extremeOf(rewriter, loop.getUpperBound(), common, /*largest=*/true);
    Value count = countIterations(rewriter, loc, lower, upper, loop.getStep());
    all = arith::AddIOp::create(rewriter, loc, before, count);
    if (lowerDiffers) {
      Value skipped = countIterations(rewriter, loc, lower, loop.getLowerBound(), loop.getStep());
      from =
          arith::MinSIOp::create(rewriter, loc, arith::AddIOp::create(rewriter, loc, before, skipped), all);
      passBy(rewriter, entry, before, from);
    }
  }
  loop = addCounter(loop, from, [&](OpBuilder &inner, Value argument) -> Value {
    return arith::AddIOp::create(inner, loc, argument, constant(inner, loc, 1));
  });
  Value number = loop.getRegionIterArgs().back();
  for (RoleStream &stream : entry.streams)
    readRing(entry, stream, number);
  Value after = loop.getResults().back();
  if (differs) {
    rewriter.setInsertionPointAfter(loop);
    passBy(rewriter, entry, after, all);
    after = all;
  }
  for (auto &[outer, index] : llvm::reverse(carried)) {
    outer.getBody()->getTerminator()->setOperand(index, after);
    after = outer.getResult(index);
  }
}

void RoleEmitter::emit() {
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  // The last extent counts gangs.
  unsigned last = gang.getArgNumber();
  tile::ExtentAttr extent = kernel.getExtent(last);
  SmallVector<Attribute> grid(kernel.getGrid().getValue());
  grid[last] = places ? tile::ExtentAttr::get(context, int64_t(llvm::divideCeil(places, members)))
                      : tile::ExtentAttr::get(context, extent.getRole(), extent.getSize() * members);
  kernel.setGridAttr(ArrayAttr::get(context, grid));

  Block *block = kernel.getBlock();
  builder.setInsertionPointToStart(block);
  for (StreamLoop &entry : streams.getLoops())
    for (RoleStream &stream : entry.streams) {
      BufferType type = stream.buffer.getType();
      auto ring =
          RingType::get(context, BufferType::get(context, slots, type.getAxes(), type.getElementType(),
                                                 type.getSwizzle(), type.getPanel()));
      stream.ring = RingOp::create(builder, stream.copy.getLoc(), ring, stream.buffer.getNameAttr(),
                                   IntegerAttr(), IntegerAttr());
    }
  SmallVector<Operation *> own; // becomes the members'
  for (Operation &op : *block)
    if (!isa<AllocOp, RingOp>(op))
      own.push_back(&op);
  builder.setInsertionPointToEnd(block);
  roles = RolesOp::create(builder, loc, members, IntegerAttr(), registers.producer, registers.consumer);
  builder.createBlock(&roles.getProducer());
  IRMapping mapping;
  llvm::DenseMap<Operation *, Value> counters;
  emitProducer(*block, mapping, counters);

  Block *consumer = builder.createBlock(&roles.getConsumer(), {}, {builder.getIndexType()}, {loc});
  for (Operation *op : own)
    op->moveBefore(consumer, consumer->end());
  for (StreamLoop &entry : streams.getLoops())
    emitConsumer(entry);
  builder.setInsertionPointToStart(consumer);
  Value place = makeMember(builder, consumer->getArgument(0));
  consumer->walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get() == gang && !ofGang.contains(op))
        operand.set(place);
  });
}

namespace {
struct AssignRoles : simt::impl::AssignRolesBase<AssignRoles> {
  using AssignRolesBase::AssignRolesBase;

  void runOnOperation() override {
    if (failed(requireLayoutsOfAll(getOperation())) || failed(requireUnscheduled(getOperation())))
      return signalPassFailure();
    getOperation().walk([&](tile::KernelOp kernel) {
      RoleStreams streams(kernel);
      if (!streams.collect()) {
        LDBG() << "@" << kernel.getSymName() << ": no loop for a producer, or one that roles cannot take";
        return;
      }
      int64_t alive = streams.countRegisters(countLiveRegisters);
      int64_t tiles = streams.countRegisters(
          [](scf::ForOp loop) { return countLoopRegisters(loop, countTileRegisters); });
      for (const RegisterBudget &registers : kRegisters) {
        int64_t bytes = streams.countShared(registers.members, slots);
        bool fits = streams.hasNeighbours(registers.members) && tiles <= registers.tiles &&
                    alive <= registers.alive && bytes <= shared;
        LDBG() << "@" << kernel.getSymName() << ": " << registers.members << " members need " << tiles
               << " registers of tiles, " << alive << " of those alive together, and " << bytes << " bytes"
               << (fits ? "" : ", more than there are");
        if (!fits)
          continue;
        ++numKernels;
        return RoleEmitter(kernel, streams, registers, slots).emit();
      }
    });
  }
};
} // namespace
