// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/CPU/Processors.h"
#include "codegen/Targets/Choices.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include <array>
#include <unistd.h>

using namespace mlir::tile::cpu;

/// 16 registers: 6 x 2 accumulators, two of B, one of A (78 to 85 % of peak; 4 x 2 is 7 to 12
/// % slower).
static Processor avx2() {
  return {.name = "",
          .cpu = "x86-64-v3",
          .features = {"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"},
          .vectorBytes = 32,
          .accumulators = 12,
          .productVectors = 2};
}

/// 32 registers: 4 x 4 leaves room for maps on the sums; 6 x 4 reads its operands less often.
static Processor avx512() {
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
static constexpr const char *kExtensions[] = {"avx512bf16", "avx512vbmi"};

/// AVX-512 in two halves: vdpbf16ps has twice the rate of an f32 FMA (measured 235 and 117 GFLOP/s on one
/// core). On Intel's cores it has the same rate or half of it, and products stay in f32.
static Processor zen4() {
  Processor target = avx512();
  target.cpu = "znver4";
  llvm::append_range(target.features, kExtensions);
  target.hasBF16 = target.fastPairs = true;
  target.farBalance = avx2().farBalance;
  return target;
}

/// AVX-512 in full width: vdpbf16ps again has twice the rate of an f32 FMA (measured 494 and 266 GFLOP/s on
/// one core).
static Processor zen5() {
  Processor target = zen4();
  target.cpu = "znver5";
  target.l1Bytes = 48 << 10;
  target.farBalance = avx512().farBalance;
  return target;
}

/// What products on tiles use.
static constexpr const char *kTileExtensions[] = {"amx-tile", "amx-bf16"};

/// Full-width AVX-512 next to AMX: tdpbf16ps does 16 times the work of an f32 FMA per cycle.
static Processor sapphireRapids() {
  Processor target = avx512();
  target.cpu = "sapphirerapids";
  llvm::append_range(target.features, kExtensions);
  llvm::append_range(target.features, kTileExtensions);
  target.l1Bytes = 48 << 10;
  target.l2Bytes = 2 << 20;
  target.hasBF16 = target.hasTiles = true;
  return target;
}

/// This machine, by what it has and not by its name; a reason in `error` where no table serves it.
static std::optional<Processor> native(std::string &error) {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  auto has = [&](llvm::StringRef feature) { return host.lookup(feature); };
  Processor target;
  if (llvm::all_of(avx512().features, has)) {
    target = avx512();
  } else if (llvm::all_of(avx2().features, has)) {
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
  llvm::copy_if(kExtensions, std::back_inserter(target.features), has);
  target.hasBF16 = target.hasScale && has("avx512bf16");
  for (const Processor &known : {zen4(), zen5()})
    if (target.cpu == known.cpu) {
      target.fastPairs = target.hasBF16;
      target.farBalance = known.farBalance;
    }
  target.hasTiles = target.hasBF16 && llvm::all_of(kTileExtensions, has);
  if (target.hasTiles)
    llvm::append_range(target.features, kTileExtensions);
  return target;
}

/// Tables by name; `native` comes before them.
static constexpr struct {
  llvm::StringLiteral name;
  Processor (*table)();
} tables[] = {{"x86-64-v3", avx2},
              {"x86-64-v4", avx512},
              {"znver4", zen4},
              {"znver5", zen5},
              {"sapphirerapids", sapphireRapids}};

/// Of a target's name: tile instructions are calls of the emulation.
static constexpr llvm::StringRef kEmulation = "+emulated-tiles";

llvm::ArrayRef<llvm::StringRef> mlir::tile::cpu::targetNames() {
  static const auto names = [] {
    std::array<llvm::StringRef, std::size(tables) + 1> names = {"native"};
    llvm::transform(tables, names.begin() + 1, [](const auto &entry) { return entry.name; });
    return names;
  }();
  return names;
}

bool mlir::tile::cpu::hasTarget(llvm::StringRef name) {
  name.consume_back(kEmulation);
  return llvm::is_contained(targetNames(), name);
}

std::optional<Processor> mlir::tile::cpu::findTarget(llvm::StringRef fullName, std::string &error) {
  llvm::StringRef name = fullName;
  bool emulates = name.consume_back(kEmulation);
  const auto *entry = llvm::find_if(tables, [&](const auto &entry) { return entry.name == name; });
  std::optional<Processor> target;
  if (name == "native") {
    target = native(error);
  } else if (entry != std::end(tables)) {
    target = entry->table();
  } else {
    error = taylor::unsupportedTarget(fullName, targetNames());
  }
  if (!target)
    return std::nullopt;
  target->name = fullName.str();
  if (emulates) {
    llvm::erase_if(target->features,
                   [](const std::string &feature) { return llvm::is_contained(kTileExtensions, feature); });
    target->hasTiles = target->emulatesTiles = true;
    target->fastPairs = false;
  }
  return target;
}
