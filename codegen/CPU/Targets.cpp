// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/Targets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include <unistd.h>

using namespace mlir::tile::cpu;

static const llvm::StringRef names[] = {"native", "x86-64-v3", "x86-64-v4",
                                        "znver4", "znver5",    "sapphirerapids"};

/// Of a target's name: tile instructions are calls of the emulation.
static constexpr llvm::StringRef emulation = "+emulated-tiles";

llvm::ArrayRef<llvm::StringRef> mlir::tile::cpu::targetNames() { return names; }

bool mlir::tile::cpu::hasTarget(llvm::StringRef name) {
  name.consume_back(emulation);
  return llvm::is_contained(names, name);
}

/// 16 registers: 6 x 2 accumulators, two of B, one of A (78 to 85 % of peak; 4 x 2 is 7 to 12
/// % slower).
static Target avx2() {
  return {.name = "",
          .cpu = "x86-64-v3",
          .features = {"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"},
          .vectorBytes = 32,
          .accumulators = 12,
          .productVectors = 2};
}

/// 32 registers: 4 x 4 leaves room for maps on the sums; 6 x 4 reads its operands less often.
static Target avx512() {
  return {.name = "",
          .cpu = "x86-64-v4",
          .features = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "fma", "f16c", "bmi",
                       "bmi2", "lzcnt", "movbe"},
          .level = "x86-64-v4",
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

/// AVX-512 in full width: vdpbf16ps again has twice the rate of an f32 FMA (measured 494 and 266 GFLOP/s on
/// one core).
static Target zen5() {
  Target target = zen4();
  target.cpu = "znver5";
  target.l1Bytes = 48 << 10;
  target.farBalance = avx512().farBalance;
  return target;
}

/// What products on tiles use.
static constexpr const char *tileExtensions[] = {"amx-tile", "amx-bf16"};

/// Full-width AVX-512 beside AMX: tdpbf16ps does 16 times the work of an f32 FMA per cycle.
static Target sapphireRapids() {
  Target target = avx512();
  target.cpu = "sapphirerapids";
  llvm::append_range(target.features, extensions);
  llvm::append_range(target.features, tileExtensions);
  target.l1Bytes = 48 << 10;
  target.l2Bytes = 2 << 20;
  target.hasBF16 = target.hasTiles = true;
  return target;
}

std::optional<Target> mlir::tile::cpu::findTarget(llvm::StringRef fullName, std::string &error) {
  llvm::StringRef name = fullName;
  bool emulates = name.consume_back(emulation);
  Target target;
  if (name == "x86-64-v3") {
    target = avx2();
  } else if (name == "x86-64-v4") {
    target = avx512();
  } else if (name == "znver4") {
    target = zen4();
  } else if (name == "znver5") {
    target = zen5();
  } else if (name == "sapphirerapids") {
    target = sapphireRapids();
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
    for (const Target &known : {zen4(), zen5()})
      if (target.cpu == known.cpu) {
        target.fastPairs = target.hasBF16;
        target.farBalance = known.farBalance;
      }
    target.hasTiles = target.hasBF16 &&
                      llvm::all_of(tileExtensions, [&](const char *feature) { return host.lookup(feature); });
    if (target.hasTiles)
      llvm::append_range(target.features, tileExtensions);
  } else {
    error = "unsupported target '" + fullName.str() +
            "'; expected native, x86-64-v3, x86-64-v4, znver4, znver5 or sapphirerapids";
    return std::nullopt;
  }
  target.name = fullName.str();
  if (emulates) {
    llvm::erase_if(target.features,
                   [](const std::string &feature) { return llvm::is_contained(tileExtensions, feature); });
    target.hasTiles = target.emulatesTiles = true;
    target.fastPairs = false;
  }
  return target;
}
