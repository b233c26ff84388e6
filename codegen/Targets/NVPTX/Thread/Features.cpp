// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Thread/Features.h"
#include "codegen/Targets/NVPTX/ScalarFacts.h"
#include "codegen/Targets/NVPTX/Thread/BufferAddress.h"
#include <numeric>

using namespace mlir;
using namespace mlir::simt;
using tile::Axis;
using tile::TileType;

static constexpr int64_t kBlock = FeatureTable::kBlockSize;

FloatType mlir::simt::numberTypeOf(Type element) {
  return element.isF64() ? cast<FloatType>(element) : cast<FloatType>(Float32Type::get(element.getContext()));
}

//===----------------------------------------------------------------------===//
// Rows of components
//===----------------------------------------------------------------------===//

// Places are those of BufferAddress, with a column that no constant is: what a row flips, and the thread's
// place in a block, meet the column's bits in one xor.
Value ComponentRows::pointer(int64_t tokens, Value column, int64_t component) {
  BufferType type = slot.type;
  Code code = places.at(loc);
  int64_t bytes = component * type.getElementBytes(), rowBytes = type.getSwizzle();
  constexpr int64_t rowsOfPattern = 8, chunkBytes = 16;
  bool swizzled = rowBytes != 0;
  if (!swizzled)
    rowBytes = type.getRow().getSize() * type.getElementBytes();
  int64_t beside = swizzled ? tokens % rowsOfPattern : 0, chunk = swizzled ? bytes / chunkBytes : 0;
  auto [found, isNew] = rows.try_emplace({beside, chunk});
  if (isNew)
    found->second = places.atStart([&] {
      Value row = code.add(token, beside), begin = code.mul(row, rowBytes);
      Value place = code.sub(placeInSlot(code, type, row, inner, chunk), begin);
      return std::pair(begin, place);
    });
  auto [begin, place] = found->second;
  // A line of 128 bytes that holds several rows flips them too: then the place is not the row's own, and only
  // the column's bits within its panel meet it.
  bool sharesLine = swizzled && rowBytes < 128 && type.getRow().getSize() * type.getElementBytes() > rowBytes;
  Value inRow;
  if (sharesLine) {
    Value inPanel = code.bitAnd(column, code.i32(rowBytes - 1));
    inRow = code.add(code.sub(column, inPanel), code.bitXor(inPanel, place));
  } else {
    inRow = swizzled ? code.bitXor(column, place) : code.add(column, place);
  }
  int64_t constant = (tokens - beside) * rowBytes + bytes - chunk * chunkBytes;
  Value own = code.offset(code.offset(places.sharedBase(), slot.bytes), begin);
  return code.offset(code.offset(own, inRow), constant);
}

SmallVector<Value> ComponentRows::read(int64_t tokens, Value column, int64_t component, int64_t count) {
  Code code = places.at(loc);
  Words words = wordsOf(count, slot.type.getElementBytes());
  SmallVector<Value> loaded =
      code.load(pointer(tokens, column, component), AddressSpace::shared, words, Value());
  SmallVector<Value> values = elementsOfWords(code, loaded, slot.type.getElementType());
  for (Value &value : values)
    value = code.convert(value, number);
  return values;
}

void ComponentRows::add(int64_t tokens, Value column, ArrayRef<Value> values, Value guard) {
  Code code = places.at(loc);
  SmallVector<Value> sums = read(tokens, column, 0, values.size());
  for (auto [sum, value] : llvm::zip(sums, values))
    sum = code.convert(arith::AddFOp::create(code.builder, loc, sum, value), slot.type.getElementType());
  Words words = wordsOf(values.size(), slot.type.getElementBytes());
  code.store(wordsOfElements(code, sums, words), pointer(tokens, column, 0), AddressSpace::shared, words,
             guard);
}

//===----------------------------------------------------------------------===//
// A panel
//===----------------------------------------------------------------------===//

FeatureEmitter::FeatureEmitter(ThreadPlaces &places, ThreadTiles &tiles, SharedSlots &slots, Operation *op,
                               Value vectors, StringRef axis, tile::FeaturesAttr features, Value start,
                               TileType panel, StringRef to)
    : places(places), tiles(tiles), slots(slots), op(op), code(places.at(op)), vectors(slots.slotOf(vectors)),
      axis(axis), to(to), features(features), start(start), panel(panel), layout(layoutOf(panel)),
      number(numberTypeOf(panel.getElementType())), size(panel.getSize(to)) {
  for (const Axis &other : panel.getAxes())
    if (other.getName() != to)
      tokens = other.getName();
  places.atStart([&] {
    Value place = places.placeOf(layout, to).value;
    token = places.placeOf(layout, tokens).value;
    block = code.shiftRight(place, llvm::Log2_64(kBlock));
    inBlock = code.bitAnd(place, code.i32(kBlock - 1));
    none = code.i32(0);
  });
}

