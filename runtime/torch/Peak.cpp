// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/Peak.h"
#include "runtime/Cpu.h"
#include "runtime/torch/Parallel.h"
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace taylor {
namespace {

constexpr int64_t kRounds = 200000; // some milliseconds
/// Independent sums: with fewer, two units of latency 5 would wait; with more, they and two factors would not
/// fit 16 registers.
constexpr int kChains = 12;

/// rounds * chains fused multiply-adds of vectors of `width` elements. Inlined into functions that say which
/// instructions there are.
template <typename T, int width> __attribute__((always_inline)) inline double spin() {
  // Extensions that GCC has too: a vector takes a number as an operand alone.
  typedef T Vector __attribute__((vector_size(width * sizeof(T))));
  Vector sums[kChains], factor = T(0.999) + Vector{}, term = T(1e-3) + Vector{};
#pragma GCC unroll 12
  for (int i = 0; i < kChains; ++i)
    sums[i] = T(i) + Vector{};
  for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i)
      sums[i] = sums[i] * factor + term; // one instruction, where there is one
  }
  double result = 0;
#pragma GCC unroll 12
  for (int i = 0; i < kChains; ++i)
    result += double(sums[i][i % width]);
  return result;
}

struct Spin {
  double (*run)();
  int width;
};

#if defined(__x86_64__)
__attribute__((target("avx512f"))) double wideF32() { return spin<float, 16>(); }
__attribute__((target("avx512f"))) double wideF64() { return spin<double, 8>(); }
__attribute__((target("avx2,fma"))) double middleF32() { return spin<float, 8>(); }
__attribute__((target("avx2,fma"))) double middleF64() { return spin<double, 4>(); }
#endif

/// The widest vectors that this processor has, and torch uses.
Spin spinFor(bool f64) {
#if defined(__x86_64__)
  const char *variable = std::getenv("ATEN_CPU_CAPABILITY");
  std::string_view held = variable ? variable : "";
  if (held != "avx2" && held != "default" && runtime::missingFeature({"avx512f"}).empty())
    return f64 ? Spin{wideF64, 8} : Spin{wideF32, 16};
  if (held != "default" && runtime::missingFeature({"avx2", "fma"}).empty())
    return f64 ? Spin{middleF64, 4} : Spin{middleF32, 8};
#endif
  return f64 ? Spin{spin<double, 2>, 2} : Spin{spin<float, 4>, 4};
}

} // namespace

int64_t peakVectorBits() { return 32 * spinFor(/*f64=*/false).width; }

double measurePeak(TaylorDtype dtype, int64_t threads, bool cpuClock) {
  Spin spin = spinFor(dtype == TAYLOR_F64);
  auto task = [](void *context, int64_t) {
    volatile double result = static_cast<Spin *>(context)->run();
    (void)result;
  };
  auto now = [&] {
    timespec time;
    clock_gettime(cpuClock ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  };
  double begin = now();
  if (threads == 1)
    task(&spin, 0);
  else
    parallelFor(nullptr, threads, task, &spin);
  return 2e-9 * double(kRounds) * kChains * spin.width * double(threads) / (now() - begin);
}

} // namespace taylor
