// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Refusal.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Formula.h"
#include "passes/Specification/MaskConditions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace taylor;

namespace {

/// `window = 0, prefix = 4`: what a formula reads, as it is set.
std::string describeParameters(SpecOp spec, Region &formula) {
  llvm::SetVector<StringRef> names;
  formula.walk([&](ParameterOp parameter) { names.insert(parameter.getName()); });
  std::string text;
  for (StringRef name : names) {
    Attribute value = spec.getParameters().get(name);
    auto integer = dyn_cast<IntegerAttr>(value);
    text += (text.empty() ? "" : ", ") + name.str() + " = " +
            (integer ? std::to_string(integer.getInt())
                     : formatNumber(cast<FloatAttr>(value).getValueAsDouble()));
  }
  return text;
}

template <typename Op> LogicalResult checkMask(SpecOp spec, Op op, bool causal, ChannelSizes sizes) {
  if (op.getVisible().empty())
    return success();
  OwningOpRef<Op> copy = cast<Op>(op->clone());
  replaceNumbers(*copy, spec.getParameters(), sizes);
  if (!hideEveryPair(copy->getVisible().front().getTerminator()->getOperands(), causal))
    return success();
  InFlightDiagnostic diagnostic =
      refuse(op->emitError("expected a mask by which a query sees some key, but "));
  diagnostic << (causal ? "causal and visible(..)" : "visible(..)") << " hide" << (causal ? "" : "s")
             << " every pair";
  std::string parameters = describeParameters(spec, op.getVisible());
  if (parameters.empty())
    return diagnostic << "; change the condition";
  return diagnostic << " with " << parameters << "; set it otherwise (--set "
                    << StringRef(parameters).split(' ').first << "=..), or change the condition";
}

} // namespace

void taylor::replaceNumbers(Operation *root, DictionaryAttr parameters, ChannelSizes sizes) {
  root->walk([&](Operation *op) {
    std::optional<double> number;
    // The one function of a size in common use that math does not fold: 1 / sqrt(d). Here it is still f64.
    FloatAttr known;
    if (isa<math::RsqrtOp>(op) && matchPattern(op->getOperand(0), m_Constant(&known)) &&
        known.getValueAsDouble() > 0.0)
      number = 1.0 / std::sqrt(known.getValueAsDouble());
    if (auto parameter = dyn_cast<ParameterOp>(op)) {
      Attribute value = parameters.get(parameter.getName());
      if (auto integer = dyn_cast<IntegerAttr>(value))
        number = static_cast<double>(integer.getInt());
      else
        number = cast<FloatAttr>(value).getValueAsDouble();
    } else if (auto size = dyn_cast<SizeOp>(op)) {
      int64_t known = size.getAxis() == AxisRole::Channel        ? sizes.d
                      : size.getAxis() == AxisRole::ValueChannel ? sizes.e
                                                                 : 0;
      if (known > 0)
        number = static_cast<double>(known);
    }
    if (!number)
      return;
    OpBuilder builder(op);
    op->getResult(0).replaceAllUsesWith(
        buildNumber(builder, op->getLoc(), op->getResult(0).getType(), *number));
    op->erase();
  });
}

LogicalResult taylor::checkMasks(SpecOp spec, ChannelSizes sizes) {
  for (Operation &op : spec.getBody().front()) {
    if (auto sums = dyn_cast<RecurrencesOp>(op);
        sums && failed(checkMask(spec, sums, sums.getMask() == Mask::Causal, sizes)))
      return failure();
    if (auto pairs = dyn_cast<PairwiseOp>(op);
        pairs && failed(checkMask(spec, pairs, /*causal=*/false, sizes)))
      return failure();
  }
  return success();
}
