// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Polynomials: exp2, expm1, tanh and erf in f32 are minimax fits of our own; the others use the coefficients
// of the Cephes library (Moshier, Methods and Programs for Mathematical Functions, 1989).
#include "codegen/Targets/Math/VectorMath.h"

#include "dialect/Taylor/Polynomial.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::tile;

namespace {

/// Arithmetic on one float type, scalar or vector.
class Real {
public:
  Real(OpBuilder &builder, Location loc, Type type, MathInstructions has)
      : builder(builder), loc(loc), type(type), has(has) {}

  OpBuilder &getBuilder() const { return builder; }
  Location getLoc() const { return loc; }
  bool isF64() const { return getElementTypeOrSelf(type).isF64(); }
  Type shaped(Type element) const {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(element);
    return element;
  }
  Type integerType() const { return shaped(builder.getIntegerType(isF64() ? 64 : 32)); }

  Value c(double value) const {
    return constant(type, builder.getFloatAttr(getElementTypeOrSelf(type), value));
  }
  Value i(int64_t value) const {
    Type integer = integerType();
    return constant(integer, builder.getIntegerAttr(getElementTypeOrSelf(integer), value));
  }
  Value add(Value a, Value b) const { return arith::AddFOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) const { return arith::SubFOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) const { return arith::MulFOp::create(builder, loc, a, b); }
  Value div(Value a, Value b) const {
    if (has.hasDivide && type.isF32())
      return intrinsic("llvm.nvvm.div.full", {a, b});
    return arith::DivFOp::create(builder, loc, a, b);
  }
  Value neg(Value a) const { return arith::NegFOp::create(builder, loc, a); }
  Value abs(Value a) const { return math::AbsFOp::create(builder, loc, a); }
  Value copySign(Value a, Value sign) const { return math::CopySignOp::create(builder, loc, a, sign); }
  Value floor(Value a) const { return math::FloorOp::create(builder, loc, a); }
  Value roundEven(Value a) const { return math::RoundEvenOp::create(builder, loc, a); }
  Value squareRoot(Value a) const { return math::SqrtOp::create(builder, loc, a); }
  Value fma(Value a, Value b, Value c) const { return math::FmaOp::create(builder, loc, a, b, c); }
  Value select(Value condition, Value a, Value b) const {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value less(Value a, Value b) const {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b);
  }
  Value equal(Value a, Value b) const {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, a, b);
  }
  /// Also where one is a NaN.
  Value notLess(Value a, Value b) const {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UGE, a, b);
  }
  /// A NaN in the first operand stays.
  Value min(Value a, Value b) const { return select(less(b, a), b, a); }
  Value max(Value a, Value b) const { return select(less(a, b), b, a); }

  /// Highest power last in the list.
  Value polynomial(Value x, ArrayRef<double> coefficients) const {
    Value result = c(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      result = fma(result, x, c(coefficient));
    return result;
  }

  Value bits(Value a) const { return arith::BitcastOp::create(builder, loc, integerType(), a); }
  Value fromBits(Value a) const { return arith::BitcastOp::create(builder, loc, type, a); }
  Value toInteger(Value a) const { return arith::FPToSIOp::create(builder, loc, integerType(), a); }
  Value fromInteger(Value a) const { return arith::SIToFPOp::create(builder, loc, type, a); }
  Value iadd(Value a, Value b) const { return arith::AddIOp::create(builder, loc, a, b); }
  Value isub(Value a, Value b) const { return arith::SubIOp::create(builder, loc, a, b); }
  Value iand(Value a, Value b) const { return arith::AndIOp::create(builder, loc, a, b); }
  Value ior(Value a, Value b) const { return arith::OrIOp::create(builder, loc, a, b); }
  Value shiftLeft(Value a, int64_t n) const { return arith::ShLIOp::create(builder, loc, a, i(n)); }
  Value shiftRight(Value a, int64_t n) const { return arith::ShRUIOp::create(builder, loc, a, i(n)); }

  /// vreduceps and vscalefps are for this type.
  bool hasScaleInstruction() const {
    auto vector = dyn_cast<VectorType>(type);
    return has.hasScale && vector && !isF64() && vector.getNumElements() == 16;
  }
  /// ex2.approx is for this type.
  bool hasExp2Instruction() const { return has.hasExp2 && type.isF32(); }
  /// 2^x by one instruction.
  Value exp2(Value x) const { return intrinsic("llvm.nvvm.ex2.approx.ftz.f32", {x}); }
  /// x - floor(x).
  Value fraction(Value x) const {
    return intrinsic("llvm.x86.avx512.mask.reduce.ps.512",
                     {x, i32(9 /* floor, no exception */), c(0), i16(-1), i32(kCurrentRounding)});
  }
  /// p * 2^floor(x), infinite beyond the range, where `lanes` is true; 0 elsewhere.
  Value scale(Value p, Value x, Value lanes) const {
    Value mask = LLVM::BitcastOp::create(builder, loc, builder.getI16Type(), lanes);
    return intrinsic("llvm.x86.avx512.mask.scalef.ps.512", {p, x, c(0), mask, i32(kCurrentRounding)});
  }

  /// A value of the same shape in f64 and back, for functions that f32 arithmetic cannot do well.
  Real wide() const { return Real(builder, loc, shaped(builder.getF64Type()), has); }
  Value extend(Value a) const { return arith::ExtFOp::create(builder, loc, shaped(builder.getF64Type()), a); }
  Value truncate(Value a) const { return arith::TruncFOp::create(builder, loc, type, a); }

private:
  Value constant(Type of, TypedAttr element) const {
    if (auto vector = dyn_cast<VectorType>(of))
      return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(vector, Attribute(element)));
    return arith::ConstantOp::create(builder, loc, element);
  }
  static constexpr int32_t kCurrentRounding = 4; // that of MXCSR
  Value i16(int16_t value) const { return constant(builder.getI16Type(), builder.getI16IntegerAttr(value)); }
  Value i32(int32_t value) const { return constant(builder.getI32Type(), builder.getI32IntegerAttr(value)); }
  Value intrinsic(StringRef name, ValueRange operands) const {
    return LLVM::CallIntrinsicOp::create(builder, loc, type, builder.getStringAttr(name), operands)
        .getResult(0);
  }

  OpBuilder &builder;
  Location loc;
  Type type;
  MathInstructions has;
};

