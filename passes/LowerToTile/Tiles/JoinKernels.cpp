// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two small kernels, over queries and over keys, as one. Passes.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Passes.h"

#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#define DEBUG_TYPE "taylor-join-kernels"

namespace taylor {
#define GEN_PASS_DEF_JOINKERNELSPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

using namespace mlir;
using namespace mlir::tile;

namespace {

/// The extent of a grid of blocks of tokens, or null.
ExtentAttr blocksOfTokens(KernelOp kernel) {
  if (kernel.getGrid().size() != 1)
    return {};
  ExtentAttr extent = kernel.getExtent(0);
  StringRef role = extent.isStatic() || extent.isParts() ? "" : extent.getRole().getValue();
  return role == AxisRole::Query || role == AxisRole::Key ? extent : ExtentAttr();
}

/// Arrays that a kernel writes, and those that it accesses at all.
void collectArrays(KernelOp kernel, llvm::SmallPtrSetImpl<Value> &written,
                   llvm::SmallPtrSetImpl<Value> &all) {
  kernel.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isa<ArrayType>(operand.getType())) {
        all.insert(operand);
        if (isa<StoreOp, AccumulateOp>(op))
          written.insert(operand);
      }
  });
}

bool areIndependent(KernelOp a, KernelOp b) {
  llvm::SmallPtrSet<Value, 8> writtenByA, writtenByB, ofA, ofB;
  collectArrays(a, writtenByA, ofA);
  collectArrays(b, writtenByB, ofB);
  return llvm::none_of(writtenByA, [&](Value x) { return ofB.contains(x); }) &&
         llvm::none_of(writtenByB, [&](Value x) { return ofA.contains(x); });
}

/// Element by element: it needs few registers, and no memory of a block.
bool isSmall(KernelOp kernel) {
  return !kernel
              .walk([](Operation *op) {
                return isa<LoopLikeOpInterface, DotOp, ReduceOp, ScanOp, AccumulateOp>(op)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

bool canJoin(KernelOp a, KernelOp b) {
  ExtentAttr first = blocksOfTokens(a), second = blocksOfTokens(b);
  // Blocks of both are at most the blocks of T + U + 256 tokens, the role lag.
  return first && second && first.getRole() != second.getRole() && first.getSize() == second.getSize() &&
         first.getSize() <= kLagMargin && areIndependent(a, b) && isSmall(a) && isSmall(b);
}

/// `angles_t_and_u` of angles_t and angles_u.
std::string joinNames(KernelOp first, KernelOp second) {
  StringRef a = first.getSymName(), b = second.getSymName();
  size_t common = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i)
    if (a[i] == '_')
      common = i + 1;
  std::string name = (a + "_and_" + b.drop_front(common)).str(), free = name;
  auto program = first->getParentOfType<ProgramOp>();
  for (int number = 2; SymbolTable::lookupSymbolIn(program, free); ++number)
    free = name + "_" + std::to_string(number);
  return free;
}

/// The body of a kernel at the end of a block, for the block of that number.
void moveBody(KernelOp kernel, OpBuilder &builder, Value number) {
  IRMapping mapping;
  mapping.map(kernel.getBlock()->getArgument(0), number);
  for (Operation &op : *kernel.getBlock())
    builder.clone(op, mapping);
}

KernelOp join(KernelOp a, KernelOp b) {
  LDBG() << "@" << a.getSymName() << " and @" << b.getSymName() << " are one";
  OpBuilder builder(a);
  Location loc = builder.getFusedLoc({a.getLoc(), b.getLoc()});
  int64_t size = blocksOfTokens(a).getSize();
  auto joined = KernelOp::create(builder, loc, joinNames(a, b),
                                 {ExtentAttr::get(axisAttr(builder, AxisRole::Lag), size)});
  Value number = joined.getBlock()->getArgument(0);
  builder.setInsertionPointToEnd(joined.getBlock());
  auto blocksOf = [&](KernelOp kernel) -> Value {
    Value tokens = SizeOp::create(builder, loc, blocksOfTokens(kernel).getRole().getValue());
    Value by = arith::ConstantIndexOp::create(builder, loc, size);
    return arith::CeilDivSIOp::create(builder, loc, tokens, by);
  };
  auto isBelow = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, x, y);
  };
  Value first = blocksOf(a);
  auto isFirst = scf::IfOp::create(builder, loc, isBelow(number, first), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(isFirst.thenBlock());
  moveBody(a, builder, number);
  builder.setInsertionPointToStart(isFirst.elseBlock());
  Value rest = arith::SubIOp::create(builder, loc, number, first);
  auto isSecond = scf::IfOp::create(builder, loc, isBelow(rest, blocksOf(b)), /*withElseRegion=*/false);
  builder.setInsertionPointToStart(isSecond.thenBlock());
  moveBody(b, builder, rest);
  a.erase();
  b.erase();
  return joined;
}

class JoinKernelsPass : public taylor::impl::JoinKernelsPassBase<JoinKernelsPass> {
public:
  void runOnOperation() override {
    getOperation()->walk([&](ProgramOp program) {
      if (!isPlanned(program, [](const taylor::TileSizes &sizes) { return sizes.joinsKernels; }))
        return;
      KernelOp before;
      for (KernelOp kernel : llvm::to_vector(program.getBlock()->getOps<KernelOp>())) {
        bool joins = before && canJoin(before, kernel);
        before = joins ? join(before, kernel) : kernel;
        numJoined += joins;
      }
    });
  }
};

} // namespace
