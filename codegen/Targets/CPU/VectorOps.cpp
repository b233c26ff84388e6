// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar ops of maps, on vectors.
#include "codegen/Targets/CPU/VectorOps.h"

#include "codegen/Targets/Frame/Scalars.h"
#include "dialect/Refusal.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

Type mlir::tile::cpu::registerType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 32);
  if (element.isBF16() || element.isF16())
    return Float32Type::get(element.getContext());
  return element;
}

static Attribute splatOf(TypedAttr value, VectorType type) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    APFloat x = number.getValue();
    bool lost;
    x.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(), APFloat::rmNearestTiesToEven,
              &lost);
    return DenseElementsAttr::get(type, x);
  }
  APInt x = cast<IntegerAttr>(value).getValue();
  return DenseElementsAttr::get(type, x.sextOrTrunc(type.getElementTypeBitWidth()));
}

Value mlir::tile::cpu::emitRoundToBF16(ImplicitLocOpBuilder &b, Value x) {
  auto like = [&](Type element) {
    auto vector = dyn_cast<VectorType>(x.getType());
    return vector ? Type(vector.clone(element)) : element;
  };
  Type i32 = like(b.getI32Type());
  auto constant = [&](int32_t value) {
    TypedAttr attribute = b.getI32IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(i32))
      attribute = DenseElementsAttr::get(vector, Attribute(attribute));
    return arith::ConstantOp::create(b, i32, attribute);
  };
  Value bits = arith::BitcastOp::create(b, i32, x);
  Value odd = arith::AndIOp::create(b, arith::ShRUIOp::create(b, bits, constant(16)), constant(1));
  Value rounded = arith::AddIOp::create(b, arith::AddIOp::create(b, bits, constant(0x7fff)), odd);
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  rounded = arith::SelectOp::create(b, isNaN, constant(0x7fc00000), rounded);
  Value high =
      arith::TruncIOp::create(b, like(b.getI16Type()), arith::ShRUIOp::create(b, rounded, constant(16)));
  return arith::BitcastOp::create(b, like(b.getBF16Type()), high);
}

Value mlir::tile::cpu::emitVectorOp(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands,
                                    int64_t lanes, const Processor &target) {
  auto type = VectorType::get({lanes}, registerType(op->getResult(0).getType()));
  auto widthOf = [](Value value) { return cast<VectorType>(value.getType()).getElementTypeBitWidth(); };
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return arith::ConstantOp::create(b, type, cast<TypedAttr>(splatOf(constant.getValue(), type)));
  // An index has 32 bits here.
  if (isIntegerCast(op))
    return castInteger(b, op, operands[0], type);
  // 16-bit floats live in f32 registers: widening is nothing, narrowing rounds.
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    Value x = operands[0];
    Type element = op->getResult(0).getType();
    if (element.isBF16() || element.isF16()) {
      if (widthOf(x) == 64)
        x = arith::TruncFOp::create(b, type, x);
      if (!element.isBF16() || target.hasBF16)
        return arith::ExtFOp::create(b, type,
                                     Value(arith::TruncFOp::create(b, VectorType::get({lanes}, element), x)));
      // As integers: LLVM makes calls of what it takes apart in bf16.
      auto vectorOfBits = [&](unsigned width) { return VectorType::get({lanes}, b.getIntegerType(width)); };
      Value bits = arith::BitcastOp::create(b, vectorOfBits(16), emitRoundToBF16(b, x));
      bits = arith::ExtUIOp::create(b, vectorOfBits(32), bits);
      TypedAttr shift = DenseElementsAttr::get(vectorOfBits(32), Attribute(b.getI32IntegerAttr(16)));
      Value sixteen = arith::ConstantOp::create(b, bits.getType(), shift);
      return arith::BitcastOp::create(b, type, Value(arith::ShLIOp::create(b, bits, sixteen)));
    }
    unsigned from = widthOf(x), to = type.getElementTypeBitWidth();
    if (from == to)
      return x;
    return from < to ? Value(arith::ExtFOp::create(b, type, x)) : Value(arith::TruncFOp::create(b, type, x));
  }
  // What is computed of constants is one: the frequencies of a rotation, of places of channels.
  OperationState state(b.getLoc(), op->getName(), operands, {type}, op->getAttrs());
  Operation *created = b.create(state);
  SmallVector<Value> folded;
  if (failed(b.tryFold(created, folded)) || folded.empty()) // or changed where it is
    return created->getResult(0);
  created->erase();
  return folded.front();
}

LogicalResult mlir::tile::cpu::checkScalarOps(KernelOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) {
    bool inMap = isa<MapOp>(op->getParentOp());
    if (isa_and_nonnull<TileDialect, scf::SCFDialect>(op->getDialect()))
      return WalkResult::advance();
    if (!isScalarOp(op) || (inMap && !op->hasTrait<OpTrait::Vectorizable>() && !isa<arith::ConstantOp>(op))) {
      taylor::refuse(op->emitError()) << "unsupported op on a CPU: '" << op->getName()
                                      << "'; expected an element-wise op of arith or math";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
