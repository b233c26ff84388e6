// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/CPU/KernelMasks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

namespace {
/// Axes with factors, scalars with factors, and a constant: the value of an index in a map.
struct Linear {
  SmallVector<std::pair<StringAttr, int64_t>> axes;
  SmallVector<std::pair<Value, int64_t>> terms;
  int64_t constant = 0;

  void add(const Linear &other, int64_t sign) {
    auto merge = [&](auto &list, const auto &more) {
      for (auto [key, factor] : more) {
        auto at = llvm::find_if(list, [&](auto &entry) { return entry.first == key; });
        if (at == list.end())
          list.push_back({key, factor * sign});
        else
          at->second += factor * sign;
      }
      llvm::erase_if(list, [](auto &entry) { return entry.second == 0; });
    };
    merge(axes, other.axes);
    merge(terms, other.terms);
    constant += sign * other.constant;
  }
};
} // namespace

static std::optional<int64_t> constantOf(Value value) {
  auto op = value.getDefiningOp<arith::ConstantOp>();
  auto number = op ? dyn_cast<IntegerAttr>(op.getValue()) : IntegerAttr();
  return number ? std::optional(number.getInt()) : std::nullopt;
}

static std::optional<Linear> linearize(Value value, MapOp map) {
  Linear result;
  if (std::optional<int64_t> number = constantOf(value)) {
    result.constant = *number;
    return result;
  }
  if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == map.getBlock()) {
    auto position = map.getInputs()[argument.getArgNumber()].getDefiningOp<PositionOp>();
    if (!position)
      return std::nullopt;
    result.axes.push_back({position.getType().getAxes().front().name, 1});
    if (std::optional<int64_t> start = constantOf(position.getStart()))
      result.constant = *start;
    else
      result.terms.push_back({position.getStart(), 1});
    return result;
  }
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != map.getBlock()) {
    if (!value.getType().isIndex())
      return std::nullopt;
    result.terms.push_back({value, 1});
    return result;
  }
  if (!isa<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  std::optional<Linear> x = linearize(op->getOperand(0), map), y = linearize(op->getOperand(1), map);
  if (!x || !y)
    return std::nullopt;
  x->add(*y, isa<arith::AddIOp>(op) ? 1 : -1);
  return x;
}

/// Comparisons that must all hold for the condition to hold.
static void collectConstraints(Value condition, MapOp map, SmallVectorImpl<Constraint> &constraints) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    collectConstraints(both.getLhs(), map, constraints);
    collectConstraints(both.getRhs(), map, constraints);
    return;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return;
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  bool less = predicate == P::slt || predicate == P::sle;
  if (!less && predicate != P::sgt && predicate != P::sge)
    return;
  std::optional<Linear> low = linearize(less ? compare.getLhs() : compare.getRhs(), map);
  std::optional<Linear> high = linearize(less ? compare.getRhs() : compare.getLhs(), map);
  if (!low || !high)
    return;
  low->add(*high, -1);
  Constraint constraint;
  constraint.constant = low->constant + (predicate == P::slt || predicate == P::sgt ? 1 : 0);
  constraint.terms = low->terms;
  for (auto [axis, factor] : low->axes) {
    if (factor == 1 && !constraint.plus)
      constraint.plus = axis;
    else if (factor == -1 && !constraint.minus)
      constraint.minus = axis;
    else
      return;
  }
  constraints.push_back(constraint);
}

bool Constraint::operator==(const Constraint &other) const {
  return plus == other.plus && minus == other.minus && constant == other.constant &&
         terms.size() == other.terms.size() &&
         llvm::all_of(terms, [&](auto &term) { return llvm::is_contained(other.terms, term); });
}

std::optional<Mask> cpu::maskOf(Value value) {
  auto map = value.getDefiningOp<MapOp>();
  if (!map)
    return std::nullopt;
  Value yielded = map.getBlock()->getTerminator()->getOperand(cast<OpResult>(value).getResultNumber());
  if (auto rounded = yielded.getDefiningOp<arith::TruncFOp>())
    yielded = rounded.getIn();
  auto select = yielded.getDefiningOp<arith::SelectOp>();
  auto outside = select ? select.getFalseValue().getDefiningOp<arith::ConstantOp>() : arith::ConstantOp();
  if (!outside || !(outside.getType().isF32() || outside.getType().isF64()) ||
      !select.getCondition().getType().isInteger(1))
    return std::nullopt;
  Mask mask;
  mask.outside = cast<FloatAttr>(outside.getValue());
  collectConstraints(select.getCondition(), map, mask.constraints);
  return mask;
}