FeatureEmitter::FeatureEmitter(ThreadPlaces &places, ThreadTiles &tiles, SharedSlots &slots, ExpandOp op)
    : FeatureEmitter(places, tiles, slots, op, op.getInput(), op.getAxis(), op.getFeatures(), op.getStart(),
                     op.getType(), op.getTo()) {}

FeatureEmitter::FeatureEmitter(ThreadPlaces &places, ThreadTiles &tiles, SharedSlots &slots, ContractOp op)
    : FeatureEmitter(places, tiles, slots, op, op.getInput(), op.getAxis(), op.getFeatures(), op.getStart(),
                     op.getCotangent().getType(), op.getFrom()) {}

LogicalResult FeatureEmitter::check() {
  if (features.getBlock() != kBlock || features.getChannels() % kBlock)
    return op->emitOpError() << "requires blocks of " << kBlock << " components, and whole blocks, but got "
                             << features;
  if (FeatureTable::kGroupSize % size || size < kBlock)
    return op->emitOpError() << "requires a panel of 8, 16, 32 or 64 features, but got " << panel;
  if (divisorOf(start) % size)
    return op->emitOpError() << "requires a start that is a multiple of the panel's " << size << " features";
  if (vectors.type.getAxes().size() != 2 || vectors.type.getRow().getName() != axis)
    return op->emitOpError() << "requires a row of the components along '" << axis << "' per vector, but got "
                             << vectors.type;
  return success();
}

SmallVector<Value>
FeatureEmitter::forKind(TypeRange types, const FeatureTable &table,
                        llvm::function_ref<SmallVector<Value>(const FeatureTable::Group &)> ofGroup,
                        llvm::function_ref<SmallVector<Value>(Value firstBlock)> ofBlocks) {
  OpBuilder &builder = code.builder;
  constexpr int64_t kGroupSize = FeatureTable::kGroupSize;
  Value first = code.narrow(places.scalar(start));
  auto emitGroup = [&] {
    FeatureTable::Group group = table.group(code, code.shiftRight(first, llvm::Log2_64(kGroupSize)));
    Value part = code.shiftRight(code.bitAnd(first, code.i32(kGroupSize - 1)), llvm::Log2_64(kBlock));
    group.first = code.add(group.first, code.mul(part, vectors.type.getElementBytes()));
    return ofGroup(group);
  };
  auto emitBlocks = [&] {
    Value past = code.sub(first, code.i32(table.numGroups * kGroupSize));
    return ofBlocks(code.shiftRight(past, llvm::Log2_64(kBlock)));
  };
  if (!table.numBlocks)
    return emitGroup();
  if (!table.numGroups)
    return emitBlocks();
  Value isGroup = code.less(first, code.i32(table.numGroups * kGroupSize));
  auto branch = scf::IfOp::create(builder, code.loc, types, isGroup, /*withElseRegion=*/true);
  auto emitIn = [&](Block *region, llvm::function_ref<SmallVector<Value>()> emit) {
    OpBuilder::InsertionGuard guard(builder);
    if (types.empty()) {
      builder.setInsertionPoint(region->getTerminator());
      emit();
      return;
    }
    builder.setInsertionPointToEnd(region);
    scf::YieldOp::create(builder, code.loc, emit());
  };
  emitIn(branch.thenBlock(), emitGroup);
  emitIn(branch.elseBlock(), emitBlocks);
  return branch.getResults();
}

FeatureEmitter::FeaturePlace FeatureEmitter::placeOf(int64_t index) const {
  int64_t place = layout.getOffset(index, to);
  return {layout.getOffset(index, tokens), place / kBlock, place % kBlock};
}

int64_t FeatureEmitter::neighbours(int64_t FeaturePlace::*along, int64_t divisor) const {
  std::set<int64_t> places;
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; ++i)
    places.insert(placeOf(i).*along);
  auto haveGroups = [&](int64_t count) {
    return llvm::all_of(places, [&](int64_t place) {
      for (int64_t i = 0; i < count; ++i)
        if (!places.count(place / count * count + i))
          return false;
      return true;
    });
  };
  // What the thread's own number adds.
  for (const Digit &digit : llvm::concat<const Digit>(layout.getLanes(), layout.getWarps()))
    if (digit.isAlong(to) && (digit.stride >= kBlock) == (along == &FeaturePlace::block))
      divisor = std::gcd(divisor, digit.stride >= kBlock ? digit.stride / kBlock : digit.stride);
  int64_t count = 1, bytes = vectors.type.getElementBytes();
  while (2 * count * bytes <= 16 && divisor % (2 * count) == 0 && haveGroups(2 * count))
    count *= 2;
  return count;
}

