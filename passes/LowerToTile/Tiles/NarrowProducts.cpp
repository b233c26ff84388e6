// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of products in a 16-bit type. Passes.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Passes.h"
#include "passes/LowerToTile/Tiles/ProductTypes.h"

#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#define DEBUG_TYPE "taylor-narrow-products"

namespace taylor {
#define GEN_PASS_DEF_NARROWPRODUCTSPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

using namespace mlir;
using namespace mlir::tile;

namespace {

/// One program: every f32 operand of a product is read from a narrow tile, made once per value.
class Narrowing {
public:
  Narrowing(ProgramOp program, FloatType type) : program(program), type(type) {}

  /// Returns the number of operands.
  size_t run() {
    program.walk([&](DotOp dot) {
      if (!taylor::isMatrixProduct(dot))
        return;
      for (OpOperand *operand : {&dot.getAMutable(), &dot.getBMutable()})
        if (cast<TileType>(operand->get().getType()).getElementType().isF32())
          reads[operand->get()].push_back(operand);
    });
    llvm::SmallSetVector<MapOp, 16> maps;
    size_t count = 0;
    for (auto &[value, operands] : reads) {
      count += operands.size();
      if (auto map = value.getDefiningOp<MapOp>())
        maps.insert(map);
      else
        replace(operands, makeNarrow(value));
    }
    for (MapOp map : maps)
      rewriteMap(map);
    for (auto workspace : program.getBlock()->getOps<WorkspaceOp>())
      narrowMemory(workspace);
    return count;
  }

private:
  TileType narrowType(Value value) const {
    auto tile = cast<TileType>(value.getType());
    return TileType::get(tile.getContext(), tile.getAxes(), type);
  }

  static void replace(ArrayRef<OpOperand *> operands, Value by) {
    for (OpOperand *operand : operands)
      operand->set(by);
  }

  /// The value rounded, after its definition; what is loaded is loaded in the narrow type.
  Value makeNarrow(Value value) {
    OpBuilder b(type.getContext());
    b.setInsertionPointAfterValue(value);
    Location loc = value.getLoc();
    if (auto load = value.getDefiningOp<LoadOp>()) {
      auto copy = cast<LoadOp>(b.clone(*load));
      copy.getResult().setType(narrowType(value));
      return copy.getResult();
    }
    auto map = MapOp::create(b, loc, TypeRange{narrowType(value)}, ValueRange{value});
    b.setInsertionPointToEnd(map.getBlock());
    YieldOp::create(b, loc, Value(arith::TruncFOp::create(b, loc, type, map.getBlock()->getArgument(0))));
    return map.getResult(0);
  }

  /// A map rounds what it computes: it yields the narrow value, and also the wide one if that is read
  /// otherwise.
  void rewriteMap(MapOp map) {
    OpBuilder b(map);
    Operation *yield = map.getBlock()->getTerminator();
    b.setInsertionPoint(yield);
    struct Result {
      OpResult old;
      Value scalar;
      bool isNarrow;
    };
    SmallVector<Result> results;
    SmallVector<Type> types;
    for (OpResult result : map.getResults()) {
      Value scalar = yield->getOperand(result.getResultNumber());
      auto narrowReads = reads.find(result);
      size_t count = narrowReads == reads.end() ? 0 : narrowReads->second.size();
      if (count == 0 || count < size_t(std::distance(result.use_begin(), result.use_end()))) {
        results.push_back({result, scalar, false});
        types.push_back(result.getType());
      }
      if (count > 0) {
        results.push_back({result, arith::TruncFOp::create(b, map.getLoc(), type, scalar), true});
        types.push_back(narrowType(result));
      }
    }
    yield->setOperands(llvm::map_to_vector(results, [](const Result &result) { return result.scalar; }));
    b.setInsertionPoint(map);
    auto wider = MapOp::create(b, map.getLoc(), types, map.getInputs());
    wider.getBody().takeBody(map.getBody());
    for (auto [result, value] : llvm::zip(results, wider.getResults())) {
      if (result.isNarrow)
        replace(reads.find(result.old)->second, value);
    }
    for (auto [result, value] : llvm::zip(results, wider.getResults()))
      if (!result.isNarrow)
        result.old.replaceAllUsesWith(value);
    map.erase();
  }

  /// Memory that is only read as operands of products holds them as they are read.
  void narrowMemory(WorkspaceOp workspace) {
    ArrayType array = workspace.getType();
    auto suits = [&](Operation *user) {
      auto load = dyn_cast<LoadOp>(user);
      return load ? load->use_empty() || load.getType().getElementType() == type : isa<StoreOp>(user);
    };
    bool isRead = llvm::any_of(workspace->getUsers(), llvm::IsaPred<LoadOp>);
    if (!array.getElementType().isF32() || !isRead)
      return;
    bool isNarrow = llvm::all_of(workspace->getUsers(), suits);
    LDBG() << workspace.getName() << (isNarrow ? ": in " : ": other readers keep it from being in ") << type;
    if (isNarrow)
      workspace.getResult().setType(ArrayType::get(array.getContext(), array.getAxes(), type));
  }

  ProgramOp program;
  FloatType type;
  llvm::MapVector<Value, SmallVector<OpOperand *>> reads;
};

struct NarrowProductsPass : taylor::impl::NarrowProductsPassBase<NarrowProductsPass> {
  using NarrowProductsPassBase::NarrowProductsPassBase;

  void runOnOperation() override {
    for (ProgramOp program : getOperation().getOps<ProgramOp>())
      if (FloatType narrow = taylor::getProductType(program, type))
        numNarrowed += Narrowing(program, narrow).run();
  }
};

} // namespace
