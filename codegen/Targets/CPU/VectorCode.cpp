// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/CPU/VectorCode.h"

#include "codegen/Targets/CPU/VectorOps.h"
#include "codegen/Targets/Frame/Tables.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value VectorCode::constant(int64_t value) { return arith::ConstantOp::create(b, b.getI64IntegerAttr(value)); }

Value VectorCode::zeroOf(Type type) {
  return arith::ConstantOp::create(b, type, cast<TypedAttr>(b.getZeroAttr(type)));
}

Value VectorCode::asValue(Index index) {
  if (!index.value)
    return constant(index.constant);
  return index.constant ? Value(arith::AddIOp::create(b, index.value, constant(index.constant)))
                        : index.value;
}

Index VectorCode::add(Index x, Index y) {
  if (!x.value || !y.value)
    return Index(x.value ? x.value : y.value, x.constant + y.constant);
  return Index(arith::AddIOp::create(b, x.value, y.value), x.constant + y.constant);
}

Index VectorCode::subtract(Index x, Index y) {
  if (!y.value)
    return x + -y.constant;
  return Index(arith::SubIOp::create(b, asValue(Index(x.value)), y.value), x.constant - y.constant);
}

Index VectorCode::multiply(Index x, Index y) {
  if (x.value && !y.value)
    std::swap(x, y);
  if (x.value)
    return Index(arith::MulIOp::create(b, asValue(x), asValue(y)));
  if (!y.value || x.constant == 0)
    return x.constant * y.constant;
  if (x.constant == 1)
    return y;
  return Index(arith::MulIOp::create(b, y.value, constant(x.constant)), x.constant * y.constant);
}

Index VectorCode::minimum(Index x, Index y) {
  if (!x.value && !y.value)
    return std::min(x.constant, y.constant);
  return Index(arith::MinSIOp::create(b, asValue(x), asValue(y)));
}

Index VectorCode::maximum(Index x, Index y) {
  if (!x.value && !y.value)
    return std::max(x.constant, y.constant);
  return Index(arith::MaxSIOp::create(b, asValue(x), asValue(y)));
}

Index VectorCode::wholeSteps(Index x, int64_t step, bool up) {
  x = x + (up ? step - 1 : 0);
  return x.value ? Index(arith::AndIOp::create(b, asValue(x), constant(-step))) : Index(x.constant & -step);
}

Value VectorCode::compare(arith::CmpIPredicate predicate, Index x, Index y) {
  return arith::CmpIOp::create(b, predicate, asValue(x), asValue(y));
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value VectorCode::splat(Value scalar) {
  return b.createOrFold<vector::BroadcastOp>(vectorOf(scalar.getType()), scalar);
}

Value VectorCode::constantVector(FloatAttr number) {
  auto type = cast<VectorType>(vectorOf(number.getType()));
  return arith::ConstantOp::create(b, type, DenseElementsAttr::get(type, Attribute(number)));
}

Value VectorCode::iota() {
  SmallVector<int32_t> lanes(W);
  for (int64_t i = 0; i < W; ++i)
    lanes[i] = int32_t(i);
  auto type = cast<VectorType>(vectorOf(b.getI32Type()));
  return arith::ConstantOp::create(b, type, DenseElementsAttr::get(type, ArrayRef<int32_t>(lanes)));
}

Value VectorCode::tailMask(const Point &point, int64_t vector, int64_t size) {
  if ((vector + 1) * W <= size)
    return {};
  SmallVector<bool> bits;
  for (int64_t i = 0; i < W; ++i)
    bits.push_back(vector * W + i < size);
  auto type = cast<VectorType>(vectorOf(b.getI1Type()));
  return arith::ConstantOp::create(b, type, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
}

Value VectorCode::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  auto broadcastTo = [&](Value value, Value other) {
    return isa<VectorType>(other.getType()) && !isa<VectorType>(value.getType()) ? splat(value) : value;
  };
  return arith::AndIOp::create(b, broadcastTo(x, y), broadcastTo(y, x));
}

Value VectorCode::widen(Value x, Type element) {
  if (getElementTypeOrSelf(x.getType()) == element)
    return x;
  return arith::ExtFOp::create(b, isa<VectorType>(x.getType()) ? vectorOf(element) : element, x);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value VectorCode::gep(Value pointer, Type element, Index index) {
  if (index.value)
    pointer =
        LLVM::GEPOp::create(b, pointer.getType(), element, pointer, ArrayRef<LLVM::GEPArg>{index.value});
  // A constant index of a GEP has 32 bits.
  if (index.constant && int32_t(index.constant) == index.constant)
    return LLVM::GEPOp::create(b, pointer.getType(), element, pointer,
                               ArrayRef<LLVM::GEPArg>{int32_t(index.constant)});
  if (index.constant)
    return LLVM::GEPOp::create(b, pointer.getType(), element, pointer,
                               ArrayRef<LLVM::GEPArg>{constant(index.constant)});
  return pointer;
}

Value VectorCode::load(Type type, Value pointer) {
  return LLVM::LoadOp::create(b, type, pointer, getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8);
}

void VectorCode::store(Value value, Value pointer) {
  LLVM::StoreOp::create(b, value, pointer, getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() / 8);
}

Value VectorCode::address(const TileView &view, const Point &point) {
  Index offset = 0;
  for (auto &[axis, stride] : view.strides)
    offset = add(offset, multiply(stride, point.along(axis)));
  return gep(view.pointer, view.element, offset);
}

Value VectorCode::elementAddress(const TileView &view, const Point &point) {
  if (!view.pairs)
    return address(view, point);
  Value k = asValue(point.along(view.pairs));
  Point even = point;
  for (auto &[axis, index] : even.at)
    if (axis == view.pairs)
      index = Index(arith::AndIOp::create(b, k, constant(-2)));
  return gep(address(view, even), view.element, Index(arith::AndIOp::create(b, k, constant(1))));
}

Value VectorCode::table(const Twine &name, DenseElementsAttr values) {
  std::string first = name.str();
  return addressOfTable(
      b, b.getLoc(), [&](unsigned i) { return i ? first + "." + std::to_string(i + 1) : first; }, values);
}

/// From the array's element type to the register's.
Value VectorCode::fromStorage(Value memory, Type element) {
  Type from = getElementTypeOrSelf(memory.getType());
  Type to = registerType(element);
  if (from == to)
    return memory;
  Type wanted = isa<VectorType>(memory.getType()) ? vectorOf(to) : to;
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, wanted, memory);
  return arith::TruncFOp::create(b, wanted, memory);
}

Value VectorCode::toStorage(Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  if (auto widened = value.getDefiningOp<arith::ExtFOp>();
      widened && getElementTypeOrSelf(widened.getIn().getType()) == element)
    return widened.getIn();
  if (element.isBF16()) {
    bool isVector = isa<VectorType>(value.getType());
    if (from.isF64())
      value = arith::TruncFOp::create(b, isVector ? vectorOf(b.getF32Type()) : Type(b.getF32Type()), value);
    if (!isVector || !target.hasBF16)
      return emitRoundToBF16(b, value);
  }
  Type wanted = isa<VectorType>(value.getType()) ? vectorOf(element) : element;
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, wanted, value);
  return arith::TruncFOp::create(b, wanted, value);
}

