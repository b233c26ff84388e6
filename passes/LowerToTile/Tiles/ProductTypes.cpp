// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Tiles/ProductTypes.h"

using namespace mlir;
using namespace mlir::tile;

bool taylor::isMatrixProduct(DotOp dot) {
  auto hasOwnAxis = [&](Value operand) {
    return llvm::any_of(cast<TileType>(operand.getType()).getAxes(),
                        [&](const Axis &axis) { return dot.getType().hasAxis(axis.name); });
  };
  return dot.getType().getElementType().isF32() && hasOwnAxis(dot.getA()) && hasOwnAxis(dot.getB());
}

FloatType taylor::getProductType(tile::ProgramOp program, ProductType otherwise) {
  switch (program.getPlanAttr() ? tile::getTileSizes(program).productType : otherwise) {
  case ProductType::F32:
    return {};
  case ProductType::BF16:
    return BFloat16Type::get(program.getContext());
  case ProductType::F16:
    return Float16Type::get(program.getContext());
  }
  llvm_unreachable("all types are listed");
}
