// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Specification/Series.h"
#include "dialect/Taylor/RecurrenceSyntax.h"

using namespace mlir;
using namespace taylor;

LogicalResult taylor::resolveOrders(SpecOp spec, RecurrencesOp op) {
  if (!op.getFirstOrder())
    return success();
  // The verifier has seen that a named order is an index parameter.
  auto resolve = [&](Attribute bound) {
    auto name = dyn_cast<StringAttr>(bound);
    return cast<IntegerAttr>(name ? spec.getParameters().get(name) : bound);
  };
  IntegerAttr first = resolve(*op.getFirstOrder()), last = resolve(*op.getLastOrder());
  op.setFirstOrderAttr(first);
  op.setLastOrderAttr(last);
  int64_t a = first.getInt(), b = last.getInt();
  if (b < a)
    return op.emitError() << "expected orders(a to b) with a <= b, but got " << a << " to " << b;
  if (failed(verifyOrder(op, a)) || failed(verifyOrder(op, b)))
    return failure();
  if (auto coefficients = op.getCoefficients();
      coefficients && static_cast<int64_t>(coefficients->size()) != b - a + 1)
    return op.emitError() << "expected " << b - a + 1 << " coefficients, one per order, but got "
                          << coefficients->size();
  return success();
}

FailureOr<Series> taylor::readSeries(RecurrencesOp op) {
  for (Attribute bound : {*op.getFirstOrder(), *op.getLastOrder()})
    if (auto name = dyn_cast<StringAttr>(bound))
      return op.emitError() << "requires a number for the order '" << name.getValue()
                            << "': run --taylor-specialize first";
  Series series{cast<IntegerAttr>(*op.getFirstOrder()).getInt(), {}};
  int64_t last = cast<IntegerAttr>(*op.getLastOrder()).getInt();
  if (op.getCoefficients()) {
    std::tie(series.first, series.coefficients) = op.getTerms(series.first);
    return series;
  }
  double factorial = 1.0;
  for (int64_t n = 1; n <= last; ++n) {
    if (n > series.first)
      series.coefficients.push_back(1.0 / factorial);
    factorial *= n;
  }
  series.coefficients.push_back(1.0 / factorial);
  return series;
}
