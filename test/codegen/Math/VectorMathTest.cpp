// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// taylor-cpu-expand-math: the polynomials of codegen/Targets/Math/VectorMath against the C library in long
// double, over each function's useful range: compiled for this machine and run, 16 lanes at a time. Errors
// are in units of the last place.
#include "codegen/Targets/CPU/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;

namespace {

constexpr int64_t kLanes = 16;

/// A function from two arrays of 16 numbers to one, compiled.
class Compiled {
public:
  /// With an exponent the second operand is this constant.
  Compiled(StringRef op, StringRef element, int arity, bool hasScale, std::optional<double> exponent = {},
           StringRef flags = "") {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, math::MathDialect, func::FuncDialect, vector::VectorDialect,
                    LLVM::LLVMDialect>();
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    std::string vector = ("vector<" + Twine(kLanes) + "x" + element + ">").str();
    std::string text =
        "llvm.func @f(%x: !llvm.ptr, %y: !llvm.ptr, %z: !llvm.ptr) attributes {llvm.emit_c_interface} {\n"
        "%a = llvm.load %x {alignment = 4 : i64} : !llvm.ptr -> " +
        vector +
        "\n"
        "%b = llvm.load %y {alignment = 4 : i64} : !llvm.ptr -> " +
        vector +
        "\n"
        "%p = arith.constant dense<" +
        llvm::formatv("{0:f1}", exponent.value_or(0)).str() + "> : " + vector +
        "\n"
        "%c = math." +
        op.str() + " %a" +
        (exponent     ? ", %p"
         : arity == 2 ? ", %b"
                      : "") +
        flags.str() + " : " + vector +
        "\n"
        "llvm.store %c, %z {alignment = 4 : i64} : " +
        vector + ", !llvm.ptr\nllvm.return }";
    module = parseSourceString<ModuleOp>(text, &context);
    PassManager manager(&context);
    manager.addPass(tile::cpu::createCPUExpandMath({hasScale ? "x86-64-v4" : "x86-64-v3"}));
    manager.addPass(createConvertMathToLLVMPass());
    manager.addPass(createArithToLLVMConversionPass());
    manager.addPass(createReconcileUnrealizedCastsPass());
    EXPECT_TRUE(succeeded(manager.run(*module)));
    auto expected = ExecutionEngine::create(*module);
    EXPECT_TRUE(static_cast<bool>(expected));
    engine = std::move(*expected);
  }

  template <typename T> void run(const T *x, const T *y, T *z) {
    auto call = engine->lookup("f");
    ASSERT_TRUE(static_cast<bool>(call));
    reinterpret_cast<void (*)(const T *, const T *, T *)>(*call)(x, y, z);
  }

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<ExecutionEngine> engine;
};

bool hostHasScale() { return __builtin_cpu_supports("avx512f"); }

using Reference = long double (*)(long double, long double);

template <typename T> double ulps(T got, long double want) {
  if (std::isnan(want))
    return std::isnan(got) ? 0 : INFINITY;
  T rounded = static_cast<T>(want);
  if (std::fpclassify(rounded) == FP_SUBNORMAL || rounded == 0)
    return std::fabs(got) <= std::numeric_limits<T>::min() ? 0 : INFINITY;
  if (std::isinf(rounded) || std::isinf(got))
    return rounded == got ? 0 : INFINITY;
  T next = std::nextafter(std::fabs(rounded), std::numeric_limits<T>::infinity());
  return static_cast<double>(std::fabs(got - want) / (next - std::fabs(rounded)));
}

/// The largest error over evenly spaced arguments in [low, high].
template <typename T>
double worst(Compiled &f, Reference reference, double low, double high, double other = 0) {
  constexpr int64_t kSteps = 4096;
  double largest = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    T x[kLanes], y[kLanes], z[kLanes];
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      x[lane] = static_cast<T>(low + (high - low) * (step * kLanes + lane) / (kSteps * kLanes - 1));
      y[lane] = static_cast<T>(other);
    }
    f.run(x, y, z);
    for (int64_t lane = 0; lane < kLanes; ++lane)
      largest = std::max(largest, ulps<T>(z[lane], reference(x[lane], y[lane])));
  }
  return largest;
}

struct Case {
  const char *op;
  Reference reference;
  double low, high, f32, f64;
  double other = 0;
  int arity = 1;
};

