// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simt.roles: the first four warps are the producer, of which one works; each further four are a member.
#include "codegen/Targets/NVPTX/Thread/ThreadEmitter.h"

using namespace mlir;
using namespace mlir::simt;

/// Threads of a role.
static constexpr int64_t kRoleThreads = 128, kWarp = 32;

LogicalResult ThreadEmitter::emitRoles(RolesOp op) {
  if (!op.getApart())
    return op.emitOpError("requires places of its members' buffers; run taylor-simt-allocate-shared before");
  if (32 * places.numWarps() != kRoleThreads)
    return op.emitOpError() << "expected members of four warps, but got " << places.numWarps();
  Location loc = op.getLoc();
  Code code = places.at(op);
  signals.initialise(op);
  auto setRegisters = [&](int64_t count, bool more) {
    NVVM::SetMaxRegisterOp::create(builder, loc, uint32_t(count),
                                   more ? NVVM::SetMaxRegisterAction::increase
                                        : NVVM::SetMaxRegisterAction::decrease);
  };
  auto inThen = [&](scf::IfOp branch) { builder.setInsertionPoint(branch.thenBlock()->getTerminator()); };
  // The same in all lanes, and known to be.
  Value group = code.fetch(code.shiftRight(places.thread(), 7), code.i32(0)), all = places.thread();
  Value isProducer = code.lessUnsigned(group, code.i32(1));
  auto branch = scf::IfOp::create(builder, loc, isProducer, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  inThen(branch);
  setRegisters(op.getProducerRegisters(), false);
  Value warp = code.fetch(code.shiftRight(all, 5), code.i32(0));
  inThen(scf::IfOp::create(builder, loc, code.lessUnsigned(warp, code.i32(1)), /*withElseRegion=*/false));
  Value lane = code.bitAnd(all, code.i32(kWarp - 1));
  if (failed(places.emitRole({lane, 1, {}}, [&] { return emitBlock(op.getProducerBlock()); })))
    return failure();

  builder.setInsertionPoint(branch.elseBlock()->getTerminator());
  setRegisters(op.getConsumerRegisters(), true);
  Value thread = code.bitAnd(all, code.i32(kRoleThreads - 1)), member = code.sub(group, code.i32(1));
  scalars[op.getMember()] = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), member);
  slots.moveToMember(member, *op.getApart(), loc);
  return places.emitRole({thread, places.numWarps(), member},
                         [&] { return emitBlock(op.getConsumerBlock()); });
}
