// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/States/CarriedSpec.h"

#include "dialect/Refusal.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "passes/Debug.h"

#define DEBUG_TYPE "taylor-carry-states"

using namespace mlir;
using namespace taylor;

LogicalResult CarriedSpec::refuse(Location at, const Twine &why, StringRef wayOut) {
  StringRef what = mode == CarryMode::Recurrent ? "unsupported recurrent form: "
                   : isOverKeys()               ? "unsupported --decode over all keys: "
                                                : "unsupported --states: ";
  if (isTwin)
    return refuseTwin(Twine(what) + why);
  InFlightDiagnostic error = taylor::refuse(emitError(at)) << what << why << "; " << wayOut;
  if (mode == CarryMode::Recurrent)
    error << "; --decode=cache keeps keys and values instead";
  return error;
}

LogicalResult CarriedSpec::refuseTwin(const Twine &why) {
  reason = why.str();
  return failure();
}

void CarriedSpec::warn(Location at, const Twine &text) {
  if (isTwin)
    warnings.emplace_back(at, text.str());
  else
    emitWarning(at) << text;
}

void CarriedSpec::reportWarnings() {
  for (auto &[at, text] : warnings)
    emitWarning(at) << text;
}

double CarriedSpec::countBytes() const {
  double bytes = 0;
  for (const Carried &one : values) {
    ArrayType type = arrayTypeOf(one.initial);
    bytes += double(countPlaceElements(type)) * type.getElementType().getIntOrFloatBitWidth() / 8;
  }
  return bytes;
}

Type CarriedSpec::real() { return realTypeOf(spec.getContext(), body().getArgumentTypes()); }

Value CarriedSpec::addInitial(StringRef kind, ArrayType type, bool numbered) {
  MLIRContext *context = spec.getContext();
  std::string name = kind.str();
  if (numbered)
    name += std::to_string(kinds[kind]++);
  SmallVector<Attribute> names(spec.getArgNames().begin(), spec.getArgNames().end());
  SmallVector<Attribute> sources(spec.getSources().begin(), spec.getSources().end());
  names.push_back(builder.getStringAttr("initial." + name));
  sources.push_back(
      SourceAttr::get(context, SourceKind::Input, false, Initial::Zeros, FloatAttr(), FloatAttr()));
  spec.setArgNamesAttr(builder.getArrayAttr(names));
  spec.setSourcesAttr(builder.getArrayAttr(sources));
  Value argument = body().addArgument(type, loc);
  values.push_back({name, argument, {}});
  return argument;
}

void CarriedSpec::setFinal(Value initial, Value final) {
  llvm::find_if(values, [&](const Carried &one) { return one.initial == initial; })->final = final;
}

LogicalResult CarriedSpec::yieldFinals() {
  Operation *yield = body().getTerminator();
  builder.setInsertionPoint(yield);
  if (values.empty() && isOverKeys())
    return success();
  if (values.empty())
    return refuse(loc, "nothing in it depends on tokens before", "compile without");
  SmallVector<Value> results(cast<YieldOp>(yield).getValues());
  SmallVector<Attribute> names(cast<YieldOp>(yield).getNames()->begin(),
                               cast<YieldOp>(yield).getNames()->end());
  for (const Carried &one : values) {
    LDBG() << one.name << ": " << one.initial.getType();
    results.push_back(one.final);
    names.push_back(builder.getStringAttr("final." + one.name));
  }
  YieldOp::create(builder, yield->getLoc(), results, builder.getArrayAttr(names));
  yield->erase();
  return success();
}
