// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products that run while the threads go on. Passes.td has the rule.
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "passes/Debug.h"

#define DEBUG_TYPE "taylor-simt-start-products"

namespace mlir::simt {
#define GEN_PASS_DEF_STARTPRODUCTS
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;
using namespace mlir::simt;

namespace {

bool runsBeside(Operation *op) {
  auto dot = dyn_cast_or_null<DotOp>(op);
  return dot && dot.getKind() == ProductKind::wgmma;
}

/// Whether buffers may be written again once other threads are past the op.
bool isSync(Operation *op) {
  return op->walk([](BarrierOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// The products of one block.
class BlockProducts {
public:
  explicit BlockProducts(Block &block) : block(block), builder(block.getParentOp()->getContext()) {}

  /// What came of it.
  unsigned numStarted = 0, numWaits = 0;

  void run() {
    for (Operation *op = &block.front(); op; op = next) {
      next = op->getNextNode();
      if (runsBeside(op))
        start(cast<DotOp>(op));
      else if (auto release = dyn_cast<ReleaseOp>(op); release && isReading(release))
        held.push_back(release);
      else if (isSync(op) || op->hasTrait<OpTrait::IsTerminator>())
        await(op, open.size());
      else if (size_t needed = std::max(countUntilRead(op), countUntilReplaced(op))) {
        startReady(op);
        advance(op);
        await(op, needed, findComputed(op));
      }
    }
    if (!open.empty()) // a kernel's block has no terminator
      await(nullptr, open.size());
  }

private:
  /// A product in flight, and the value that stands for its result until the wait.
  struct Started {
    StartOp start;
    DotOp dot;
  };

  /// Whether the op waits for a use of a ring that threads read, or reads it.
  static bool readsRing(Operation *op) {
    auto wait = dyn_cast<WaitFullOp>(op);
    if (auto read = dyn_cast<ReadOp>(op))
      wait = read.getBuffer().getDefiningOp<WaitFullOp>();
    return wait && llvm::all_of(wait->getUsers(), llvm::IsaPred<ReadOp>);
  }

  /// So many of the products in flight, the oldest first, have to be complete before the op.
  size_t countUntilRead(Operation *op) {
    size_t needed = 0;
    for (auto [number, product] : llvm::enumerate(open))
      for (Operation *user : product.dot->getUsers())
        if (block.findAncestorOpInBlock(*user) == op)
          needed = number + 1;
    return needed;
  }

  /// So many have to be complete before the op computes what the loop carries in place of their operands.
  size_t countUntilReplaced(Operation *op) {
    bool isCarried = rounds(op) && llvm::any_of(op->getUsers(), [&](Operation *user) {
                       return user->getBlock() == &block && user->hasTrait<OpTrait::IsTerminator>();
                     });
    size_t needed = 0;
    for (auto [number, started] : llvm::enumerate(open))
      if (Started product = started; isCarried && isa<BlockArgument>(product.start.getA()))
        needed = number + 1;
    return needed;
  }

  /// The place of a value among the products in flight, counted from 1; 0 if it is none of them.
  size_t placeOf(Value value) const {
    auto found = llvm::find_if(open, [&](Started product) { return value == product.dot.getResult(); });
    return found == open.end() ? 0 : found - open.begin() + 1;
  }

  /// Whether a product in flight reads the use of a ring that is released.
  bool isReading(ReleaseOp release) const {
    auto isOfUse = [&](Value operand) {
      auto wait = operand.getDefiningOp<WaitFullOp>();
      return wait && wait.getRing() == release.getRing() && wait.getNumber() == release.getNumber();
    };
    return llvm::any_of(open, [&](Started product) {
      for (StartOp start = product.start; start;
           start = start.getC() ? start.getC().getDefiningOp<StartOp>() : StartOp())
        if (isOfUse(start.getA()) || isOfUse(start.getB()))
          return true;
      return false;
    });
  }

  void start(DotOp dot) {
    ++numStarted;
    auto isShared = [](Value c) { return c && !c.hasOneUse(); };
    await(dot, std::max({placeOf(dot.getA()), placeOf(dot.getB()),
                         isShared(dot.getC()) ? placeOf(dot.getC()) : 0}));
    builder.setInsertionPoint(dot);
    Value c = dot.getC();
    size_t continued = placeOf(c);
    if (continued)
      c = open[continued - 1].start;
    auto made = StartOp::create(builder, dot.getLoc(), PendingType::get(dot.getContext(), dot.getType()),
                                dot.getKind(), dot.getA(), dot.getB(), c, dot.getOver());
    if (continued) {
      DotOp replaced = open[continued - 1].dot;
      open.erase(open.begin() + continued - 1);
      dot.getCMutable().clear();
      replaced.erase();
    }
    open.push_back({made, dot});
  }

  /// Moves what reads no product in flight before `op`, the first op that reads one of the oldest: threads
  /// compute it while matrix units work. Rounded tiles stay, since they take registers of operands in flight.
  void advance(Operation *op) {
    llvm::DenseSet<Operation *> waiting{op};
    SmallVector<Operation *> ahead;
    for (Operation *other = op->getNextNode();
         other && !other->hasTrait<OpTrait::IsTerminator>() && !isSync(other); other = other->getNextNode()) {
      bool stays = !isa<tile::MapOp, tile::ReduceOp>(other) || rounds(other);
      other->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands()) {
          Operation *def = operand.getDefiningOp();
          stays |= placeOf(operand) || (def && waiting.contains(block.findAncestorOpInBlock(*def)));
        }
      });
      if (stays)
        waiting.insert(other);
      else
        ahead.push_back(other);
    }
    for (Operation *other : ahead) {
      if (next == other)
        next = other->getNextNode();
      other->moveBefore(op);
    }
  }

  /// The tiles that are computed from awaited products between the last start and `op`, and read from `op`
  /// on, except those that another of them follows from.
  SmallVector<Value> findComputed(Operation *op) {
    SmallVector<Value> found;
    llvm::DenseSet<Operation *> sources; ///< of what was found
    for (Operation *other = op->getPrevNode(); other && other != open.back().start.getOperation();
         other = other->getPrevNode()) {
      if (!isa<tile::MapOp, tile::ReduceOp>(other) || rounds(other) || !followsAwait(other))
        continue;
      auto held = llvm::find_if(other->getResults(), [&](Value result) { return isHeld(result, op); });
      bool isSource = sources.contains(other);
      if (!isSource && held == other->result_end())
        continue;
      if (!isSource)
        found.push_back(*held);
      for (Value operand : other->getOperands())
        if (Operation *def = operand.getDefiningOp())
          sources.insert(def);
    }
    return found;
  }

  /// Whether the op is computed, in this block, from a product awaited since the last start.
  bool followsAwait(Operation *op) {
    SmallVector<Operation *> reached{op};
    llvm::DenseSet<Operation *> seen;
    while (!reached.empty()) {
      Operation *other = reached.pop_back_val();
      if (other->getBlock() != &block || !seen.insert(other).second ||
          other->isBeforeInBlock(open.back().start))
        continue;
      if (isa<AwaitOp>(other))
        return true;
      other->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *def = operand.getDefiningOp())
            reached.push_back(def);
      });
    }
    return false;
  }

  /// Whether something from `op` on reads a tile that few registers hold.
  bool isHeld(Value value, Operation *op) {
    constexpr int64_t kMostRegisters = 8;
    auto tile = dyn_cast<tile::TileType>(value.getType());
    return tile && tile.getElementType().isF32() && layoutOf(tile).getNumRegisters() <= kMostRegisters &&
           llvm::any_of(value.getUsers(), [&](Operation *user) {
             Operation *here = block.findAncestorOpInBlock(*user);
             return here && !here->isBeforeInBlock(op);
           });
  }

  /// Whether the op gives operands of products: tiles of 16 bits alone.
  static bool rounds(Operation *op) {
    return llvm::all_of(op->getResultTypes(), [](Type type) {
      auto tile = dyn_cast<tile::TileType>(type);
      return tile && !tile.getElementType().isIndex() && tile.getElementType().getIntOrFloatBitWidth() == 16;
    });
  }

  /// Starts products after `op` whose operands are computed before it, up to the next op that keeps buffers
  /// apart.
  void startReady(Operation *op) {
    auto isBefore = [&](Value value) {
      Operation *def = value.getDefiningOp();
      return !def || def->getBlock() != &block || (def->isBeforeInBlock(op) && !placeOf(value));
    };
    // A wait for an operand comes along, if it stands after.
    auto waitFor = [&](Value operand) -> Operation * {
      auto wait = operand.getDefiningOp<WaitFullOp>();
      return wait && !isBefore(operand) && llvm::all_of(wait->getOperands(), isBefore) ? wait : nullptr;
    };
    SmallVector<Operation *> later;
    for (Operation *other = op->getNextNode(); other && !isSync(other); other = other->getNextNode())
      later.push_back(other);
    for (Operation *other : later) {
      bool movesAlong = isa<SlotOp, PartOp>(other);
      if (!(movesAlong || runsBeside(other)) || !llvm::all_of(other->getOperands(), [&](Value operand) {
            return isBefore(operand) || (!movesAlong && waitFor(operand));
          }))
        continue;
      for (Value operand : other->getOperands())
        if (Operation *wait = waitFor(operand)) {
          if (next == wait)
            next = wait->getNextNode();
          wait->moveBefore(op);
        }
      if (next == other)
        next = other->getNextNode();
      other->moveBefore(op);
      if (!movesAlong)
        start(cast<DotOp>(other));
    }
  }

  /// The oldest `count` products in flight are complete before the op, or at the end of the block where there
  /// is none, and waited for after `before` is computed.
  void await(Operation *op, size_t count, ValueRange before = {}) {
    if (!count)
      return;
    ++numWaits;
    LDBG() << (op ? op->getLoc() : block.getParentOp()->getLoc()) << ": " << count
           << " products complete before " << (op ? op->getName().getStringRef() : "the end");
    // What threads read of a ring takes registers: they read it after the wait.
    while (op && op->getPrevNode() && readsRing(op->getPrevNode()))
      op = op->getPrevNode();
    builder.setInsertionPoint(&block, op ? Block::iterator(op) : block.end());
    Location loc = op ? op->getLoc() : open.back().dot.getLoc();
    SmallVector<Value> pending;
    for (Started product : ArrayRef(open).take_front(count))
      pending.push_back(product.start);
    int64_t later = 0;
    for (Operation *after = open[count - 1].start->getNextNode(); after != op; after = after->getNextNode())
      later += isa<StartOp>(after);
    auto made = AwaitOp::create(builder, loc, later, pending, before);
    for (auto [product, tile] : llvm::zip(ArrayRef(open).take_front(count), made.getTiles())) {
      DotOp dot = product.dot;
      dot.getResult().replaceAllUsesWith(tile);
      dot.erase();
    }
    open.erase(open.begin(), open.begin() + count);
    llvm::erase_if(held, [&](ReleaseOp release) {
      if (isReading(release))
        return false;
      release->moveAfter(made);
      return true;
    });
  }

  Block &block;
  OpBuilder builder;
  SmallVector<Started> open;   ///< in the order of their starts
  SmallVector<ReleaseOp> held; ///< of uses that products in flight read
  Operation *next = nullptr;
};

struct StartProducts : simt::impl::StartProductsBase<StartProducts> {
  using StartProductsBase::StartProductsBase;

  void runOnOperation() override {
    if (failed(requireLayoutsOfAll(getOperation())))
      return signalPassFailure();
    SmallVector<Block *> blocks;
    getOperation().walk([&](Operation *op) {
      if (runsBeside(op) && !llvm::is_contained(blocks, op->getBlock()))
        blocks.push_back(op->getBlock());
    });
    for (Block *block : blocks) {
      BlockProducts products(*block);
      products.run();
      numStarted += products.numStarted;
      numWaits += products.numWaits;
    }
  }
};

} // namespace