const Case kCases[] = {
    {"exp", [](long double x, long double) { return expl(x); }, -44.3, 88.7, 3, 2},
    {"exp", [](long double x, long double) { return expl(x); }, -2, 2, 3, 2},
    {"exp2", [](long double x, long double) { return exp2l(x); }, -63.9, 127.9, 3, 2},
    // Beyond what f32 keeps.
    {"exp", [](long double x, long double) { return expl(x); }, -700, 700, INFINITY, 2},
    {"exp2", [](long double x, long double) { return exp2l(x); }, -1021.9, 1023.9, INFINITY, 2},
    {"expm1", [](long double x, long double) { return expm1l(x); }, -5, 5, 4, 5},
    {"log", [](long double x, long double) { return logl(x); }, 1e-6, 4, 2, 2},
    {"log", [](long double x, long double) { return logl(x); }, 1, 1e30, 2, 2},
    {"log1p", [](long double x, long double) { return log1pl(x); }, -0.5, 1, 3, 5},
    {"log2", [](long double x, long double) { return log2l(x); }, 2, 1e6, 3, 3},
    {"log2", [](long double x, long double) { return log2l(x); }, 1e-6, 4, 3, 3},
    {"log10", [](long double x, long double) { return log10l(x); }, 2, 1e6, 3, 3},
    {"log10", [](long double x, long double) { return log10l(x); }, 1e-6, 0.9, 3, 3},
    {"erf", [](long double x, long double) { return erfl(x); }, -1.5, 1.5, 2, 3},
    {"erf", [](long double x, long double) { return erfl(x); }, 0.5, 7, 2, 3},
    {"tanh", [](long double x, long double) { return tanhl(x); }, -10, 10, 2, 5},
    {"sin", [](long double x, long double) { return sinl(x); }, 0.001, 3.1, 1, 2},
    {"cos", [](long double x, long double) { return cosl(x); }, -1.5, 1.5, 1, 2},
    {"rsqrt", [](long double x, long double) { return 1 / sqrtl(x); }, 1e-6, 1e6, 1.5, 1.5},
    {"powf", [](long double x, long double y) { return powl(x, y); }, 1, 1e4, 2, 100, 0.7, 2},
    {"powf", [](long double x, long double y) { return powl(x, y); }, -30, -0.5, 2, 100, 3, 2},
};

TEST(VectorMath, AgreesWithTheCLibrary) {
  for (const Case &test : kCases)
    for (bool hasScale : {false, true}) {
      if (hasScale && !hostHasScale())
        continue;
      SCOPED_TRACE(std::string(test.op) + (hasScale ? " with vscalefps" : ""));
      Compiled narrow(test.op, "f32", test.arity, hasScale), wide(test.op, "f64", test.arity, hasScale);
      EXPECT_LE(worst<float>(narrow, test.reference, test.low, test.high, test.other), test.f32);
      EXPECT_LE(worst<double>(wide, test.reference, test.low, test.high, test.other), test.f64);
    }
}

// Products, roots and quotients where the exponent is a constant; 0.7 is not of that kind.
TEST(VectorMath, PowersByConstants) {
  auto power = [](long double x, long double y) { return powl(x, y); };
  for (double p : {0.0, 1.0, 2.0, 3.0, 7.0, 8.0, 9.0, 33.0, 64.0, -1.0, -2.0, -5.0, -17.0, 0.5, 1.5, 8.5,
                   -0.5, -2.5, 0.7}) {
    SCOPED_TRACE(p);
    Compiled narrow("powf", "f32", 2, false, p), wide("powf", "f64", 2, false, p);
    double low = p == std::floor(p) ? -3.0 : 0.01, products = 2 + 0.75 * std::abs(p);
    EXPECT_LE(worst<float>(narrow, power, low, 2.9, p), std::abs(p) < 9 ? products : 2);
    EXPECT_LE(worst<double>(wide, power, low, 2.9, p), p == 0.7 ? 100 : products);
  }
}

/// NaN, or the same number with the same sign.
void expectSame(float got, float want) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << got;
    return;
  }
  EXPECT_EQ(got, want);
  EXPECT_EQ(std::signbit(got), std::signbit(want));
}

