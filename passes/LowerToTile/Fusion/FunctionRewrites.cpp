// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Fusion/FunctionRewrites.h"
#include "passes/Algebra/Factors.h"
#include "passes/Algebra/PairwiseRewrite.h"
#include "passes/LowerToTile/Fusion/KernelGrid.h"
#include "passes/LowerToTile/VisibleRanges.h"
#include "passes/Specification/DocumentMask.h"
#include "passes/States/SeparableSums.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace taylor;

ArrayType taylor::makeArray(MLIRContext *context, ArrayRef<AxisRef> axes, ArrayRef<ArrayType> like,
                            Type elementType) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  auto take = [&](AxisRef axis) {
    int64_t size = ArrayType::kUnknown;
    for (ArrayType type : like)
      if (type.has(axis) && type.sizeOf(axis) != ArrayType::kUnknown)
        size = type.sizeOf(axis);
    names.push_back(StringAttr::get(context, axis));
    sizes.push_back(size);
  };
  for (AxisRef role : kAxisRoles)
    if (llvm::is_contained(axes, role))
      take(role);
  for (StringRef axis : axes)
    if (!isRoleAxis(axis))
      take(axis);
  return ArrayType::get(context, names, sizes, elementType);
}

static SmallVector<AxisRef> axesOf(ArrayType type) {
  return llvm::map_to_vector(type.getAxes(), [](StringAttr name) { return AxisRef(name); });
}

/// taylor.reduce sum over(axes) of an array itself.
static ReduceOp buildSumOver(OpBuilder &builder, Location loc, Value array, ArrayType result,
                             ArrayRef<AxisRef> axes) {
  auto op = ReduceOp::create(builder, loc, result, ValueRange{array}, ValueRange{}, Reduction::Sum,
                             axesAttr(builder, axes));
  OpBuilder::InsertionGuard guard(builder);
  Type scalar = cast<ArrayType>(array.getType()).getScalarType();
  Block *block = builder.createBlock(&op.getBody(), {}, {scalar}, {loc});
  YieldOp::create(builder, loc, block->getArgument(0), ArrayAttr());
  return op;
}

void taylor::widenPairSums(FunctionOp function) {
  function.walk([&](PairwiseOp op) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto some = [&](AxisRef axis) {
      return llvm::any_of(op.getArrays(),
                          [&](Value array) { return cast<ArrayType>(array.getType()).has(axis); });
    };
    for (auto [sum, result] : llvm::zip(op.getSums().getAsRange<PairSumAttr>(), op.getResults())) {
      auto type = cast<ArrayType>(result.getType());
      SmallVector<AxisRef> axes = axesOf(type), missing;
      auto require = [&](AxisRef axis) {
        if (!type.has(axis)) {
          axes.push_back(axis);
          missing.push_back(axis);
        }
      };
      if (some(AxisRole::Batch))
        require(AxisRole::Batch);
      bool columns = sum.getKind() == PairOutput::Columns;
      if (sum.getKind() == PairOutput::Rows)
        require(AxisRole::Query);
      if (columns)
        require(AxisRole::Key);
      if (columns && !type.has(AxisRole::Head) && (some(AxisRole::KeyHead) || type.has(AxisRole::KeyHead)))
        require(AxisRole::KeyHead); // a block sums over the heads of its group
      else if (some(AxisRole::Head) && type.has(AxisRole::KeyHead) && !columns) {
        llvm::erase(axes, AxisRole::KeyHead);
        axes.push_back(AxisRole::Head);
        missing.push_back(kGroup);
      } else if (some(AxisRole::Head))
        require(AxisRole::Head);
      else if (some(AxisRole::KeyHead) && !type.has(AxisRole::Head))
        require(AxisRole::KeyHead);
      if (missing.empty())
        continue;
      result.setType(makeArray(op.getContext(), axes, type, type.getElementType()));
      ReduceOp reduce = buildSumOver(builder, op.getLoc(), result, type, missing);
      result.replaceAllUsesExcept(reduce.getResult(), reduce);
    }
  });
}

