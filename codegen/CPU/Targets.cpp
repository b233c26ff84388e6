// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/Targets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include <unistd.h>

using namespace mlir::tile::cpu;

static const llvm::StringRef names[] = {"native", "x86-64-v3", "x86-64-v4", "znver4"};

llvm::ArrayRef<llvm::StringRef> mlir::tile::cpu::targetNames() { return names; }

/// 16 registers: 6 x 2 accumulators, two of B, one of A (78 to 85 % of peak; 4 x 2 is 7 to 12
/// % slower).
static Target avx2() {
  return {.name = "",
          .cpu = "x86-64-v3",
          .features = {"avx2", "fma"},
          .vectorBytes = 32,
          .accumulators = 12,
          .productVectors = 2};
}

/// 32 registers: 4 x 4 leaves room for maps on the sums; 6 x 4 reads its operands less often.
static Target avx512() {
  return {.name = "",
          .cpu = "x86-64-v4",
          .features = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "fma"},
          .vectorBytes = 64,
          .l2Bytes = 1 << 20,
          .accumulators = 16,
          .plainAccumulators = 24,
          .productVectors = 4,
          .farBalance = 12,
          .slowMaskedStores = false,
          .hasScale = true};
}

/// What AVX-512 code uses where the machine has it.
static constexpr const char *extensions[] = {"avx512bf16", "avx512vbmi"};

/// AVX-512 in two halves: vdpbf16ps has twice the rate of an f32 FMA (measured 235 and 117 GFLOP/s on one
/// core). On Intel's cores it has the same rate or half of it, and products stay in f32.
static Target zen4() {
  Target target = avx512();
  target.cpu = "znver4";
  llvm::append_range(target.features, extensions);
  target.hasBF16 = target.fastPairs = true;
  target.farBalance = avx2().farBalance;
  return target;
}

std::optional<Target> mlir::tile::cpu::findTarget(llvm::StringRef name, std::string &error) {
  Target target;
  if (name == "x86-64-v3") {
    target = avx2();
  } else if (name == "x86-64-v4") {
    target = avx512();
  } else if (name == "znver4") {
    target = zen4();
  } else if (name == "native") {
    llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
    auto hasAll = [&](const Target &table) {
      return llvm::all_of(table.features, [&](const std::string &feature) { return host.lookup(feature); });
    };
    if (hasAll(avx512())) {
      target = avx512();
    } else if (hasAll(avx2())) {
      target = avx2();
    } else {
      error = "unsupported CPU: requires AVX2 and FMA";
      return std::nullopt;
    }
    target.native = true;
    // Unknown (0 or less) on some virtual machines: the table's sizes stay.
    if (int64_t bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0)
      target.l1Bytes = bytes;
    if (int64_t bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0)
      target.l2Bytes = bytes;
    target.cpu = llvm::sys::getHostCPUName().str();
    for (const char *feature : extensions)
      if (host.lookup(feature))
        target.features.push_back(feature);
    target.hasBF16 = target.hasScale && host.lookup("avx512bf16");
    if (target.cpu == zen4().cpu) {
      target.fastPairs = target.hasBF16;
      target.farBalance = zen4().farBalance;
    }
  } else {
    error = "unsupported target '" + name.str() + "'; expected native, x86-64-v3, x86-64-v4 or znver4";
    return std::nullopt;
  }
  target.name = name.str();
  return target;
}
