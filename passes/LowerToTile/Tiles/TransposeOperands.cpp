// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of products with what is summed contiguous, once per head. Passes.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Passes.h"
#include "passes/LowerToTile/Tiles/ProductTypes.h"

#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#define DEBUG_TYPE "taylor-transpose-operands"

namespace taylor {
#define GEN_PASS_DEF_TRANSPOSEOPERANDSPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

using namespace mlir;
using namespace mlir::tile;

namespace {

/// Loops of the kernel around an operation.
unsigned loopsAround(Operation *op) {
  unsigned loops = 0;
  for (; !isa<KernelOp>(op); op = op->getParentOp())
    loops += isa<scf::ForOp>(op->getParentOp());
  return loops;
}

unsigned loopsAround(Value value) {
  if (Operation *op = value.getDefiningOp())
    return loopsAround(op);
  Operation *owner = value.getParentBlock()->getParentOp();
  return isa<KernelOp>(owner) ? 0 : loopsAround(owner) + isa<scf::ForOp>(owner);
}

/// The product whose sums a tile is computed from, element by element.
DotOp findScores(Value tile, SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = tile.getDefiningOp();
  if (!op || !seen.insert(op).second)
    return {};
  if (auto dot = dyn_cast<DotOp>(op))
    return dot;
  if (isa<MapOp>(op))
    for (Value input : op->getOperands())
      if (cast<TileType>(input.getType()).getAxes().size() == 2)
        if (DotOp dot = findScores(input, seen))
          return dot;
  return {};
}

/// One program.
class Transposing {
public:
  Transposing(ProgramOp program) : program(program) {}

  /// Returns the number of arrays.
  size_t run() {
    for (KernelOp kernel : llvm::to_vector(program.getBlock()->getOps<KernelOp>())) {
      SmallVector<std::pair<OpOperand *, LoadOp>> reads;
      kernel.walk([&](DotOp dot) {
        if (!taylor::isMatrixProduct(dot) || dot.getOver().size() != 1)
          return;
        for (auto [operand, other] :
             {std::pair(&dot.getAMutable(), dot.getB()), std::pair(&dot.getBMutable(), dot.getA())})
          if (LoadOp load = loadToTranspose(dot, operand->get(), other, kernel))
            reads.push_back({operand, load});
      });
      for (auto [operand, load] : reads) {
        OpBuilder b(load);
        auto copy = cast<LoadOp>(b.clone(*load));
        copy.getArrayMutable().assign(transposed(load, kernel));
        operand->set(copy);
      }
    }
    return arrays.size();
  }

private:
  /// The load of an operand that lies the other way round, in the loop along whose axis the product sums.
  LoadOp loadToTranspose(DotOp dot, Value operand, Value other, KernelOp kernel) {
    auto load = operand.getDefiningOp<LoadOp>();
    StringAttr summed = cast<StringAttr>(dot.getOver()[0]);
    if (!load || loopsAround(load.getOperation()) == 0 || load.getType().getAxes().size() != 2)
      return {};
    // The array ends with the channels, all of which the tile has; tokens are another of its axes.
    ArrayType array = load.getArray().getType();
    auto window =
        getWindow(array, load.getType(), load.getArrayAxes(), load.getTileAxes(), load.getOffsets());
    const WindowAxis &last = window.back();
    const Axis &channels = array.getAxes().back();
    if (last.tileAxis.empty() || last.tileAxis == summed || !last.minusAxis.empty() || last.offset ||
        !channels.extent.isStatic() || channels.getSize() != last.size)
      return {};
    for (auto [axis, entry] : llvm::zip(array.getAxes().drop_back(), ArrayRef(window).drop_back())) {
      bool isRow = !entry.tileAxis.empty();
      if (!entry.minusAxis.empty() || (isRow && entry.tileAxis != summed) ||
          (isRow && (axis.extent.isStatic() || axis.extent.isParts() || axis.extent.getSize() != 1)))
        return {};
    }
    // What it meets is computed from scores whose rows come with the loop and whose other axis stays.
    SmallPtrSet<Operation *, 8> seen;
    DotOp scores = other.getDefiningOp<MapOp>() ? findScores(other, seen) : DotOp();
    if (!scores || scores.getType().getAxes().size() != 2 || !scores.getType().hasAxis(summed))
      return {};
    Value moving = scores.getA(), staying = scores.getB();
    if (!cast<TileType>(moving.getType()).hasAxis(summed))
      std::swap(moving, staying);
    if (cast<TileType>(staying.getType()).hasAxis(summed) || loopsAround(staying) >= loopsAround(moving))
      return {};
    // Nothing writes the array from here on, and no call leaves it out.
    for (Operation *user : load.getArray().getUsers()) {
      if (isa<RequestedOp>(user))
        return {};
      KernelOp at = user->getParentOfType<KernelOp>();
      if (isa<StoreOp, AccumulateOp>(user) && !at->isBeforeInBlock(kernel))
        return {};
    }
    return load;
  }