constexpr double kLog2e = 1.4426950408889634074;

/// 2^f on [0, 1), relative error 7.5e-8.
constexpr double kExp2Floor[] = {0.9999999250635263,  0.693153073200165,    0.24015361704440671,
                                 0.05582631805319771, 0.008989340090618707, 0.0018775766751381662};
/// 2^(f + 1) on [-1/2, 1/2], relative error 1.9e-9.
constexpr double kExp2Nearest[] = {2.0000000011083325,   1.386294411474535,   0.48045293781268383,
                                   0.11100657553930535,  0.01923697791420101, 0.0026799862438416987,
                                   0.0003069162401584164};

/// The same with a relative error of 7.5e-5 each: a fiftieth of what rounding to bf16 costs.
constexpr double kShortExp2Floor[] = {0.9999252185627154, 0.6958335404947528, 0.226067155427483,
                                      0.07802452264047964};
constexpr double kShortExp2Nearest[] = {2 * 0.9999280735394012, 2 * 0.6932609854606555,
                                        2 * 0.24261112219321604, 2 * 0.055171669057925};

/// How exact an exponential is, and where it is 0.
struct Exponential {
  double least;         // 0 below 2 to the power of this
  bool isShort = false; // its result is rounded to bf16
};

/// 2^(x + correction) for x <= 129 (or any x, given hasScaleInstruction()) and |correction| well below 1
/// (null: 0); 0 for x below `least`, -125 or more, infinity beyond the range. NaN stays NaN.
Value powerOfTwoF32(const Real &r, Value x, Value correction, Exponential kind) {
  Value least = r.c(kind.least);
  ArrayRef<double> floor = kExp2Floor, nearest = kExp2Nearest;
  if (kind.isShort)
    std::tie(floor, nearest, correction) =
        std::tuple(ArrayRef<double>(kShortExp2Floor), ArrayRef<double>(kShortExp2Nearest), Value());
  auto corrected = [&](Value part) { return correction ? r.add(part, correction) : part; };
  if (r.hasScaleInstruction())
    return r.scale(r.polynomial(corrected(r.fraction(x)), floor), x, r.notLess(x, least));
  // Adding 1.5 * 2^23 rounds to an integer n, which then stands in the low bits; with 126 it is the exponent
  // of 2^(n - 1), which is finite for every n of a finite result.
  Value magic = r.c(12582912.0 + 126);
  Value shifted = r.add(x, magic);
  Value p = r.polynomial(corrected(r.sub(x, r.sub(shifted, magic))), nearest);
  Value result = r.mul(p, r.fromBits(r.shiftLeft(r.bits(shifted), 23)));
  return r.select(r.less(x, least), r.c(0), result);
}

