// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Tile/ScalarEvaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::tile;

static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  case P::ORD:
    return !unordered;
  case P::UNO:
    return unordered;
  case P::OEQ:
    return !unordered && a == b;
  case P::OGT:
    return !unordered && a > b;
  case P::OGE:
    return !unordered && a >= b;
  case P::OLT:
    return !unordered && a < b;
  case P::OLE:
    return !unordered && a <= b;
  case P::ONE:
    return !unordered && a != b;
  case P::UEQ:
    return unordered || a == b;
  case P::UGT:
    return unordered || a > b;
  case P::UGE:
    return unordered || a >= b;
  case P::ULT:
    return unordered || a < b;
  case P::ULE:
    return unordered || a <= b;
  case P::UNE:
    return unordered || a != b;
  }
  return false;
}

/// The least number by -1 is itself, as it is in 64 bits.
static int64_t divide(int64_t a, int64_t b) { return b == -1 ? int64_t(0 - uint64_t(a)) : a / b; }
static int64_t remainderOf(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }
static int64_t floorDivide(int64_t a, int64_t b) {
  return divide(a, b) - ((remainderOf(a, b) != 0) && ((a < 0) != (b < 0)));
}

double mlir::tile::roundTo(Type type, double value) {
  if (type.isF64())
    return value;
  if (type.isF32())
    return static_cast<float>(value);
  APFloat narrow(value);
  bool lost;
  narrow.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
  narrow.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return narrow.convertToDouble();
}

