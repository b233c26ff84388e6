// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/LayoutPlan.h"
#include "codegen/Targets/NVPTX/KernelSteps.h"
#include "dialect/Refusal.h"
#include "dialect/Sources.h"
#include "passes/Debug.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

#define DEBUG_TYPE "taylor-simt-assign-layouts"

using namespace mlir;
using namespace mlir::simt;
using tile::Axis;
using tile::TileType;

static TileType typeOf(Value value) { return cast<TileType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

StringRef LayoutPlan::getContiguousAxis(tile::ArrayType array, TileType tile, ArrayAttr arrayAxes,
                                        ArrayAttr tileAxes, ValueRange offsets) {
  auto window = tile::getWindow(array, tile, arrayAxes, tileAxes, offsets);
  return window.empty() ? StringRef() : window.back().tileAxis;
}

bool LayoutPlan::canCopy(tile::LoadOp load) {
  tile::ArrayType array = load.getArray().getType();
  TileType type = load.getType();
  if (array.getElementType() != type.getElementType())
    return false;
  // An element of the array is many of the tile's: a buffer of the tile would hold each many times.
  if (llvm::any_of(tile::getWindow(array, type, load.getArrayAxes(), load.getTileAxes(), load.getOffsets()),
                   [](const tile::WindowAxis &axis) { return !axis.minusAxis.empty(); }))
    return false;
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  if (bytes >= 4)
    return true;
  StringRef contiguous =
      getContiguousAxis(array, type, load.getArrayAxes(), load.getTileAxes(), load.getOffsets());
  if (contiguous.empty())
    return false;
  bool known = array.getAxes().back().extent.isStatic() || load.getArray().getDefiningOp<tile::WorkspaceOp>();
  return known && type.getSize(contiguous) * bytes % 16 == 0;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult LayoutPlan::run() {
  if (failed(planProducts()))
    return failure();
  for (auto &[op, plan] : products)
    set(cast<tile::DotOp>(op).getResult(), plan.result);
  for (auto &[op, plan] : products)
    if (plan.leftLayout)
      set(plan.left, plan.leftLayout);
  kernel.walk([&](tile::ContractOp contract) { set(contract.getCotangent(), getCotangentLayout(contract)); });
  kernel.walk([&](tile::ScanOp scan) {
    set(scan.getInput(), getSerialLayout(scan.getType(), scan.getAxis(), options.warps));
  });
  propagate();
  setDefaults();
  return success();
}

static bool isLoaded(Value value) { return value.getDefiningOp<tile::LoadOp>() != nullptr; }

/// The axis of `tile` that is not summed over; empty where there are none or several.
static StringRef ownAxis(TileType tile, StringRef over) {
  StringRef own;
  for (const Axis &axis : tile.getAxes())
    if (axis.getName() != over) {
      if (!own.empty())
        return {};
      own = axis.getName();
    }
  return own;
}

LogicalResult LayoutPlan::readAxes(tile::DotOp dot, ProductPlan &plan) {
  if (dot.getOver().size() != 1)
    return taylor::refuse(dot.emitOpError())
           << "unsupported on this target: a product over " << dot.getOver().size() << " axes";
  plan.over = cast<StringAttr>(dot.getOver()[0]).getValue();
  TileType a = typeOf(dot.getA()), b = typeOf(dot.getB());
  StringRef ofA = ownAxis(a, plan.over), ofB = ownAxis(b, plan.over);
  if (ofA.empty() || ofB.empty())
    return taylor::refuse(dot.emitOpError()) << "unsupported on this target: a product of " << a << " and "
                                             << b << "; expected one axis of each beside the one summed over";
  Type element = a.getElementType();
  if (element != b.getElementType())
    return taylor::refuse(dot.emitOpError()) << "unsupported on this target: operands of different types, "
                                             << element << " and " << b.getElementType();
  ProductKind ofF32 = dot.getExact() ? ProductKind::fma : options.f32Products;
  plan.kind = element.isF64() ? ProductKind::fma : element.isF32() ? ofF32 : ProductKind::mma16;
  for (auto [tile, own] : {std::pair(a, ofA), std::pair(b, ofB)})
    for (StringRef axis : {own, StringRef(plan.over)})
      if (tile.getSize(axis) % 8)
        return taylor::refuse(dot.emitOpError())
               << "unsupported on this target: size " << tile.getSize(axis) << " of axis '" << axis << "' of "
               << tile << "; expected a multiple of 8, which channels of zeros fill up";
  plan.rows = ofA;
  plan.columns = ofB;
  plan.left = dot.getA();
  plan.right = dot.getB();
  return success();
}

/// A computed operand should stay where it was computed: its own axis in the rows, also those of what it is
/// multiplied into.
void LayoutPlan::vote() {
  auto voteFor = [&](StringRef rows, StringRef columns, int weight) {
    bool first = rows < columns;
    auto &[forFirst, forSecond] = votes[first ? std::pair(rows, columns) : std::pair(columns, rows)];
    (first ? forFirst : forSecond) += weight;
  };
  for (auto &[op, plan] : products)
    for (bool isLeft : {true, false}) {
      if (isLoaded(isLeft ? plan.left : plan.right))
        continue;
      StringRef own = isLeft ? plan.rows : plan.columns, other = isLeft ? plan.columns : plan.rows;
      voteFor(own, plan.over, 2);
      voteFor(own, other, 1);
    }
  kernel.walk([&](tile::ContractOp contract) {
    voteFor(ownAxis(contract.getCotangent().getType(), contract.getFrom()), contract.getFrom(), 4);
  });
}

StringRef LayoutPlan::rowsOf(StringRef x, StringRef y, StringRef otherwise) const {
  auto found = votes.find(x < y ? std::pair(x, y) : std::pair(y, x));
  if (found == votes.end() || found->second.first == found->second.second)
    return otherwise;
  return found->second.first > found->second.second ? std::min(x, y) : std::max(x, y);
}

FragmentShape LayoutPlan::shapeOf(StringRef rows, int64_t numRows, StringRef columns,
                                  int64_t numColumns) const {
  FragmentShape shape{rows, columns, numRows, numColumns, 1, 1};
  while (shape.rowWarps < options.warps && numRows / 16 % (2 * shape.rowWarps) == 0)
    shape.rowWarps *= 2;
  while (shape.rowWarps * shape.columnWarps < options.warps && numColumns / 8 % (2 * shape.columnWarps) == 0)
    shape.columnWarps *= 2;
  shape.warpsFirst = options.startsProducts && shape.rowWarps % 4 == 0;
  return shape;
}

/// Whether matrix units take the product as it is (PTX ISA, "Asynchronous Warpgroup Level Matrix
/// Multiply-Accumulate Instructions"): 64 rows for each four warps, and operands whose rows in memory are
/// swizzled.
bool LayoutPlan::canStart(tile::DotOp dot, const ProductPlan &plan, const FragmentShape &shape) const {
  constexpr int64_t kMostColumns = 256;
  return options.startsProducts && plan.kind == ProductKind::mma16 && options.warps % 4 == 0 &&
         shape.rowWarps == options.warps && shape.numRows % (16 * shape.rowWarps) == 0 &&
         shape.numColumns % 16 == 0 && shape.numColumns <= kMostColumns &&
         typeOf(dot.getA()).getSize(plan.over) % 16 == 0;
}

bool LayoutPlan::startsProducts() const {
  return llvm::any_of(products, [](const auto &entry) { return entry.second.kind == ProductKind::wgmma; });
}

bool LayoutPlan::dependsOnProduct(Value value) const {
  auto hasProduct = [](Value source) {
    Operation *op = source.getDefiningOp();
    return op && op->walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
  };
  return taylor::anySource(value, hasProduct, taylor::operandsWithin);
}

static int64_t registersOf(TileType tile, int64_t threads) {
  int64_t bytes =
      tile.getElementType().isIndex() ? 4 : (tile.getElementType().getIntOrFloatBitWidth() + 7) / 8;
  return tile.getNumElements() * bytes / 4 / threads;
}

static int64_t registersOf(scf::ForOp loop, int64_t threads) {
  return countLoopRegisters(loop, [&](TileType tile) { return registersOf(tile, threads); });
}

/// Registers of all that a kernel loads. Without products the loads wait for nothing, and the assembler tends
/// to start them all at once.
static int64_t countLoadedRegisters(tile::KernelOp kernel, int64_t threads) {
  int64_t registers = 0;
  kernel.walk([&](tile::LoadOp load) { registers += registersOf(load.getType(), threads); });
  return registers;
}

int64_t mlir::simt::chooseWarps(tile::KernelOp kernel, int64_t registers) {
  int64_t warps = 4;
  // What products leave to their operands is no measure where there are no products.
  constexpr int64_t kMostLoaded = 210;
  if (!kernel.walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted())
    while (warps < 16 && countLoadedRegisters(kernel, 32 * warps) > std::min(registers, kMostLoaded))
      warps *= 2;
  kernel.walk([&](scf::ForOp loop) {
    if (registersOf(loop, 32 * warps) > registers)
      warps = 8;
  });
  return warps;
}

/// Whether a left operand from outside of the product's loop can stay in registers next to what the loop
/// needs. That of a started product cannot: matrix units read it from shared memory as fast, and ptxas 13.0
/// gives registers that every iteration reads to an operand of the same size that an iteration computes.
bool LayoutPlan::fitsRegisters(tile::DotOp dot, const ProductPlan &plan) const {
  auto loop = dot->getParentOfType<scf::ForOp>();
  if (!loop || !loop.isDefinedOutsideOfLoop(plan.left))
    return true;
  if (plan.kind == ProductKind::wgmma)
    return false;
  int64_t rowWarps = shapeOf(plan.rows, typeOf(plan.left).getSize(plan.rows), plan.over, 8).rowWarps;
  return registersOf(loop, 32 * options.warps) + registersOf(typeOf(plan.left), 32 * rowWarps) <=
         options.registers;
}

LayoutAttr LayoutPlan::getCotangentLayout(tile::ContractOp contract) const {
  TileType panel = contract.getCotangent().getType();
  StringRef tokens = ownAxis(panel, contract.getFrom());
  FragmentShape shape =
      shapeOf(tokens, panel.getSize(tokens), contract.getFrom(), panel.getSize(contract.getFrom()));
  // All features of a token in one warp.
  shape.columnWarps = 1;
  return getFragmentLayout(contract.getContext(), shape, options.warps);
}

LogicalResult LayoutPlan::planProducts() {
  WalkResult walk = kernel.walk([&](tile::DotOp dot) -> WalkResult {
    ProductPlan plan;
    if (failed(readAxes(dot, plan)))
      return WalkResult::interrupt();
    products[dot] = plan;
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  vote();
  for (auto &[op, plan] : products) {
    auto dot = cast<tile::DotOp>(op);
    // Fragments have 16 rows, or all there are.
    auto canBeRows = [&](StringRef axis) {
      int64_t size = dot.getType().getSize(axis);
      return size % 16 == 0 || size == 8;
    };
    bool wanted = rowsOf(plan.rows, plan.columns, plan.rows) == plan.columns;
    if (!canBeRows(wanted ? plan.columns : plan.rows))
      wanted = !wanted;
    if (!canBeRows(wanted ? plan.columns : plan.rows))
      return taylor::refuse(dot.emitOpError()) << "unsupported on this target: a product of " << dot.getType()
                                               << "; expected a multiple of 16 along one of its axes";
    if (wanted) {
      std::swap(plan.rows, plan.columns);
      std::swap(plan.left, plan.right);
    }
    MLIRContext *context = dot.getContext();
    FragmentShape shape = shapeOf(plan.rows, dot.getType().getSize(plan.rows), plan.columns,
                                  dot.getType().getSize(plan.columns));
    plan.result = getFragmentLayout(context, shape, options.warps);
    if (canStart(dot, plan, shape))
      plan.kind = ProductKind::wgmma;
    bool computed = !isLoaded(plan.left) && plan.kind != ProductKind::fma;
    bool rowsAgree = rowsOf(plan.rows, plan.over, plan.rows) == plan.rows;
    bool whole = shape.rowWarps == options.warps || !dependsOnProduct(plan.left);
    bool isInRegisters = computed && rowsAgree && whole && fitsRegisters(dot, plan);
    LDBG() << dot.getLoc() << ": " << stringifyProductKind(plan.kind) << ", rows " << plan.rows
           << ", columns " << plan.columns << ", the left operand in "
           << (isInRegisters ? "registers" : "shared memory");
    if (!isInRegisters)
      continue;
    TileType left = typeOf(plan.left);
    FragmentShape ofLeft{plan.rows,      plan.over, left.getSize(plan.rows), left.getSize(plan.over),
                         shape.rowWarps, 1,         shape.warpsFirst};
    plan.leftLayout = getFragmentLayout(context, ofLeft, options.warps);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// From products to everything around them
//===----------------------------------------------------------------------===//

void LayoutPlan::set(Value value, LayoutAttr layout) {
  if (!layout || !isa<TileType>(value.getType()) || !layouts.try_emplace(value, layout).second)
    return;
  pending.push_back(value);
  // What a loop carries and what it gives have one layout, whichever is decided first; what goes in is
  // converted.
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
      set(loop.getTiedLoopResult(argument), layout);
  } else if (auto loop = value.getDefiningOp<scf::ForOp>()) {
    set(loop.getTiedLoopRegionIterArg(cast<OpResult>(value)), layout);
  }
}

void LayoutPlan::propagate() {
  // In the order of decisions: what is nearest to a product decides first.
  for (size_t next = 0; next < pending.size(); ++next) {
    Value value = pending[next];
    LayoutAttr layout = layouts.lookup(value);
    if (auto result = dyn_cast<OpResult>(value))
      toOperands(result, layout);
    else if (auto argument = dyn_cast<BlockArgument>(value);
             isa<scf::ForOp>(argument.getOwner()->getParentOp()))
      tie(argument.getOwner()->getParentOp(), argument.getArgNumber() - 1, layout);
    for (OpOperand &use : value.getUses())
      toUser(use, layout);
  }
  pending.clear();
}

/// One carried value of a loop, or one result of a branch, everywhere.
void LayoutPlan::tie(Operation *branch, unsigned result, LayoutAttr layout) {
  set(branch->getResult(result), layout);
  for (Region &region : branch->getRegions())
    if (!region.empty())
      set(region.front().getTerminator()->getOperand(result), layout);
  if (auto loop = dyn_cast<scf::ForOp>(branch)) {
    set(loop.getRegionIterArg(result), layout);
    set(loop.getInitArgs()[result], layout);
  }
}

void LayoutPlan::toOperands(OpResult result, LayoutAttr layout) {
  TypeSwitch<Operation *>(result.getOwner())
      .Case([&](tile::MapOp map) {
        for (Value other : map.getResults())
          set(other, layout);
        for (Value input : map.getInputs())
          set(input, layout.project(typeOf(input).getAxes()));
      })
      .Case([&](tile::SliceOp slice) {
        set(slice.getInput(), extendLayout(layout,
                                           {slice.getAxis(), (int64_t)slice.getOffset(),
                                            (int64_t)slice.getSize(), (int64_t)slice.getStride()},
                                           typeOf(slice.getInput()).getSize(slice.getAxis())));
      })
      .Case([&](tile::ConcatOp concat) {
        int64_t sizeA = typeOf(concat.getA()).getSize(concat.getAxis());
        int64_t sizeB = typeOf(concat.getB()).getSize(concat.getAxis());
        bool interleaved = concat.getInterleaved();
        int64_t stride = interleaved ? 2 : 1;
        set(concat.getA(), cutLayout(layout, {concat.getAxis(), 0, sizeA, stride}));
        set(concat.getB(), cutLayout(layout, {concat.getAxis(), interleaved ? 1 : sizeA, sizeB, stride}));
      })
      .Case([&](tile::ScanOp scan) { set(scan.getInput(), layout); })
      .Case([&](tile::ContractOp contract) { set(contract.getC(), layout); })
      .Case<scf::ForOp, scf::IfOp>([&](Operation *branch) { tie(branch, result.getResultNumber(), layout); });
}

void LayoutPlan::toUser(OpOperand &use, LayoutAttr layout) {
  Operation *user = use.getOwner();
  TypeSwitch<Operation *>(user)
      .Case([&](tile::MapOp map) {
        if (typeOf(use.get()).getAxes().size() == typeOf(map.getResult(0)).getAxes().size())
          set(map.getResult(0), layout);
      })
      .Case([&](tile::ReduceOp reduce) {
        // Beside products row scalars stay with their rows. Else a thread takes a few rows for itself, rather
        // than compute a copy of what its neighbours do.
        if (!products.empty())
          set(reduce.getResult(), layout.project(reduce.getType().getAxes()));
      })
      .Case([&](tile::SliceOp slice) {
        set(slice.getResult(), cutLayout(layout, {slice.getAxis(), (int64_t)slice.getOffset(),
                                                  (int64_t)slice.getSize(), (int64_t)slice.getStride()}));
      })
      .Case([&](tile::ConcatOp concat) {
        int64_t size = typeOf(use.get()).getSize(concat.getAxis());
        set(concat.getResult(),
            extendLayout(layout, {concat.getAxis(), 0, size, concat.getInterleaved() ? 2 : 1},
                         concat.getType().getSize(concat.getAxis())));
      })
      .Case([&](tile::ScanOp scan) {
        if (use.get() == scan.getInput())
          set(scan.getResult(), layout);
      })
      .Case([&](tile::ContractOp contract) {
        if (use.get() == contract.getC())
          set(contract.getResult(), layout);
      })
      .Case([&](scf::YieldOp yield) {
        if (isa<scf::ForOp, scf::IfOp>(yield->getParentOp()))
          tie(yield->getParentOp(), use.getOperandNumber(), layout);
      })
      .Case([&](scf::ForOp loop) {
        if (use.getOperandNumber() >= 3)
          tie(loop, use.getOperandNumber() - 3, layout);
      });
}

//===----------------------------------------------------------------------===//
// What is local to elements
//===----------------------------------------------------------------------===//

LayoutAttr LayoutPlan::getLocalLayout(Value value) const {
  TileType tile = typeOf(value);
  // The axis along which arrays of this kernel are contiguous, and the widest storage type along it.
  StringRef contiguous;
  int64_t bytes = 1, lanesAlong = 0;
  auto look = [&](tile::ArrayType array, TileType window, ArrayAttr arrayAxes, ArrayAttr tileAxes,
                  ValueRange offsets) {
    StringRef axis = getContiguousAxis(array, window, arrayAxes, tileAxes, offsets);
    if (axis.empty() || !tile.hasAxis(axis))
      return;
    bool isChannel = array.getAxes().back().extent.isStatic();
    if (contiguous.empty() || (isChannel && axis != contiguous && tile::isRole(contiguous))) {
      contiguous = axis;
      bytes = 1;
    }
    if (axis == contiguous)
      bytes = std::max<int64_t>(bytes, isChannel ? array.getElementType().getIntOrFloatBitWidth() / 8 : 16);
  };
  tile::KernelOp(kernel).walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      look(load.getArray().getType(), load.getType(), load.getArrayAxes(), load.getTileAxes(),
           load.getOffsets());
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      look(store.getArray().getType(), store.getTile().getType(), store.getArrayAxes(), store.getTileAxes(),
           store.getOffsets());
  });
  if (contiguous.empty())
    contiguous = tile.getAxes().empty() ? "" : tile.getAxes().front().getName();
  // Slices and joins along it must find whole runs in a thread; a reduction should end in one warp.
  auto limit = [&](int64_t size) { lanesAlong = std::gcd(lanesAlong, size & -size); };
  tile::KernelOp(kernel).walk([&](Operation *op) {
    if (auto slice = dyn_cast<tile::SliceOp>(op);
        slice && slice.getAxis() == contiguous && slice.getStride() == 1) {
      limit(slice.getSize());
      if (slice.getOffset())
        limit(slice.getOffset());
    } else if (auto concat = dyn_cast<tile::ConcatOp>(op);
               concat && concat.getAxis() == contiguous && !concat.getInterleaved()) {
      limit(typeOf(concat.getA()).getSize(contiguous));
      limit(typeOf(concat.getB()).getSize(contiguous));
    } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      for (auto axis : reduce.getOver().getAsRange<StringAttr>())
        if (axis.getValue() == contiguous && tile.getAxes().size() > 1)
          limit(int64_t(1) << 30);
    }
  });
  int64_t vector = std::max<int64_t>(16 / bytes, 1);
  if (lanesAlong)
    vector = std::min(vector, lanesAlong);
  return getBlockedLayout(tile, contiguous, vector, lanesAlong, options.warps);
}

void LayoutPlan::setDefaults() {
  // The largest first: the others follow from it by projection.
  SmallVector<Value> open;
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isa<TileType>(result.getType()) && !layouts.contains(result))
        open.push_back(result);
  });
  llvm::stable_sort(open,
                    [](Value a, Value b) { return typeOf(a).getNumElements() > typeOf(b).getNumElements(); });
  for (Value value : open) {
    if (layouts.contains(value))
      continue;
    set(value, getLocalLayout(value));
    propagate();
  }
}
