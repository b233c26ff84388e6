// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequences of several documents. Passes.td has the rule.
#include "dialect/Refusal.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "passes/Algebra/PairwiseRewrite.h"
#include "passes/Debug.h"
#include "passes/Passes.h"
#include "passes/Specification/Rewrites.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define DEBUG_TYPE "taylor-add-documents"

namespace taylor {
#define GEN_PASS_DEF_ADDDOCUMENTSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

using namespace mlir;
using namespace taylor;

namespace {

/// A number per token, over keys and over queries.
struct TokenNumbers {
  Value keys, queries;
  Value over(AxisRef axis) const { return axis == AxisRole::Query ? queries : keys; }
};

class DocumentAdder {
public:
  explicit DocumentAdder(SpecOp spec)
      : spec(spec), body(spec.getBody().front()), builder(OpBuilder::atBlockBegin(&body)),
        real(realTypeOf(spec.getContext(), body.getArgumentTypes())) {}

  LogicalResult run();

private:
  LogicalResult addArgument();
  void buildNumbers();
  /// Over keys, in the order of tokens or, within documents, from the end.
  Value buildScan(ScanKind kind, ValueRange arrays, ScalarBody scalar, int64_t amount = 0);
  Value buildReverseMaximum(Value array, Value within);
  TokenNumbers withQueries(Value keys);

  LogicalResult visit(Operation &op);
  LogicalResult visit(ArrayOpInterface op);
  LogicalResult restart(FormulaOpInterface op);
  Value addBatch(Operation *op, Value array);
  void visit(RecurrencesOp op);
  void visit(PairwiseOp op);
  /// Reads along an axis become reads of a scalar, which has no derivative.
  template <typename Read> static void replaceReads(Region &region, AxisRef axis, Value scalar);
  void widen(Operation &op);