/// Below 2 to the power of this an exponential is 0.
constexpr double kLeastWeight = -64, kLeastNumber = -125;

Value exp2F32(const Real &r, Value x, Exponential kind) {
  if (r.hasExp2Instruction())
    return r.exp2(x);
  return powerOfTwoF32(r, r.hasScaleInstruction() ? x : r.min(x, r.c(129)), {}, kind);
}

/// e^x = 2^(x log2 e); the product's rounding error, up to 2^-24 of a large exponent, is put back. From 89 on
/// the result is infinite, and the correction of an infinite product would be a NaN.
Value expF32(const Real &r, Value x, Exponential kind = {kLeastWeight}) {
  if (r.hasExp2Instruction())
    return r.exp2(r.mul(x, r.c(kLog2e)));
  constexpr double high = static_cast<float>(kLog2e);
  x = r.min(x, r.c(89));
  Value y = r.mul(x, r.c(high));
  Value error = r.fma(x, r.c(high), r.neg(y));
  return powerOfTwoF32(r, y, r.fma(x, r.c(kLog2e - high), error), kind);
}

/// p 2^n in f64 for p in [1, 2], n integral and y the whole exponent: 0 where the result would not be normal,
/// infinity above.
Value finishExp2F64(const Real &r, Value p, Value n, Value y) {
  // 2^1024 does not fit an exponent: the largest power is added in two steps.
  Value bounded = r.min(r.max(n, r.c(-1022)), r.c(1024));
  Value one = r.select(r.less(bounded, r.c(1024)), r.c(0.0), r.c(1.0));
  Value power = r.shiftLeft(r.toInteger(r.sub(bounded, one)), 52);
  Value result = r.fromBits(r.iadd(r.bits(p), power));
  result = r.select(r.less(r.c(0.0), one), r.add(result, result), result);
  result = r.select(r.less(y, r.c(1025)), result, r.add(y, r.c(INFINITY)));
  return r.select(r.less(y, r.c(-1022)), r.c(0.0), result);
}

/// e^f for f in [-ln 2 / 2, ln 2 / 2].
Value expFractionF64(const Real &r, Value f) {
  Value z = r.mul(f, f);
  Value p = r.mul(
      f, r.polynomial(z, {9.99999999999999999910e-1, 3.02994407707441961300e-2, 1.26177193074810590878e-4}));
  Value q = r.polynomial(z, {2.00000000000000000009, 2.27265548208155028766e-1, 2.52448340349684104192e-3,
                             3.00198505138664455042e-6});
  return r.add(r.c(1.0), r.mul(r.c(2.0), r.div(p, r.sub(q, p))));
}

