// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vector-Jacobian product of a pairwise operation is a pairwise operation:
//
//   forward   y = rows(w, %b)      derived   p = dot(%dy, %b) is added to dw, and columns(w, %dy) is b's
//   cotangent
//             y = columns(w, %a)             p = dot(%a, %dy)                  rows(w, %dy)        a's
//             y = rows(w), columns(w), total(w)    dw += %dy, a row scalar, column scalar or parameter
//             y = diagonals(w)                     dw += %dy, a scalar of the diagonal
//
//   The region's own derivative at dw gives a cotangent per argument: for s = dot(%a, %b) the outputs
//   rows(ds, %b) and columns(ds, %a), for a scalar its sum over the axes that it lacks.
//
//   Where a query stands at the key, x[t] - x[u] is 0 whatever %x is. So the rows and columns that are the
//   cotangent of %x leave those pairs out: with them a slope's gradient would be what two sums of large terms
//   leave, times a position.
#include "dialect/Sources.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/RegionDerivative.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <array>

using namespace mlir;
using namespace taylor;

namespace {

/// In a region over pairs: 0 where the query stands at the key, else 1. A factor, since NaN stays NaN.
Value buildIsElsewhere(OpBuilder &builder, Location loc, Type type) {
  Value t = IndexOp::create(builder, loc, type, axisAttr(builder, AxisRole::Query));
  Value u = IndexOp::create(builder, loc, type, axisAttr(builder, AxisRole::Key));
  Value isThere = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, t, u);
  return arith::SelectOp::create(builder, loc, isThere, buildNumber(builder, loc, type, 0.0),
                                 buildNumber(builder, loc, type, 1.0));
}

/// Collects the operands, region and outputs of the derived operation.
class DerivedPairwise {
public:
  DerivedPairwise(PairwiseOp op, OpBuilder &builder)
      : op(op), builder(builder), products(op.getProducts()), scalars(op.getScalars()) {}

  LogicalResult build(ValueRange results, SmallVectorImpl<Value> &cotangents);

private:
  /// How dw of an output is read: a product or a scalar of the derived operation, by number.
  struct Source {
    bool isProduct;
    int64_t number;
  };
  /// An output of the derived operation and the operand it is a cotangent of.
  struct Output {
    PairSumAttr sum;
    Value operand;
  };

  /// The number of a value, which is added if it is new.
  static int64_t add(SmallVector<Value> &values, Value value) {
    auto it = llvm::find(values, value);
    if (it == values.end())
      it = values.insert(it, value);
    return it - values.begin();
  }
  /// `array` is what the weight is contracted with, or null.
  void addOutput(PairOutput kind, Value scalar, Value array, Value operand) {
    outputs.push_back({PairSumAttr::get(op.getContext(), kind, add(yielded, scalar), bool(array)), operand});
    if (array)
      weighted.push_back(array);
  }
  std::optional<Source> addSource(int64_t result, Value cotangent);
  void copyRegion(Region &from, Region &to, IRMapping &values);
  LogicalResult buildWeight(Region &region, ArrayRef<std::optional<Source>> sources);
  void addOutputs(OpBuilder &inner, ArrayRef<Value> argumentCotangents);
  bool isOnlySubtracted(int64_t scalar);
  bool leavesOutOwnPairs(int64_t scalar);

  PairwiseOp op;
  OpBuilder &builder;
  SmallVector<Value> products, scalars, weighted;
  SmallVector<Value> yielded;
  SmallVector<Output> outputs;
  /// Cotangents of the results, in order, null where zero.
  SmallVector<Value> given;
};

std::optional<DerivedPairwise::Source> DerivedPairwise::addSource(int64_t result, Value cotangent) {
  PairOutput kind = op.getSum(result).getKind();
  if (!cotangent || kind == PairOutput::Maximum)
    return std::nullopt;
  Value array = op.getArrayOfSum(result);
  if (!array)
    return Source{false, add(scalars, cotangent)};
  bool isRows = kind == PairOutput::Rows;
  products.append({isRows ? cotangent : array, isRows ? array : cotangent});
  return Source{true, static_cast<int64_t>(products.size() / 2 - 1)};
}

/// Clones a region, which gets arguments of the products (where the region sees them) and scalars that the
/// derived operation has beside the old ones.
void DerivedPairwise::copyRegion(Region &from, Region &to, IRMapping &values) {
  if (from.empty())
    return;
  from.cloneInto(&to, values);
  unsigned number = op.getNumProducts(from);
  if (&from != &op.getVisible())
    for (; number < products.size() / 2; ++number)
      to.insertArgument(number, op.getRealType(), op.getLoc());
  number += op.getScalars().size();
  for (Value scalar : ArrayRef(scalars).drop_front(op.getScalars().size()))
    to.insertArgument(number++, arrayTypeOf(scalar).getScalarType(), op.getLoc());
}

LogicalResult DerivedPairwise::buildWeight(Region &region, ArrayRef<std::optional<Source>> sources) {
  Block &old = op.getWeight().front();
  IRMapping values;
  copyRegion(op.getWeight(), region, values);
  Block &block = region.front();
  block.back().erase();
  // The region has no parent yet to ask for a context.
  OpBuilder inner(op.getContext());
  inner.setInsertionPointToEnd(&block);

  Operation *yield = old.getTerminator();
  SmallVector<Value> dw(yield->getNumOperands());
  for (auto [i, source] : llvm::enumerate(sources)) {
    if (!source)
      continue;
    Value term = block.getArgument(source->isProduct ? source->number : products.size() / 2 + source->number);
    Value &sum = dw[op.getSum(i).getYielded()];
    sum = sum ? arith::AddFOp::create(inner, op.getLoc(), sum, term).getResult() : term;
  }
  FailureOr<SmallVector<Value>> argumentCotangents = differentiateScalars(inner, old, values, dw);
  if (failed(argumentCotangents))
    return failure();

  // b's cotangent in rows(w, %b), a's in columns(w, %a): w itself, recomputed.
  for (auto [i, cotangent] : llvm::enumerate(given)) {
    PairSumAttr sum = op.getSum(i);
    if (sources[i] && sum.getWeighted())
      addOutput(sum.getKind() == PairOutput::Rows ? PairOutput::Columns : PairOutput::Rows,
                values.lookupOrDefault(yield->getOperand(sum.getYielded())), cotangent, op.getArrayOfSum(i));
  }
  addOutputs(inner, *argumentCotangents);
  YieldOp::create(inner, op.getLoc(), yielded, ArrayAttr());
  return success();
}

