// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_DIALECT_TILE_TILEDIALECT_TD
#define TAYLOR_DIALECT_TILE_TILEDIALECT_TD
include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::mlir::tile";
  let summary = "programs of kernels over tiles with named axes; no target, no thread";
  let description = [{
    The level between mathematics and machine. A program is a sequence of kernels; a kernel is a
    grid of independent blocks; a block loads windows of arrays into tiles, computes on tiles, and
    stores windows. Tiles name their axes and do not order them, so a product contracts by name, and
    whether an axis lies in vector lanes, in rows of a matrix fragment or in a loop is the target's
    choice. README.md draws one loop.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
  let extraClassDeclaration = "void registerTypes();";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}
#endif