Value expF64(const Real &r, Value x) {
  x = r.min(x, r.c(711.0));
  Value y = r.mul(x, r.c(kLog2e));
  Value n = r.floor(r.add(y, r.c(0.5)));
  Value f = r.fma(n, r.c(-6.93145751953125e-1), x);
  f = r.fma(n, r.c(-1.42860682030941723212e-6), f);
  return finishExp2F64(r, expFractionF64(r, f), n, y);
}

Value exp2F64(const Real &r, Value x) {
  Value n = r.floor(r.add(x, r.c(0.5)));
  return finishExp2F64(r, expFractionF64(r, r.mul(r.sub(x, n), r.c(0.69314718055994530942))), n, x);
}

Value emitExp(const Real &r, Value x, Exponential kind = {kLeastWeight}) {
  return r.isF64() ? expF64(r, x) : expF32(r, x, kind);
}
Value emitExp2(const Real &r, Value x, Exponential kind) {
  return r.isF64() ? exp2F64(r, x) : exp2F32(r, x, kind);
}

/// x = m 2^e with m in [sqrt(1/2), sqrt(2)); for positive normal x.
std::pair<Value, Value> splitExponent(const Real &r, Value x) {
  bool wide = r.isF64();
  int64_t mantissaBits = wide ? 52 : 23, bias = wide ? 1022 : 126;
  int64_t mantissaMask = (int64_t(1) << mantissaBits) - 1;
  int64_t half = wide ? int64_t(0x3FE0000000000000) : int64_t(0x3F000000);
  Value bits = r.bits(x);
  Value e = r.fromInteger(r.isub(r.shiftRight(bits, mantissaBits), r.i(bias)));
  Value m = r.fromBits(r.ior(r.iand(bits, r.i(mantissaMask)), r.i(half)));
  Value small = r.less(m, r.c(M_SQRT1_2));
  return {r.select(small, r.add(m, m), m), r.select(small, r.sub(e, r.c(1.0)), e)};
}

/// log(1 + f) - f + f^2 / 2 for 1 + f in [sqrt(1/2), sqrt(2)); z = f^2.
Value logCubicPart(const Real &r, Value f, Value z) {
  if (r.isF64()) {
    Value p = r.polynomial(f, {7.70838733755885391666, 17.9368678507819816313, 14.4989225341610930846,
                               4.70579119878881725854, 4.97494994976747001425e-1, 1.01875663804580931796e-4});
    Value q = r.polynomial(f, {23.1251620126765340583, 71.1544750618563894466, 82.9875266912776603211,
                               45.2279145837532221105, 11.2873587189167450590, 1.0});
    return r.mul(f, r.mul(z, r.div(p, q)));
  }
  return r.mul(f, r.mul(z, r.polynomial(f, {3.3333331174e-1, -2.4999993993e-1, 2.0000714765e-1,
                                            -1.6668057665e-1, 1.4249322787e-1, -1.2420140846e-1,
                                            1.1676998740e-1, -1.1514610310e-1, 7.0376836292e-2})));
}

/// `result` where x is normal; log 0 and of subnormals is -infinity, of a negative number NaN, of infinity
/// and NaN itself.
Value finishLog(const Real &r, Value x, Value result) {
  Value tiny = r.c(r.isF64() ? 2.2250738585072014e-308 : 1.17549435e-38);
  Value special = r.select(r.less(x, r.c(0.0)), r.c(NAN), r.select(r.less(x, tiny), r.c(-INFINITY), x));
  Value normal = r.less(x, r.c(INFINITY));
  return r.select(r.less(x, tiny), special, r.select(normal, result, x));
}

Value emitLog(const Real &r, Value x) {
  auto [m, e] = splitExponent(r, x);
  Value f = r.sub(m, r.c(1.0)), z = r.mul(f, f);
  Value y = r.fma(e, r.c(-2.121944400546905827679e-4), logCubicPart(r, f, z));
  y = r.fma(z, r.c(-0.5), y);
  return finishLog(r, x, r.fma(e, r.c(0.693359375), r.add(f, y)));
}

