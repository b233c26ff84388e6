// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/Frame/Tables.h"
#include "codegen/Targets/NVPTX/Thread/Features.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::simt;

/// Bytes from the start of a row to a component, before rows flip any bits.
static int32_t columnOf(BufferType vectors, int64_t component) {
  int64_t bytes = component * vectors.getElementBytes(), width = vectors.getSwizzle();
  return width ? bytes / width * vectors.getPanelRows() * width + bytes % width : bytes;
}

FeatureTable::FeatureTable(Code code, tile::FeaturesAttr features, std::optional<ArrayAttr> weights,
                           BufferType vectors, FloatType number, int64_t panel)
    : number(number), weighted(weights.has_value()) {
  SmallVector<double> ofOrder = tile::numbersOf(weights);
  numOthers = std::max<int64_t>(features.getLast() - 2, 0);
  int64_t place = 0;
  Rows groupRows, blockRows;
  auto columnOfBlock = [&](int64_t component) {
    return columnOf(vectors, component / kBlockSize * kBlockSize);
  };
  features.get().forEach([&](const taylor::Features::Feature &feature) {
    double weight = features.get().weightOf(feature, ofOrder);
    ArrayRef<int64_t> components = feature.components;
    if (feature.order < 2) {
      if (place++ % kBlockSize)
        return;
      blockRows.columns.push_back(components.empty() ? -1 : columnOfBlock(components[0]));
      blockRows.weights.push_back(weight);
      hasConstants |= components.empty();
      return;
    }
    if (place++ % kGroupSize)
      return;
    groupRows.columns.append(numOthers - (feature.order - 2), -1);
    for (int64_t component : components.drop_back(2))
      groupRows.columns.push_back(columnOf(vectors, component));
    for (int64_t component : components.take_back(2))
      groupRows.columns.push_back(columnOfBlock(component));
    groupRows.weights.push_back(weight);
  });
  numGroups = groupRows.weights.size();
  numBlocks = blockRows.weights.size();
  while (blockRows.weights.size() * kBlockSize % panel) {
    blockRows.columns.push_back(-1);
    blockRows.weights.push_back(0);
    hasConstants = true;
  }
  std::string name = ("taylor_features_" + Twine(features.getChannels()) + "_" + Twine(features.getFirst()) +
                      "_" + Twine(features.getLast()))
                         .str();
  if (numGroups)
    groups = makeTable(code, name + "_groups", groupRows, numOthers + 2);
  if (numBlocks)
    blocks = makeTable(code, name + "_blocks", blockRows, 1);
}

FeatureTable::Table FeatureTable::makeTable(Code code, const Twine &name, const Rows &rows, int64_t width) {
  // Rows are read at once.
  Table table{width <= 2 ? width : int64_t(llvm::alignTo(width, 4)), {}, {}};
  SmallVector<int32_t> columns;
  for (size_t row = 0; row < rows.weights.size(); ++row) {
    columns.append(rows.columns.begin() + row * width, rows.columns.begin() + (row + 1) * width);
    columns.append(table.width - width, 0);
  }
  table.columns = makeGlobal(code, name, tile::integerTable(code.builder, columns));
  table.weights = makeGlobal(code, name + "_weights", tile::roundedTable(number, rows.weights));
  return table;
}

/// Tables of one name differ in their weights, or in the buffer that they are for.
Value FeatureTable::makeGlobal(Code code, const Twine &name, DenseElementsAttr values) {
  std::string first = name.str();
  return tile::addressOfTable(
      code.builder, code.loc, [&](unsigned i) { return first + "_" + std::to_string(i); }, values,
      /*alignment=*/16, unsigned(AddressSpace::global));
}

SmallVector<Value> FeatureTable::columnsAt(Code code, const Table &table, Value number) const {
  Value row = code.offset(table.columns, code.mul(code.widen(number), 4 * table.width));
  SmallVector<Value> columns;
  int64_t together = std::min<int64_t>(table.width, 4);
  for (int64_t i = 0; i < table.width; i += together)
    llvm::append_range(columns, code.load(code.offset(row, 4 * i), AddressSpace::global,
                                          Words{32, unsigned(together)}, Value()));
  return columns;
}

Value FeatureTable::weightAt(Code code, const Table &table, Value row) const {
  unsigned bits = number.getIntOrFloatBitWidth();
  Value pointer = code.offset(table.weights, code.mul(code.widen(row), bits / 8));
  return code.bitcast(code.load(pointer, AddressSpace::global, Words{bits, 1}, Value()).front(), number);
}

FeatureTable::Group FeatureTable::group(Code code, Value number) const {
  SmallVector<Value> columns = columnsAt(code, groups, number);
  Group group;
  group.others.assign(columns.begin(), columns.begin() + numOthers);
  group.first = columns[numOthers];
  group.last = columns[numOthers + 1];
  if (weighted)
    group.weight = weightAt(code, groups, number);
  return group;
}

FeatureTable::Block FeatureTable::block(Code code, Value number) const {
  return {columnsAt(code, blocks, number).front(), weightAt(code, blocks, number)};
}
