// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/TileSizes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace taylor;
using llvm::StringRef;

namespace {

/// A field that `parse` reads: a positive number, or one of some words.
struct Field {
  StringRef name;
  int64_t *number = nullptr;
  llvm::ArrayRef<StringRef> words;
  std::function<void(unsigned word)> choose;
  std::string text; // what it holds

  std::string expected() const { return (name + "=" + (number ? "N" : llvm::join(words, "|"))).str(); }
  bool read(StringRef value) const {
    if (number)
      return !value.getAsInteger(10, *number) && *number > 0;
    const auto *word = llvm::find(words, value);
    if (word == words.end())
      return false;
    choose(word - words.begin());
    return true;
  }
};

std::vector<Field> fieldsOf(TileSizes &sizes) {
  static const StringRef rowSums[] = {"parts", "separate", "atomic"}, products[] = {"f32", "bf16", "f16"},
                         loops[] = {"split", "single"}, factors[] = {"operands", "weights"},
                         exponents[] = {"natural", "binary"};
  auto number = [](StringRef name, int64_t &value) {
    return Field{name, &value, {}, {}, std::to_string(value)};
  };
  return {number("tokens", sizes.tokens),
          number("queries", sizes.rows.queries),
          number("keys", sizes.rows.keys),
          number("derived-queries", sizes.derivedRows.queries),
          number("derived-keys", sizes.derivedRows.keys),
          number("edge-keys", sizes.edgeKeys),
          number("outer-queries", sizes.columns.queries),
          number("outer-keys", sizes.columns.keys),
          number("scalar-keys", sizes.scalarKeys),
          number("blocks", sizes.blocks),
          {"row-sums", nullptr, rowSums, [&](unsigned word) { sizes.rowSums = RowSums(word); },
           rowSums[unsigned(sizes.rowSums)].str()},
          {"loops", nullptr, loops, [&](unsigned word) { sizes.singleLoop = word; },
           loops[sizes.singleLoop].str()},
          {"row-factors", nullptr, factors, [&](unsigned word) { sizes.foldRowFactors = word; },
           factors[sizes.foldRowFactors].str()},
          {"exponents", nullptr, exponents, [&](unsigned word) { sizes.foldExponents = word; },
           exponents[sizes.foldExponents].str()},
          {"products", nullptr, products,
           [&](unsigned word) { sizes.productType = word ? products[word].str() : ""; },
           sizes.productType.empty() ? products[0].str() : sizes.productType}};
}

} // namespace

llvm::Error TileSizes::parse(StringRef text) {
  std::vector<Field> fields = fieldsOf(*this);
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [name, value] = part.split('=');
    auto field = llvm::find_if(fields, [&](const Field &field) { return field.name == name; });
    if (field != fields.end() && field->read(value))
      continue;
    std::string expected =
        llvm::join(llvm::map_range(fields, [](const Field &f) { return f.expected(); }), ",");
    return llvm::createStringError("expected tile sizes " + expected + " with positive N, but got '" + part +
                                   "'");
  }
  return llvm::Error::success();
}

std::string TileSizes::str() const {
  TileSizes copy = *this;
  return llvm::join(
      llvm::map_range(fieldsOf(copy), [](const Field &f) { return (f.name + "=" + f.text).str(); }), ",");
}