  /// The array with channels before tokens, written by a kernel before the first one that reads it.
  Value transposed(LoadOp load, KernelOp kernel) {
    Value &made = arrays[load.getArray()];
    if (made)
      return made;
    constexpr int64_t tokens = 64; // of a block of the kernel that writes it
    ArrayType type = load.getArray().getType();
    SmallVector<Axis> axes(type.getAxes());
    auto window = getWindow(type, load.getType(), load.getArrayAxes(), load.getTileAxes(), load.getOffsets());
    size_t row =
        llvm::find_if(window, [](const WindowAxis &axis) { return !axis.tileAxis.empty(); }) - window.begin();
    Axis along = axes[row], channels = axes.back();
    axes.erase(axes.begin() + row);
    axes.push_back(along);
    OpBuilder b(program.getContext());
    b.setInsertionPointAfterValue(load.getArray());
    while (isa_and_nonnull<TensorOp, WorkspaceOp>(&*b.getInsertionPoint()))
      b.setInsertionPointAfter(&*b.getInsertionPoint());
    Location loc = load.getLoc();
    Type element = load.getType().getElementType();
    StringRef name = load.getArray().getDefiningOp()->getAttrOfType<StringAttr>("name").getValue();
    std::string number = std::to_string(arrays.size());
    LDBG() << "@" << kernel.getSymName() << ": reads " << name << " with " << along.getName() << " last";
    made = WorkspaceOp::create(b, loc, ArrayType::get(b.getContext(), axes, element),
                               b.getStringAttr("transposed." + number + "." + name.rsplit(':').second),
                               b.getStringAttr("a matrix unit reads it with what is summed contiguous"));

    SmallVector<ExtentAttr> grid;
    for (size_t i = 0; i + 1 < type.getAxes().size(); ++i)
      grid.push_back(i == row ? ExtentAttr::get(along.extent.getRole(), tokens) : type.getAxes()[i].extent);
    b.setInsertionPoint(kernel);
    auto writer = KernelOp::create(b, loc, "transpose_" + number, grid);
    b.setInsertionPointToStart(writer.getBlock());
    SmallVector<Attribute> names;
    SmallVector<Value> offsets;
    for (size_t i = 0; i + 1 < type.getAxes().size(); ++i) {
      Value at = writer.getBlock()->getArgument(unsigned(i));
      if (i == row)
        at = arith::MulIOp::create(b, loc, at, arith::ConstantIndexOp::create(b, loc, tokens));
      names.push_back(type.getAxes()[i].name);
      offsets.push_back(at);
    }
    auto tile = TileType::get(b.getContext(),
                              {channels, Axis{along.name, ExtentAttr::get(b.getContext(), tokens)}}, element);
    Value block = LoadOp::create(b, loc, tile, load.getArray(), b.getArrayAttr(names), b.getArrayAttr(names),
                                 offsets, /*inside=*/false);
    StoreOp::create(b, loc, block, made, b.getArrayAttr(names), b.getArrayAttr(names), offsets);
    return made;
  }

  ProgramOp program;
  llvm::DenseMap<Value, Value> arrays;
};

struct TransposeOperandsPass : taylor::impl::TransposeOperandsPassBase<TransposeOperandsPass> {
  using TransposeOperandsPassBase::TransposeOperandsPassBase;

  void runOnOperation() override {
    for (ProgramOp program : getOperation().getOps<ProgramOp>())
      if (isPlanned(program, [](const taylor::TileSizes &sizes) { return sizes.transposesOperands; }))
        numTransposed += Transposing(program).run();
  }
};

} // namespace
