// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Specifications: parser, verifiers, printer, and for short texts the passes down to tile programs.
#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Tile/TileDialect.h"
#include "passes/LowerToTile/Passes.h"
#include "passes/Pipelines.h"
#include "test/fuzz/ModuleReader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace {

/// Longer texts are read but not compiled: what passes take grows with the text, and the fuzzer's time is
/// limited.
constexpr size_t kMostCompiled = 1500;

void registerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, scf::SCFDialect,
                  tile::TileDialect, taylor::TaylorDialect>();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static taylor::fuzz::ModuleReader reader(registerDialects);
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  OwningOpRef<ModuleOp> module = reader.read(text);
  if (!module || size > kMostCompiled)
    return 0;
  taylor::PairwiseOptions options;
  options.headDim = 4;
  options.valueDim = 3;
  if (!reader.run(*module, [&](OpPassManager &manager) { taylor::buildPairwisePipeline(manager, options); }))
    return 0;
  taylor::setPlan(*module, {});
  reader.run(*module, taylor::buildTilePipeline);
  return 0;
}
