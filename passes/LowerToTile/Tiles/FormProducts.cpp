// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum of the products of two matrices as a product of matrices. Passes.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Passes.h"

#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#define DEBUG_TYPE "taylor-form-products"

namespace taylor {
#define GEN_PASS_DEF_FORMPRODUCTSPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

using namespace mlir;
using namespace mlir::tile;

namespace {

/// Whether a tile has whole blocks of `over` and of one axis more.
bool isMatrix(TileType type, StringRef over) {
  constexpr int64_t block = 8; // what every target multiplies
  return type.getAxes().size() == 2 && type.hasAxis(over) &&
         llvm::all_of(type.getAxes(), [&](const Axis &axis) { return axis.getSize() % block == 0; });
}

/// The map with one result that makes a value for one reader alone.
MapOp onlyMap(Value value) {
  auto map = value.getDefiningOp<MapOp>();
  return map && map.getNumResults() == 1 && map->hasOneUse() ? map : MapOp();
}

BlockArgument argumentOf(MapOp map, Value scalar) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  return argument && argument.getOwner() == map.getBlock() ? argument : BlockArgument();
}

Value tileOf(MapOp map, BlockArgument argument) { return map.getInputs()[argument.getArgNumber()]; }

/// The tiles whose elements a map multiplies, and nothing else.
std::optional<std::pair<Value, Value>> factorsOf(MapOp map) {
  auto product = map.getBlock()->getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
  if (map.getInputs().size() != 2 || !product || product->getBlock() != map.getBlock())
    return std::nullopt;
  BlockArgument a = argumentOf(map, product.getLhs()), b = argumentOf(map, product.getRhs());
  if (!a || !b || a == b)
    return std::nullopt;
  return std::pair(tileOf(map, a), tileOf(map, b));
}

/// A map that puts 0 where a condition along one axis fails, such as beyond the last token.
struct ProductMask {
  MapOp map;
  arith::SelectOp select;
  BlockArgument kept;

  static std::optional<ProductMask> of(MapOp map, AxisRef axis) {
    auto select = map.getBlock()->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
    if (!select || select->getBlock() != map.getBlock() ||
        !matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
      return std::nullopt;
    BlockArgument kept = argumentOf(map, select.getTrueValue());
    if (!kept || !kept.hasOneUse())
      return std::nullopt;
    for (Value tile : map.getInputs())
      for (const Axis &other : cast<TileType>(tile.getType()).getAxes())
        if (tile != tileOf(map, kept) && other.getName() != axis)
          return std::nullopt;
    return ProductMask{map, select, kept};
  }

  /// The same of another tile.
  Value apply(OpBuilder &builder, Value tile) {
    SmallVector<Value> inputs(map.getInputs());
    inputs[kept.getArgNumber()] = tile;
    auto masked =
        MapOp::create(builder, map.getLoc(), inputs, [&](OpBuilder &inner, Location, ValueRange scalars) {
          IRMapping mapping;
          mapping.map(map.getBlock()->getArguments(), scalars);
          for (Operation &op : map.getBlock()->without_terminator())
            inner.clone(op, mapping);
          return SmallVector<Value>{mapping.lookup(select.getResult())};
        });
    return masked.getResult(0);
  }
};

int64_t bytesOf(TileType type) {
  return type.getNumElements() * type.getElementType().getIntOrFloatBitWidth() / 8;
}

bool formProduct(ReduceOp reduce, int64_t mostBytes) {
  if (reduce.getKind() != ReductionKind::sum || reduce.getOver().size() != 1)
    return false;
  auto over = cast<StringAttr>(reduce.getOver()[0]);
  MapOp map = onlyMap(reduce.getInput());
  std::optional<ProductMask> mask = map ? ProductMask::of(map, over) : std::nullopt;
  MapOp product = mask ? onlyMap(tileOf(map, mask->kept)) : map;
  auto factors = product ? factorsOf(product) : std::nullopt;
  if (!factors)
    return false;
  auto [left, right] = *factors;
  auto a = cast<TileType>(left.getType()), b = cast<TileType>(right.getType());
  Type element = reduce.getType().getElementType();
  // Products of 16 bits have sums of f32, and this sum has none.
  bool sameElements =
      a.getElementType() == element && b.getElementType() == element && (element.isF32() || element.isF64());
  // Two matrices with `over` and different axes next to it: three axes together.
  if (!sameElements || !isMatrix(a, over) || !isMatrix(b, over) || reduce.getType().getAxes().size() != 2)
    return false;
  if (mostBytes && bytesOf(a) + bytesOf(b) > mostBytes) {
    LDBG() << reduce.getLoc() << ": stays, since operands of " << bytesOf(a) + bytesOf(b)
           << " bytes are more than " << mostBytes;
    return false;
  }
  LDBG() << reduce.getLoc() << ": a product over " << over;
  OpBuilder builder(reduce);
  if (mask) { // both: what one has there may be no finite number
    left = mask->apply(builder, left);
    right = mask->apply(builder, right);
  }
  auto dot = DotOp::create(builder, reduce.getLoc(), left, right, {over.getValue()});
  dot.setExact(true);
  reduce.replaceAllUsesWith(dot.getResult());
  for (Operation *op : {reduce.getOperation(), map.getOperation(), mask ? product.getOperation() : nullptr})
    if (op)
      op->erase();
  return true;
}

struct FormProducts : taylor::impl::FormProductsPassBase<FormProducts> {
  using FormProductsPassBase::FormProductsPassBase;

  void runOnOperation() override {
    for (ProgramOp program : getOperation().getOps<ProgramOp>()) {
      int64_t mostBytes = program.getPlanAttr() ? getTileSizes(program).productBytes : productBytes;
      SmallVector<ReduceOp> reductions;
      program.walk([&](ReduceOp reduce) { reductions.push_back(reduce); });
      for (ReduceOp reduce : reductions)
        if (formProduct(reduce, mostBytes))
          ++numFormed;
    }
  }
};

} // namespace