/// A power of two has f = 0 and gives e, without an error.
Value emitLog2(const Real &r, Value x) {
  auto [m, e] = splitExponent(r, x);
  Value f = r.sub(m, r.c(1.0)), z = r.mul(f, f);
  Value y = r.fma(z, r.c(-0.5), logCubicPart(r, f, z));
  return finishLog(r, x, r.add(e, r.fma(f, r.c(kLog2e), r.mul(y, r.c(kLog2e)))));
}

/// log(1 + x) = log(u) + (x - (u - 1)) / u with u = 1 + x rounded (Kahan); where u is 0, log(u) alone.
Value emitLog1p(const Real &r, Value x) {
  Value u = r.add(r.c(1.0), x);
  Value correction = r.div(r.sub(x, r.sub(u, r.c(1.0))), r.max(u, r.c(0x1p-64)));
  Value result = r.add(emitLog(r, u), correction);
  return r.select(r.less(u, r.c(INFINITY)), result, u);
}

/// exp(x) - 1 loses little beyond the range of the series.
Value emitExpM1(const Real &r, Value x) {
  Value small;
  if (r.isF64()) {
    // x + x^2 (1/2 + x/6 + ..): 14 terms suffice on [-0.5, 0.5].
    SmallVector<double> terms;
    double factorial = 1;
    for (int n = 2; n <= 15; ++n)
      terms.push_back(1 / (factorial *= n));
    small = r.fma(r.mul(x, x), r.polynomial(x, terms), x);
  } else {
    small = r.fma(
        r.mul(x, x),
        r.polynomial(x, {0.5000000028787028, 0.16666672502596366, 0.04166661857069908, 0.008332601793192528,
                         0.001389048677284019, 0.0002010057839510349, 2.4780553616087574e-05}),
        x);
  }
  return r.select(r.less(r.abs(x), r.c(r.isF64() ? 0.5 : 0.7)), small, r.sub(emitExp(r, x), r.c(1.0)));
}

/// tanh(x) = x + x^3 P(x^2) near 0; farther out, 1 - 2 / (e^2|x| + 1), which is 1 where e^2|x| is infinite.
Value tanhF32(const Real &r, Value x) {
  Value magnitude = r.abs(x), z = r.mul(x, x);
  Value p =
      r.polynomial(z, {-0.33332946636705046, 0.13320725063459227, -0.05267181404332282, 0.01643758205362904});
  Value near = r.fma(r.mul(x, z), p, x);
  Value power = expF32(r, r.add(magnitude, magnitude));
  Value far = r.sub(r.c(1.0), r.div(r.c(2.0), r.add(power, r.c(1.0))));
  return r.select(r.less(magnitude, r.c(0.55)), near, r.copySign(far, x));
}

/// tanh |x| = t / (t + 2) with t = expm1(2 |x|): no cancellation anywhere; bounded so that t is finite.
Value tanhF64(const Real &r, Value x) {
  Value magnitude = r.abs(x);
  Value t = emitExpM1(r, r.min(r.add(magnitude, magnitude), r.c(80.0)));
  return r.copySign(r.div(t, r.add(t, r.c(2.0))), x);
}

Value emitTanh(const Real &r, Value x) { return r.isF64() ? tanhF64(r, x) : tanhF32(r, x); }

