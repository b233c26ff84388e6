// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/ArrayBuilder.h"
#include "passes/Debug.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#define DEBUG_TYPE "taylor-expand-normalize"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_EXPANDNORMALIZEPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// Builds the reductions and maps of one norm.
struct NormExpander {
  OpBuilder &builder;
  Location loc;
  AxisRef axis;
  double epsilon;

  Value square(Reduction kind, Value x) {
    return buildReduce(builder, loc, kind, axis, x, {},
                       [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                         return arith::MulFOp::create(b, loc, x[0], x[0]);
                       });
  }

  Value l2(Value x) {
    Value sum = square(Reduction::Sum, x);
    return buildMap(builder, loc, {x, sum}, {}, [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
      // One root of the larger square: sqrt has no derivative at 0, where max(sqrt(.), epsilon) would ask for
      // it. An epsilon whose square is no normal number in f32 cannot be written so.
      Type real = x[1].getType();
      if (epsilon * epsilon < 1.2e-38) {
        Value norm = math::SqrtOp::create(b, loc, x[1]);
        return arith::DivFOp::create(
            b, loc, x[0], arith::MaximumFOp::create(b, loc, norm, buildNumber(b, loc, real, epsilon)));
      }
      Value bounded = arith::MaximumFOp::create(b, loc, x[1], buildNumber(b, loc, real, epsilon * epsilon));
      return arith::DivFOp::create(b, loc, x[0], math::SqrtOp::create(b, loc, bounded));
    });
  }

  Value rms(Value x) {
    Value mean = square(Reduction::Mean, x);
    return buildMap(builder, loc, {x, mean}, {}, [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
      Value sum = arith::AddFOp::create(b, loc, x[1], buildNumber(b, loc, x[1].getType(), epsilon));
      return arith::MulFOp::create(b, loc, x[0], math::RsqrtOp::create(b, loc, sum));
    });
  }

  Value centered(Value x) {
    Value mean = buildReduce(builder, loc, Reduction::Mean, axis, x, {},
                             [](OpBuilder &, Location, ValueRange x) { return x[0]; });
    return buildMap(builder, loc, {x, mean}, {}, [](OpBuilder &b, Location loc, ValueRange x) -> Value {
      return arith::SubFOp::create(b, loc, x[0], x[1]);
    });
  }

  Value affine(Value x, Value weight, Value bias) {
    if (weight)
      x = buildMap(builder, loc, {x, weight}, {}, [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return arith::MulFOp::create(b, loc, x[0], x[1]);
      });
    return bias ? buildSum(builder, loc, x, bias) : x;
  }
};

class ExpandNormalize : public ::taylor::impl::ExpandNormalizePassBase<ExpandNormalize> {
  void runOnOperation() override;
};

} // namespace

void ExpandNormalize::runOnOperation() {
  getOperation()->walk([&](NormalizeOp op) {
    LDBG() << op.getLoc() << ": " << stringifyNorm(op.getKind()) << " over " << op.getAxis();
    ++numExpanded;
    OpBuilder builder(op);
    NormExpander expand{builder, op.getLoc(), op.getAxis(), op.getEpsilon().convertToDouble()};
    Value x = op.getArray(), result;
    switch (op.getKind()) {
    case Norm::L2:
      result = expand.l2(x);
      break;
    case Norm::RMS:
      result = expand.rms(x);
      break;
    case Norm::Layer:
      result = expand.rms(expand.centered(x));
      break;
    }
    op.getResult().replaceAllUsesWith(expand.affine(result, op.getWeight(), op.getBias()));
    op.erase();
  });
}
