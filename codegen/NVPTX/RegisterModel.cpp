// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/RegisterModel.h"
#include "codegen/NVPTX/Simt/SimtDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::simt;
using tile::TileType;

int64_t mlir::simt::countLoopRegisters(scf::ForOp loop, function_ref<int64_t(TileType)> countRegisters) {
  int64_t carried = 0, computed = 0;
  for (Type type : loop.getResultTypes())
    if (auto tile = dyn_cast<TileType>(type))
      carried += countRegisters(tile);
  loop.walk([&](Operation *op) {
    TypeSwitch<Operation *>(op).Case<tile::DotOp, DotOp>([&](auto dot) {
      if (!dot.getC())
        computed += countRegisters(dot.getType());
    });
  });
  return carried + carried / 4 + computed;
}
