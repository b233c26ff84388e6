// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/Parameters.h"
#include "dialect/Taylor/NearestName.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace taylor;

/// Refuses what passes write of a specification, where its text says it.
static LogicalResult checkIsOfUser(SpecOp spec) {
  std::pair<StringRef, bool> words[] = {{"series", bool(spec.getSeriesAttr())},
                                        {"of", bool(spec.getStepOfAttr())},
                                        {"form", bool(spec.getFormAttr())},
                                        {"carries", bool(spec.getCarriesAttr())},
                                        {"prepares_keys", spec.getPreparesKeys()}};
  for (auto [word, isWritten] : words)
    if (isWritten)
      return spec.emitError("unsupported '")
             << word << "' in the text of a specification: passes write it; remove it";
  return success();
}

FailureOr<SpecOp> taylor::selectSpec(ModuleOp module, StringRef name) {
  SmallVector<SpecOp> specs(module.getOps<SpecOp>());
  for (SpecOp spec : specs)
    if (failed(checkIsOfUser(spec)))
      return failure();
  std::string names;
  for (SpecOp spec : specs)
    names += (names.empty() ? "@" : ", @") + spec.getSymName().str();
  if (specs.empty())
    return module.emitError("requires a taylor.spec, but found none");
  if (name.empty() && specs.size() > 1)
    return module.emitError("expected one taylor.spec, but got ")
           << specs.size() << " (" << names << "); name one with --spec";
  SpecOp chosen;
  for (SpecOp spec : specs) {
    if (name.empty() || spec.getSymName() == name)
      chosen = spec;
    else
      spec.erase();
  }
  if (!chosen)
    return module.emitError("expected --spec to name one of ") << names << ", but got '" << name << "'";
  return chosen;
}

FailureOr<ParameterSetting> taylor::parseParameterSetting(StringRef text, std::string &error) {
  auto [name, value] = text.split('=');
  if (!name.trim().empty() && !value.trim().empty())
    return ParameterSetting{name.trim().str(), value.trim().str()};
  error = ("expected name=value, but got '" + text + "'; write for example --set order=4").str();
  return failure();
}

namespace {

LogicalResult reportUnknown(SpecOp spec, StringRef name) {
  InFlightDiagnostic diagnostic = spec.emitError("expected a parameter of @") << spec.getSymName();
  if (spec.getParameters().empty())
    return diagnostic << ", which has none, but got '" << name << "'; declare it as parameters(" << name
                      << " : index = 10)";
  NearestName nearest(name, /*limit=*/4);
  std::string all;
  for (NamedAttribute parameter : spec.getParameters()) {
    StringRef known = parameter.getName();
    all += (all.empty() ? "" : ", ") + known.str();
    nearest.consider(known);
  }
  diagnostic << ", but got '" << name << "'; ";
  if (nearest.get().empty())
    return diagnostic << "it has " << all;
  return diagnostic << "did you mean '" << nearest.get() << "'?";
}

} // namespace

FailureOr<SmallVector<ParameterSetting>> taylor::parseParameterSettings(StringRef text, std::string &error) {
  SmallVector<ParameterSetting> settings;
  for (StringRef part : llvm::split(text, ',')) {
    if (part.trim().empty())
      continue;
    FailureOr<ParameterSetting> setting = parseParameterSetting(part.trim(), error);
    if (failed(setting))
      return failure();
    settings.push_back(*setting);
  }
  return settings;
}

LogicalResult taylor::setParameters(SpecOp spec, ArrayRef<ParameterSetting> settings) {
  NamedAttrList parameters(spec.getParameters());
  for (const ParameterSetting &setting : settings) {
    Attribute old = parameters.get(setting.name);
    if (!old)
      return reportUnknown(spec, setting.name);
    if (auto integer = dyn_cast<IntegerAttr>(old)) {
      int64_t value;
      if (StringRef(setting.value).getAsInteger(10, value))
        return spec.emitError("expected an integer for the index parameter '")
               << setting.name << "', but got '" << setting.value << "'";
      parameters.set(setting.name, IntegerAttr::get(integer.getType(), value));
      continue;
    }
    double value;
    if (StringRef(setting.value).getAsDouble(value) || !std::isfinite(value))
      return spec.emitError("expected a finite number for the parameter '")
             << setting.name << "', but got '" << setting.value << "'";
    parameters.set(setting.name, FloatAttr::get(cast<FloatAttr>(old).getType(), value));
  }
  spec.setParametersAttr(parameters.getDictionary(spec.getContext()));
  return success();
}

LogicalResult taylor::setMask(SpecOp spec, Mask mask) {
  spec.walk([&](RecurrencesOp sums) { sums.setMask(mask); });
  spec.walk([&](RecurrenceOp sum) { sum.setMask(mask); });
  return mlir::verify(spec);
}