/// sin or cos in f64: reduction to [-pi/4, pi/4] by two words of pi/2, with an error of 2^-106 |x| while n is
/// exact, then one of two polynomials. What is left of larger numbers means nothing, and is kept where the
/// polynomials are at most 1; that of an infinity is a NaN. The quadrant, n mod 4, stays in floating point:
/// conversions to 64-bit integers are scalar on many machines. A sine and a cosine of one x share all but the
/// last selects (CSE).
Value sinCosF64(const Real &r, Value x, bool cosine) {
  Value n = r.roundEven(r.mul(x, r.c(M_2_PI)));
  Value minus = r.neg(n);
  Value f = r.fma(minus, r.c(0x1.921fb54442d18p+0), x);
  f = r.fma(minus, r.c(0x1.1a62633145c07p-54), f);
  f = r.max(r.min(f, r.c(1.25)), r.c(-1.25));
  Value z = r.mul(f, f);
  Value sine = r.fma(
      r.mul(f, z),
      r.polynomial(z, {-1.66666666666666307295e-1, 8.33333333332211858878e-3, -1.98412698295895385996e-4,
                       2.75573136213857245213e-6, -2.50507477628578072866e-8, 1.58962301576546568060e-10}),
      f);
  Value cosineSeries =
      r.polynomial(z, {4.16666666666665929218e-2, -1.38888888888730564116e-3, 2.48015872888517045348e-5,
                       -2.75573141792967388112e-7, 2.08757008419747316778e-9, -1.13585365213876817300e-11});
  Value cosineValue = r.fma(r.mul(z, z), cosineSeries, r.fma(z, r.c(-0.5), r.c(1.0)));
  // sin: s, c, -s, -c in quadrants 0, 1, 2, 3; cos: c, -s, -c, s.
  Value quadrant = r.fma(r.floor(r.mul(n, r.c(0.25))), r.c(-4.0), n);
  Value odd = r.fma(r.floor(r.mul(n, r.c(0.5))), r.c(-2.0), n);
  Value swap = r.less(r.c(0.5), odd);
  Value value = cosine ? r.select(swap, sine, cosineValue) : r.select(swap, cosineValue, sine);
  Value minusSign = cosine ? r.less(r.abs(r.sub(quadrant, r.c(1.5))), r.c(1.0)) : r.less(r.c(1.5), quadrant);
  return r.select(minusSign, r.neg(value), value);
}

Value sinF64(const Real &r, Value x) { return sinCosF64(r, x, false); }
Value cosF64(const Real &r, Value x) { return sinCosF64(r, x, true); }

/// Special values as in C (ISO C, Annex F.10.4.4).
Value powF64(const Real &r, Value x, Value y) {
  Value size = r.abs(x);
  Value magnitude = emitExp(r, r.mul(y, emitLog(r, size)));
  // Of 1, and of -1 unless the exponent is a NaN, every power has size 1.
  magnitude = r.select(r.equal(size, r.c(1.0)), r.select(r.equal(y, y), r.c(1.0), r.add(x, y)), magnitude);
  magnitude = r.select(r.equal(x, r.c(1.0)), r.c(1.0), magnitude);
  // A negative base, -0 too, has a negative power for odd exponents; a finite one has none for exponents that
  // are no whole numbers.
  Value fraction = r.sub(y, r.floor(y)), half = r.mul(y, r.c(0.5));
  Value odd = r.less(r.c(0.25), r.sub(half, r.floor(half)));
  Value result =
      r.select(r.less(r.c(0.0), fraction), magnitude, r.select(odd, r.copySign(magnitude, x), magnitude));
  Value none = r.select(r.less(r.c(0.0), fraction), r.c(NAN), result);
  none = r.select(r.less(size, r.c(INFINITY)), none, result);
  result = r.select(r.less(x, r.c(0.0)), none, result);
  Value isZero = r.less(r.abs(y), r.c(2.2250738585072014e-308));
  return r.select(isZero, r.c(1.0), result);
}