  SpecOp spec;
  Block &body;
  OpBuilder builder;
  Type real;
  Value argument;
  /// For each token: where its document starts, which names the document; its position within the document;
  /// how many keys the document has.
  TokenNumbers documents, positions, lengths;
};

template <typename Read> bool readsAxis(Region &region, AxisRef axis) {
  return region
      .walk(
          [&](Read read) { return read.getAxis() == axis ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// Whether a formula over pairs does more with the two tokens' positions than compare or subtract them.
/// Differences within a document are the same whether positions count from the sequence's start or the
/// document's.
bool readsPositions(Region &region) {
  auto isToken = [](Value value, AxisRef axis) {
    auto index = value.getDefiningOp<IndexOp>();
    return index && index.getAxis() == axis;
  };
  auto isDifference = [&](Operation *user) {
    return isa<arith::SubFOp, arith::CmpFOp>(user) &&
           ((isToken(user->getOperand(0), AxisRole::Query) && isToken(user->getOperand(1), AxisRole::Key)) ||
            (isToken(user->getOperand(0), AxisRole::Key) && isToken(user->getOperand(1), AxisRole::Query)));
  };
  return region
      .walk([&](IndexOp index) {
        bool positions = (index.getAxis() == AxisRole::Query || index.getAxis() == AxisRole::Key) &&
                         !llvm::all_of(index->getUsers(), isDifference);
        return positions ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Value buildSame(OpBuilder &b, Location loc, Value row, Value column) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, row, column);
}

/// Adds a condition to a mask over pairs, which may be empty.
void addCondition(Region &visible, ArrayRef<Type> arguments, Location loc,
                  function_ref<Value(OpBuilder &, Block &)> condition) {
  OpBuilder builder(visible.getContext());
  if (visible.empty()) {
    Block *block = addBlock(visible, arguments, loc);
    builder.setInsertionPointToEnd(block);
    YieldOp::create(builder, loc, condition(builder, *block), ArrayAttr());
    return;
  }
  Operation *yield = visible.front().getTerminator();
  builder.setInsertionPoint(yield);
  Value both = arith::AndIOp::create(builder, loc, yield->getOperand(0), condition(builder, visible.front()));
  yield->setOperand(0, both);
}

} // namespace

//===----------------------------------------------------------------------===//
// Documents and positions
//===----------------------------------------------------------------------===//

LogicalResult DocumentAdder::addArgument() {
  SmallVector<Attribute> names(spec.getArgNames().getValue()), sources(spec.getSources().getValue());
  StringAttr name = builder.getStringAttr(kDocumentsInput);
  if (llvm::is_contained(names, name))
    return refuse(spec.emitError(
        "unsupported argument 'documents': the numbers of documents are an input of this name; rename it, or "
        "compile without documents"));
  bool hasBatch = llvm::any_of(body.getArgumentTypes(),
                               [](Type type) { return cast<ArrayType>(type).has(AxisRole::Batch); });
  SmallVector<AxisRef> axes{AxisRole::Key};
  if (hasBatch)
    axes.insert(axes.begin(), AxisRole::Batch);
  FloatAttr zero = builder.getF64FloatAttr(0.0);
  names.push_back(name);
  sources.push_back(
      SourceAttr::get(builder.getContext(), SourceKind::Input, false, Initial::Zeros, zero, zero));
  argument = body.addArgument(joinAxes({}, builder.getI32Type(), axes), spec.getLoc());
  spec.setArgNamesAttr(builder.getArrayAttr(names));
  spec.setSourcesAttr(builder.getArrayAttr(sources));
  return success();
}

static Value buildScanOver(OpBuilder &builder, Location loc, ArrayType type, ScanKind kind, ValueRange arrays,
                           Value within, bool reverse, int64_t amount, ScalarBody scalar) {
  auto scan =
      ScanOp::create(builder, loc, type, arrays, within, ScanKindAttr::get(builder.getContext(), kind),
                     axisAttr(builder, AxisRole::Key), UnitAttr(),
                     reverse ? builder.getUnitAttr() : UnitAttr(), builder.getI64IntegerAttr(amount));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = addBlock(scan.getBody(), scalarTypesOf(arrays), loc);
  builder.setInsertionPointToStart(block);
  YieldOp::create(builder, loc, scalar(builder, loc, block->getArguments()), ArrayAttr());
  return scan;
}

Value DocumentAdder::buildScan(ScanKind kind, ValueRange arrays, ScalarBody scalar, int64_t amount) {
  return buildScanOver(builder, spec.getLoc(), joinAxes(arrays, real), kind, arrays, {}, false, amount,
                       scalar);
}

Value DocumentAdder::buildReverseMaximum(Value array, Value within) {
  Location loc = spec.getLoc();
  spec.walk([&](SizeOp size) {
    if (size.getAxis() == AxisRole::Key)
      loc = size.getLoc();
  });
  Value lengths = buildScanOver(builder, loc, joinAxes(array, real), ScanKind::Max, array, within, true, 0,
                                [](OpBuilder &, Location, ValueRange x) -> Value { return x[0]; });
  lengths.getDefiningOp<ScanOp>().setLengths(true);
  return lengths;
}

TokenNumbers DocumentAdder::withQueries(Value keys) {
  return {keys,
          AlignOp::create(builder, spec.getLoc(), arrayTypeOf(keys).renamed(AxisRole::Key, AxisRole::Query),
                          keys, axisAttr(builder, AxisRole::Query))};
}

void DocumentAdder::buildNumbers() {
  // The largest number so far: it ascends, whatever the input does.
  Value document = buildScan(ScanKind::Max, argument, [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
    return arith::SIToFPOp::create(b, loc, real, x[0]);
  });
  Value before = buildScan(
      ScanKind::Shift, document,
      [](OpBuilder &b, Location loc, ValueRange x) -> Value { return StopGradientOp::create(b, loc, x[0]); },
      1);
  auto index = [&](OpBuilder &b, Location loc) -> Value {
    return IndexOp::create(b, loc, real, axisAttr(b, AxisRole::Key));
  };
  Value first =
      buildScan(ScanKind::Max, {document, before}, [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value same = buildSame(b, loc, x[0], x[1]);
        return arith::SelectOp::create(b, loc, same, buildNumber(b, loc, real, 0.0), index(b, loc));
      });
  Value position =
      buildMap(builder, spec.getLoc(), first, {}, [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value start = StopGradientOp::create(b, loc, x[0]);
        return arith::SubFOp::create(b, loc, index(b, loc), start);
      });
  Value last = buildReverseMaximum(position, first);
  Value length =
      buildMap(builder, spec.getLoc(), last, {}, [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        return arith::AddFOp::create(b, loc, x[0], buildNumber(b, loc, real, 1.0));
      });
  documents = withQueries(first);
  lengths = withQueries(length);
  positions = withQueries(position);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

template <typename Read> void DocumentAdder::replaceReads(Region &region, AxisRef axis, Value scalar) {
  SmallVector<Read> reads;
  region.walk([&](Read read) {
    if (read.getAxis() == axis)
      reads.push_back(read);
  });
  for (Read read : reads) {
    OpBuilder inner(read);
    read.replaceAllUsesWith(StopGradientOp::create(inner, read.getLoc(), scalar).getResult());
    read.erase();
  }
}

LogicalResult DocumentAdder::restart(FormulaOpInterface op) {
  Region &region = op.getBody();
  auto append = [&](Value array) {
    op.getArraysMutable().append(array);
    return region.front().addArgument(real, region.getLoc());
  };
  for (AxisRef axis : {AxisRole::Query, AxisRole::Key})
    if (readsAxis<IndexOp>(region, axis)) {
      LDBG() << op->getLoc() << ": positions over " << axis << " count from the document's first token";
      replaceReads<IndexOp>(region, axis, append(positions.over(axis)));
    }
  if (!readsAxis<SizeOp>(region, AxisRole::Key))
    return success();
  ArrayType type = arrayTypeOf(op->getResult(0));
  if (!type.has(AxisRole::Query) && !type.has(AxisRole::Key))
    return refuse(
        op->emitError("unsupported size(u) with documents where there is no token: each document has its "
                      "own; read it in a formula over "
                      "t or u"));
  replaceReads<SizeOp>(region, AxisRole::Key,
                       append(lengths.over(type.has(AxisRole::Query) ? AxisRole::Query : AxisRole::Key)));
  return success();
}

/// An array over the batch of the documents.
Value DocumentAdder::addBatch(Operation *op, Value array) {
  ArrayType type = arrayTypeOf(array);
  if (type.has(AxisRole::Batch) || !arrayTypeOf(documents.keys).has(AxisRole::Batch))
    return array;
  OpBuilder inner(op);
  return buildMap(
      inner, op->getLoc(), array, {}, [](OpBuilder &, Location, ValueRange x) -> Value { return x[0]; },
      withBatch(type.clone(type.getScalarType())));
}

LogicalResult DocumentAdder::visit(ArrayOpInterface op) {
  std::optional<MutableOperandRange> within = op.getDocuments(), places = op.getPlaces();
  if (auto formula = dyn_cast<FormulaOpInterface>(op.getOperation())) {
    if (failed(restart(formula)))
      return failure();
  } else if (within || (places && places->empty())) {
    op->setOperand(0, addBatch(op, op->getOperand(0)));
  }
  // What was appended moved the other operands.
  within = op.getDocuments();
  if (within && !within->empty())
    return refuse(op->emitError("unsupported documents where within(..) names others; leave it out"));
  LDBG() << op->getLoc() << ": begins again with each document";
  if (within)
    within->assign(documents.over(op.getToken()));
  if (places && places->empty())
    places->assign(positions.over(op.getToken()));
  return success();
}

void DocumentAdder::visit(RecurrencesOp op) {
  LDBG() << op.getLoc() << ": pairs of two documents are invisible";
  Region *regions[] = {&op.getScore(), &op.getWeight(), &op.getVisible()};
  auto append = [&](Value array) {
    op.getExtrasMutable().append(array);
    for (Region *region : regions)
      if (!region->empty())
        region->front().addArgument(real, op.getLoc());
  };
  auto appendFor = [&](Value array, auto reads, auto replace) {
    if (llvm::none_of(regions, reads))
      return;
    append(array);
    for (Region *region : regions)
      if (reads(region))
        replace(*region, region->front().getArguments().back());
  };
  SmallVector<Region *> positioned;
  llvm::copy_if(regions, std::back_inserter(positioned),
                [](Region *region) { return readsPositions(*region); });
  for (AxisRef axis : {AxisRole::Query, AxisRole::Key})
    appendFor(
        positions.over(axis),
        [&](Region *region) {
          return llvm::is_contained(positioned, region) && readsAxis<IndexOp>(*region, axis);
        },
        [&](Region &region, Value scalar) { replaceReads<IndexOp>(region, axis, scalar); });
  appendFor(
      lengths.queries, [](Region *region) { return readsAxis<SizeOp>(*region, AxisRole::Key); },
      [](Region &region, Value scalar) { replaceReads<SizeOp>(region, AxisRole::Key, scalar); });
  append(documents.queries);
  append(documents.keys);
  addCondition(op.getVisible(), scalarTypesOf(op.getExtras()), op.getLoc(), [&](OpBuilder &b, Block &block) {
    ValueRange last = ValueRange(block.getArguments()).take_back(2);
    return buildSame(b, op.getLoc(), last[0], last[1]);
  });
}

void DocumentAdder::visit(PairwiseOp op) {
  LDBG() << op.getLoc() << ": pairs of two documents are invisible";
  SmallVector<Region *> positioned, sized;
  for (Region *region : {&op.getWeight(), &op.getMaximum(), &op.getVisible()}) {
    if (readsPositions(*region))
      positioned.push_back(region);
    if (readsAxis<SizeOp>(*region, AxisRole::Key))
      sized.push_back(region);
  }
  for (AxisRef axis : {AxisRole::Query, AxisRole::Key})
    for (Region *region : positioned)
      if (readsAxis<IndexOp>(*region, axis))
        replaceReads<IndexOp>(*region, axis, addScalarOperand(op, positions.over(axis), region));
  for (Region *region : sized)
    replaceReads<SizeOp>(*region, AxisRole::Key, addScalarOperand(op, lengths.queries, region));
  auto addScalar = [&](Value array) -> unsigned {
    return cast<BlockArgument>(addScalarOperand(op, array)).getArgNumber() - op.getNumProducts();
  };
  unsigned row = addScalar(documents.queries), column = addScalar(documents.keys);
  addCondition(op.getVisible(), scalarTypesOf(op.getScalars()), op.getLoc(), [&](OpBuilder &b, Block &block) {
    return buildSame(b, op.getLoc(), block.getArgument(row), block.getArgument(column));
  });
}

LogicalResult DocumentAdder::visit(Operation &op) {
  WalkResult sizes = op.walk([&](SizeOp size) -> WalkResult {
    if (size.getAxis() != AxisRole::Query)
      return WalkResult::advance();
    return refuse(
        size.emitError("unsupported size(t) with documents: how many queries a document has depends on "
                       "the call; use size(u), its keys"));
  });
  if (sizes.wasInterrupted())
    return failure();
  if (auto sums = dyn_cast<RecurrencesOp>(op); sums && readsAxis<SizeOp>(sums.getScale(), AxisRole::Key))
    return refuse(op.emitError(
        "unsupported size(u) in scale(..) with documents: each document has its own; read it in score(..)"));
  if (auto array = dyn_cast<ArrayOpInterface>(op))
    return visit(array);
  if (auto sums = dyn_cast<RecurrencesOp>(op)) {
    visit(sums);
  } else if (auto pairs = dyn_cast<PairwiseOp>(op)) {
    visit(pairs);
  } else if (!isa<YieldOp>(op)) {
    return refuse(op.emitError(
        "unsupported operation with documents: write taylor.recurrences, or compile without them"));
  }
  return success();
}

void DocumentAdder::widen(Operation &op) {
  auto has = [](Value array) { return arrayTypeOf(array).has(AxisRole::Batch); };
  if (!isa<ArrayOpInterface>(op) || has(op.getResult(0)) || llvm::none_of(op.getOperands(), has))
    return;
  if (auto reduce = dyn_cast<ReduceOp>(op);
      reduce && llvm::is_contained(reduce.getAxes().getAsValueRange<StringAttr>(), AxisRole::Batch))
    return;
  op.getResult(0).setType(withBatch(arrayTypeOf(op.getResult(0))));
}

LogicalResult DocumentAdder::run() {
  SmallVector<Operation *> operations;
  for (Operation &op : body)
    operations.push_back(&op);
  if (failed(addArgument()))
    return failure();
  buildNumbers();
  SmallVector<Operation *> built;
  for (Operation &op : body) {
    if (&op == operations.front())
      break;
    built.push_back(&op);
  }
  for (Operation *op : operations) {
    if (failed(visit(*op)))
      return failure();
    widen(*op);
  }
  for (Operation *op : llvm::reverse(built))
    if (isOpTriviallyDead(op))
      op->erase();
  return mlir::verify(spec);
}

LogicalResult taylor::addDocuments(SpecOp spec) { return DocumentAdder(spec).run(); }

namespace {

struct AddDocuments : taylor::impl::AddDocumentsPassBase<AddDocuments> {
  void runOnOperation() override {
    for (SpecOp spec : getOperation().getOps<SpecOp>()) {
      if (failed(addDocuments(spec)))
        return signalPassFailure();
      ++numDivided;
    }
  }
};

} // namespace