/// Whether a scalar is %x read at the query, or %x at the key, of which the weight reads the difference
/// alone.
bool DerivedPairwise::isOnlySubtracted(int64_t scalar) {
  Value array = op.getScalars()[scalar];
  auto alignOf = [](Value other) {
    auto align = other.getDefiningOp<AlignOp>();
    return align && arrayTypeOf(other).has(AxisRole::Query) ? align.getArray() : Value();
  };
  auto argumentOf = [&](int64_t number) { return op.getWeight().getArgument(op.getNumProducts() + number); };
  return llvm::any_of(llvm::enumerate(op.getScalars()), [&](auto other) {
    if (alignOf(array) != other.value() && alignOf(other.value()) != array)
      return false;
    std::array<Value, 2> both = {argumentOf(scalar), argumentOf(other.index())};
    return llvm::all_of(both, [&](Value argument) {
      return llvm::all_of(argument.getUsers(), [&](Operation *user) {
        return isa<arith::SubFOp>(user) &&
               llvm::all_of(both, [&](Value each) { return llvm::is_contained(user->getOperands(), each); });
      });
    });
  });
}

/// Whether the cotangent of a scalar leaves out the pairs of a token with itself. Not where tokens make it:
/// what they get is judged one by one, and no position multiplies it. Nor without a mask, where the sum may
/// be one over features (SeparableSums.h), which have all pairs.
bool DerivedPairwise::leavesOutOwnPairs(int64_t scalar) {
  return !op.getVisible().empty() && isOnlySubtracted(scalar) &&
         !anySource({op.getScalars()[scalar]}, [](Value source) {
           ArrayType type = arrayTypeOf(source);
           return isa<BlockArgument>(source) && isa<FloatType>(type.getElementType()) &&
                  (type.has(AxisRole::Query) || type.has(AxisRole::Key));
         });
}

void DerivedPairwise::addOutputs(OpBuilder &inner, ArrayRef<Value> argumentCotangents) {
  for (int64_t i = 0; i < op.getNumProducts(); ++i) {
    Value ds = argumentCotangents[i];
    if (!ds)
      continue;
    auto [row, column] = op.getProduct(i);
    addOutput(PairOutput::Rows, ds, column, row);
    addOutput(PairOutput::Columns, ds, row, column);
  }
  for (auto [i, operand] : llvm::enumerate(op.getScalars())) {
    ArrayType type = arrayTypeOf(operand);
    Value dx = argumentCotangents[op.getNumProducts() + i];
    if (!dx || !isa<FloatType>(type.getElementType()))
      continue;
    if (leavesOutOwnPairs(i))
      dx = arith::MulFOp::create(inner, op.getLoc(), dx, buildIsElsewhere(inner, op.getLoc(), dx.getType()));
    PairOutput kind = type.has(AxisRole::Query) ? PairOutput::Rows
                      : type.has(AxisRole::Key) ? PairOutput::Columns
                      : type.has(AxisRole::Lag) ? PairOutput::Diagonals
                                                : PairOutput::Total;
    addOutput(kind, dx, {}, operand);
  }
}

LogicalResult DerivedPairwise::build(ValueRange results, SmallVectorImpl<Value> &cotangents) {
  given.assign(results.begin(), results.end());
  SmallVector<std::optional<Source>> sources;
  for (auto [i, cotangent] : llvm::enumerate(results))
    sources.push_back(addSource(i, cotangent));

  // The outputs are known once the weight is differentiated, so its region is built first.
  Region weight;
  if (failed(buildWeight(weight, sources)))
    return failure();
  cotangents.assign(op->getNumOperands(), Value());
  if (outputs.empty())
    return success();
  SmallVector<Type> types = llvm::map_to_vector(outputs, [&](const Output &output) -> Type {
    return arrayTypeOf(output.operand).clone(op.getRealType());
  });
  SmallVector<Attribute> sums =
      llvm::map_to_vector(outputs, [](const Output &output) { return Attribute(output.sum); });
  auto derived = PairwiseOp::create(builder, op.getLoc(), types, products, scalars, weighted,
                                    builder.getArrayAttr(sums), op.getChunk());
  IRMapping values;
  copyRegion(op.getVisible(), derived.getVisible(), values);
  copyRegion(op.getMaximum(), derived.getMaximum(), values);
  derived.getWeight().takeBody(weight);
  // The cotangent of an array in several segments is that of its first operand.
  for (auto [output, result] : llvm::zip_equal(outputs, derived.getResults())) {
    Value &sum = cotangents[llvm::find(op->getOperands(), output.operand) - op->operand_begin()];
    sum = sum ? buildSum(builder, op.getLoc(), sum, result) : Value(result);
  }
  return success();
}

} // namespace

LogicalResult PairwiseOp::buildVectorJacobianProduct(OpBuilder &builder, ValueRange results,
                                                     SmallVectorImpl<Value> &cotangents) {
  return DerivedPairwise(*this, builder).build(results, cotangents);
}
