// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The adjoint of a group, with cotangents dP[i, j] in the registers of an accumulator: lane l of four has
// j = 2 l and 2 l + 1 of every i.
//
//   sums[j] += w * sum over i of dP[i, j] x[i]      the lane has both its j, and their sums
//   sums[i] += w * sum over j of dP[i, j] x[j]      each lane has a part of all 8; they exchange parts until
//                                                   lane l has all of i = 2 l and 2 l + 1
//
// So components 2 l and 2 l + 1 of any block are lane l's: no other thread reads or writes their sums.
#include "codegen/Targets/NVPTX/Thread/Features.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::simt;

static constexpr int64_t kBlock = FeatureTable::kBlockSize;

LogicalResult FeatureEmitter::contract(ContractOp op) {
  std::optional<FragmentAxes> axes = getFragmentAxes(layout);
  ArrayRef<Digit> registers = layout.getRegisters();
  if (!axes || axes->columns != to || registers.empty() || !registers[0].isAlong(to) ||
      registers[0].stride != 1 || registers[0].count != 2 || layout.isAcrossWarps(to))
    return op.emitOpError() << "expected '" << to << "' in the columns of a fragment of one warp, but got "
                            << panel;
  if (failed(check()))
    return failure();
  FeatureTable table(code, features, op.getWeights(), vectors.type, number, size);
  auto emit = [&] {
    forKind(
        {}, table,
        [&](const FeatureTable::Group &group) {
          contractGroup(op, group);
          return SmallVector<Value>();
        },
        [&](Value firstBlock) {
          contractBlocks(op, table, firstBlock);
          return SmallVector<Value>();
        });
  };
  // Where warps have copies of a cotangent, one of them adds it.
  if (Value writer = places.isWriter(layout)) {
    OpBuilder::InsertionGuard guard(code.builder);
    auto branch = scf::IfOp::create(code.builder, code.loc, writer, /*withElseRegion=*/false);
    code.builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    emit();
  } else {
    emit();
  }
  return success();
}

Value FeatureEmitter::multiplyAdd(Value a, Value b, Value c) const {
  return c ? math::FmaOp::create(code.builder, code.loc, a, b, c).getResult() : multiply(a, b);
}

Value FeatureEmitter::lane() const {
  return places.atStart([&] { return code.bitAnd(places.thread(), code.i32(3)); });
}

Value FeatureEmitter::cotangentAt(ContractOp op, const FeaturePlace &place) {
  int64_t index = layout.findRegister(
      [&](StringRef along) { return along == tokens ? place.token : place.block * kBlock + place.inBlock; });
  return code.convert(tiles.element(tiles.tileOf(op.getCotangent()), index, code.loc), number);
}

/// Of parts of 8 numbers in each of four lanes, the sums of the lane's own two.
SmallVector<Value> FeatureEmitter::toOwnPair(ArrayRef<Value> ofBlock) {
  SmallVector<Value> parts(ofBlock);
  for (int64_t mask : {2, 1}) {
    Value isUpper = places.atStart([&] {
      return arith::CmpIOp::create(code.builder, code.loc, arith::CmpIPredicate::ne,
                                   code.bitAnd(places.thread(), code.i32(mask)), code.i32(0))
          .getResult();
    });
    SmallVector<Value> kept;
    for (auto [low, high] : llvm::zip(ArrayRef<Value>(parts).take_front(2 * mask),
                                      ArrayRef<Value>(parts).drop_front(2 * mask))) {
      Value other = code.exchange(code.select(isUpper, low, high), mask);
      kept.push_back(arith::AddFOp::create(code.builder, code.loc, code.select(isUpper, high, low), other));
    }
    parts = kept;
  }
  return parts;
}

/// Distinct places of a thread's registers along an axis.
static std::set<int64_t> offsetsAlong(LayoutAttr layout, StringRef axis) {
  std::set<int64_t> offsets;
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; ++i)
    offsets.insert(layout.getOffset(i, axis));
  return offsets;
}

