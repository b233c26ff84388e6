// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/RoleStreams.h"
#include "codegen/Targets/NVPTX/Accesses.h"
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "codegen/Targets/NVPTX/ScalarFacts.h"
#include "dialect/Sources.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::simt;

bool RoleStreams::followsMember(Value value) const {
  return taylor::anySource(value, [&](Value source) { return source == gang; });
}

/// Whether a producer can compute the number: from sizes, places, what is looked up, and the numbers of loops
/// that it runs too.
bool RoleStreams::isUniform(Value value, bool mayDifferByMember) const {
  bool isKnown = true;
  taylor::walkSources(value, [&](Value source) {
    if (auto argument = dyn_cast<BlockArgument>(source)) {
      Operation *parent = argument.getOwner()->getParentOp();
      auto loop = dyn_cast<scf::ForOp>(parent);
      bool isPlace = parent == kernel && (source != gang || mayDifferByMember);
      isKnown &= isPlace || (loop && argument == loop.getInductionVar());
      return false;
    }
    Operation *op = source.getDefiningOp();
    if (isa<tile::ProgramOp>(op->getParentOp())) // an array
      return false;
    bool isNumber = op->getNumRegions() == 0 && source.getType().isIntOrIndex();
    isKnown &=
        isNumber && (isa<tile::SizeOp, tile::RequestedOp, tile::LookupOp>(op) || isMemoryEffectFree(op));
    return isKnown;
  });
  return isKnown;
}

bool RoleStreams::addStream(CopyOp copy) {
  auto loop = dyn_cast<scf::ForOp>(copy->getParentOp());
  auto buffer = copy.getBuffer().getDefiningOp<AllocOp>();
  if (!loop || !buffer || buffer.getType().getSlots() != 1 || copy.getCondition() ||
      !llvm::all_of(copy.getOffsets(), [&](Value offset) { return isUniform(offset, false); }) ||
      (copy.getEnd() && !isUniform(copy.getEnd(), true)))
    return false;
  for (Operation *user : buffer->getUsers()) {
    if (user == copy)
      continue;
    Operation *here = loop.getBody()->findAncestorOpInBlock(*user);
    if (!isa<ReadOp, DotOp, ExpandOp>(user) || !here || here->isBeforeInBlock(copy))
      return false;
  }
  auto known = llvm::find_if(loops, [&](StreamLoop &entry) { return entry.loop == loop; });
  if (known == loops.end()) {
    loops.push_back({loop, {}, {}});
    known = std::prev(loops.end());
  }
  known->streams.push_back({copy, buffer});
  return true;
}

/// The loops and branches around are the same for all members; the loop itself may begin and end elsewhere
/// for each, but then steps on multiples.
bool RoleStreams::areBoundsUniform(StreamLoop &entry) {
  scf::ForOp loop = entry.loop;
  APInt step, lower;
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) || step.getSExtValue() < 1 ||
      !isUniform(loop.getLowerBound(), true) || !isUniform(loop.getUpperBound(), true))
    return false;
  if (followsMember(loop.getLowerBound()) && divisorOf(loop.getLowerBound()) % step.getSExtValue())
    return false;
  bool branchInside = false;
  for (Operation *parent = loop->getParentOp(); parent != kernel; parent = parent->getParentOp()) {
    if (auto outer = dyn_cast<scf::ForOp>(parent)) {
      if (branchInside || llvm::any_of(loops, [&](StreamLoop &other) { return other.loop == outer; }) ||
          !isUniform(outer.getLowerBound(), false) || !isUniform(outer.getUpperBound(), false) ||
          !isUniform(outer.getStep(), false))
        return false;
      entry.around.insert(entry.around.begin(), outer);
    } else if (auto branch = dyn_cast<scf::IfOp>(parent)) {
      if (!isUniform(branch.getCondition(), false))
        return false;
      branchInside = true;
    } else {
      return false;
    }
    skeleton.insert(parent);
  }
  skeleton.insert(loop);
  return true;
}

/// Whether the kernel reads an array that it writes, or adds to one: two members may be the same tile.
bool RoleStreams::exchanges() const {
  llvm::DenseSet<Value> read, written;
  WalkResult walk = tile::KernelOp(kernel).walk([&](Operation *op) {
    for (const Access &access : getAccesses(op))
      if (isa<tile::ArrayType>(access.memory.getType()))
        (access.writes ? written : read).insert(access.memory);
    bool isOther = isa<tile::AccumulateOp, ContractOp>(op);
    return isOther ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted() || llvm::any_of(written, [&](Value array) { return read.contains(array); });
}

bool mlir::simt::isStarted(Operation *op) {
  auto dot = dyn_cast<DotOp>(op);
  return dot && dot.getKind() == ProductKind::wgmma;
}

/// Whether products that run while their threads go on read what the loop copies, or are of features of it.
bool RoleStreams::feedsProducts(const StreamLoop &entry) const {
  bool starts = false;
  scf::ForOp(entry.loop).walk([&](DotOp dot) { starts |= isStarted(dot); });
  return starts && llvm::any_of(entry.streams, [](const RoleStream &stream) {
           return llvm::any_of(AllocOp(stream.buffer)->getUsers(),
                               [](Operation *user) { return isStarted(user) || isa<ExpandOp>(user); });
         });
}

bool RoleStreams::collect() {
  Block *block = kernel.getBlock();
  if (block->getNumArguments() == 0 || getNumWarps(kernel) != 4 || exchanges())
    return false;
  gang = block->getArguments().back();
  tile::ExtentAttr extent = kernel.getExtent(gang.getArgNumber());
  if (extent.isParts())
    return false;
  places = extent.isStatic() ? extent.getSize() : 0;
  SmallVector<CopyOp> copies;
  kernel.walk([&](CopyOp copy) {
    if (copy->getParentOfType<scf::ForOp>())
      copies.push_back(copy);
  });
  for (CopyOp copy : copies)
    if (!addStream(copy))
      return false;
  bool multiplies = false;
  for (StreamLoop &entry : loops) {
    if (!areBoundsUniform(entry))
      return false;
    multiplies |= feedsProducts(entry);
  }
  return multiplies;
}

int64_t RoleStreams::countRegisters(function_ref<int64_t(scf::ForOp)> count) const {
  int64_t most = 0;
  for (const StreamLoop &entry : loops)
    most = std::max(most, count(entry.loop));
  return most;
}

int64_t RoleStreams::countShared(int64_t members, int64_t slots) const {
  constexpr int64_t kAlignment = 1024;
  int64_t shared = 0, own = 0;
  for (auto buffer : tile::KernelOp(kernel).getBlock()->getOps<AllocOp>()) {
    bool isStream = llvm::any_of(loops, [&](const StreamLoop &entry) {
      return llvm::any_of(entry.streams, [&](const RoleStream &stream) { return stream.buffer == buffer; });
    });
    int64_t bytes = llvm::alignTo(buffer.getType().getSlotBytes(), kAlignment);
    (isStream ? shared : own) += isStream ? slots * bytes : bytes;
  }
  return shared + members * own + kAlignment;
}

SmallVector<StreamLoop *> RoleStreams::getLoopsIn(scf::ForOp loop) {
  SmallVector<StreamLoop *> inside;
  for (StreamLoop &entry : loops)
    if (loop->isAncestor(entry.loop))
      inside.push_back(&entry);
  return inside;
}