/// 16-bit floats cross memory as integers: LLVM takes bf16 apart with library calls where the target has
/// none.
Type VectorCode::memoryType(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() != 16)
    return type;
  Type i16 = IntegerType::get(type.getContext(), 16);
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(i16)) : i16;
}

Value VectorCode::asType(Value value, Type type) {
  return value.getType() == type ? value : Value(arith::BitcastOp::create(b, type, value));
}

Value VectorCode::loadElements(Type type, Value where, Value mask) {
  Type inMemory = memoryType(type);
  if (!mask)
    return asType(load(inMemory, where), type);
  unsigned alignment = getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8;
  return asType(LLVM::MaskedLoadOp::create(b, inMemory, where, mask, zeroOf(inMemory), alignment), type);
}

Value VectorCode::loadTile(const TileView &view, Value where, bool isVector) {
  return fromStorage(loadElements(isVector ? vectorOf(view.element) : view.element, where, {}), view.element);
}

void VectorCode::storeTile(const TileView &view, Value vector, Value where) {
  if (getElementTypeOrSelf(vector.getType()).isInteger(1))
    vector = arith::ExtUIOp::create(b, vectorOf(view.element), vector);
  vector = toStorage(vector, view.element);
  store(asType(vector, memoryType(vector.getType())), where);
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

void VectorCode::loopBlocks(int64_t count, int64_t step, function_ref<void(Index)> body) {
  if (count <= step) {
    if (count > 0)
      body(0);
    return;
  }
  auto loop = scf::ForOp::create(b, constant(0), constant(count), constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  body(Index(loop.getInductionVar()));
}

void VectorCode::loopVectors(int64_t size, function_ref<void(Index)> body) {
  constexpr int64_t kMost = 32, kStep = 8;
  int64_t all = vectorsOf(size), whole = all > kMost ? size / W / kStep * kStep : 0;
  auto emit = [&](Index first, int64_t count) {
    for (int64_t v = 0; v < count; ++v)
      body(first + v * W);
  };
  loopBlocks(whole * W, kStep * W, [&](Index first) { emit(first, kStep); });
  emit(whole * W, all - whole);
}

void VectorCode::loopOver(ArrayRef<Axis> axes, ArrayRef<StringAttr> skip, Point point, LoopBody body) {
  if (axes.empty())
    return body(point);
  const Axis &axis = axes.front();
  if (llvm::is_contained(skip, axis.name))
    return loopOver(axes.drop_front(), skip, point, body);
  loopBlocks(axis.getSize(), 1,
             [&](Index i) { loopOver(axes.drop_front(), skip, point.with(axis.name, i), body); });
}

void VectorCode::emitIf(Value condition, function_ref<void()> then, function_ref<void()> otherwise) {
  auto region = [&](function_ref<void()> body) {
    return [this, body](OpBuilder &, Location) {
      body();
      scf::YieldOp::create(b);
    };
  };
  if (otherwise)
    scf::IfOp::create(b, condition, region(then), region(otherwise));
  else
    scf::IfOp::create(b, condition, region(then));
}

//===----------------------------------------------------------------------===//
// Reductions and shuffles
//===----------------------------------------------------------------------===//

Value VectorCode::combine(ReductionKind kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  if (kind == ReductionKind::sum)
    return isFloat ? Value(arith::AddFOp::create(b, x, y)) : Value(arith::AddIOp::create(b, x, y));
  // A compare and a select are one vmaxps; maximumf is four instructions.
  Value first =
      isFloat
          ? Value(arith::CmpFOp::create(
                b, kind == ReductionKind::max ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, x, y))
          : Value(arith::CmpIOp::create(
                b, kind == ReductionKind::max ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, x, y));
  return arith::SelectOp::create(b, first, x, y);
}

Value VectorCode::identity(ReductionKind kind, Type type) {
  if (kind == ReductionKind::sum)
    return zeroOf(type);
  Type element = getElementTypeOrSelf(type);
  Attribute value;
  if (auto number = dyn_cast<FloatType>(element))
    value = b.getFloatAttr(number, identityOf(kind));
  else
    value = b.getIntegerAttr(element, kind == ReductionKind::max ? APInt::getSignedMinValue(32)
                                                                 : APInt::getSignedMaxValue(32));
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, value);
  return arith::ConstantOp::create(b, type, cast<TypedAttr>(value));
}

/// Halves and combines until one element is left: the same order for every length, so the same bits.
Value VectorCode::horizontal(ReductionKind kind, Value vector) {
  for (int64_t width = W; width > 1; width /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < width / 2; ++i) {
      low.push_back(i);
      high.push_back(i + width / 2);
    }
    Value x = vector::ShuffleOp::create(b, vector, vector, low),
          y = vector::ShuffleOp::create(b, vector, vector, high);
    vector = combine(kind, x, y);
  }
  return vector::ExtractOp::create(b, vector, int64_t(0));
}

