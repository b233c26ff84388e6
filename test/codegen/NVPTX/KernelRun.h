// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a tile program with layouts to PTX and runs it in the interpreter.
#ifndef TAYLOR_TEST_CODEGEN_NVPTX_KERNELRUN_H
#define TAYLOR_TEST_CODEGEN_NVPTX_KERNELRUN_H
#include "codegen/Targets/NVPTX/Emit/Emit.h"
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "codegen/Targets/NVPTX/Machines.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/ptx/Interpreter.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <random>

namespace mlir::simt::test {

namespace ptx = taylor::runtime::ptx;

/// Storage types of arrays.
enum class Kind { bf16, f16, f32, f64 };
inline unsigned bytesOf(Kind kind) { return kind == Kind::f64 ? 8 : kind == Kind::f32 ? 4 : 2; }
inline const char *nameOf(Kind kind) {
  return kind == Kind::bf16 ? "bf16" : kind == Kind::f16 ? "f16" : kind == Kind::f32 ? "f32" : "f64";
}

/// A dense array with optional padding of rows, of numbers as stored. Surroundings are poisoned.
class Array {
public:
  Array(Kind kind, std::vector<int64_t> sizes, int64_t padding = 0) : kind(kind), sizes(std::move(sizes)) {
    strides.resize(this->sizes.size());
    int64_t stride = 1;
    for (size_t i = this->sizes.size(); i-- > 0;) {
      strides[i] = stride;
      stride *= this->sizes[i] + (i + 1 == this->sizes.size() ? padding : 0);
    }
    bytes.assign(size_t(stride) * bytesOf(kind) + 16, 0xff); // NaN
    skew = (16 - reinterpret_cast<uintptr_t>(bytes.data()) % 16) % 16;
  }
  void fill(unsigned seed, double scale = 1) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> numbers(-scale, scale);
    each([&](std::vector<int64_t> &place) { set(place, numbers(random)); });
  }
  template <typename F> void each(F f) const {
    std::vector<int64_t> place(sizes.size());
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    for (int64_t number = 0; number < count; ++number) {
      int64_t rest = number;
      for (size_t i = sizes.size(); i-- > 0;) {
        place[i] = rest % sizes[i];
        rest /= sizes[i];
      }
      f(place);
    }
  }
  double get(const std::vector<int64_t> &place) const {
    const uint8_t *at = data() + offset(place);
    if (kind == Kind::f64)
      return read<double>(at);
    if (kind == Kind::f32)
      return read<float>(at);
    return toAPFloat(read<uint16_t>(at));
  }
  void set(const std::vector<int64_t> &place, double value) {
    uint8_t *at = data() + offset(place);
    if (kind == Kind::f64)
      write(at, value);
    else if (kind == Kind::f32)
      write(at, float(value));
    else
      write(at, fromAPFloat(value));
  }
  uint8_t *data() { return bytes.data() + skew; }
  const uint8_t *data() const { return bytes.data() + skew; }
  size_t numBytes() const { return bytes.size() - 16; }

  Kind kind;
  std::vector<int64_t> sizes, strides;

private:
  template <typename T> static T read(const uint8_t *at) {
    T value;
    memcpy(&value, at, sizeof(T));
    return value;
  }
  template <typename T> static void write(uint8_t *at, T value) { memcpy(at, &value, sizeof(T)); }
  const llvm::fltSemantics &semantics() const {
    return kind == Kind::bf16 ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf();
  }
  double toAPFloat(uint16_t bits) const {
    llvm::APFloat value(semantics(), llvm::APInt(16, bits));
    bool lost;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
    return value.convertToDouble();
  }
  uint16_t fromAPFloat(double number) const {
    llvm::APFloat value(number);
    bool lost;
    value.convert(semantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
    return uint16_t(value.bitcastToAPInt().getZExtValue());
  }
  int64_t offset(const std::vector<int64_t> &place) const {
    int64_t sum = 0;
    for (size_t i = 0; i < place.size(); ++i)
      sum += place[i] * strides[i];
    return sum * bytesOf(kind);
  }
  std::vector<uint8_t> bytes;
  size_t skew;
};

inline std::string text(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  attribute.print(stream);
  return text;
}

/// Layouts in text.
class Layouts {
public:
  Layouts() { context.loadDialect<SimtDialect>(); }
  std::string fragment(const FragmentShape &shape, int64_t warps) {
    return text(getFragmentLayout(&context, shape, warps));
  }

private:
  MLIRContext context;
};

struct Sizes {
  int64_t b = 1, h = 1, g = 1, t = 1, u = 1, offset = 0;
};

/// PTX of a program, on sm_90a with products started; a diagnostic fails the test.
inline std::string compile(const std::string &program, StringRef target = "sm_80") {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect, tile::TileDialect, SimtDialect>();
  registerNVPTXBackend(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program, &context);
  EXPECT_TRUE(module) << program;
  if (!module)
    return "";
  PassManager manager(&context);
  if (findTarget(target)->startsProducts) {
    manager.addPass(createStartProducts());
    manager.addPass(createFenceProxies());
  }
  buildPTXPipeline(manager, target);
  EXPECT_TRUE(succeeded(manager.run(*module)));
  auto ptxOps = module->getOps<PTXOp>();
  return ptxOps.empty() ? "" : (*ptxOps.begin()).getText().str();
}

/// Runs the only entry of a text on arrays in the order of the parameters.
inline void run(const std::string &code, unsigned blocks, unsigned threads, size_t shared, const Sizes &sizes,
                std::vector<Array *> arrays) {
  ASSERT_FALSE(code.empty());
  std::vector<int64_t> parameters = {sizes.b, sizes.h, sizes.g, sizes.t, sizes.u, sizes.offset};
  std::vector<ptx::MemoryRange> ranges;
  for (Array *array : arrays) {
    parameters.push_back(int64_t(reinterpret_cast<uintptr_t>(array->data())));
    parameters.insert(parameters.end(), array->strides.begin(), array->strides.end());
    ranges.push_back({array->data(), array->numBytes(), "array " + std::to_string(ranges.size())});
  }
  ptx::Module module = ptx::parse(code);
  std::string name = module.kernels().front().name;
  for (uint64_t seed : {0, 1}) {
    ptx::RunReport report = ptx::launch(module, name, {blocks}, {threads}, shared,
                                        std::as_bytes(std::span(parameters)), ranges, {.seed = seed});
    ASSERT_EQ(report.fault ? report.fault->message : "", "") << code;
  }
}

/// Largest difference of an array from what a function of the place says, over the largest expected number.
template <typename F> double difference(const Array &array, F expected) {
  double largest = 0, scale = 1e-30;
  array.each([&](std::vector<int64_t> &place) {
    double want = expected(place), got = array.get(place);
    scale = std::max(scale, std::fabs(want));
    largest = std::isnan(got) ? INFINITY : std::max(largest, std::fabs(got - want));
  });
  return largest / scale;
}

} // namespace mlir::simt::test

#endif
