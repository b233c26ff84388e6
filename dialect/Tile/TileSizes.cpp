// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Tile/TileSizes.h"

#include "dialect/Tile/TileDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace taylor;

namespace {

/// A field that `parse` reads: a number, or one of some words.
struct SizeField {
  StringRef name;
  int64_t *number = nullptr;
  int64_t least = 1;
  ArrayRef<StringRef> words;
  std::function<void(unsigned word)> choose;
  std::string text; // what it holds

  std::string expected() const { return (name + "=" + (number ? "N" : llvm::join(words, "|"))).str(); }
  /// As a keyword of the attribute: `row_sums`.
  std::string keyword() const {
    std::string keyword = name.str();
    std::replace(keyword.begin(), keyword.end(), '-', '_');
    return keyword;
  }
  bool read(StringRef value) const {
    if (number)
      return !value.getAsInteger(10, *number) && *number >= least;
    const auto *word = llvm::find(words, value);
    if (word == words.end())
      return false;
    choose(word - words.begin());
    return true;
  }
};

std::vector<SizeField> fieldsOf(TileSizes &sizes) {
  static const StringRef rowSums[] = {"parts", "separate", "atomic"}, products[] = {"f32", "bf16", "f16"},
                         loops[] = {"split", "single"}, factors[] = {"operands", "weights"},
                         exponents[] = {"natural", "binary"}, states[] = {"loop", "grid"},
                         operands[] = {"rounded", "split"}, forms[] = {"parallel", "chunked"},
                         keys[] = {"stored", "rotated", "computed"}, rowProducts[] = {"computed", "stored"},
                         order[] = {"channels", "summed"}, masks[] = {"zeros", "exact"},
                         kernels[] = {"apart", "joined"}, maps[] = {"again", "once"},
                         begins[] = {"exact", "aligned"};
  auto number = [](StringRef name, int64_t &value, int64_t least = 1) {
    return SizeField{name, &value, least, {}, {}, std::to_string(value)};
  };
  auto choice = [](StringRef name, ArrayRef<StringRef> words, unsigned now, auto choose) {
    return SizeField{name, nullptr, 1, words, choose, words[now].str()};
  };
  return {
      number("tokens", sizes.tokens),
      number("queries", sizes.rows.queries),
      number("keys", sizes.rows.keys),
      number("derived-queries", sizes.derivedRows.queries),
      number("derived-keys", sizes.derivedRows.keys),
      number("edge-keys", sizes.edgeKeys),
      number("outer-queries", sizes.columns.queries),
      number("outer-keys", sizes.columns.keys),
      number("scalar-keys", sizes.scalarKeys),
      number("blocks", sizes.blocks),
      choice("row-sums", rowSums, unsigned(sizes.rowSums),
             [&](unsigned word) { sizes.rowSums = RowSums(word); }),
      choice("loops", loops, sizes.singleLoop, [&](unsigned word) { sizes.singleLoop = word; }),
      choice("query-begins", begins, sizes.alignsQueries, [&](unsigned word) { sizes.alignsQueries = word; }),
      choice("masks", masks, sizes.exactMasks, [&](unsigned word) { sizes.exactMasks = word; }),
      choice("row-factors", factors, sizes.foldRowFactors,
             [&](unsigned word) { sizes.foldRowFactors = word; }),
      choice("exponents", exponents, sizes.foldExponents, [&](unsigned word) { sizes.foldExponents = word; }),
      choice("maps", maps, sizes.sharesMaps, [&](unsigned word) { sizes.sharesMaps = word; }),
      number("block-bytes", sizes.blockBytes, 0),
      number("product-bytes", sizes.productBytes, 0),
      choice("form", forms, sizes.chunked, [&](unsigned word) { sizes.chunked = word; }),
      number("chunk", sizes.chunk, 0),
      number("balance", sizes.balance),
      number("far-balance", sizes.farBalance),
      number("near-bytes", sizes.nearBytes, 0),
      number("feature-block", sizes.featureBlock),
      number("read-features", sizes.readFeatures),
      number("state-features", sizes.stateFeatures),
      number("pass-features", sizes.passFeatures, 0),
      number("heads", sizes.heads),
      number("step-tokens", sizes.stepTokens),
      number("line-bytes", sizes.lineBytes, 0),
      choice("loop-operands", keys, unsigned(sizes.loopOperands),
             [&](unsigned word) { sizes.loopOperands = LoopOperands(word); }),
      choice("states", states, sizes.featuresOnGrid, [&](unsigned word) { sizes.featuresOnGrid = word; }),
      choice("row-products", rowProducts, sizes.storesRowProducts,
             [&](unsigned word) { sizes.storesRowProducts = word; }),
      choice("contiguous", order, sizes.transposesOperands,
             [&](unsigned word) { sizes.transposesOperands = word; }),
      choice("kernels", kernels, sizes.joinsKernels, [&](unsigned word) { sizes.joinsKernels = word; }),
      choice("products", products, unsigned(sizes.productType),
             [&](unsigned word) { sizes.productType = ProductType(word); }),
      choice("operands", operands, sizes.splitProducts, [&](unsigned word) { sizes.splitProducts = word; })};
}

} // namespace

