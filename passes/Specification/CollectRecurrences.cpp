// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Sources.h"
#include "passes/Debug.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"

#include <map>

#define DEBUG_TYPE "taylor-collect-recurrences"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_COLLECTRECURRENCESPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// Coefficient of each order.
using Orders = std::map<int64_t, double>;

/// A value that is a sum of recurrences.
struct Collected {
  Value value;
  RecurrenceOp first;
  Sum kind;
  Orders orders;
};

bool isStateless(RecurrenceOp op) { return !op.getState() && !op.getSum(Sum::State); }

bool areOfOneSeries(RecurrenceOp a, RecurrenceOp b) {
  return a.getOperands() == b.getOperands() && a.getMask() == b.getMask() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getScale(), &b.getScale(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// True if the map adds its operands, each once, and neither rounds nor widens: its result takes the place of
/// theirs.
bool isSum(MapOp map) {
  Block &block = map.getBody().front();
  return map.getLive().empty() &&
         llvm::all_of(map.getArrays(),
                      [&](Value array) { return array.getType() == map.getResult().getType(); }) &&
         llvm::all_of(block.without_terminator(),
                      [](Operation &op) { return isa<arith::AddFOp>(op) && op.getResult(0).hasOneUse(); }) &&
         llvm::all_of(block.getArguments(), [](BlockArgument argument) { return argument.hasOneUse(); });
}

/// The terms of a sum, through sums that are only added further; true if all are recurrences of one series
/// and kind.
bool collectTerms(Value value, Collected &collected) {
  if (auto map = value.getDefiningOp<MapOp>();
      map && isSum(map) && (value == collected.value || value.hasOneUse()))
    return llvm::all_of(map.getArrays(), [&](Value array) { return collectTerms(array, collected); });
  auto term = value.getDefiningOp<RecurrenceOp>();
  if (!term || !isStateless(term))
    return false;
  Sum kind = cast<SumAttr>(term.getSums()[cast<OpResult>(value).getResultNumber()]).getValue();
  if (!collected.first) {
    collected.first = term;
    collected.kind = kind;
  }
  if (kind == Sum::Count || kind != collected.kind || !areOfOneSeries(collected.first, term))
    return false;
  if (term->isBeforeInBlock(collected.first))
    collected.first = term;
  collected.orders[term.getOrder()] += term.getCoefficient().convertToDouble();
  return true;
}

/// A series needs a coefficient that is not 0: terms that cancel become a series each.
bool isZero(const Orders &orders) {
  return llvm::all_of(orders, [](auto term) { return term.second == 0.0; });
}

bool isFactorial(const Orders &orders) {
  double factorial = 1.0;
  int64_t n = 0;
  for (auto [order, coefficient] : orders) {
    for (; n < order; ++n)
      factorial *= n + 1;
    if (coefficient != 1.0 / factorial)
      return false;
  }
  return static_cast<int64_t>(orders.size()) == orders.rbegin()->first - orders.begin()->first + 1;
}

void buildSeries(ArrayRef<Collected *> sums) {
  RecurrenceOp first = sums.front()->first;
  for (Collected *sum : sums)
    if (sum->first->isBeforeInBlock(first))
      first = sum->first;
  OpBuilder builder(first);
  const Orders &orders = sums.front()->orders;
  int64_t low = orders.begin()->first, high = orders.rbegin()->first;
  ArrayAttr coefficients;
  if (!isFactorial(orders)) {
    SmallVector<double> list;
    for (int64_t n = low; n <= high; ++n)
      list.push_back(orders.count(n) ? orders.at(n) : 0.0);
    coefficients = builder.getF64ArrayAttr(list);
  }
  SmallVector<Attribute> kinds;
  SmallVector<Type> types;
  for (Collected *sum : sums) {
    kinds.push_back(SumAttr::get(builder.getContext(), sum->kind));
    types.push_back(sum->value.getType());
  }
  auto series = RecurrencesOp::create(
      builder, first.getLoc(), types, first.getQuery(), first.getKey(), first.getValue(), first.getDecay(),
      /*extras=*/ValueRange(), builder.getArrayAttr(kinds), /*all_orders=*/UnitAttr(),
      builder.getI64IntegerAttr(low), builder.getI64IntegerAttr(high), coefficients, first.getMaskAttr());
  IRMapping mapping;
  first.getScale().cloneInto(&series.getScale(), mapping);
  for (auto [sum, result] : llvm::zip_equal(sums, series.getResults()))
    sum->value.replaceAllUsesWith(result);
}

class CollectRecurrences : public ::taylor::impl::CollectRecurrencesPassBase<CollectRecurrences> {
  void runOnOperation() override;
  void collect(Block &block);
};

} // namespace

void CollectRecurrences::collect(Block &block) {
  // From the end, so that the largest sums are found first.
  SmallVector<Collected> found;
  llvm::SmallDenseSet<Operation *> taken;
  for (Operation &op : llvm::reverse(block)) {
    if (taken.contains(&op) || !isa<MapOp, RecurrenceOp>(op) || (isa<MapOp>(op) && !isSum(cast<MapOp>(op))))
      continue;
    for (Value value : op.getResults()) {
      Collected collected{value, {}, Sum::Numerator, {}};
      // A term of a sum that was found already has no further user.
      bool inSum = llvm::any_of(value.getUsers(), [&](Operation *user) { return taken.contains(user); });
      if (value.use_empty() || inSum || !collectTerms(value, collected) || isZero(collected.orders))
        continue;
      found.push_back(collected);
      walkSources(value, [&](Value part) {
        auto map = part.getDefiningOp<MapOp>();
        return map && taken.insert(map).second;
      });
    }
  }
  SmallVector<bool> done(found.size(), false);
  for (unsigned i = 0; i < found.size(); ++i) {
    if (done[i])
      continue;
    SmallVector<Collected *> sums = {&found[i]};
    for (unsigned j = i + 1; j < found.size(); ++j)
      if (!done[j] && found[j].kind != found[i].kind && found[j].orders == found[i].orders &&
          areOfOneSeries(found[j].first, found[i].first) && sums.size() == 1) {
        sums.push_back(&found[j]);
        done[j] = true;
      }
    llvm::sort(sums, [](Collected *a, Collected *b) { return a->kind < b->kind; });
    LDBG() << sums.front()->first.getLoc() << ": " << sums.size() << " sums of orders "
           << found[i].orders.begin()->first << " to " << found[i].orders.rbegin()->first;
    buildSeries(sums);
    ++numCollected;
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<MapOp, RecurrenceOp>(op) && op.use_empty())
      op.erase();
}

void CollectRecurrences::runOnOperation() {
  getOperation()->walk([&](Operation *op) {
    if (isa<SpecOp, FunctionOp>(op))
      collect(op->getRegion(0).front());
  });
}
