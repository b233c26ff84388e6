// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementary functions on vectors and scalars. f32 exponentials are polynomials; what has none calls libm per
// element.
#include "codegen/CPU/Passes.h"
#include "codegen/CPU/Targets.h"
#include "codegen/CPU/VectorMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tile::cpu {
#define GEN_PASS_DEF_EXPANDMATH
#include "codegen/CPU/Passes.h.inc"
} // namespace mlir::tile::cpu

using namespace mlir;
using namespace mlir::tile;

namespace {

/// Arithmetic on a value of a float type or a vector of it.
struct Floats {
  ImplicitLocOpBuilder &b;
  Type type;

  Type element() const { return getElementTypeOrSelf(type); }
  Type integers() const {
    Type i = b.getIntegerType(element().getIntOrFloatBitWidth());
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(i)) : i;
  }
  Value constant(double value) const {
    Attribute attribute = b.getFloatAttr(element(), value);
    if (auto vector = dyn_cast<VectorType>(type))
      attribute = DenseElementsAttr::get(vector, attribute);
    return arith::ConstantOp::create(b, type, cast<TypedAttr>(attribute));
  }
  Value integer(int64_t value) const {
    Type ints = integers();
    Attribute attribute = b.getIntegerAttr(getElementTypeOrSelf(ints), value);
    if (auto vector = dyn_cast<VectorType>(ints))
      attribute = DenseElementsAttr::get(vector, attribute);
    return arith::ConstantOp::create(b, ints, cast<TypedAttr>(attribute));
  }
  Value add(Value x, Value y) const { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) const { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) const { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) const { return arith::DivFOp::create(b, x, y); }
  Value fma(Value x, Value y, Value z) const { return math::FmaOp::create(b, x, y, z); }
  Value bits(Value x) const { return arith::BitcastOp::create(b, integers(), x); }
  Value number(Value x) const { return arith::BitcastOp::create(b, type, x); }
  Value select(arith::CmpFPredicate predicate, Value x, Value y, Value yes, Value no) const {
    return arith::SelectOp::create(b, arith::CmpFOp::create(b, predicate, x, y), yes, no);
  }
  /// Horner, lowest coefficient first.
  Value polynomial(Value x, ArrayRef<double> coefficients) const {
    Value sum = constant(coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(c));
    return sum;
  }
};

class Expander {
public:
  Expander(ModuleOp module, const cpu::Target &target) : module(module), target(target) {}
  void run();

private:
  Value expand(Operation *op, ImplicitLocOpBuilder &b);
  Value exp2(const Floats &f, Value x, Value correction);
  Value exp(const Floats &f, Value x);
  Value callLibm(ImplicitLocOpBuilder &b, StringRef name, ValueRange operands);
  bool scales(const Floats &f) const {
    auto vector = dyn_cast<VectorType>(f.type);
    return target.hasScale && vector && vector.getNumElements() == 16;
  }

  ModuleOp module;
  const cpu::Target &target;
};

/// Minimax of 2^f, relative error 7.5e-8 on [0, 1) and 1.9e-9 on [-1/2, 1/2].
constexpr double exp2Floor[] = {0.9999999250635263,  0.693153073200165,    0.24015361704440671,
                                0.05582631805319771, 0.008989340090618707, 0.0018775766751381662};
constexpr double exp2Nearest[] = {1.0000000005541663,   0.6931472057372675,   0.24022646890634192,
                                  0.05550328776965267,  0.009618488957100504, 0.0013399931219208493,
                                  0.0001534581200792082};

/// 2^(x + correction) in f32, |correction| well below 1 (null: 0); 0 below 2^-64. NaN stays NaN.
Value Expander::exp2(const Floats &f, Value x, Value correction) {
  ImplicitLocOpBuilder &b = f.b;
  Value result;
  if (scales(f)) {
    // x - floor(x) and p * 2^floor(x) are one instruction each.
    Type i32 = b.getI32Type();
    auto mask = arith::ConstantOp::create(b, b.getI16IntegerAttr(-1));
    auto intrinsic = [&](StringRef name, ValueRange operands) -> Value {
      return LLVM::CallIntrinsicOp::create(b, f.type, b.getStringAttr(name), operands).getResult(0);
    };
    Value roundDown = arith::ConstantOp::create(b, b.getI32IntegerAttr(9)); // floor, no exception
    Value current = arith::ConstantOp::create(b, b.getIntegerAttr(i32, 4)); // rounding mode of MXCSR
    Value zero = f.constant(0);
    Value part = intrinsic("llvm.x86.avx512.mask.reduce.ps.512", {x, roundDown, zero, mask, current});
    if (correction)
      part = f.add(part, correction);
    Value p = f.polynomial(part, exp2Floor);
    // Lanes below -64 are left at the zero that the masked instruction passes through.
    Value large = arith::CmpFOp::create(b, arith::CmpFPredicate::UGE, x, f.constant(-64));
    Value lanes = LLVM::BitcastOp::create(b, b.getI16Type(), large);
    return intrinsic("llvm.x86.avx512.mask.scalef.ps.512", {p, x, zero, lanes, current});
  } else {
    // Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits.
    Value clamped = f.select(arith::CmpFPredicate::OGT, x, f.constant(128), f.constant(128), x);
    Value magic = f.constant(12582912.0);
    Value shifted = f.add(clamped, magic);
    Value part = f.sub(clamped, f.sub(shifted, magic));
    if (correction)
      part = f.add(part, correction);
    Value p = f.polynomial(part, exp2Nearest);
    Value exponent = arith::ShLIOp::create(b, f.bits(shifted), f.integer(23));
    result = f.number(arith::AddIOp::create(b, f.bits(p), exponent));
  }
  return f.select(arith::CmpFPredicate::OLT, x, f.constant(-64), f.constant(0), result);
}

