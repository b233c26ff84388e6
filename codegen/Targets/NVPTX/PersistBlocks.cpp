// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks that take one place of the grid after the other. Passes.td has the rule.
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/Debug.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "taylor-simt-persist-blocks"

namespace mlir::simt {
#define GEN_PASS_DEF_PERSISTBLOCKS
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;
using namespace mlir::simt;

namespace {

/// The operand of an op that numbers a use of a ring; null for other ops.
OpOperand *numberOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, OpOperand *>(op)
      .Case<AcquireOp, WaitFullOp, ReleaseOp>([](auto use) { return &use.getNumberMutable(); })
      .Case([](CopyOp copy) { return copy.getRing() ? &*copy.getNumberMutable().begin() : nullptr; })
      .Default(nullptr);
}

Value ringOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<AcquireOp, WaitFullOp, ReleaseOp, CopyOp>([](auto use) { return use.getRing(); })
      .Default(Value());
}

/// Where the number of uses of one place stands after a role's loops.
struct Count {
  Value after;      ///< or null
  scf::ForOp by;    ///< the number is this loop's induction variable: its bounds say how often it runs
  scf::IfOp within; ///< or null: the branch that all uses stand in; without it the count is 0
  bool operator==(const Count &) const = default;
};

/// What one role does with rings.
class GridRole {
public:
  GridRole(Block &block) : block(block) {}

  /// Whether all counts follow from its loops.
  bool collect();
  void persist(ArrayRef<BlockArgument> places);

private:
  std::optional<Count> countAfter(Block &around, ArrayRef<Operation *> uses);
  std::optional<Count> countAfter(scf::ForOp loop, Operation *use);
  Value emitCount(Count &count);
  Value addResult(scf::IfOp branch, Value count);

  Block &block;
  llvm::MapVector<Value, SmallVector<Operation *>> uses;    ///< by ring
  SmallVector<std::pair<Count, SmallVector<Value>>> counts; ///< rings that count alike
};

/// `uses` are those of a ring, in the order of the text.
std::optional<Count> GridRole::countAfter(Block &around, ArrayRef<Operation *> uses) {
  Operation *top = around.findAncestorOpInBlock(*uses.back());
  if (auto branch = dyn_cast<scf::IfOp>(top)) {
    bool isPlain = &around == &block && branch.getNumResults() == 0 && branch.getElseRegion().empty();
    if (!isPlain)
      return std::nullopt;
    std::optional<Count> count = countAfter(branch.getThenRegion().front(), uses);
    if (count)
      count->within = branch;
    return count;
  }
  // Any use of the last loop tells what it carries; some are numbered from what no one can follow.
  auto loop = dyn_cast<scf::ForOp>(top);
  for (Operation *use : llvm::reverse(uses))
    if (loop && loop->isAncestor(use))
      if (std::optional<Count> count = countAfter(loop, use))
        return count;
  return std::nullopt;
}

std::optional<Count> GridRole::countAfter(scf::ForOp loop, Operation *use) {
  Value number = numberOf(use)->get();
  // Out of the loops inside: what they begin with is carried by the one around.
  while (true) {
    auto argument = dyn_cast<BlockArgument>(number);
    auto owner = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
    if (!owner)
      return std::nullopt;
    if (owner == loop)
      break;
    bool passesBy = argument == owner.getInductionVar();
    number = passesBy ? owner.getLowerBound() : owner.getTiedLoopInit(argument)->get();
  }
  if (number != loop.getInductionVar())
    return Count{loop.getTiedLoopResult(cast<BlockArgument>(number)), {}, {}};
  if (!matchPattern(loop.getStep(), m_One()))
    return std::nullopt;
  return Count{{}, loop, {}};
}

bool GridRole::collect() {
  block.walk([&](Operation *op) {
    if (Value ring = ringOf(op))
      uses[ring].push_back(op);
  });
  for (auto &[ring, ops] : uses) {
    std::optional<Count> count = countAfter(block, ops);
    bool areWithin = count && llvm::all_of(ops, [&](Operation *op) {
                       return !count->within || count->within->isProperAncestor(op);
                     });
    if (!areWithin)
      return false;
    auto known = llvm::find_if(counts, [&](const auto &entry) { return entry.first == *count; });
    if (known == counts.end())
      counts.push_back({*count, {ring}});
    else
      known->second.push_back(ring);
  }
  return true;
}

