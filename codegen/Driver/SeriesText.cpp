// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/SeriesText.h"

#include "dialect/Taylor/TaylorDialect.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace taylor;

/// A specification as a file would have it.
static std::string printSpec(SpecOp spec) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  spec->print(stream);
  return text + "\n";
}

std::string taylor::printSeries(ModuleOp split) {
  SmallVector<SpecOp> halves(split.getOps<SpecOp>());
  DictionaryAttr facts = halves[0].getSeriesAttr();
  halves[0].removeSeriesAttr(); // what is printed is a specification as a file would have it
  llvm::json::Object object;
  auto first = facts.getAs<IntegerAttr>("first");
  object["first"] = first ? first.getInt() : 0;
  object["coefficients"] = nullptr;
  if (auto coefficients = facts.getAs<ArrayAttr>("coefficients"))
    object["coefficients"] = llvm::json::Array(llvm::map_range(
        coefficients.getAsRange<FloatAttr>(), [](FloatAttr c) { return c.getValueAsDouble(); }));
  object["mask"] = facts.getAs<StringAttr>("mask").getValue();
  object["decay"] = facts.getAs<BoolAttr>("decay").getValue();
  llvm::json::Object sums;
  for (NamedAttribute sum : facts.getAs<DictionaryAttr>("sums"))
    sums[sum.getName().getValue()] = cast<StringAttr>(sum.getValue()).getValue();
  object["sums"] = std::move(sums);
  object["operands"] = printSpec(halves[0]);
  object["rest"] = printSpec(halves[1]);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}", llvm::json::Value(std::move(object))) << "\n";
  return text;
}
