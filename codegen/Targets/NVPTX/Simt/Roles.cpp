// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Roles and rings: syntax, and verifiers. What a ring's signals order follows from where its ops stand: only
// a producer acquires and fills, only a member waits and releases, each use once.
#include "codegen/Targets/NVPTX/Simt/Verify.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::simt;

//===----------------------------------------------------------------------===//
// simt.roles members 2 apart 1024 registers 40, 232 producer {..} consumer (%member) {..}
//===----------------------------------------------------------------------===//

ParseResult RolesOp::parse(OpAsmParser &parser, OperationState &state) {
  Type i64 = parser.getBuilder().getI64Type();
  auto parseNumber = [&](StringRef name) -> ParseResult {
    IntegerAttr number;
    return parser.parseAttribute(number, i64, name, state.attributes);
  };
  if (parser.parseKeyword("members") || parseNumber("members"))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("apart")) && parseNumber("apart"))
    return failure();
  if (parser.parseKeyword("registers") || parseNumber("producerRegisters") || parser.parseComma() ||
      parseNumber("consumerRegisters") || parser.parseKeyword("producer"))
    return failure();
  Region *producer = state.addRegion(), *consumer = state.addRegion();
  OpAsmParser::Argument member;
  member.type = parser.getBuilder().getIndexType();
  if (parser.parseRegion(*producer) || parser.parseKeyword("consumer") || parser.parseLParen() ||
      parser.parseArgument(member) || parser.parseRParen() || parser.parseRegion(*consumer, {member}) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  if (producer->empty())
    producer->emplaceBlock();
  return success();
}

void RolesOp::print(OpAsmPrinter &printer) {
  printer << " members " << getMembers();
  if (std::optional<uint64_t> apart = getApart())
    printer << " apart " << *apart;
  printer << " registers " << getProducerRegisters() << ", " << getConsumerRegisters() << " producer ";
  printer.printRegion(getProducer(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
  printer << " consumer (" << getMember() << ") ";
  printer.printRegion(getConsumer(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"members", "apart", "producerRegisters", "consumerRegisters"});
}

LogicalResult RolesOp::verify() {
  constexpr int64_t kMostMembers = 7, kRegisters = 65536, kThreads = 128;
  int64_t members = getMembers();
  if (members < 1 || members > kMostMembers)
    return emitOpError() << "expected 1 to " << kMostMembers << " members, but got " << members;
  for (int64_t registers : {getProducerRegisters(), getConsumerRegisters()})
    if (registers < 24 || registers > 256 || registers % 8)
      return emitOpError() << "expected a multiple of 8 from 24 to 256 registers, but got " << registers;
  int64_t all = kThreads * (int64_t(getProducerRegisters()) + members * int64_t(getConsumerRegisters()));
  if (all > kRegisters)
    return emitOpError() << "expected at most " << kRegisters << " registers in all, but got " << all;
  Region &consumer = getConsumer();
  if (consumer.empty() || consumer.getNumArguments() != 1 || !consumer.getArgument(0).getType().isIndex())
    return emitOpError("expected the number of the member as the consumer's argument, an index");
  if ((*this)->getNextNode())
    return emitOpError("expected nothing after it: roles do not meet again");
  WalkResult tiles = getProducer().walk([&](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes())
      if (isa<tile::TileType, PendingType>(type))
        return op->emitOpError("unsupported tile in a producer: it has the registers for addresses alone");
    return WalkResult::advance();
  });
  return failure(tiles.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Uses of a ring
//===----------------------------------------------------------------------===//

/// The role that the op is part of: true for the producer; none where it is in neither.
static std::optional<bool> isOfProducer(Operation *op) {
  auto roles = op->getParentOfType<RolesOp>();
  if (!roles)
    return std::nullopt;
  return roles.getProducer().isAncestor(op->getParentRegion());
}

static LogicalResult verifyRole(Operation *op, bool producer) {
  if (isOfProducer(op) == producer)
    return success();
  return op->emitOpError() << "expected it in the " << (producer ? "producer" : "consumer")
                           << " of a simt.roles";
}

static LogicalResult inferSlot(std::optional<Location> loc, ValueRange operands,
                               SmallVectorImpl<Type> &types) {
  auto ring = dyn_cast<RingType>(operands.front().getType()); // read before operands are verified
  if (!ring)
    return emitOptionalError(loc, "expected a use of a ring, but got ", operands.front().getType());
  types.push_back(ring.getBuffer().getSlot());
  return success();
}

LogicalResult AcquireOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, ValueRange operands,
                                          DictionaryAttr, OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  return inferSlot(loc, operands, types);
}

LogicalResult WaitFullOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, ValueRange operands,
                                           DictionaryAttr, OpaqueProperties, RegionRange,
                                           SmallVectorImpl<Type> &types) {
  return inferSlot(loc, operands, types);
}

LogicalResult AcquireOp::verify() {
  if (failed(verifyRole(*this, /*producer=*/true)))
    return failure();
  auto isFilling = [&](Operation *user) {
    auto copy = dyn_cast<CopyOp>(user);
    return copy && copy->getBlock() == (*this)->getBlock() && copy.getRing() == getRing() &&
           copy.getNumber() == getNumber();
  };
  if (!getResult().hasOneUse() || !isFilling(*getResult().user_begin()))
    return emitOpError("expected one simt.copy in the same block that fills the slot and signals this use");
  return success();
}

LogicalResult WaitFullOp::verify() {
  if (failed(verifyRole(*this, /*producer=*/false)))
    return failure();
  ReleaseOp release;
  for (Operation *op = (*this)->getNextNode(); op && !release; op = op->getNextNode())
    if (auto other = dyn_cast<ReleaseOp>(op);
        other && other.getRing() == getRing() && other.getNumber() == getNumber())
      release = other;
  if (!release)
    return emitOpError("expected a simt.release of this use after it in the same block");
  // What is read of the slot, or started, before the release.
  SmallVector<Operation *> users(getResult().getUsers());
  for (size_t i = 0; i < users.size(); ++i) {
    Operation *here = (*this)->getBlock()->findAncestorOpInBlock(*users[i]);
    if (isa<CopyOp, WriteOp, ContractOp>(users[i]))
      return emitOpError("expected a member to read the slot, but one of them writes it");
    if (!here || !here->isBeforeInBlock(release))
      return emitOpError("expected readers of the slot before its release");
    if (isa<PartOp, SlotOp, StartOp>(users[i]))
      llvm::append_range(users, users[i]->getUsers());
  }
  return success();
}

LogicalResult ReleaseOp::verify() {
  if (failed(verifyRole(*this, /*producer=*/false)))
    return failure();
  for (Operation *op = (*this)->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto wait = dyn_cast<WaitFullOp>(op);
        wait && wait.getRing() == getRing() && wait.getNumber() == getNumber())
      return success();
    if (auto other = dyn_cast<ReleaseOp>(op);
        other && other.getRing() == getRing() && other.getNumber() == getNumber())
      break;
  }
  return emitOpError(
      "expected a simt.wait_full of this use before it in the same block, and no other release");
}