// As the C library, at zeros of both signs, infinities and NaN.
TEST(VectorMath, PowersOfSpecialValues) {
  for (double p : {0.0, 1.0, 2.0, 3.0, 9.0, -1.0, -2.0, -3.0, 0.5, 1.5, 2.5, -0.5, -1.5, 8.5, -17.0}) {
    Compiled f("powf", "f32", 2, false, p);
    for (float value : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, -1.0f}) {
      SCOPED_TRACE(std::to_string(value) + "^" + std::to_string(p));
      float x[kLanes], z[kLanes];
      std::fill(x, x + kLanes, value);
      f.run(x, x, z);
      expectSame(z[0], std::pow(value, static_cast<float>(p)));
    }
  }
}

// The same of an exponent that is no constant: all of ISO C, F.10.4.4.
TEST(VectorMath, PowersOfSpecialValuesByVariables) {
  const float values[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN,   1.0f, -1.0f, 0.5f, -0.5f,
                          2.0f, -2.0f, 3.0f,     -3.0f,     -0.7f, 1.5f, -1.5f, 1e30f};
  for (bool hasScale : {false, true}) {
    if (hasScale && !hostHasScale())
      continue;
    Compiled f("powf", "f32", 2, hasScale);
    for (float base : values)
      for (float exponent : values) {
        SCOPED_TRACE(std::to_string(base) + "^" + std::to_string(exponent));
        float x[kLanes], y[kLanes], z[kLanes], want = std::pow(base, exponent);
        std::fill(x, x + kLanes, base);
        std::fill(y, y + kLanes, exponent);
        f.run(x, y, z);
        if (std::isfinite(want) && want != 0)
          EXPECT_LE(ulps<float>(z[0], want), 2);
        else
          expectSame(z[0], want);
      }
  }
}

// A rotation's angle is position times frequency: an absolute error matters, far from 0.
TEST(VectorMath, SineAndCosineOfLargeArguments) {
  for (const char *op : {"sin", "cos"}) {
    Compiled f(op, "f64", 1, false);
    for (double base : {100.0, 65536.0, 1e6, 1e8}) {
      double x[kLanes], z[kLanes];
      for (int64_t lane = 0; lane < kLanes; ++lane)
        x[lane] = (lane % 2 ? -1 : 1) * (base + lane * 0.37);
      f.run(x, x, z);
      for (int64_t lane = 0; lane < kLanes; ++lane)
        EXPECT_NEAR(z[lane], op[0] == 's' ? std::sin(x[lane]) : std::cos(x[lane]), 3e-16);
    }
  }
}

// Up to 2^50 they are right; beyond, what is left after the reduction means nothing, but no value is above 1.
TEST(VectorMath, SineAndCosineOfHugeArguments) {
  for (const char *op : {"sin", "cos"}) {
    Compiled wide(op, "f64", 1, false), narrow(op, "f32", 1, false);
    for (double base : {1e10, 1e13, 1e15, 1.1e15, 1e16, 1e17, 1e18, 1e20, 1e30, 1e38, 1e100, 1.7e308}) {
      double x[kLanes], z[kLanes];
      float x32[kLanes], z32[kLanes];
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        x[lane] = (lane % 2 ? -1 : 1) * base * (1 + lane * 0.002);
        x32[lane] = static_cast<float>(std::min(std::fabs(x[lane]), 3e38) * (lane % 2 ? -1 : 1));
      }
      wide.run(x, x, z);
      narrow.run(x32, x32, z32);
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        SCOPED_TRACE(x[lane]);
        auto reference = [&](double of) { return op[0] == 's' ? std::sin(of) : std::cos(of); };
        if (std::fabs(x[lane]) < 0x1p50) {
          EXPECT_NEAR(z[lane], reference(x[lane]), 3e-16);
          EXPECT_NEAR(z32[lane], reference(x32[lane]), 6e-8);
        }
        EXPECT_LE(std::fabs(z[lane]), 1);
        EXPECT_LE(std::fabs(z32[lane]), 1);
      }
    }
  }
}

// Weights of pairs are 0 below 2^-64, and as exact as others above.
TEST(VectorMath, Weights) {
  for (bool hasScale : {false, true}) {
    if (hasScale && !hostHasScale())
      continue;
    Compiled exp("exp", "f32", 1, hasScale, {}, " fastmath<afn>");
    EXPECT_LE(worst<float>(exp, [](long double x, long double) { return expl(x); }, -44.3, 88.7), 3);
    Compiled exp2("exp2", "f32", 1, hasScale, {}, " fastmath<afn>");
    EXPECT_LE(worst<float>(exp2, [](long double x, long double) { return exp2l(x); }, -63.9, 127.9), 3);
    for (float below : {-64.1f, -90.0f, -1e30f, -INFINITY}) {
      float x[kLanes], y[kLanes], z[kLanes];
      std::fill(x, x + kLanes, below);
      exp2.run(x, x, z);
      EXPECT_EQ(z[0], 0.0f);
      std::fill(y, y + kLanes, below * float(M_LN2));
      exp.run(y, y, z);
      EXPECT_EQ(z[0], 0.0f);
    }
  }
}