Value FeatureEmitter::multiply(Value a, Value b) const {
  return !a ? b : !b ? a : arith::MulFOp::create(code.builder, code.loc, a, b).getResult();
}

Value FeatureEmitter::factorOf(ComponentRows &single, const FeatureTable::Group &group, int64_t token,
                               std::optional<size_t> without) {
  Value factor = group.weight;
  for (auto [i, column] : llvm::enumerate(group.others)) {
    if (i == without)
      continue;
    Value isMissing = code.less(column, none);
    Value x = single.read(token, code.select(isMissing, none, column), 0, 1).front();
    Value one = arith::ConstantOp::create(code.builder, code.loc, code.builder.getFloatAttr(number, 1.0));
    factor = multiply(factor, code.select(isMissing, one, x));
  }
  return factor;
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

LogicalResult FeatureEmitter::expand(ExpandOp op) {
  if (failed(check()))
    return failure();
  FeatureTable table(code, features, op.getWeights(), vectors.type, number, size);
  SmallVector<Type> types(layout.getNumRegisters(), number);
  SmallVector<Value> values = forKind(
      types, table, [&](const FeatureTable::Group &group) { return expandGroup(group); },
      [&](Value firstBlock) { return expandBlocks(table, firstBlock); });
  for (Value &value : values)
    value = code.convert(value, panel.getElementType());
  tiles.setTile(op, values);
  return success();
}

SmallVector<Value> FeatureEmitter::expandGroup(const FeatureTable::Group &group) {
  ComponentRows firsts = rowsOf(vectors, block), lasts = rowsOf(vectors, inBlock),
                single = rowsOf(vectors, none);
  // The part of the group at which the panel begins is a multiple of its blocks.
  int64_t firstCount = neighbours(&FeaturePlace::block, size / kBlock),
          lastCount = neighbours(&FeaturePlace::inBlock, 0);
  std::map<std::pair<int64_t, int64_t>, Value> first, last; // by token and place
  std::map<int64_t, Value> factors;
  SmallVector<Value> values;
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; ++i) {
    FeaturePlace at = placeOf(i);
    if (!first.count({at.token, at.block})) {
      if (!factors.count(at.token))
        factors[at.token] = factorOf(single, group, at.token);
      int64_t from = at.block / firstCount * firstCount;
      for (auto [k, x] : llvm::enumerate(firsts.read(at.token, group.first, from, firstCount)))
        first[{at.token, from + k}] = multiply(x, factors[at.token]);
    }
    if (!last.count({at.token, at.inBlock})) {
      int64_t from = at.inBlock / lastCount * lastCount;
      for (auto [k, x] : llvm::enumerate(lasts.read(at.token, group.last, from, lastCount)))
        last[{at.token, from + k}] = x;
    }
    values.push_back(multiply(first[{at.token, at.block}], last[{at.token, at.inBlock}]));
  }
  return values;
}

SmallVector<Value> FeatureEmitter::expandBlocks(const FeatureTable &table, Value firstBlock) {
  ComponentRows rows = rowsOf(vectors, inBlock);
  int64_t count = neighbours(&FeaturePlace::inBlock, 0);
  struct Entry {
    FeatureTable::Block block;
    Value isConstant;
    std::map<std::pair<int64_t, int64_t>, Value> components; // by token and place
  };
  std::map<int64_t, Entry> entries;
  Value one = arith::ConstantOp::create(code.builder, code.loc, code.builder.getFloatAttr(number, 1.0));
  SmallVector<Value> values;
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; ++i) {
    FeaturePlace at = placeOf(i);
    auto [found, isNew] = entries.try_emplace(at.block);
    Entry &entry = found->second;
    if (isNew) {
      entry.block = table.block(code, code.add(code.add(firstBlock, block), at.block));
      if (table.hasConstants) {
        entry.isConstant = code.less(entry.block.column, none);
        entry.block.column = code.select(entry.isConstant, none, entry.block.column);
      }
    }
    if (!entry.components.count({at.token, at.inBlock})) {
      int64_t from = at.inBlock / count * count;
      for (auto [k, x] : llvm::enumerate(rows.read(at.token, entry.block.column, from, count)))
        entry.components[{at.token, from + k}] = x;
    }
    Value x = entry.components[{at.token, at.inBlock}];
    if (entry.isConstant) {
      Value isFirst = arith::CmpIOp::create(code.builder, code.loc, arith::CmpIPredicate::eq, inBlock,
                                            code.i32(-at.inBlock));
      x = code.select(entry.isConstant, code.select(isFirst, one, code.zero(number)), x);
    }
    values.push_back(multiply(x, entry.block.weight));
  }
  return values;
}