LogicalResult BarrierOp::verify() {
  std::optional<bool> producer = isOfProducer(*this);
  if (producer == true)
    return emitOpError("expected no barrier in a producer, which one warp runs");
  if (getMember() == producer.has_value())
    return success();
  return emitOpError() << (getMember()
                               ? "expected a consumer of simt.roles around a barrier of its member"
                               : "expected a barrier of the member alone in a consumer of simt.roles");
}

LogicalResult CopyOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (failed(verifyOneSlot(*this, buffer)))
    return failure();
  if (getArray().getType().getElementType() != buffer.getElementType())
    return emitOpError() << "expected elements of " << buffer.getElementType() << ", but got "
                         << getArray().getType();
  if (bool(getRing()) != bool(getBuffer().getDefiningOp<AcquireOp>()) ||
      (getRing() ? !getBuffer().hasOneUse() || getCondition() : getBulk()))
    return emitOpError("expected simt.acquire, signals and no condition together: a use of a ring is filled "
                       "once, by a copy that signals it");
  if (!getRing() && isOfProducer(*this) == true)
    return emitOpError("expected a producer to fill a ring: nothing else tells the members of its copies");
  return tile::verifyWindow(*this, getArray().getType(), tileOf(buffer), getArrayAxes(), getTileAxes(),
                            getOffsets());
}

//===----------------------------------------------------------------------===//
// simt.place
//===----------------------------------------------------------------------===//

LogicalResult PlaceOp::verify() {
  auto kernel = (*this)->getParentOfType<tile::KernelOp>();
  if (!kernel)
    return emitOpError("expected a tile.kernel around");
  size_t extents = kernel.getBlock()->getNumArguments();
  if (getNumResults() != extents)
    return emitOpError() << "expected " << extents << " results, one for each extent of the grid, but got "
                         << getNumResults();
  return success();
}