/// A result more: `count` where the branch is taken, and 0 else.
Value GridRole::addResult(scf::IfOp branch, Value count) {
  OpBuilder builder(branch);
  Location loc = branch.getLoc();
  SmallVector<Type> types(branch.getResultTypes());
  types.push_back(builder.getIndexType());
  bool hasElse = !branch.getElseRegion().empty();
  auto made = scf::IfOp::create(builder, loc, types, branch.getCondition(), /*withElseRegion=*/true);
  made.getThenRegion().takeBody(branch.getThenRegion());
  if (hasElse)
    made.getElseRegion().takeBody(branch.getElseRegion());
  Operation *taken = made.thenBlock()->getTerminator();
  taken->insertOperands(taken->getNumOperands(), count);
  builder.setInsertionPointToEnd(made.elseBlock());
  if (hasElse)
    builder.setInsertionPoint(made.elseBlock()->getTerminator());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  if (hasElse)
    made.elseBlock()->getTerminator()->insertOperands(branch.getNumResults(), zero);
  else
    scf::YieldOp::create(builder, loc, zero);
  branch.replaceAllUsesWith(made.getResults().drop_back());
  for (auto &[other, rings] : counts)
    if (other.within == branch)
      other.within = made;
  branch.erase();
  return made.getResults().back();
}

/// At the end of the loop over places.
Value GridRole::emitCount(Count &count) {
  Value after = count.after;
  if (scf::ForOp loop = count.by) {
    OpBuilder builder(loop->getContext());
    builder.setInsertionPointAfter(loop);
    after = arith::MaxSIOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound());
  }
  return count.within ? addResult(count.within, after) : after;
}

void GridRole::persist(ArrayRef<BlockArgument> arguments) {
  Location loc = block.getParentOp()->getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  auto own = OwnTilesOp::create(builder, loc);
  SmallVector<Value> zeros(counts.size(), arith::ConstantIndexOp::create(builder, loc, 0));
  auto loop = scf::ForOp::create(builder, loc, own.getFrom(), own.getTo(), own.getStep(), zeros);
  Block *body = loop.getBody();
  if (!body->empty()) // the builder has made a terminator where nothing is carried
    body->back().erase();
  body->getOperations().splice(body->end(), block.getOperations(), std::next(loop->getIterator()),
                               block.end());

  builder.setInsertionPointToStart(body);
  SmallVector<Type> types(arguments.size(), builder.getIndexType());
  auto place = PlaceOp::create(builder, loc, types, loop.getInductionVar());
  for (auto [argument, here] : llvm::zip_equal(arguments, place.getPlaces()))
    BlockArgument(argument).replaceUsesWithIf(
        here, [&](OpOperand &use) { return loop->isProperAncestor(use.getOwner()); });
  SmallVector<Value> after;
  for (size_t i = 0; i < counts.size(); ++i) {
    Value before = loop.getRegionIterArg(i);
    llvm::SmallDenseMap<Value, Value> made; // ops of one use have one number
    for (Value ring : counts[i].second)
      for (Operation *use : uses[ring]) {
        OpOperand *number = numberOf(use);
        Value &whole = made[number->get()];
        if (!whole) {
          builder.setInsertionPointAfterValue(number->get());
          whole = arith::AddIOp::create(builder, use->getLoc(), before, number->get());
        }
        number->set(whole);
      }
    Value count = emitCount(counts[i].first);
    builder.setInsertionPointToEnd(body);
    after.push_back(arith::AddIOp::create(builder, loc, before, count));
  }
  builder.setInsertionPointToEnd(body);
  scf::YieldOp::create(builder, loc, after);
}

struct PersistBlocks : simt::impl::PersistBlocksBase<PersistBlocks> {
  void runOnOperation() override {
    if (failed(requirePrograms(getOperation())))
      return signalPassFailure();
    getOperation().walk([&](tile::KernelOp kernel) {
      auto found = kernel.getBlock()->getOps<RolesOp>();
      if (found.empty() || isPersistent(kernel))
        return;
      RolesOp roles = *found.begin();
      GridRole producer(roles.getProducerBlock()), consumer(roles.getConsumerBlock());
      bool isOutside = llvm::any_of(kernel.getBlock()->getArguments(), [&](BlockArgument argument) {
        return llvm::any_of(argument.getUsers(),
                            [&](Operation *user) { return !roles->isProperAncestor(user); });
      });
      if (isOutside || !producer.collect() || !consumer.collect()) {
        LDBG() << "@" << kernel.getSymName() << ": stays, since "
               << (isOutside ? "its place is read outside of roles" : "counts do not follow from loops");
        return;
      }
      LDBG() << "@" << kernel.getSymName() << ": its blocks go from place to place";
      SmallVector<BlockArgument> places(kernel.getBlock()->getArguments());
      producer.persist(places);
      consumer.persist(places);
      ++numKernels;
    });
  }
};

} // namespace
