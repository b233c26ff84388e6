// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile programs in text, and kernels of threads: parser, verifiers, printer.
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "dialect/Tile/TileDialect.h"
#include "test/fuzz/ModuleReader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

static void registerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect, simt::SimtDialect,
                  tile::TileDialect>();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static taylor::fuzz::ModuleReader reader(registerDialects);
  reader.read({reinterpret_cast<const char *>(data), size});
  return 0;
}