// What is no weight of a pair counts to the smallest normal numbers, and is 0 below.
TEST(VectorMath, FullRange) {
  for (bool hasScale : {false, true}) {
    if (hasScale && !hostHasScale())
      continue;
    Compiled exp("exp", "f32", 1, hasScale);
    EXPECT_LE(worst<float>(exp, [](long double x, long double) { return expl(x); }, -86.6, 88.7), 3);
    Compiled exp2("exp2", "f32", 1, hasScale);
    EXPECT_LE(worst<float>(exp2, [](long double x, long double) { return exp2l(x); }, -125, 127.9), 3);
    for (float below : {-87.0f, -100.0f, -1e30f, -INFINITY}) {
      float x[kLanes], z[kLanes];
      std::fill(x, x + kLanes, below);
      exp.run(x, x, z);
      EXPECT_EQ(z[0], 0.0f);
    }
  }
}

TEST(VectorMath, SpecialValues) {
  const double inf = INFINITY;
  struct Special {
    const char *op;
    double x, want;
  };
  for (Special test : {Special{"exp", inf, inf},
                       {"exp", -inf, 0},
                       {"exp", NAN, NAN},
                       {"exp", 1e30, inf},
                       {"exp", -1e30, 0},
                       {"exp", 88.8, inf},
                       {"exp", 100, inf},
                       {"exp2", inf, inf},
                       {"exp2", -inf, 0},
                       {"exp2", NAN, NAN},
                       {"exp2", 130, inf},
                       {"exp2", 1e30, inf},
                       {"exp2", -1e30, 0},
                       {"log", 0, -inf},
                       {"log", -1, NAN},
                       {"log", inf, inf},
                       {"log", NAN, NAN},
                       {"tanh", inf, 1},
                       {"tanh", -inf, -1},
                       {"tanh", 0, 0},
                       {"expm1", 0, 0},
                       {"erf", 0, 0},
                       {"erf", inf, 1},
                       {"erf", -inf, -1},
                       {"erf", NAN, NAN},
                       {"log10", 0, -inf},
                       {"log10", -1, NAN},
                       {"log10", inf, inf},
                       {"expm1", -inf, -1},
                       {"log1p", 0, 0},
                       {"log1p", inf, inf},
                       {"log2", 0, -inf},
                       {"log2", -1, NAN},
                       {"log2", inf, inf},
                       {"log2", 0.125, -3},
                       {"log2", 8192, 13},
                       {"log2", 0x1p30, 30},
                       {"log1p", -1, -inf},
                       {"log1p", -2, NAN},
                       {"log1p", NAN, NAN},
                       {"log1p", 1e30, std::log(1e30)},
                       {"sin", inf, NAN},
                       {"sin", -inf, NAN},
                       {"sin", NAN, NAN},
                       {"sin", 0, 0},
                       {"cos", inf, NAN},
                       {"cos", -inf, NAN},
                       {"cos", NAN, NAN},
                       {"cos", 0, 1},
                       {"expm1", inf, inf},
                       {"expm1", NAN, NAN},
                       {"tanh", NAN, NAN},
                       {"rsqrt", 0, inf},
                       {"rsqrt", inf, 0},
                       {"rsqrt", -1, NAN},
                       {"rsqrt", NAN, NAN},
                       {"log10", NAN, NAN}})
    for (bool hasScale : {false, true}) {
      if (hasScale && !hostHasScale())
        continue;
      SCOPED_TRACE(std::string(test.op) + "(" + std::to_string(test.x) + ")");
      Compiled f(test.op, "f32", 1, hasScale);
      float x[kLanes], z[kLanes];
      std::fill(x, x + kLanes, static_cast<float>(test.x));
      f.run(x, x, z);
      if (std::isnan(test.want))
        EXPECT_TRUE(std::isnan(z[0]));
      else
        EXPECT_EQ(z[0], static_cast<float>(test.want));
    }
}

} // namespace
