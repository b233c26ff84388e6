// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products on the matrix unit: which run there, and which sweeps take them up.
#include "codegen/Targets/CPU/KernelPlan.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

/// Chooses the products that run on the matrix unit. It knows their least sizes, and how the unit takes
/// operands.
class KernelPlan::ProductChooser {
public:
  explicit ProductChooser(KernelPlan &plan) : plan(plan) {}

  void run() {
    plan.kernel.walk([&](DotOp dot) {
      if (std::optional<TileProduct> product = choose(dot))
        plan.tileProducts.try_emplace(dot, *product);
    });
  }

private:
  std::optional<TileProduct> choose(DotOp dot) const {
    // A smaller product leaves most of a block empty.
    constexpr int64_t least = 16;
    TileType type = dot.getType();
    StringAttr lane = plan.laneOf(dot.getResult());
    if (!plan.target.hasTiles || !lane || !type.getElementType().isF32() || type.getSize(lane) < least ||
        !plan.isNarrow(dot.getA()) || !plan.isNarrow(dot.getB()))
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
      if (StringAttr contiguous = plan.laneOf(operand); llvm::is_contained(over, contiguous))
        product.pairs = contiguous;
    if (!product.row || a.getSize(product.row) < least || a.getSize(product.pairs) < least ||
        a.getSize(product.pairs) % 2)
      return std::nullopt;
    return product;
  }

  KernelPlan &plan;
};

void KernelPlan::chooseTileProducts() { ProductChooser(*this).run(); }

/// Runs `body` on each block inside loops and branches of the list.
template <typename Steps, typename Body> static void forInnerBlocks(Steps &list, Body body) {
  for (Step &step : list)
    if (step.kind == Step::Control)
      for (Region &region : step.op->getRegions())
        for (Block &inner : region)
          body(inner);
}

/// Brings sweeps and products on the matrix unit together. It knows who else reads the sums of a product, and
/// its operands.
class KernelPlan::ProductMover {
public:
  explicit ProductMover(KernelPlan &plan) : plan(plan) {}

  void run() {
    moveProducts(*plan.kernel.getBlock());
    storePairs(*plan.kernel.getBlock());
  }

private:
  /// Moves products into the one sweep that reads them.
  void moveProducts(Block &block) {
    std::vector<Step> &list = plan.steps[&block];
    forInnerBlocks(list, [&](Block &inner) { moveProducts(inner); });
    // The sweep that alone reads the sums of a product, element by element.
    auto readerOf = [&](Sweep &sweep) -> Sweep * {
      DotOp dot = sweep.dot;
      if (!dot || dot.getC() || dot.getWhere() || sweep.axes.size() != 2 || !plan.tileProductOf(dot) ||
          dot->use_empty())
        return nullptr;
      Sweep *reader = nullptr;
      for (Operation *user : dot->getUsers()) {
        Sweep *next = plan.sweepOf.lookup(user);
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
      plan.sweepOf[step.sweep->dot] = reader;
      return true;
    });
  }

  /// Has sweeps make copies with pairs of what they compute.
  void storePairs(Block &block) {
    std::vector<Step> &list = plan.steps[&block];
    forInnerBlocks(list, [&](Block &inner) { storePairs(inner); });
    llvm::erase_if(list, [&](Step &step) {
      if (step.kind != Step::Pack || !step.pack.pairs || !plan.target.hasTiles)
        return false;
      auto [value, lane, pairs] = step.pack;
      auto map = value.getDefiningOp<MapOp>();
      const Sweep *sweep = map && !plan.isInline(value) ? plan.sweepOf.lookup(map) : nullptr;
      auto type = cast<TileType>(value.getType());
      if (!sweep || sweep->dot || sweep->lane != lane || sweep->axes.size() != 2 ||
          type.getAxes().size() != 2 || type.getSize(pairs) % 2 || plan.pairStores.contains(value))
        return false;
      plan.pairStores.try_emplace(value, step.pack);
      return true;
    });
  }

  KernelPlan &plan;
};

void KernelPlan::moveTileProducts() { ProductMover(*this).run(); }
