// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Series.h"

using namespace mlir;
using namespace taylor;

FailureOr<Series> taylor::readSeries(RecurrencesOp op) {
  for (Attribute bound : {*op.getFirstOrder(), *op.getLastOrder()})
    if (auto name = dyn_cast<StringAttr>(bound))
      return op.emitError() << "requires a number for the order '" << name.getValue()
                            << "': run --taylor-specialize first";
  Series series{cast<IntegerAttr>(*op.getFirstOrder()).getInt(), {}};
  int64_t last = cast<IntegerAttr>(*op.getLastOrder()).getInt();
  if (auto given = op.getCoefficients()) {
    for (FloatAttr coefficient : given->getAsRange<FloatAttr>())
      series.coefficients.push_back(coefficient.getValueAsDouble());
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