/// e^x = 2^(x log2 e); the product's rounding error, up to 2^-24 of a large exponent, is put back.
Value Expander::exp(const Floats &f, Value x) {
  constexpr double log2e = 1.4426950408889634, high = float(log2e);
  // Beyond float's range anyway; the correction of an infinite product would be a NaN.
  Value largest = f.constant(128);
  x = f.select(arith::CmpFPredicate::OGT, x, largest, largest, x);
  Value scale = f.constant(high);
  Value y = f.mul(x, scale);
  Value error = f.fma(x, scale, arith::NegFOp::create(f.b, y));
  error = f.fma(x, f.constant(log2e - high), error);
  return exp2(f, y, error);
}

/// Calls the function of libm for each element.
Value Expander::callLibm(ImplicitLocOpBuilder &b, StringRef name, ValueRange operands) {
  Type type = operands[0].getType(), element = getElementTypeOrSelf(type);
  std::string symbol = name.str() + (element.isF32() ? "f" : "");
  auto function = module.lookupSymbol<func::FuncOp>(symbol);
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    function = func::FuncOp::create(b, symbol,
                                    b.getFunctionType(SmallVector<Type>(operands.size(), element), element));
    function.setPrivate();
  }
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return func::CallOp::create(b, function, operands).getResult(0);
  Value result = arith::ConstantOp::create(b, type, cast<TypedAttr>(b.getZeroAttr(type)));
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    SmallVector<Value> elements;
    for (Value operand : operands)
      elements.push_back(vector::ExtractOp::create(b, operand, i));
    result = vector::InsertOp::create(b, func::CallOp::create(b, function, elements).getResult(0), result, i);
  }
  return result;
}

Value Expander::expand(Operation *op, ImplicitLocOpBuilder &b) {
  if (op->getNumResults() != 1 || !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return {};
  Floats f{b, op->getResult(0).getType()};
  bool single = f.element().isF32();
  auto operand = [&](unsigned i) { return op->getOperand(i); };
  // A NaN in the first operand stays: min(s, 5) of a NaN is a NaN.
  auto pick = [&](arith::CmpFPredicate predicate) {
    return f.select(predicate, operand(1), operand(0), operand(1), operand(0));
  };
  return TypeSwitch<Operation *, Value>(op)
      .Case<arith::MaximumFOp, arith::MaxNumFOp>([&](auto) { return pick(arith::CmpFPredicate::OGT); })
      .Case<arith::MinimumFOp, arith::MinNumFOp>([&](auto) { return pick(arith::CmpFPredicate::OLT); })
      .Case([&](math::ExpOp) { return single ? exp(f, operand(0)) : Value(); })
      .Case([&](math::Exp2Op) { return single ? exp2(f, operand(0), {}) : Value(); })
      .Case([&](math::Log10Op) { return callLibm(b, "log10", operand(0)); })
      .Case([&](math::ErfOp) { return callLibm(b, "erf", operand(0)); })
      .Case([&](math::FPowIOp) {
        Value power = arith::SIToFPOp::create(b, f.type, operand(1));
        return Value(math::PowFOp::create(b, operand(0), power));
      })
      .Default([](Operation *) { return Value(); });
}

void Expander::run() {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    if (Value value = expand(op, b)) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
  }
}

struct ExpandMathPass : cpu::impl::ExpandMathBase<ExpandMathPass> {
  using ExpandMathBase::ExpandMathBase;

  void runOnOperation() override {
    std::string error;
    std::optional<cpu::Target> target = cpu::findTarget(targetName, error);
    if (!target) {
      getOperation().emitError(error);
      return signalPassFailure();
    }
    Expander(getOperation(), *target).run();
    // The rest, by patterns; most kernels have nothing of it.
    WalkResult rest = getOperation().walk([](Operation *op) {
      bool expands = isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log1pOp, math::Log2Op,
                         math::TanhOp, math::SinOp, math::CosOp, math::PowFOp, math::RsqrtOp>(op);
      return expands ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!rest.wasInterrupted())
      return;
    RewritePatternSet patterns(&getContext());
    cpu::VectorMathOptions options;
    options.hasScale = target->hasScale;
    cpu::populateVectorMathPatterns(patterns, options);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