llvm::Error TileSizes::parse(StringRef text) {
  std::vector<SizeField> fields = fieldsOf(*this);
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [name, value] = part.split('=');
    auto field = llvm::find_if(fields, [&](const SizeField &field) { return field.name == name; });
    if (field != fields.end() && field->read(value))
      continue;
    std::string expected =
        llvm::join(llvm::map_range(fields, [](const SizeField &f) { return f.expected(); }), ",");
    return llvm::createStringError("expected tile sizes " + expected + " with positive N, but got '" + part +
                                   "'");
  }
  return llvm::Error::success();
}

int64_t TileSizes::getChunkUnit() const {
  int64_t queries = std::lcm(std::lcm(rows.queries, derivedRows.queries), tokens);
  return llvm::divideCeil(uint64_t(columns.keys), uint64_t(queries)) * queries;
}

llvm::hash_code taylor::hash_value(const TileSizes &sizes) {
  TileSizes copy = sizes;
  llvm::hash_code code(0);
  for (const SizeField &field : fieldsOf(copy))
    code = llvm::hash_combine(code, field.text);
  return code;
}

//===----------------------------------------------------------------------===//
// #tile.plan
//===----------------------------------------------------------------------===//

Attribute tile::PlanAttr::parse(AsmParser &parser, Type) {
  TileSizes sizes;
  std::vector<SizeField> fields = fieldsOf(sizes);
  auto parseField = [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef keyword, word;
    if (parser.parseKeyword(&keyword))
      return failure();
    auto field = llvm::find_if(fields, [&](const SizeField &field) { return field.keyword() == keyword; });
    if (field == fields.end())
      return parser.emitError(at, "expected a field of the plan, but got '")
             << keyword << "'; fields are "
             << llvm::join(llvm::map_range(fields, [](const SizeField &field) { return field.keyword(); }),
                           ", ");
    if (parser.parseEqual())
      return failure();
    at = parser.getCurrentLocation();
    std::string value;
    if (!field->number) {
      if (parser.parseKeyword(&word))
        return failure();
      value = word.str();
    } else if (int64_t number; parser.parseInteger(number)) {
      return failure();
    } else {
      value = std::to_string(number);
    }
    if (!field->read(value))
      return parser.emitError(at, "expected ")
             << (field->number ? "a number of at least " + std::to_string(field->least)
                               : llvm::join(field->words, " or "))
             << " as " << keyword << ", but got '" << value << "'";
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseField))
    return {};
  return get(parser.getContext(), sizes);
}

void tile::PlanAttr::print(AsmPrinter &printer) const {
  TileSizes sizes = getSizes(), defaults;
  std::vector<SizeField> fields = fieldsOf(sizes), usual = fieldsOf(defaults);
  llvm::ListSeparator comma;
  printer << "<";
  for (auto [field, other] : llvm::zip(fields, usual))
    if (field.text != other.text)
      printer << StringRef(comma) << field.keyword() << " = " << field.text;
  printer << ">";
}

TileSizes tile::getTileSizes(Operation *op) {
  auto plan = op->getAttrOfType<PlanAttr>(kPlan);
  return plan ? plan.getSizes() : TileSizes();
}

bool tile::isPlanned(Operation *op, function_ref<bool(const TileSizes &)> asks) {
  auto plan = op->getAttrOfType<PlanAttr>(kPlan);
  return !plan || asks(plan.getSizes());
}
