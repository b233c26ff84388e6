// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts for all tiles of a program, and buffers for what threads exchange. Passes.td has the rule;
// LayoutPlan decides, and this file writes the decisions down.
#include "codegen/Targets/NVPTX/KernelSteps.h"
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "codegen/Targets/NVPTX/LayoutPlan.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "passes/Debug.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "taylor-simt-assign-layouts"

namespace mlir::simt {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;
using namespace mlir::simt;
using tile::Axis;
using tile::TileType;

static TileType typeOf(Value value) { return cast<TileType>(value.getType()); }

namespace {

/// One kernel, with the plan made.
class Rewriter {
public:
  Rewriter(tile::KernelOp kernel, const LayoutPlan &plan, const LayoutOptions &options)
      : kernel(kernel), plan(plan), options(options), builder(kernel.getContext()) {}

  void run();

private:
  void setTypes();
  void rewrite(Operation *op);
  void rewriteMap(tile::MapOp map);
  void rewriteReduce(tile::ReduceOp reduce);
  void rewriteSlice(tile::SliceOp slice);
  void rewriteConcat(tile::ConcatOp concat);
  void rewriteDot(tile::DotOp dot);
  void rewriteExpand(tile::ExpandOp expand);
  void rewriteContract(tile::ContractOp contract);
  void stage(tile::LoadOp load);

  /// Sets the operand to its value in this layout.
  void demand(OpOperand &operand, LayoutAttr layout);
  Value convert(Value value, LayoutAttr layout);
  Value makeConversion(Value value, LayoutAttr layout);
  /// The value in a buffer: the one it was copied to, or one that it is written to after its definition.
  Value bufferOf(Value value);
  AllocOp alloc(StringRef name, ArrayRef<Axis> axes, Type elementType, Location loc);
  void replace(Operation *op, Value by);

  tile::KernelOp kernel;
  const LayoutPlan &plan;
  LayoutOptions options;
  OpBuilder builder;
  DenseMap<std::pair<Value, Attribute>, Value> conversions;
  DenseMap<Value, Value> buffers;
  SmallVector<Operation *> dead;
};

} // namespace

void Rewriter::run() {
  setTypes();
  SmallVector<Operation *> ops;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != kernel && !op->getParentOfType<tile::MapOp>())
      ops.push_back(op);
  });
  for (Operation *op : ops)
    rewrite(op);
  for (Operation *op : dead)
    op->erase();
  setNumWarps(kernel, options.warps);
}

void Rewriter::setTypes() {
  auto set = [&](Value value) {
    if (auto tile = dyn_cast<TileType>(value.getType()))
      value.setType(tile.withLayout(plan.getLayout(value)));
  };
  kernel.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), set);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), set);
  });
}