/// erf(x) = x + x P(x^2) near 0; farther out, 1 - exp(-t - t Q(t)) with t = |x| bounded where the result
/// is 1.
Value erfF32(const Real &r, Value x) {
  Value magnitude = r.abs(x), t = r.min(magnitude, r.c(4.0));
  Value p = r.polynomial(r.mul(x, x), {0.12837915378189665, -0.37612523184762203, 0.11282139930427453,
                                       -0.026778878960836274, 0.005011921086926154, -0.0006090155901609716});
  Value q =
      r.polynomial(t, {0.12864097666787014, 0.6351814426667177, 0.10618770827456175, -0.023720275049411592,
                       0.003622963267532013, -0.00031807121856367227, 1.0764382135408676e-05});
  Value far = r.sub(r.c(1.0), expF32(r, r.neg(r.fma(t, q, t))));
  far = r.select(r.less(x, r.c(0.0)), r.neg(far), far);
  return r.select(r.less(magnitude, r.c(0.9)), r.fma(x, p, x), far);
}

/// erf(x) = x T(x^2) / U(x^2) near 0; farther out, 1 - exp(-t^2) P(t) / Q(t), likewise.
Value erfF64(const Real &r, Value x) {
  Value magnitude = r.abs(x), t = r.min(magnitude, r.c(6.0)), z = r.mul(x, x);
  Value top = r.polynomial(z, {5.55923013010394962768e4, 7.00332514112805075473e3, 2.23200534594684319226e3,
                               9.00260197203842689217e1, 9.60497373987051638749});
  Value bottom =
      r.polynomial(z, {4.92673942608635921086e4, 2.26290000613890934246e4, 4.59432382970980127987e3,
                       5.21357949780152679795e2, 3.35617141647503099647e1, 1.0});
  Value p = r.polynomial(t, {5.57535335369399327526e2, 1.02755188689515710272e3, 9.34528527171957607540e2,
                             5.26445194995477358631e2, 1.96520832956077098242e2, 4.86371970985681366614e1,
                             7.46321056442269912687, 5.64189564831068821977e-1, 2.46196981473530512524e-10});
  Value q = r.polynomial(t, {5.57535340817727675546e2, 1.65666309194161350182e3, 2.24633760818710981792e3,
                             1.82390916687909736289e3, 9.75708501743205489753e2, 3.54937778887819891062e2,
                             8.67072140885989742329e1, 1.32281951154744992508e1, 1.0});
  Value far = r.sub(r.c(1.0), r.mul(expF64(r, r.neg(r.mul(t, t))), r.div(p, q)));
  far = r.select(r.less(x, r.c(0.0)), r.neg(far), far);
  return r.select(r.less(magnitude, r.c(1.0)), r.mul(x, r.div(top, bottom)), far);
}

Value emitErf(const Real &r, Value x) { return r.isF64() ? erfF64(r, x) : erfF32(r, x); }

/// A function that f32 arithmetic cannot do well, in f64.
template <typename... Values>
Value throughF64(const Real &r, Value (*emit)(const Real &, Values...), Values... x) {
  return r.isF64() ? emit(r, x...) : r.truncate(emit(r.wide(), r.extend(x)...));
}

/// The number that a constant has in all lanes.
std::optional<double> numberOf(Value x) {
  if (auto broadcast = x.getDefiningOp<vector::BroadcastOp>())
    return numberOf(broadcast.getSource());
  Attribute value;
  if (!matchPattern(x, m_Constant(&value)))
    return std::nullopt;
  if (auto elements = dyn_cast<DenseElementsAttr>(value)) {
    if (!elements.isSplat())
      return std::nullopt;
    value = elements.getSplatValue<Attribute>();
  }
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return integer.getValue().signedRoundToDouble();
  return cast<FloatAttr>(value).getValueAsDouble();
}

