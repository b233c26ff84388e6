// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of products in two numbers of a 16-bit type. Passes.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Passes.h"
#include "passes/LowerToTile/Tiles/ProductTypes.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#define DEBUG_TYPE "taylor-split-products"

namespace taylor {
#define GEN_PASS_DEF_SPLITPRODUCTSPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

using namespace mlir;
using namespace mlir::tile;

namespace {

/// One program: after each product stand those with what rounding takes from its operands.
class Splitting {
public:
  Splitting(ProgramOp program, FloatType type) : program(program), type(type) {}

  /// Returns the number of products that were added.
  unsigned run() {
    SmallVector<DotOp> dots;
    program.walk([&](DotOp dot) {
      if (taylor::isMatrixProduct(dot))
        dots.push_back(dot);
    });
    for (auto workspace : program.getBlock()->getOps<WorkspaceOp>())
      if (isOperandMemory(workspace))
        operandMemory.insert(workspace);
    unsigned count = 0;
    for (DotOp dot : dots)
      count += addRests(dot);
    return count;
  }

private:
  /// Whether all that is read of it are operands of products: then memory holds their rests too.
  static bool isOperandMemory(WorkspaceOp workspace) {
    return workspace.getType().getElementType().isF32() &&
           llvm::all_of(workspace->getUsers(), [](Operation *user) {
             return isa<StoreOp>(user) ||
                    (isa<LoadOp>(user) && llvm::all_of(user->getUsers(), [](Operation *read) {
                       auto dot = dyn_cast<DotOp>(read);
                       return dot && taylor::isMatrixProduct(dot);
                     }));
           });
  }

  unsigned addRests(DotOp dot) {
    OpBuilder b(type.getContext());
    SmallVector<std::pair<Value, Value>> products;
    if (Value rest = restOf(dot.getA()))
      products.push_back({rest, dot.getB()});
    if (Value rest = restOf(dot.getB()))
      products.push_back({dot.getA(), rest});
    Value sum = dot;
    llvm::SmallPtrSet<Operation *, 4> made{dot};
    b.setInsertionPointAfter(dot);
    for (auto [left, right] : products) {
      auto next = cast<DotOp>(b.clone(*dot));
      next.getAMutable().assign(left);
      next.getBMutable().assign(right);
      next.getCMutable().assign(sum);
      made.insert(next);
      sum = next;
    }
    dot.getResult().replaceAllUsesExcept(sum, made);
    LDBG() << dot.getLoc() << ": " << products.size() << " operands have a rest";
    return products.size();
  }

  /// What rounding to the narrow type takes from an f32 tile; null where that is nothing.
  Value restOf(Value tile) {
    if (auto it = rests.find(tile); it != rests.end())
      return it->second;
    Value rest;
    if (!isExact(tile)) {
      auto load = tile.getDefiningOp<LoadOp>();
      auto workspace = load ? load.getArray().getDefiningOp<WorkspaceOp>() : WorkspaceOp();
      rest =
          workspace && operandMemory.contains(workspace) ? loadRest(load, workspace) : subtractRounded(tile);
    }
    return rests[tile] = rest;
  }

  Value subtractRounded(Value tile) {
    OpBuilder b(type.getContext());
    b.setInsertionPointAfterValue(tile);
    Location loc = tile.getLoc();
    auto map = MapOp::create(b, loc, TypeRange{tile.getType()}, ValueRange{tile});
    b.setInsertionPointToEnd(map.getBlock());
    YieldOp::create(b, loc, taylor::buildRest(b, loc, map.getBlock()->getArgument(0), type));
    return map.getResult(0);
  }

  Value loadRest(LoadOp load, WorkspaceOp workspace) {
    WorkspaceOp rest = restMemory.lookup(workspace);
    OpBuilder b(workspace);
    if (!rest) {
      b.setInsertionPointAfter(workspace);
      rest = WorkspaceOp::create(b, workspace.getLoc(), workspace.getType(),
                                 b.getStringAttr(workspace.getName() + ".rest"), workspace.getBecauseAttr());
      restMemory[workspace] = rest;
      for (Operation *user : llvm::to_vector(workspace->getUsers()))
        if (auto store = dyn_cast<StoreOp>(user)) {
          b.setInsertionPointAfter(store);
          auto copy = cast<StoreOp>(b.clone(*store));
          copy.getArrayMutable().assign(rest);
          copy.getTileMutable().assign(storedRest(store.getTile()));
        }
    }
    b.setInsertionPointAfter(load);
    auto copy = cast<LoadOp>(b.clone(*load));
    copy.getArrayMutable().assign(rest);
    return copy;
  }

  Value storedRest(Value tile) {
    if (Value rest = restOf(tile))
      return rest;
    OpBuilder b(type.getContext());
    b.setInsertionPointAfterValue(tile);
    auto real = cast<TileType>(tile.getType()).getElementType();
    Value zero = arith::ConstantOp::create(b, tile.getLoc(), b.getZeroAttr(real));
    return SplatOp::create(b, tile.getLoc(), tile.getType(), zero);
  }

  /// Whether all elements are numbers of the narrow type: what such storage holds, and choices of them.
  bool isExact(Value tile) {
    if (cast<TileType>(tile.getType()).getElementType() == type)
      return true;
    if (auto load = tile.getDefiningOp<LoadOp>())
      return load.getArray().getType().getElementType() == type ||
             isExactMemory(load.getArray().getDefiningOp<WorkspaceOp>());
    auto map = tile.getDefiningOp<MapOp>();
    if (!map)
      return false;
    Operation *yield = map.getBlock()->getTerminator();
    return isExactScalar(map, yield->getOperand(cast<OpResult>(tile).getResultNumber()));
  }

  /// Memory that products alone read, into which such numbers alone are stored.
  bool isExactMemory(WorkspaceOp workspace) {
    return workspace && operandMemory.contains(workspace) &&
           llvm::all_of(workspace->getUsers(), [&](Operation *user) {
             auto store = dyn_cast<StoreOp>(user);
             return !store || isExact(store.getTile());
           });
  }

  bool isExactScalar(MapOp map, Value scalar) {
    if (scalar.getType() == type)
      return true;
    if (auto argument = dyn_cast<BlockArgument>(scalar))
      return argument.getOwner() == map.getBlock() && isExact(map.getInputs()[argument.getArgNumber()]);
    if (APFloat number(0.0); matchPattern(scalar, m_ConstantFloat(&number))) {
      bool loses = false;
      number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
      return !loses;
    }
    Operation *op = scalar.getDefiningOp();
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return isExactScalar(map, select.getTrueValue()) && isExactScalar(map, select.getFalseValue());
    return isa<arith::ExtFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp>(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isExactScalar(map, operand); });
  }

  ProgramOp program;
  FloatType type;
  llvm::SmallPtrSet<Operation *, 8> operandMemory;
  llvm::DenseMap<Operation *, WorkspaceOp> restMemory;
  llvm::DenseMap<Value, Value> rests;
};

struct SplitProductsPass : taylor::impl::SplitProductsPassBase<SplitProductsPass> {
  using SplitProductsPassBase::SplitProductsPassBase;

  void runOnOperation() override {
    for (ProgramOp program : getOperation().getOps<ProgramOp>())
      if (isPlanned(program, [](const taylor::TileSizes &sizes) { return sizes.splitProducts; }))
        if (FloatType narrow = taylor::getProductType(program, type))
          numRests += Splitting(program, narrow).run();
  }
};

} // namespace
