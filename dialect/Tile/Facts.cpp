// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// #tile.cost, #tile.form, #tile.named_array: what callers are told of programs.
#include "dialect/Tile/TileDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tile;
using taylor::FormCost;

namespace {

/// A field as `#tile.cost` writes it.
struct FactField {
  StringRef name;
  double *real = nullptr;
  int64_t *whole = nullptr;
};

SmallVector<FactField> fieldsOf(FormCost &cost) {
  return {{"call", &cost.call},
          {"pair", &cost.pair},
          {"query", &cost.query},
          {"key", &cost.key},
          {"pair_operations", &cost.operations.pair},
          {"query_operations", &cost.operations.query},
          {"key_operations", &cost.operations.key},
          {"features", nullptr, &cost.features},
          {"channels", nullptr, &cost.channels}};
}

} // namespace

llvm::hash_code taylor::hash_value(const FormCost &cost) {
  FormCost copy = cost;
  llvm::hash_code code(0);
  for (const FactField &field : fieldsOf(copy))
    code = llvm::hash_combine(code, field.real ? std::hash<double>()(*field.real) : size_t(*field.whole));
  return code;
}

Attribute CostAttr::parse(AsmParser &parser, Type) {
  FormCost cost;
  SmallVector<FactField> fields = fieldsOf(cost);
  auto parseField = [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    auto field = llvm::find_if(fields, [&](const FactField &field) { return field.name == keyword; });
    if (field == fields.end())
      return parser.emitError(at, "expected a field of a cost, but got '")
             << keyword << "'; fields are "
             << llvm::join(llvm::map_range(fields, [](const FactField &field) { return field.name; }), ", ");
    return failure(parser.parseEqual() ||
                   (field->real ? parser.parseFloat(*field->real) : parser.parseInteger(*field->whole)));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseField))
    return {};
  return get(parser.getContext(), cost);
}

void CostAttr::print(AsmPrinter &printer) const {
  FormCost cost = getCost();
  llvm::ListSeparator comma;
  printer << "<";
  for (const FactField &field : fieldsOf(cost)) {
    if (field.real ? *field.real == 0 : *field.whole == 0)
      continue;
    printer << StringRef(comma) << field.name << " = ";
    if (field.real)
      printer.printFloat(APFloat(*field.real));
    else
      printer << *field.whole;
  }
  printer << ">";
}

/// Null of an empty text.
static StringAttr textOf(MLIRContext *context, const Twine &text) {
  std::string words = text.str();
  return words.empty() ? StringAttr() : StringAttr::get(context, words);
}

std::optional<taylor::FunctionRole> tile::roleOfName(StringRef name) {
  auto [role, form] = name.split('_');
  bool isName = form.empty() ? role == name : taylor::symbolizeForm(form).has_value();
  return isName ? taylor::symbolizeFunctionRole(role) : std::nullopt;
}

FormAttr FormAttr::withCost(const FormCost &cost) const {
  return get(getContext(), getKind(), getFunction(), CostAttr::get(getContext(), cost), getBecause(),
             getLeftOut(), getSmallerTiles(), getInPlace());
}

FormAttr FormAttr::withReason(const Twine &because) const {
  return get(getContext(), getKind(), getFunction(), getCost(), textOf(getContext(), because), getLeftOut(),
             getSmallerTiles(), getInPlace());
}

FormAttr FormAttr::withLeftOut(const Twine &why) const {
  return get(getContext(), getKind(), getFunction(), getCost(), getBecause(), textOf(getContext(), why),
             getSmallerTiles(), getInPlace());
}

FormAttr FormAttr::withSmallerTiles(const Twine &why) const {
  return get(getContext(), getKind(), getFunction(), getCost(), getBecause(), getLeftOut(),
             textOf(getContext(), why), getInPlace());
}

FormAttr FormAttr::withInPlace(ArrayAttr pairs) const {
  return get(getContext(), getKind(), getFunction(), getCost(), getBecause(), getLeftOut(), getSmallerTiles(),
             pairs);
}

std::string FormAttr::describeReason() const {
  std::string because = getBecause() ? getBecause().str() : "";
  if (!getLeftOut())
    return because;
  std::string before = because.empty() ? stringifyForm(getKind()).str() + ": " : because + "; ";
  return before + getLeftOut().str();
}