void Rewriter::rewrite(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case([&](tile::MapOp map) { rewriteMap(map); })
      .Case([&](tile::ReduceOp reduce) { rewriteReduce(reduce); })
      .Case([&](tile::SliceOp slice) { rewriteSlice(slice); })
      .Case([&](tile::ConcatOp concat) { rewriteConcat(concat); })
      .Case([&](tile::DotOp dot) { rewriteDot(dot); })
      .Case([&](tile::ExpandOp expand) { rewriteExpand(expand); })
      .Case([&](tile::ContractOp contract) { rewriteContract(contract); })
      .Case([&](tile::LoadOp load) { stage(load); })
      .Case([&](tile::ScanOp scan) {
        LayoutAttr serial = getSerialLayout(scan.getType(), scan.getAxis(), options.warps);
        for (OpOperand &operand : scan->getOpOperands())
          demand(operand, serial);
        scan.getResult().setType(scan.getType().withLayout(serial));
      })
      .Case([&](scf::ForOp loop) {
        for (auto [init, result] : llvm::zip(loop.getInitArgsMutable(), loop.getResults()))
          if (isa<TileType>(result.getType()))
            demand(init, layoutOf(result.getType()));
      })
      .Case([&](scf::YieldOp yield) {
        for (auto [operand, result] : llvm::zip(yield->getOpOperands(), yield->getParentOp()->getResults()))
          if (isa<TileType>(result.getType()))
            demand(operand, layoutOf(result.getType()));
      });
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

void Rewriter::demand(OpOperand &operand, LayoutAttr layout) {
  if (layoutOf(operand.get().getType()) != layout)
    operand.set(convert(operand.get(), layout));
}

Value Rewriter::convert(Value value, LayoutAttr layout) {
  if (layoutOf(value.getType()) == layout)
    return value;
  if (Value made = conversions.lookup({value, layout}))
    return made;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  // What it converts on the way is remembered in the same place.
  Value made = makeConversion(value, layout);
  conversions[{value, layout}] = made;
  return made;
}

Value Rewriter::makeConversion(Value value, LayoutAttr layout) {
  Location loc = value.getLoc();
  TileType type = typeOf(value).withLayout(layout);
  Operation *def = value.getDefiningOp();
  if (isRenumbering(layoutOf(value.getType()), layout, type))
    return RelayoutOp::create(builder, loc, type, value);
  if (isa_and_present<tile::SplatOp, tile::PositionOp, tile::LoadOp>(def)) {
    Operation *copy = builder.clone(*def);
    copy->getResult(0).setType(type);
    return copy->getResult(0);
  }
  if (auto map = dyn_cast_or_null<tile::MapOp>(def); map && type.getElementType().isIndex()) {
    // Positions have no size in memory; what is computed from them is computed again.
    auto copy = cast<tile::MapOp>(builder.clone(*map));
    for (OpResult result : copy->getResults())
      result.setType(typeOf(result).withLayout(layout.project(typeOf(result).getAxes())));
    for (OpOperand &operand : copy->getOpOperands())
      operand.set(convert(operand.get(), layout.project(typeOf(operand.get()).getAxes())));
    return copy->getResult(cast<OpResult>(value).getResultNumber());
  }
  if (isa_and_present<ReadOp>(def) && type.getElementType() == typeOf(value).getElementType())
    return ReadOp::create(builder, loc, type, cast<ReadOp>(def).getBuffer());
  Value buffer = bufferOf(value);
  // Another reader's buffer was written after the value too.
  for (Operation *user : value.getUsers())
    if (auto write = dyn_cast<WriteOp>(user); write && write.getBuffer() == buffer)
      builder.setInsertionPointAfter(write);
  return ReadOp::create(builder, loc, type, buffer);
}

AllocOp Rewriter::alloc(StringRef name, ArrayRef<Axis> axes, Type elementType, Location loc) {
  int64_t rowBytes = axes.back().getSize() * elementType.getIntOrFloatBitWidth() / 8, rows = 1, swizzle = 0;
  for (const Axis &axis : axes.drop_back())
    rows *= axis.getSize();
  if (axes.size() > 1)
    for (int64_t width : {128, 64, 32})
      if (!swizzle && rowBytes % width == 0 && rows * width % 128 == 0)
        swizzle = width;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(kernel.getBlock());
  auto type = BufferType::get(kernel.getContext(), 1, axes, elementType, swizzle);
  return AllocOp::create(builder, loc, type, name, /*ahead=*/false, IntegerAttr());
}

/// Whether the op reads its operand from a buffer, if the operand is loaded.
static bool readsBuffer(OpOperand &use) {
  if (auto contract = dyn_cast<tile::ContractOp>(use.getOwner()))
    return use.get() == contract.getInput();
  return isa<tile::DotOp, tile::ExpandOp>(use.getOwner());
}

/// The axis along which features read a value's components; empty where none do. They take a row per vector.
static StringRef getComponentsAxis(Value value) {
  for (OpOperand &use : value.getUses()) {
    if (auto expand = dyn_cast<tile::ExpandOp>(use.getOwner()))
      return expand.getAxis();
    if (auto contract = dyn_cast<tile::ContractOp>(use.getOwner()); contract && readsBuffer(use))
      return contract.getAxis();
  }
  return {};
}

Value Rewriter::bufferOf(Value value) {
  Value &buffer = buffers[value];
  if (buffer)
    return buffer;
  TileType type = typeOf(value);
  // Rows as a fragment's rows, so that pairs of registers are neighbours.
  StringRef columns = type.getAxes().back().getName();
  if (StringRef components = getComponentsAxis(value); !components.empty())
    columns = components;
  else if (std::optional<FragmentAxes> fragment = getFragmentAxes(layoutOf(type)))
    columns = fragment->columns;
  else if (!layoutOf(type).getRegisters().empty())
    columns = layoutOf(type).getRegisters().front().axis.getValue();
  SmallVector<Axis> axes;
  std::string name;
  for (const Axis &axis : type.getAxes()) {
    name += axis.getName();
    if (axis.getName() != columns)
      axes.push_back(axis);
  }
  axes.push_back(Axis::get(kernel.getContext(), columns, type.getSize(columns)));
  buffer = alloc(name, axes, type.getElementType(), value.getLoc());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  WriteOp::create(builder, value.getLoc(), value, buffer);
  return buffer;
}

void Rewriter::replace(Operation *op, Value by) {
  op->getResult(0).replaceAllUsesWith(by);
  op->erase();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Rewriter::rewriteMap(tile::MapOp map) {
  LayoutAttr frame = layoutOf(map.getResult(0).getType());
  for (Value result : map.getResults())
    result.setType(typeOf(result).withLayout(frame));
  for (OpOperand &operand : map->getOpOperands())
    demand(operand, frame.project(typeOf(operand.get()).getAxes()));
}

/// Over axes that several warps share: each warp for itself, then all together through a buffer.
void Rewriter::rewriteReduce(tile::ReduceOp reduce) {
  LayoutAttr layout = layoutOf(reduce.getInput().getType());
  SmallVector<AxisRef> over = llvm::map_to_vector(reduce.getOver().getAsRange<StringAttr>(),
                                                  [](StringAttr name) { return AxisRef(name); });
  LayoutAttr wanted = layoutOf(reduce.getType());
  if (llvm::none_of(over, [&](StringRef axis) { return layout.isAcrossWarps(axis); })) {
    // What reads it demands the layout that it was planned for.
    reduce.getResult().setType(reduce.getType().withLayout(layout.project(reduce.getType().getAxes())));
    return;
  }
  builder.setInsertionPoint(reduce);
  Location loc = reduce.getLoc();
  auto parts = ReduceWarpOp::create(builder, loc, reduce.getKind(), reduce.getInput(), over);
  TileType type = parts.getType();
  SmallVector<Digit> registers(wanted.getRegisters());
  registers.push_back({builder.getStringAttr(kWarpAxis), 1, type.getSize(kWarpAxis)});
  auto all = LayoutAttr::get(kernel.getContext(), wanted.getLanes(), wanted.getWarps(), registers);
  Value read = ReadOp::create(builder, loc, type.withLayout(all), bufferOf(parts));
  auto sum = tile::ReduceOp::create(builder, loc, reduce.getKind(), read, {kWarpAxis});
  sum.getResult().setType(reduce.getType());
  replace(reduce, sum);
}

void Rewriter::rewriteSlice(tile::SliceOp slice) {
  AxisSlice part{slice.getAxis(), int64_t(slice.getOffset()), int64_t(slice.getSize()),
                 int64_t(slice.getStride())};
  LayoutAttr cut = cutLayout(layoutOf(slice.getInput().getType()), part);
  if (!cut) {
    LayoutAttr whole = plan.getLocalLayout(slice.getInput());
    if (!cutLayout(whole, part))
      whole = getSerialLayout(typeOf(slice.getInput()), slice.getAxis(), options.warps);
    demand(slice.getInputMutable(), whole);
    cut = cutLayout(whole, part);
  }
  slice.getResult().setType(slice.getType().withLayout(cut));
}

void Rewriter::rewriteConcat(tile::ConcatOp concat) {
  int64_t sizeA = typeOf(concat.getA()).getSize(concat.getAxis());
  int64_t sizeB = typeOf(concat.getB()).getSize(concat.getAxis());
  bool interleaved = concat.getInterleaved();
  auto cuts = [&](LayoutAttr layout) {
    int64_t stride = interleaved ? 2 : 1;
    return std::pair(cutLayout(layout, {concat.getAxis(), 0, sizeA, stride}),
                     cutLayout(layout, {concat.getAxis(), interleaved ? 1 : sizeA, sizeB, stride}));
  };
  auto [a, b] = cuts(layoutOf(concat.getType()));
  if (!a || !b) {
    LayoutAttr whole = plan.getLocalLayout(concat.getResult());
    std::tie(a, b) = cuts(whole);
    if (!a || !b) {
      whole = getSerialLayout(concat.getType(), concat.getAxis(), options.warps);
      std::tie(a, b) = cuts(whole);
    }
    concat.getResult().setType(concat.getType().withLayout(whole));
  }
  demand(concat.getAMutable(), a);
  demand(concat.getBMutable(), b);
}

/// A load that products or features read, or that a loop makes in each iteration, goes through a buffer.
void Rewriter::stage(tile::LoadOp load) {
  bool feedsProduct = llvm::any_of(load->getUses(), readsBuffer);
  bool inLoop = load->getParentOfType<scf::ForOp>() && !load.getType().getAxes().empty();
  if (!(feedsProduct || inLoop) || !LayoutPlan::canCopy(load))
    return;
  TileType type = load.getType();
  // The array's order of axes: its last one is contiguous.
  SmallVector<Axis> axes;
  for (const tile::WindowAxis &axis : tile::getWindow(load.getArray().getType(), type, load.getArrayAxes(),
                                                      load.getTileAxes(), load.getOffsets()))
    if (!axis.tileAxis.empty())
      axes.push_back(Axis::get(kernel.getContext(), axis.tileAxis, axis.size));
  StringRef name = "tile";
  if (auto tensor = load.getArray().getDefiningOp<tile::TensorOp>())
    name = tensor.getName().split(':').second;
  else if (auto workspace = load.getArray().getDefiningOp<tile::WorkspaceOp>())
    name = workspace.getName();
  Value buffer = alloc(name, axes, type.getElementType(), load.getLoc());
  builder.setInsertionPoint(load);
  CopyOp::create(builder, load.getLoc(), load.getArray(), load.getArrayAxes(), load.getTileAxes(),
                 load.getOffsets(), buffer, Value(), load.getEnd(), load.getEndAxisAttr(), Value(), Value());
  bool onlyProducts = llvm::all_of(load->getUses(), readsBuffer);
  if (onlyProducts) {
    // Products find the buffer under the load's result, so the load goes last.
    buffers[load.getResult()] = buffer;
    dead.push_back(load);
    return;
  }
  // As late as possible: what is read waits in shared memory and not in registers.
  Operation *first = nullptr;
  for (Operation *user : load->getUsers()) {
    Operation *inBlock = load->getBlock()->findAncestorOpInBlock(*user);
    if (!first || inBlock->isBeforeInBlock(first))
      first = inBlock;
  }
  if (first)
    builder.setInsertionPoint(first);
  auto read = ReadOp::create(builder, load.getLoc(), type, buffer);
  buffers[read.getResult()] = buffer;
  replace(load, read);
}

void Rewriter::rewriteDot(tile::DotOp dot) {
  const ProductPlan &product = plan.getProduct(dot);
  bool aIsLeft = typeOf(dot.getA()).hasAxis(product.rows);
  Value left = aIsLeft ? dot.getA() : dot.getB(), right = aIsLeft ? dot.getB() : dot.getA();
  left = product.leftLayout ? convert(left, product.leftLayout) : bufferOf(left);
  right = bufferOf(right);
  builder.setInsertionPoint(dot);
  Value c = dot.getC() ? convert(dot.getC(), product.result) : Value();
  auto made =
      DotOp::create(builder, dot.getLoc(), dot.getType(), product.kind, left, right, c, dot.getOver());
  replace(dot, made);
}

void Rewriter::rewriteExpand(tile::ExpandOp expand) {
  Value input = bufferOf(expand.getInput());
  builder.setInsertionPoint(expand);
  replace(expand, ExpandOp::create(builder, expand.getLoc(), expand.getType(), input, expand.getAxisAttr(),
                                   expand.getFeatures(), expand.getStart(), expand.getToAttr(),
                                   expand.getWeightsAttr()));
}

/// The sums have a buffer of their own, since any component may be the next one. Those that a loop carries
/// for nothing else stay there while it runs.
void Rewriter::rewriteContract(tile::ContractOp contract) {
  Location loc = contract.getLoc();
  Value cotangent = convert(contract.getCotangent(), plan.getCotangentLayout(contract));
  Value input = bufferOf(contract.getInput());
  auto like = cast<BufferType>(input.getType());
  Value sums = alloc("sums", like.getAxes(), like.getElementType(), loc);
  builder.setInsertionPoint(contract);
  auto made =
      ContractOp::create(builder, loc, cotangent, contract.getFromAttr(), contract.getFeatures(),
                         contract.getStart(), input, contract.getAxisAttr(), contract.getWeightsAttr(), sums);
  scf::ForOp loop = getContractingLoop(contract);
  if (!loop) {
    builder.setInsertionPoint(made);
    WriteOp::create(builder, loc, contract.getC(), sums);
    builder.setInsertionPointAfter(made);
    replace(contract, ReadOp::create(builder, loc, contract.getType(), sums));
    return;
  }
  unsigned number = cast<BlockArgument>(contract.getC()).getArgNumber() - 1;
  builder.setInsertionPoint(loop);
  WriteOp::create(builder, loc, loop.getInitArgs()[number], sums);
  builder.setInsertionPointAfter(loop);
  Value result = loop.getResult(number);
  result.replaceAllUsesWith(ReadOp::create(builder, loc, cast<TileType>(result.getType()), sums));
  // What the loop carries is what it begins with, and nothing reads it.
  replace(contract, contract.getC());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// A product of a matrix and a vector is no work for matrix instructions: multiply, then add.
static void expandVectorProducts(tile::KernelOp kernel) {
  kernel.walk([&](tile::DotOp dot) {
    auto hasOwn = [&](Value operand) {
      return llvm::any_of(typeOf(operand).getAxes(),
                          [&](const Axis &axis) { return dot.getType().hasAxis(axis.getName()); });
    };
    if (hasOwn(dot.getA()) && hasOwn(dot.getB()))
      return;
    OpBuilder builder(dot);
    Type element = dot.getType().getElementType();
    auto widen = [&](OpBuilder &inner, Location loc, Value value) -> Value {
      return value.getType() == element ? value : arith::ExtFOp::create(inner, loc, element, value);
    };
    auto multiplied = tile::MapOp::create(
        builder, dot.getLoc(), {dot.getA(), dot.getB()}, [&](OpBuilder &inner, Location loc, ValueRange s) {
          return SmallVector<Value>{
              arith::MulFOp::create(inner, loc, widen(inner, loc, s[0]), widen(inner, loc, s[1]))};
        });
    SmallVector<AxisRef> over = llvm::map_to_vector(dot.getOver().getAsRange<StringAttr>(),
                                                    [](StringAttr name) { return AxisRef(name); });
    Value sum = tile::ReduceOp::create(builder, dot.getLoc(), tile::ReductionKind::sum,
                                       multiplied.getResult(0), over);
    if (dot.getC())
      sum = tile::MapOp::create(builder, dot.getLoc(), {sum, dot.getC()},
                                [](OpBuilder &inner, Location loc, ValueRange s) {
                                  return SmallVector<Value>{arith::AddFOp::create(inner, loc, s[0], s[1])};
                                })
                .getResult(0);
    dot.getResult().replaceAllUsesWith(sum);
    dot.erase();
  });
}

namespace {
struct AssignLayouts : simt::impl::AssignLayoutsBase<AssignLayouts> {
  using AssignLayoutsBase::AssignLayoutsBase;

  void runOnOperation() override {
    LayoutOptions layout;
    layout.f32Products = f32Products == taylor::F32Products::TF32 ? ProductKind::tf32 : ProductKind::fma;
    if (warps < 0 || warps > 16 || (warps & (warps - 1))) {
      getOperation().emitError() << "expected warps=1, 2, 4, 8 or 16, or 0 to choose, but got "
                                 << warps.getValue();
      return signalPassFailure();
    }
    if (failed(requirePrograms(getOperation())) || failed(requireNoLayouts(getOperation())))
      return signalPassFailure();
    WalkResult walk = getOperation().walk([&](tile::KernelOp kernel) -> WalkResult {
      expandVectorProducts(kernel);
      recomputeAfterLoops(kernel);
      Outcome outcome = startsProducts ? assign(kernel, layout, /*starts=*/true) : Outcome::NothingStarted;
      // Such a kernel is what it is on a target that starts none.
      if (outcome == Outcome::NothingStarted)
        outcome = assign(kernel, layout, /*starts=*/false);
      return outcome == Outcome::Done ? WalkResult::skip() : WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }

private:
  enum class Outcome { Done, NothingStarted, Failed };

  /// Plans the kernel, and rewrites it where the plan holds what was asked for.
  Outcome assign(tile::KernelOp kernel, LayoutOptions layout, bool starts) {
    layout.startsProducts = starts;
    layout.registers = starts ? startedRegisters : registers;
    layout.warps = warps ? warps.getValue() : chooseWarps(kernel, layout.registers);
    LayoutPlan plan(kernel, layout);
    if (failed(plan.run()))
      return Outcome::Failed;
    if (starts && !plan.startsProducts())
      return Outcome::NothingStarted;
    LDBG() << "@" << kernel.getSymName() << ": " << layout.warps << " warps"
           << (warps ? ", as asked for" : ", by what its loops hold in registers");
    ++numKernels;
    Rewriter(kernel, plan, layout).run();
    return Outcome::Done;
  }
};
} // namespace
