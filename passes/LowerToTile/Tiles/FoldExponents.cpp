// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// exp of a scaled and shifted tile as exp2 of one fused multiply-add. Passes.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Passes.h"

#include "mlir/IR/Matchers.h"

#define DEBUG_TYPE "taylor-fold-exponents"

namespace taylor {
#define GEN_PASS_DEF_FOLDEXPONENTSPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

using namespace mlir;
using namespace mlir::tile;

namespace {

constexpr double kLog2e = 1.4426950408889634074;

/// factor * scalar
struct ExponentTerm {
  double factor;
  Value scalar;
};

/// `scalar` times `factor` as a sum of terms; only numbers are factored out.
void collectTerms(Value scalar, double factor, SmallVectorImpl<ExponentTerm> &terms) {
  Operation *op = scalar.getDefiningOp();
  FloatAttr number;
  if (isa_and_nonnull<arith::AddFOp, arith::SubFOp>(op)) {
    collectTerms(op->getOperand(0), factor, terms);
    collectTerms(op->getOperand(1), isa<arith::SubFOp>(op) ? -factor : factor, terms);
  } else if (isa_and_nonnull<arith::NegFOp>(op)) {
    collectTerms(op->getOperand(0), -factor, terms);
  } else if (isa_and_nonnull<arith::MulFOp>(op) && matchPattern(op->getOperand(1), m_Constant(&number))) {
    collectTerms(op->getOperand(0), factor * number.getValueAsDouble(), terms);
  } else if (isa_and_nonnull<arith::MulFOp>(op) && matchPattern(op->getOperand(0), m_Constant(&number))) {
    collectTerms(op->getOperand(1), factor * number.getValueAsDouble(), terms);
  } else {
    terms.push_back({factor, scalar});
  }
}

Value multiplied(OpBuilder &b, Location loc, Value x, double factor) {
  Value number = arith::ConstantOp::create(b, loc, b.getFloatAttr(x.getType(), factor));
  return arith::MulFOp::create(b, loc, x, number);
}

/// The exponentials of one program.
class Folding {
public:
  explicit Folding(ProgramOp program) : program(program) {}

  /// Returns the number of exponentials that became exp2.
  unsigned run() {
    SmallVector<math::ExpOp> exponentials;
    program.walk([&](math::ExpOp exp) {
      if (exp.getType().isF32() && isa<MapOp>(exp->getParentOp()))
        exponentials.push_back(exp);
    });
    SmallVector<math::ExpOp> others;
    for (math::ExpOp exp : exponentials)
      if (!foldWide(exp))
        others.push_back(exp);
    for (math::ExpOp exp : others)
      foldRescaling(exp);
    return count;
  }

private:
  /// The tile that a scalar of a map is an element of, where it has fewer axes than the results; else null.
  static Value narrowTile(MapOp map, Value scalar) {
    auto argument = dyn_cast<BlockArgument>(scalar);
    if (!argument || argument.getOwner() != map.getBlock())
      return {};
    Value tile = map.getInputs()[argument.getArgNumber()];
    size_t axes = cast<TileType>(map.getResult(0).getType()).getAxes().size();
    return cast<TileType>(tile.getType()).getAxes().size() < axes ? tile : Value();
  }

  /// exp(c x + r), r one tile with fewer axes, or exp(c x) with a number c other than 1.
  bool foldWide(math::ExpOp exp) {
    auto map = cast<MapOp>(exp->getParentOp());
    SmallVector<ExponentTerm> terms;
    collectTerms(exp.getOperand(), 1.0, terms);
    if (terms.size() > 2)
      return false;
    if (terms.size() == 2 && narrowTile(map, terms[0].scalar))
      std::swap(terms[0], terms[1]);
    if (terms[0].scalar.getParentBlock() != map.getBlock() || narrowTile(map, terms[0].scalar))
      return false;
    Location loc = exp.getLoc();
    OpBuilder inside(exp);
    Value exponent;
    if (terms.size() == 1) {
      if (terms[0].factor == 1.0)
        return false;
      exponent = multiplied(inside, loc, terms[0].scalar, terms[0].factor * kLog2e);
    } else {
      Value narrow = narrowTile(map, terms[1].scalar);
      if (!narrow || std::abs(terms[1].factor) != 1.0)
        return false;
      OpBuilder outside(map);
      auto shift = MapOp::create(outside, loc, narrow, [&](OpBuilder &b, Location loc, ValueRange x) {
        return SmallVector<Value>{multiplied(b, loc, x[0], terms[1].factor * kLog2e)};
      });
      map.getInputsMutable().append(shift.getResult(0));
      Value argument = map.getBlock()->addArgument(exp.getType(), loc);
      Value factor = arith::ConstantOp::create(inside, loc,
                                               inside.getFloatAttr(exp.getType(), terms[0].factor * kLog2e));
      exponent = math::FmaOp::create(inside, loc, terms[0].scalar, factor, argument);
      shifts.insert(narrow);
    }
    LDBG() << exp.getLoc() << ": exp2 of " << (terms.size() == 1 ? "a product" : "one fused multiply-add");
    replace(exp, exponent);
    return true;
  }

  /// exp(a - b), where the map also yields a or b and a wide exponent was shifted by that.
  void foldRescaling(math::ExpOp exp) {
    auto map = cast<MapOp>(exp->getParentOp());
    auto difference = exp.getOperand().getDefiningOp<arith::SubFOp>();
    if (!difference)
      return;
    bool isShift = llvm::any_of(map.getResults(), [&](OpResult result) {
      Value scalar = map.getBlock()->getTerminator()->getOperand(result.getResultNumber());
      return shifts.contains(result) && llvm::is_contained(difference->getOperands(), scalar);
    });
    if (!isShift)
      return;
    LDBG() << exp.getLoc() << ": exp2, as the exponentials that it rescales";
    OpBuilder inside(exp);
    Location loc = exp.getLoc();
    // Not a difference of products: a target may fuse one of them with it, and then exp(m - m) is not 1. Of
    // rows that have seen no key yet, whose maximum is the least number, that would even be infinite.
    Value exponent = multiplied(inside, loc, difference, kLog2e);
    replace(exp, exponent);
  }

  void replace(math::ExpOp exp, Value exponent) {
    ++count;
    OpBuilder builder(exp);
    auto power = math::Exp2Op::create(builder, exp.getLoc(), exponent, exp.getFastmath());
    exp.replaceAllUsesWith(power.getResult());
    exp.erase();
  }

  ProgramOp program;
  DenseSet<Value> shifts; // tiles that wide exponents are shifted by
  unsigned count = 0;
};

struct FoldExponents : taylor::impl::FoldExponentsPassBase<FoldExponents> {
  using FoldExponentsPassBase::FoldExponentsPassBase;

  void runOnOperation() override {
    for (ProgramOp program : getOperation().getOps<ProgramOp>())
      if (isPlanned(program, [](const taylor::TileSizes &sizes) { return sizes.foldExponents; }))
        numFolded += Folding(program).run();
  }
};

} // namespace
