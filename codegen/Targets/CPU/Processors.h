// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of CPU targets: what code generation needs to know of a machine, as numbers.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_PROCESSORS_H
#define TAYLOR_CODEGEN_TARGETS_CPU_PROCESSORS_H
#include "mlir/Support/LLVM.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::tile::cpu {

struct Processor {
  std::string name;                  // as given: "native", "x86-64-v4"
  std::string cpu;                   // LLVM's name, for the scheduler's tables and the manifest
  std::vector<std::string> features; // what a machine must have to run the code: "avx512f", "fma", ...
  const char *level = "x86-64-v3";   // of the architecture: what code may use in addition to the features
  unsigned vectorBytes = 32;         // width of a vector register
  int64_t l1Bytes = 32 << 10;        // data caches of one core
  int64_t l2Bytes = 512 << 10;
  unsigned accumulators =
      12; // vector registers for a product's accumulators, with work on them after the sum
  unsigned plainAccumulators = 12; // and without
  unsigned productVectors = 2;     // of them, side by side along the lanes
  int64_t farBalance = 5;          // TileSizes::farBalance; measured (README.md)
  bool slowMaskedStores = true;    // AMD's cores take 18 to 42 operations for a vmaskmovps to memory
  bool hasScale = false;           // vscalefps, vreduceps
  bool hasBF16 = false;            // vcvtneps2bf16
  /// vdpbf16ps multiplies more numbers per second than vfmadd of f32 does, so products of bf16 take it.
  bool fastPairs = false;
  /// tdpbf16ps (AMX): products of bf16 run on a matrix unit, in blocks of 16 x 16 sums.
  bool hasTiles = false;
  /// Its instructions are calls of TileEmulation.c, which any processor runs, for tests.
  bool emulatesTiles = false;

  /// Operands of products are better kept in bf16 than widened to f32.
  bool prefersPairs() const { return fastPairs || hasTiles; }

  /// Elements of a vector of 32-bit (or 64-bit) numbers.
  unsigned lanes(unsigned bits) const { return vectorBytes * 8 / bits; }
};

/// `native`, `x86-64-v3`, `x86-64-v4`, `znver4`, `znver5` or `sapphirerapids`; followed by `+emulated-tiles`,
/// with the matrix unit emulated in C. Else, or where the host lacks AVX2 and FMA, nothing and a reason in
/// `error`.
std::optional<Processor> findTarget(llvm::StringRef name, std::string &error);

/// Whether `findTarget` knows the name; whether this host has it is another question.
bool hasTarget(llvm::StringRef name);

/// An object file with the functions of TileEmulation.c.
llvm::ArrayRef<char> tileEmulationObject();

/// Names of the table, for messages.
llvm::ArrayRef<llvm::StringRef> targetNames();

} // namespace mlir::tile::cpu
#endif