void FeatureEmitter::contractGroup(ContractOp op, const FeatureTable::Group &group) {
  SharedSlot sums = slots.slotOf(op.getSums());
  ComponentRows firsts = rowsOf(vectors, none), lasts = rowsOf(vectors, inBlock);
  ComponentRows single = rowsOf(vectors, none), own = rowsOf(sums, inBlock);
  int64_t blocks = size / kBlock, together = neighbours(&FeaturePlace::block, blocks);
  Value first = code.narrow(places.scalar(start));
  Value part = code.bitAnd(code.shiftRight(first, llvm::Log2_64(kBlock)), code.i32(kBlock - blocks));
  Value bytes = code.mul(part, vectors.type.getElementBytes());
  for (int64_t token : offsetsAlong(layout, tokens)) {
    SmallVector<Value> xFirst, xLast = lasts.read(token, group.last, 0, 2), ofFirst, ofLast(2);
    for (int64_t i = 0; i < blocks; i += together)
      llvm::append_range(xFirst, firsts.read(token, group.first, i, together));
    for (int64_t i = 0; i < blocks; ++i) {
      Value low = cotangentAt(op, {token, i, 0}), high = cotangentAt(op, {token, i, 1});
      ofFirst.push_back(multiplyAdd(high, xLast[1], multiply(low, xLast[0])));
      ofLast[0] = multiplyAdd(low, xFirst[i], ofLast[0]);
      ofLast[1] = multiplyAdd(high, xFirst[i], ofLast[1]);
    }
    // A factor that others share: sum over i of x[i] times what x[i] gets.
    Value ofOthers;
    if (!group.others.empty())
      for (int64_t i = 0; i < blocks; ++i)
        ofOthers = multiplyAdd(ofFirst[i], xFirst[i], ofOthers);
    // The panel's part of the group's first block.
    SmallVector<Value> ofBlock;
    for (int64_t i = 0; i < kBlock; ++i) {
      Value isHere = arith::CmpIOp::create(code.builder, code.loc, arith::CmpIPredicate::eq, part,
                                           code.i32(i / blocks * blocks));
      ofBlock.push_back(blocks == kBlock ? ofFirst[i]
                                         : code.select(isHere, ofFirst[i % blocks], code.zero(number)));
    }
    Value factor = factorOf(single, group, token);
    SmallVector<Value> ownFirst = toOwnPair(ofBlock);
    for (Value &value : llvm::concat<Value>(ofLast, ownFirst))
      value = multiply(value, factor);
    own.add(token, group.last, ofLast, Value());
    own.add(token, code.sub(group.first, bytes), ownFirst, Value());
    for (size_t other = 0; other < group.others.size(); ++other)
      contractOther(op, group, other, token, ofOthers);
  }
}

/// The sum of a component outside the two blocks: its lane adds what all four have.
void FeatureEmitter::contractOther(ContractOp op, const FeatureTable::Group &group, size_t other,
                                   int64_t token, Value cotangent) {
  OpBuilder &builder = code.builder;
  ComponentRows single = rowsOf(vectors, none), sums = rowsOf(slots.slotOf(op.getSums()), none);
  for (int64_t mask : {1, 2})
    cotangent = arith::AddFOp::create(builder, code.loc, cotangent, code.exchange(cotangent, mask));
  Value column = group.others[other], isMissing = code.less(column, none);
  Value component = code.shiftRight(column, llvm::Log2_64(vectors.type.getElementBytes()));
  Value owner = code.shiftRight(code.bitAnd(component, code.i32(kBlock - 1)), 1);
  Value isOwner = arith::CmpIOp::create(builder, code.loc, arith::CmpIPredicate::eq, owner, lane());
  isOwner = code.select(isMissing, arith::ConstantOp::create(builder, code.loc, builder.getBoolAttr(false)),
                        isOwner);
  cotangent = multiply(cotangent, factorOf(single, group, token, other));
  OpBuilder::InsertionGuard guard(builder);
  auto branch = scf::IfOp::create(builder, code.loc, isOwner, /*withElseRegion=*/false);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  sums.add(token, column, cotangent, Value());
}

void FeatureEmitter::contractBlocks(ContractOp op, const FeatureTable &table, Value firstBlock) {
  OpBuilder &builder = code.builder;
  ComponentRows own = rowsOf(slots.slotOf(op.getSums()), inBlock);
  for (int64_t i = 0; i < size / kBlock; ++i) {
    FeatureTable::Block entry = table.block(code, code.add(firstBlock, i));
    OpBuilder::InsertionGuard guard(builder);
    if (table.hasConstants) {
      Value isComponent = code.less(code.i32(-1), entry.column);
      auto branch = scf::IfOp::create(builder, code.loc, isComponent, /*withElseRegion=*/false);
      builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    for (int64_t token : offsetsAlong(layout, tokens)) {
      SmallVector<Value> pair;
      for (int64_t k : {0, 1})
        pair.push_back(multiply(cotangentAt(op, {token, i, k}), entry.weight));
      own.add(token, entry.column, pair, Value());
    }
  }
}