FailureOr<Scalar> mlir::tile::evaluateScalar(Operation *op, ArrayRef<Scalar> x) {
  Type type = op->getResult(0).getType();
  auto real = [&](double value) { return FailureOr<Scalar>(Scalar{roundTo(type, value), 0}); };
  auto integer = [](int64_t value) { return FailureOr<Scalar>(Scalar{0, value}); };
  auto divides = [&] { return x[1].integer != 0; };
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto value = dyn_cast<FloatAttr>(constant.getValue()))
      return real(value.getValue().convertToDouble());
    if (auto value = dyn_cast<IntegerAttr>(constant.getValue()))
      return integer(value.getType().isInteger(1) ? int64_t(value.getValue().getBoolValue())
                                                  : value.getValue().getSExtValue());
  }
  return TypeSwitch<Operation *, FailureOr<Scalar>>(op)
      .Case([&](arith::AddFOp) { return real(x[0].real + x[1].real); })
      .Case([&](arith::SubFOp) { return real(x[0].real - x[1].real); })
      .Case([&](arith::MulFOp) { return real(x[0].real * x[1].real); })
      .Case([&](arith::DivFOp) { return real(x[0].real / x[1].real); })
      .Case([&](arith::RemFOp) { return real(std::fmod(x[0].real, x[1].real)); })
      .Case([&](arith::NegFOp) { return real(-x[0].real); })
      .Case([&](arith::MaximumFOp) {
        return real(std::isnan(x[0].real) || x[0].real > x[1].real ? x[0].real : x[1].real);
      })
      .Case([&](arith::MinimumFOp) {
        return real(std::isnan(x[0].real) || x[0].real < x[1].real ? x[0].real : x[1].real);
      })
      .Case([&](arith::MaxNumFOp) { return real(std::fmax(x[0].real, x[1].real)); })
      .Case([&](arith::MinNumFOp) { return real(std::fmin(x[0].real, x[1].real)); })
      .Case([&](arith::CmpFOp cmp) { return integer(compare(cmp.getPredicate(), x[0].real, x[1].real)); })
      .Case([&](arith::CmpIOp cmp) {
        return integer(arith::applyCmpPredicate(cmp.getPredicate(), APInt(64, x[0].integer, true),
                                                APInt(64, x[1].integer, true)));
      })
      .Case([&](arith::SelectOp) { return FailureOr<Scalar>(x[0].integer ? x[1] : x[2]); })
      .Case([&](arith::AddIOp) { return integer(x[0].integer + x[1].integer); })
      .Case([&](arith::SubIOp) { return integer(x[0].integer - x[1].integer); })
      .Case([&](arith::MulIOp) { return integer(x[0].integer * x[1].integer); })
      .Case([&](arith::AndIOp) { return integer(x[0].integer & x[1].integer); })
      .Case([&](arith::OrIOp) { return integer(x[0].integer | x[1].integer); })
      .Case([&](arith::XOrIOp) { return integer(x[0].integer ^ x[1].integer); })
      .Case([&](arith::MaxSIOp) { return integer(std::max(x[0].integer, x[1].integer)); })
      .Case([&](arith::MinSIOp) { return integer(std::min(x[0].integer, x[1].integer)); })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](auto) {
        return divides() ? integer(divide(x[0].integer, x[1].integer))
                         : FailureOr<Scalar>(op->emitError("expected a nonzero divisor, but got 0"));
      })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) {
        return divides() ? integer(remainderOf(x[0].integer, x[1].integer))
                         : FailureOr<Scalar>(op->emitError("expected a nonzero divisor, but got 0"));
      })
      .Case([&](arith::FloorDivSIOp) {
        return divides() ? integer(floorDivide(x[0].integer, x[1].integer))
                         : FailureOr<Scalar>(op->emitError("expected a nonzero divisor, but got 0"));
      })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto) {
        return divides() ? integer(divide(floorDivide(divide(x[0].integer, -1), x[1].integer), -1))
                         : FailureOr<Scalar>(op->emitError("expected a nonzero divisor, but got 0"));
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
          [&](auto) { return integer(x[0].integer); })
      .Case<arith::SIToFPOp, arith::UIToFPOp>([&](auto) { return real(double(x[0].integer)); })
      .Case<arith::FPToSIOp, arith::FPToUIOp>([&](auto) { return integer(int64_t(x[0].real)); })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return real(x[0].real); })
      .Case([&](math::ExpOp) { return real(std::exp(x[0].real)); })
      .Case([&](math::Exp2Op) { return real(std::exp2(x[0].real)); })
      .Case([&](math::ExpM1Op) { return real(std::expm1(x[0].real)); })
      .Case([&](math::LogOp) { return real(std::log(x[0].real)); })
      .Case([&](math::Log2Op) { return real(std::log2(x[0].real)); })
      .Case([&](math::Log10Op) { return real(std::log10(x[0].real)); })
      .Case([&](math::Log1pOp) { return real(std::log1p(x[0].real)); })
      .Case([&](math::SqrtOp) { return real(std::sqrt(x[0].real)); })
      .Case([&](math::RsqrtOp) { return real(1 / std::sqrt(x[0].real)); })
      .Case([&](math::PowFOp) { return real(std::pow(x[0].real, x[1].real)); })
      .Case([&](math::FPowIOp) { return real(std::pow(x[0].real, double(x[1].integer))); })
      .Case([&](math::TanhOp) { return real(std::tanh(x[0].real)); })
      .Case([&](math::SinOp) { return real(std::sin(x[0].real)); })
      .Case([&](math::CosOp) { return real(std::cos(x[0].real)); })
      .Case([&](math::ErfOp) { return real(std::erf(x[0].real)); })
      .Case([&](math::AbsFOp) { return real(std::fabs(x[0].real)); })
      .Case([&](math::AbsIOp) { return integer(std::abs(x[0].integer)); })
      .Case([&](math::FloorOp) { return real(std::floor(x[0].real)); })
      .Case([&](math::CeilOp) { return real(std::ceil(x[0].real)); })
      .Case([&](math::RoundEvenOp) { return real(std::nearbyint(x[0].real)); })
      .Case([&](math::CopySignOp) { return real(std::copysign(x[0].real, x[1].real)); })
      .Case([&](math::FmaOp) { return real(x[0].real * x[1].real + x[2].real); })
      .Default([&](Operation *other) {
        return other->emitError("unsupported op in the evaluator: expected an op of arith or math");
      });
}
