// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products on the matrix unit: which run there, and where their operands and sums lie.
#include "codegen/Targets/CPU/KernelPlan.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

std::optional<TileProduct> KernelPlan::tileProductOf(DotOp dot) const {
  // A smaller product leaves most of a block empty.
  constexpr int64_t least = 16;
  TileType type = dot.getType();
  StringAttr lane = laneOf(dot.getResult());
  if (!target.hasTiles || !lane || !type.getElementType().isF32() || type.getSize(lane) < least ||
      !isNarrow(dot.getA()) || !isNarrow(dot.getB()))
    return std::nullopt;
  TileProduct product{dot.getA(), dot.getB(), {}, lane, {}};
  if (cast<TileType>(product.a.getType()).hasAxis(lane))
    std::swap(product.a, product.b);
  TileType a = cast<TileType>(product.a.getType()), b = cast<TileType>(product.b.getType());
  if (a.hasAxis(lane))
    return std::nullopt;
  for (const Axis &axis : a.getAxes())
    if (type.hasAxis(axis.getName()) && !b.hasAxis(axis.getName()) &&
        (!product.row || axis.getSize() > a.getSize(product.row)))
      product.row = axis.name;
  // Along what is contiguous already, A's first: it takes more to transpose that one.
  auto over = llvm::to_vector(dot.getOver().getAsRange<StringAttr>());
  product.pairs = over.back();
  for (Value operand : {product.b, product.a})
    if (StringAttr contiguous = laneOf(operand); llvm::is_contained(over, contiguous))
      product.pairs = contiguous;
  if (!product.row || a.getSize(product.row) < least || a.getSize(product.pairs) < least ||
      a.getSize(product.pairs) % 2)
    return std::nullopt;
  return product;
}

bool KernelPlan::usesTiles() const {
  bool uses = false;
  KernelOp(kernel).walk([&](DotOp dot) { uses |= tileProductOf(dot).has_value(); });
  return uses;
}

/// Sweeps of the blocks inside a block, then of the block itself.
template <typename Steps, typename Body> static void forInnerBlocks(Steps &list, Body body) {
  for (Step &step : list)
    if (step.kind == Step::Control)
      for (Region &region : step.op->getRegions())
        for (Block &inner : region)
          body(inner);
}

void KernelPlan::moveProducts(Block &block) {
  std::vector<Step> &list = steps[&block];
  forInnerBlocks(list, [&](Block &inner) { moveProducts(inner); });
  // The sweep that alone reads the sums of a product, element by element.
  auto readerOf = [&](Sweep &sweep) -> Sweep * {
    DotOp dot = sweep.dot;
    if (!dot || dot.getC() || dot.getWhere() || sweep.axes.size() != 2 || !tileProductOf(dot) ||
        dot->use_empty())
      return nullptr;
    Sweep *reader = nullptr;
    for (Operation *user : dot->getUsers()) {
      Sweep *next = sweepOf.lookup(user);
      if (!next || next->dot || isa<SliceOp>(user) || (reader && reader != next))
        return nullptr;
      reader = next;
    }
    bool isSame =
        reader->lane == sweep.lane && reader->axes.size() == 2 &&
        llvm::all_of(sweep.axes, [&](const Axis &axis) { return llvm::is_contained(reader->axes, axis); });
    return isSame ? reader : nullptr;
  };
  llvm::erase_if(list, [&](Step &step) {
    if (step.kind != Step::SweepStep)
      return false;
    Sweep *reader = readerOf(*step.sweep);
    if (!reader || llvm::none_of(list, [&](Step &other) { return other.sweep.get() == reader; }))
      return false;
    reader->products.push_back(step.sweep->dot);
    sweepOf[step.sweep->dot] = reader;
    return true;
  });
}

bool KernelPlan::readsOwnPlace(Value value, const Sweep &sweep) const {
  bool isCopied = llvm::any_of(packs, [&](const Copy &copy) {
    const Copy *made = pairStoreOf(value);
    return copy.value == value && !(made && *made == copy);
  });
  return isCopied || llvm::any_of(value.getUsers(), [&](Operation *user) {
           auto dot = dyn_cast<DotOp>(user);
           std::optional<TileProduct> product = dot ? tileProductOf(dot) : std::nullopt;
           if (product && product->b == value && product->a != value)
             return false;
           return bool(product) || sweepOf.lookup(user) != &sweep;
         });
}

void KernelPlan::storePairs(Block &block) {
  std::vector<Step> &list = steps[&block];
  forInnerBlocks(list, [&](Block &inner) { storePairs(inner); });
  llvm::erase_if(list, [&](Step &step) {
    if (step.kind != Step::Pack || !step.pack.pairs || !target.hasTiles)
      return false;
    auto [value, lane, pairs] = step.pack;
    auto map = value.getDefiningOp<MapOp>();
    const Sweep *sweep = map && !isInline(value) ? sweepOf.lookup(map) : nullptr;
    auto type = cast<TileType>(value.getType());
    if (!sweep || sweep->dot || sweep->lane != lane || sweep->axes.size() != 2 ||
        type.getAxes().size() != 2 || type.getSize(pairs) % 2 || pairStores.contains(value))
      return false;
    pairStores.try_emplace(value, step.pack);
    return true;
  });
}