int64_t taylor::splitTokenSums(FunctionOp function) {
  SmallVector<ReduceOp> sums;
  function.walk([&](ReduceOp op) {
    if (op.getKind() != Reduction::Max && reducesTokens(op))
      sums.push_back(op);
  });
  int64_t count = 0;
  for (ReduceOp op : sums) {
    SmallVector<AxisRef> inBlock, heads, batches;
    for (AxisRef axis : op.getAxes().getAsValueRange<StringAttr>()) {
      bool isOfHeads = axis == AxisRole::Head || axis == AxisRole::KeyHead || axis == kGroup;
      (axis == AxisRole::Batch ? batches : isOfHeads ? heads : inBlock).push_back(axis);
    }
    if (heads.empty() && batches.empty())
      continue;
    OpBuilder builder(op);
    auto result = cast<ArrayType>(op.getType());
    // What a block sums keeps the axes that are left to sum over.
    SmallVector<AxisRef> axes = axesOf(result);
    for (AxisRef axis : llvm::concat<AxisRef>(heads, batches))
      axes.push_back(axis == kGroup ? AxisRef(AxisRole::Head) : axis);
    if (llvm::is_contained(heads, AxisRef(kGroup)))
      llvm::erase(axes, AxisRef(AxisRole::KeyHead));
    auto first = ReduceOp::create(builder, op.getLoc(),
                                  makeArray(op.getContext(), axes, result, result.getElementType()),
                                  op.getArrays(), op.getLive(), op.getKind(), axesAttr(builder, inBlock));
    IRMapping mapping;
    op.getBody().cloneInto(&first.getBody(), mapping);
    Value sum = first;
    for (ArrayRef<AxisRef> left : {ArrayRef(heads), ArrayRef(batches)})
      if (!left.empty())
        sum = buildReduce(builder, op.getLoc(), op.getKind(), left, sum, {},
                          [](OpBuilder &, Location, ValueRange x) { return x.front(); });
    op.replaceAllUsesWith(buildInOrder(builder, op.getLoc(), sum, result));
    op.erase();
    ++count;
  }
  return count;
}

static bool hasRowCount(PairwiseOp op) {
  return llvm::any_of(op.getSums().getAsRange<PairSumAttr>(),
                      [&](PairSumAttr sum) { return isRowCount(op, sum); });
}

void taylor::addDocumentEnds(FunctionOp function) {
  llvm::DenseMap<Value, Value> ends;
  function.walk([&](PairwiseOp op) {
    for (Value starts : VisibleRanges(op).startsWithoutEnds(!isRowsOnly(op))) {
      Value &array = ends[starts];
      if (!array) {
        OpBuilder builder(starts.getContext());
        builder.setInsertionPointAfterValue(starts);
        array = buildEnds(builder, starts);
      }
      addScalarOperand(op, array);
    }
    // Keys that a row sees are counted by where its document begins and ends.
    VisibleRanges ranges(op);
    if (isRowsOnly(op) && ranges.canCount() && hasRowCount(op))
      for (Value array : ranges.endsWithoutRows()) {
        OpBuilder builder(op);
        addScalarOperand(op, AlignOp::create(builder, op.getLoc(),
                                             arrayTypeOf(array).renamed(AxisRole::Key, AxisRole::Query),
                                             array, axisAttr(builder, AxisRole::Query)));
      }
  });
}

int64_t taylor::splitRowFactors(FunctionOp function) {
  llvm::SetVector<Operation *> candidates;
  function.walk([&](PairwiseOp op) {
    if (isRowsOnly(op))
      return;
    for (Value array : op.getArrays())
      if (auto map = array.getDefiningOp<MapOp>();
          map && cast<ArrayType>(array.getType()).has(AxisRole::Query))
        candidates.insert(map);
  });
  int64_t count = 0;
  for (Operation *candidate : candidates) {
    auto map = cast<MapOp>(candidate);
    Value x = findRowFactored(map);
    if (!x)
      continue;
    OpBuilder builder(map);
    Location loc = map.getLoc();
    auto type = cast<ArrayType>(map.getType());
    Type scalar = type.getScalarType();
    Value factor = buildRowFactor(builder, map, x);
    auto product = MapOp::create(builder, loc, type, ValueRange{x, factor}, ValueRange{});
    {
      OpBuilder::InsertionGuard guard(builder);
      Block *block = builder.createBlock(&product.getBody(), {},
                                         {cast<ArrayType>(x.getType()).getScalarType(), scalar}, {loc, loc});
      Value value = arith::MulFOp::create(builder, loc, block->getArgument(0), block->getArgument(1));
      YieldOp::create(builder, loc, value, ArrayAttr());
    }
    map.replaceAllUsesWith(product.getResult());
    map.erase();
    ++count;
  }
  return count;
}

bool taylor::isRowProduct(Operation *op) {
  auto map = dyn_cast_or_null<MapOp>(op);
  if (!map || map.getArrays().size() != 2 || !map.getLive().empty() ||
      !arrayTypeOf(map.getResult()).has(AxisRole::Query))
    return false;
  Block &body = map.getBody().front();
  auto product = body.getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
  bool multiplies =
      product && product.getLhs() == body.getArgument(0) && product.getRhs() == body.getArgument(1);
  return multiplies && findRowFactored(map) == map.getArrays()[0] &&
         llvm::any_of(map->getUsers(), [](Operation *user) {
           auto pairs = dyn_cast<PairwiseOp>(user);
           return pairs && !isRowsOnly(pairs);
         });
}