Value VectorCode::sumEach(MutableArrayRef<Value> vectors, int64_t distance) {
  for (size_t n = 1; n < vectors.size(); n *= 2, distance *= 2)
    for (size_t i = 0; i < vectors.size(); i += 2 * n) {
      SmallVector<int64_t> low, high;
      for (int64_t j = 0; j < W; ++j) {
        low.push_back(j & distance ? W + j - distance : j);
        high.push_back(j & distance ? W + j : j + distance);
      }
      Value x = vectors[i], y = vectors[i + n];
      vectors[i] = arith::AddFOp::create(b, vector::ShuffleOp::create(b, x, y, low),
                                         vector::ShuffleOp::create(b, x, y, high));
    }
  return vectors[0];
}

std::pair<Value, Value> VectorCode::separate(Value x, Value y) {
  SmallVector<int64_t> even, odd;
  for (int64_t i = 0; i < W; ++i) {
    even.push_back(2 * i);
    odd.push_back(2 * i + 1);
  }
  return {vector::ShuffleOp::create(b, x, y, even), vector::ShuffleOp::create(b, x, y, odd)};
}

std::pair<Value, Value> VectorCode::join(Value even, Value odd) {
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < W; ++i)
    order.append({i, W + i});
  auto part = [&](int64_t first) {
    return vector::ShuffleOp::create(b, even, odd, ArrayRef(order).slice(first, W));
  };
  return {part(0), part(W)};
}

Value VectorCode::interleave(Value x, Value y) {
  SmallVector<int64_t> order;
  int64_t size = cast<VectorType>(x.getType()).getNumElements();
  for (int64_t i = 0; i < size; ++i)
    order.append({i, size + i});
  return vector::ShuffleOp::create(b, x, y, order);
}

std::pair<Value, Value> VectorCode::loadHalves(Value where) {
  auto words = cast<VectorType>(vectorOf(b.getI32Type()));
  auto splatOf = [&](int32_t bits) {
    return arith::ConstantOp::create(b, words, DenseElementsAttr::get(words, b.getI32IntegerAttr(bits)));
  };
  Value x = loadElements(words, where, {});
  Value even = arith::ShLIOp::create(b, x, splatOf(16)),
        odd = arith::AndIOp::create(b, x, splatOf(0xffff0000));
  Type real = vectorOf(b.getF32Type());
  return {arith::BitcastOp::create(b, real, even), arith::BitcastOp::create(b, real, odd)};
}

/// log2(W) rounds in which rows i and i + s exchange every second group of s units.
void VectorCode::transposeVectors(MutableArrayRef<Value> vectors) {
  for (int64_t s = 1; s < W; s *= 2)
    for (int64_t i = 0; i < W; ++i) {
      if (i & s)
        continue;
      SmallVector<int64_t> low, high;
      for (int64_t j = 0; j < W; ++j) {
        low.push_back(j & s ? W + j - s : j);
        high.push_back(j & s ? W + j : j + s);
      }
      Value x = vectors[i], y = vectors[i + s];
      vectors[i] = vector::ShuffleOp::create(b, x, y, low);
      vectors[i + s] = vector::ShuffleOp::create(b, x, y, high);
    }
}