/// x^(halves / 2): products and a square root. Beyond x^8 the errors of products would add up in f32.
Value powerOfHalves(const Real &r, Value x, int64_t halves) {
  uint64_t n = std::abs(halves) / 2;
  bool hasRoot = halves % 2 != 0;
  if (!r.isF64() && n > 8)
    return r.truncate(powerOfHalves(r.wide(), r.extend(x), halves));
  // pow(-0.0, 0.5) is 0.0, and the root of -0.0 would be -0.0; of -infinity it is infinity, and the root
  // none.
  if (hasRoot)
    x = r.select(r.equal(x, r.c(-INFINITY)), r.c(INFINITY), r.add(x, r.c(0.0)));
  Value power = n ? taylor::buildPower(r.getBuilder(), r.getLoc(), x, n) : Value();
  if (hasRoot)
    power = power ? r.mul(r.squareRoot(x), power) : r.squareRoot(x);
  if (!power)
    return r.c(1.0);
  return halves < 0 ? r.div(r.c(1.0), power) : power;
}

constexpr double kMostHalves = 128; // two dozen products

Value emitPow(const Real &r, Value x, Value y, std::optional<double> exponent) {
  double halves = 2.0 * exponent.value_or(NAN);
  if (std::abs(halves) <= kMostHalves && halves == std::floor(halves))
    return powerOfHalves(r, x, halves);
  return throughF64(r, powF64, x, y);
}
Value emitLog10(const Real &r, Value x) { return r.mul(emitLog(r, x), r.c(M_LOG10E)); }
Value emitRsqrt(const Real &r, Value x) { return r.div(r.c(1.0), r.squareRoot(x)); }

} // namespace

Value mlir::tile::expandElementary(OpBuilder &builder, Operation *op, MathInstructions has) {
  if (op->getNumResults() != 1)
    return {};
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  if (!element.isF32() && !element.isF64())
    return {};
  Real r(builder, op->getLoc(), type, has);
  auto x = [&](unsigned i) { return op->getOperand(i); };
  Exponential kind{isRelaxed(op) ? kLeastWeight : kLeastNumber, hasFastMath(op, kRoundedResult)};
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return emitExp(r, x(0), kind); })
      .Case([&](math::Exp2Op) { return emitExp2(r, x(0), kind); })
      .Case([&](math::ExpM1Op) { return emitExpM1(r, x(0)); })
      .Case([&](math::LogOp) { return emitLog(r, x(0)); })
      .Case([&](math::Log1pOp) { return emitLog1p(r, x(0)); })
      .Case([&](math::Log2Op) { return emitLog2(r, x(0)); })
      .Case([&](math::Log10Op) { return emitLog10(r, x(0)); })
      .Case([&](math::TanhOp) { return emitTanh(r, x(0)); })
      .Case([&](math::ErfOp) { return emitErf(r, x(0)); })
      .Case([&](math::SinOp) { return throughF64(r, sinF64, x(0)); })
      .Case([&](math::CosOp) { return throughF64(r, cosF64, x(0)); })
      .Case([&](math::RsqrtOp) { return emitRsqrt(r, x(0)); })
      .Case([&](math::PowFOp) { return emitPow(r, x(0), x(1), numberOf(x(1))); })
      .Case([&](math::FPowIOp) { return emitPow(r, x(0), r.fromInteger(x(1)), numberOf(x(1))); })
      .Default([](Operation *) { return Value(); });
}

int64_t mlir::tile::countInstructions(Operation *op, int64_t vectors) {
  // In f64: of each of the vectors.
  auto wide = [&](int64_t count) { return vectors * (count + 2); };
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([](arith::ConstantOp) { return 0; })
      .Case<math::ExpOp, math::Exp2Op>([](auto) { return 14; })
      .Case<math::ExpM1Op, math::LogOp, math::Log2Op, math::Log10Op>([](auto) { return 28; })
      .Case<math::Log1pOp, math::TanhOp, math::ErfOp>([](auto) { return 34; })
      .Case<math::SinOp, math::CosOp>([&](auto) { return wide(40); })
      .Case<math::PowFOp, math::FPowIOp>([&](auto) {
        std::optional<double> exponent = numberOf(op->getOperand(1));
        return exponent && std::abs(*exponent) <= kMostHalves / 2 ? wide(10) : wide(100);
      })
      .Default([](Operation *) { return 1; });
}
