// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chunked form: sums over pairs as sums within chunks and states between them.
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "passes/PairwiseRewrite.h"
#include "passes/Passes.h"
#include "passes/SeparableSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_CHUNKSUMSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// Clones a scalar of a region and what it is computed from; arguments are in `values`.
Value cloneScalar(OpBuilder &builder, Value scalar, IRMapping &values) {
  if (Value done = values.lookupOrNull(scalar))
    return done;
  Operation *op = scalar.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneScalar(builder, operand, values);
  return builder.clone(*op, values)->getResult(0);
}

/// What a term adds to an output, on one side of the pair or the other.
struct Side {
  /// Arrays of the score's inner product: of the token that sums, and of the one that is summed over.
  Value reader, summed;
  StringRef readerToken, summedToken;
};

/// One operation's sums in one direction (into rows, or into columns) as reads of states.
class StateRewrite {
public:
  StateRewrite(PairwiseOp op, const SeparableSums &sums, PairOutput kind, int64_t block, OpBuilder &builder)
      : op(op), sums(sums), kind(kind), block(block), builder(builder), loc(op.getLoc()) {
    auto [row, column] = op.getProduct(sums.score);
    bool rows = kind == PairOutput::Rows;
    side = rows ? Side{row, column, "t", "u"} : Side{column, row, "u", "t"};
  }

  LogicalResult plan();
  /// The operation's results in this direction: `within` (one per result, null where all pairs are in the
  /// states) plus what is read.
  void build(llvm::MapVector<int64_t, Value> &within, int64_t chunkOrWhole);
  /// Of all states of one chunk, batch and head.
  double getStateBytes() const;
  std::string reason;

private:
  /// A value whose products with features are summed: an array or null (1), times factors.
  struct StateValue {
    Value array;
    SmallVector<Value> factors;
    bool operator==(const StateValue &other) const = default;
  };
  struct Piece {
    int64_t result;
    SmallVector<double> weights; // by order, from order 0
    size_t state;
    /// Contracted with the derivative of features, and not with them.
    bool derivative = false;
    /// The reader's factor: a product of scalars, and an array (the second inner product's) or null.
    SmallVector<Value> factors;
    Value array;
    /// What is read is what is added.
    bool isPlain() const { return factors.empty() && !array; }
  };

  SmallVector<Value> readerFactors(const SeparableTerm &term) {
    return kind == PairOutput::Rows ? term.rows : term.columns;
  }
  SmallVector<Value> summedFactors(const SeparableTerm &term) {
    return kind == PairOutput::Rows ? term.columns : term.rows;
  }
  LogicalResult planTerm(int64_t result, PairSumAttr sum, const SeparableTerm &term);
  size_t addState(Value array, ArrayRef<Value> factors);
  /// A map: product of factors, times `array` if there is one.
  Value buildFactor(ArrayRef<Value> factors, Value array);
  ArrayType stateType(Value value);
  void buildStates();
  /// Pieces that one operation reads: their weights agree; contracted ones are of one result, others of
  /// different results.
  std::vector<SmallVector<const Piece *>> groupPieces() const;
  void buildContraction(ArrayRef<const Piece *> group, llvm::MapVector<int64_t, Value> &within);
  void buildReads(ArrayRef<const Piece *> group, llvm::MapVector<int64_t, Value> &within);
  SmallVector<Value> statesOf(ArrayRef<const Piece *> group) const;
  /// What is read from a state, before the reader's factors.
  ArrayType readType(Value state);
  SmallVector<double> weightsOf(const Piece &piece) const;
  Value add(Value sum, Value term) { return sum ? buildSum(builder, loc, sum, term) : term; }

  PairwiseOp op;
  const SeparableSums &sums;
  PairOutput kind;
  /// 0: all tokens.
  int64_t chunk = 0;
  int64_t block;
  OpBuilder &builder;
  Location loc;
  Side side;
  SmallVector<StateValue> stateValues;
  SmallVector<Piece> pieces;
  SmallVector<Value> states;
  int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
  /// Heads of the states: those of the results in this direction.
  ArrayType resultHeads;
};

size_t StateRewrite::addState(Value array, ArrayRef<Value> factors) {
  StateValue value{array, SmallVector<Value>(factors)};
  if (auto it = llvm::find(stateValues, value); it != stateValues.end())
    return it - stateValues.begin();
  stateValues.push_back(value);
  return stateValues.size() - 1;
}

LogicalResult StateRewrite::planTerm(int64_t result, PairSumAttr sum, const SeparableTerm &term) {
  Value array = sum.getArray() >= 0 ? op.getArrays()[sum.getArray()] : Value();
  Piece piece;
  piece.result = result;
  piece.factors = readerFactors(term);
  piece.weights = term.series;
  Value other; // the second inner product's array on the side that is summed
  if (term.product >= 0) {
    auto [row, column] = op.getProduct(term.product);
    piece.array = kind == PairOutput::Rows ? row : column;
    other = kind == PairOutput::Rows ? column : row;
  }
  if (array && array == side.summed) {
    // sum over u of p(s) x[u] is the derivative by the reader's vector of the sum of p's integral.
    piece.derivative = true;
    piece.weights.assign(1, 0.0);
    for (auto [n, coefficient] : llvm::enumerate(term.series))
      piece.weights.push_back(coefficient / double(n + 1));
    piece.state = addState(other, summedFactors(term));
  } else if (array && other) {
    reason = "a sum contracts with an array while its weight has a second inner product";
    return failure();
  } else {
    piece.state = addState(array ? array : other, summedFactors(term));
  }
  while (!piece.weights.empty() && piece.weights.back() == 0.0)
    piece.weights.pop_back();
  if (piece.weights.empty())
    return success();
  int64_t lowest = 0;
  while (piece.weights[lowest] == 0.0)
    ++lowest;
  first = std::min(first, lowest);
  last = std::max(last, int64_t(piece.weights.size()) - 1);
  pieces.push_back(piece);
  return success();
}

LogicalResult StateRewrite::plan() {
  for (auto [index, sum] : llvm::enumerate(op.getSums().getAsRange<PairSumAttr>())) {
    if (sum.getKind() != kind)
      continue;
    for (const SeparableTerm &term : sums.yielded[sum.getYielded()])
      if (failed(planTerm(index, sum, term)))
        return failure();
    // States are summed over the tokens of the heads that their reader has.
    auto type = cast<ArrayType>(op.getResult(index).getType());
    SmallVector<StringRef> channels;
    for (StringAttr axis : type.getAxes())
      if (!isRuntimeAxis(axis.getValue()))
        channels.push_back(axis.getValue());
    ArrayType heads = type.without(channels);
    if (resultHeads && resultHeads != heads) {
      reason = "its sums have different axes of batch and heads";
      return failure();
    }
    resultHeads = heads;
  }
  if (pieces.empty())
    return success();
  // The reader must have no axis that its sums lose.
  SmallVector<Value> readers{side.reader};
  for (const Piece &piece : pieces)
    if (piece.array)
      readers.push_back(piece.array);
  for (Value array : readers)
    for (StringRef axis : {"b", "h", "g"})
      if (cast<ArrayType>(array.getType()).has(axis) && !resultHeads.has(axis) &&
          !(axis == StringRef("g") && resultHeads.has("h"))) {
        reason = ("a sum loses the axis '" + Twine(axis) + "' of the array that it is read for").str();
        return failure();
      }
  if (!Features{
          cast<ArrayType>(side.reader.getType()).sizeOf(channelOf(cast<ArrayType>(side.reader.getType()))),
          first, last, block}
           .count()) {
    reason = "its state has too many features";
    return failure();
  }
  return success();
}

Value StateRewrite::buildFactor(ArrayRef<Value> factors, Value array) {
  if (factors.empty())
    return array;
  SmallVector<Value> arrays;
  SmallVector<BlockArgument> arguments;
  std::function<void(Value)> collect = [&](Value scalar) {
    if (auto argument = dyn_cast<BlockArgument>(scalar)) {
      if (!llvm::is_contained(arguments, argument)) {
        arguments.push_back(argument);
        arrays.push_back(op.getArrays()[op.getScalars()[argument.getArgNumber() - op.getNumProducts()]]);
      }
      return;
    }
    for (Value operand : scalar.getDefiningOp()->getOperands())
      collect(operand);
  };
  for (Value factor : factors)
    collect(factor);
  if (array)
    arrays.push_back(array);
  if (factors.size() == 1 && !array && isa<BlockArgument>(factors[0]))
    return arrays[0];
  SmallVector<StringRef> extra;
  for (Value factor : factors)
    if (Operation *from = factor.getDefiningOp())
      if (auto index = dyn_cast<IndexOp>(from))
        extra.push_back(index.getAxis());
  ArrayType type = joinAxes(arrays, op.getRealType(), extra);
  return buildMap(
      builder, loc, arrays, {},
      [&](OpBuilder &b, Location where, ValueRange x) -> Value {
        IRMapping values;
        for (auto [argument, scalar] : llvm::zip(arguments, x))
          values.map(argument, scalar);
        Value product = array ? x.back() : Value();
        for (Value factor : factors) {
          Value scalar = cloneScalar(b, factor, values);
          product = product ? arith::MulFOp::create(b, where, product, scalar).getResult() : scalar;
        }
        return product;
      },
      type);
}

ArrayType StateRewrite::stateType(Value value) {
  MLIRContext *context = builder.getContext();
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  auto append = [&](StringRef name, int64_t size) {
    axes.push_back(StringAttr::get(context, name));
    sizes.push_back(size);
  };
  auto has = [&](StringRef axis) {
    return cast<ArrayType>(side.summed.getType()).has(axis) ||
           (value && cast<ArrayType>(value.getType()).has(axis));
  };
  if (has("b"))
    append("b", ArrayType::kUnknown);
  if (has("h") && resultHeads.has("h"))
    append("h", ArrayType::kUnknown);
  else if (has("h") || has("g"))
    append("g", ArrayType::kUnknown);
  if (chunk)
    append(side.readerToken, ArrayType::kUnknown);
  auto vectors = cast<ArrayType>(side.summed.getType());
  append("f", *Features{vectors.sizeOf(channelOf(vectors)), first, last, block}.count());
  if (value)
    if (StringRef channel = channelOf(cast<ArrayType>(value.getType())); !channel.empty())
      append(channel, cast<ArrayType>(value.getType()).sizeOf(channel));
  return ArrayType::get(context, axes, sizes, op.getRealType());
}

void StateRewrite::buildStates() {
  SmallVector<Value> values;
  SmallVector<Type> types;
  // The mass is the last result.
  SmallVector<size_t> order;
  std::optional<size_t> mass;
  for (auto [number, value] : llvm::enumerate(stateValues)) {
    if (!value.array && value.factors.empty()) {
      mass = number;
      continue;
    }
    order.push_back(number);
    values.push_back(buildFactor(value.factors, value.array));
    types.push_back(stateType(values.back()));
  }
  if (mass) {
    order.push_back(*mass);
    types.push_back(stateType({}));
  }
  auto built =
      StatesOp::create(builder, loc, types, side.summed, values, mass.has_value(), first, last, block, chunk);
  states.resize(stateValues.size());
  for (auto [number, state] : llvm::zip(order, built.getResults()))
    states[number] = state;
}

SmallVector<double> StateRewrite::weightsOf(const Piece &piece) const {
  SmallVector<double> weights(last - first + 1, 0.0);
  for (int64_t n = first; n < int64_t(piece.weights.size()); ++n)
    weights[n - first] = piece.weights[n];
  return weights;
}

double StateRewrite::getStateBytes() const {
  double channels = 0;
  for (const StateValue &value : stateValues) {
    auto type = value.array ? cast<ArrayType>(value.array.getType()) : ArrayType();
    channels += type && !channelOf(type).empty() ? double(type.sizeOf(channelOf(type))) : 1;
  }
  auto vectors = cast<ArrayType>(side.summed.getType());
  double features =
      pieces.empty() ? 0 : double(*Features{vectors.sizeOf(channelOf(vectors)), first, last, block}.count());
  Type real = const_cast<PairwiseOp &>(op).getRealType();
  return features * channels * real.getIntOrFloatBitWidth() / 8;
}

void StateRewrite::build(llvm::MapVector<int64_t, Value> &within, int64_t chunkOrWhole) {
  chunk = chunkOrWhole;
  if (pieces.empty())
    return;
  buildStates();
  for (ArrayRef<const Piece *> group : groupPieces()) {
    if (group.front()->derivative)
      buildContraction(group, within);
    else
      buildReads(group, within);
  }
}

std::vector<SmallVector<const StateRewrite::Piece *>> StateRewrite::groupPieces() const {
  std::vector<SmallVector<const Piece *>> groups;
  for (const Piece &piece : pieces) {
    auto fits = [&](ArrayRef<const Piece *> group) {
      const Piece &head = *group.front();
      if (piece.derivative != head.derivative || weightsOf(piece) != weightsOf(head))
        return false;
      if (piece.derivative)
        return piece.result == head.result;
      return piece.isPlain() == head.isPlain() &&
             llvm::none_of(group, [&](const Piece *other) { return other->result == piece.result; });
    };
    auto group = llvm::find_if(groups, fits);
    if (group == groups.end())
      groups.emplace_back().push_back(&piece);
    else
      group->push_back(&piece);
  }
  return groups;
}

SmallVector<Value> StateRewrite::statesOf(ArrayRef<const Piece *> group) const {
  return llvm::map_to_vector(group, [&](const Piece *piece) { return states[piece->state]; });
}

void StateRewrite::buildContraction(ArrayRef<const Piece *> group, llvm::MapVector<int64_t, Value> &within) {
  const Piece &head = *group.front();
  SmallVector<Value> values;
  for (const Piece *piece : group) {
    Value value = buildFactor(piece->factors, piece->array);
    if (!value) // 1
      value = buildMap(
          builder, loc, {}, {},
          [&](OpBuilder &b, Location where, ValueRange) {
            return buildNumber(b, where, op.getRealType(), 1.0);
          },
          resultHeads.clone(op.getRealType()));
    values.push_back(value);
  }
  Value &sum = within[head.result];
  sum = ContractStatesOp::create(builder, loc, op.getResult(head.result).getType(), side.reader,
                                 statesOf(group), values, sum, first, last,
                                 builder.getF64ArrayAttr(weightsOf(head)), block, chunk);
}

ArrayType StateRewrite::readType(Value state) {
  ArrayType heads = resultHeads.clone(op.getRealType());
  StringRef channel = channelOf(arrayTypeOf(state));
  if (channel.empty())
    return heads;
  SmallVector<StringAttr> axes(heads.getAxes());
  SmallVector<int64_t> sizes(heads.getSizes());
  axes.push_back(builder.getStringAttr(channel));
  sizes.push_back(arrayTypeOf(state).sizeOf(channel));
  return ArrayType::get(builder.getContext(), axes, sizes, op.getRealType());
}

void StateRewrite::buildReads(ArrayRef<const Piece *> group, llvm::MapVector<int64_t, Value> &within) {
  bool plain = group.front()->isPlain();
  SmallVector<Value> into;
  SmallVector<Type> types;
  for (const Piece *piece : group) {
    types.push_back(plain ? op.getResult(piece->result).getType() : Type(readType(states[piece->state])));
    if (plain && within[piece->result])
      into.push_back(within[piece->result]);
  }
  // All of them add to something, or none does.
  if (into.size() != group.size())
    into.clear();
  auto read = ReadStatesOp::create(builder, loc, types, side.reader, statesOf(group), into, first, last,
                                   builder.getF64ArrayAttr(weightsOf(*group.front())), block, chunk);
  for (auto [piece, result] : llvm::zip(group, read.getResults())) {
    Value &sum = within[piece->result];
    if (plain) {
      sum = into.empty() ? add(sum, result) : Value(result);
      continue;
    }
    Value term = result;
    if (piece->array) // <the reader's array, what it reads>
      term = buildReduce(builder, loc, Reduction::Sum, channelOf(arrayTypeOf(piece->array)),
                         {piece->array, term}, {}, [](OpBuilder &b, Location where, ValueRange x) {
                           return arith::MulFOp::create(b, where, x[0], x[1]).getResult();
                         });
    sum = add(sum, buildFactor(piece->factors, term));
  }
}

struct ChunkSums : taylor::impl::ChunkSumsPassBase<ChunkSums> {
  using ChunkSumsPassBase::ChunkSumsPassBase;

  void runOnOperation() override {
    if (chunk < 0 || unit < 1 || balance < 1 || featureBlock < 1) {
      getOperation().emitError("expected a positive unit, balance and feature-block, and no negative chunk");
      return signalPassFailure();
    }
    SmallVector<PairwiseOp> operations(getOperation().getBody().front().getOps<PairwiseOp>());
    for (PairwiseOp op : operations)
      if (op.getNumProducts() > 0 && failed(rewrite(op)))
        return signalPassFailure();
  }

private:
  LogicalResult rewrite(PairwiseOp op);
  int64_t chooseChunk(StateRewrite &rows, StateRewrite &columns, PairwiseOp op);
};

/// Within a chunk of C tokens each sees C / 2 others on the average, with 2 operations per channel of every
/// product and sum; each state's bytes are moved about six times per chunk (made, added up, read). Both cost
/// the same at the smallest sum.
int64_t ChunkSums::chooseChunk(StateRewrite &rows, StateRewrite &columns, PairwiseOp op) {
  constexpr double kMoves = 6, kSmallest = 64, kLargest = 1 << 16;
  double wanted = chunk;
  if (chunk == 0) {
    auto channelsOf = [](Value array) {
      auto type = cast<ArrayType>(array.getType());
      return double(type.sizeOf(channelOf(type)));
    };
    double perPair = 0;
    for (int64_t i = 0; i < op.getNumProducts(); ++i)
      perPair += 2 * channelsOf(op.getProduct(i).first);
    for (PairSumAttr sum : op.getSums().getAsRange<PairSumAttr>())
      perPair += sum.getArray() < 0 ? 1 : 2 * channelsOf(op.getArrays()[sum.getArray()]);
    double bytes = rows.getStateBytes() + columns.getStateBytes();
    wanted = std::sqrt(2 * kMoves * bytes * double(balance) / perPair);
    wanted = std::exp2(std::round(std::log2(std::clamp(wanted, kSmallest, kLargest))));
  }
  return int64_t(llvm::alignTo(uint64_t(wanted), uint64_t(unit)));
}

LogicalResult ChunkSums::rewrite(PairwiseOp op) {
  auto refuse = [&](Location loc, const std::string &why) {
    return emitError(loc, "unsupported chunked form: ")
           << why
           << "; it needs sums of finitely many powers of one inner product, with factors of the query and "
              "of the key, "
           << "over all keys or those with u <= t; use the parallel form";
  };
  if (op.hasMaximum())
    return refuse(op.getLoc(), "its weights are shifted by a running maximum");
  // A sum of constants is counted, and stays as it is.
  Operation *yield = op.getWeight().front().getTerminator();
  SmallVector<int64_t> wanted;
  SmallVector<bool> chunked;
  for (PairSumAttr sum : op.getSums().getAsRange<PairSumAttr>()) {
    bool constant = sum.getArray() < 0 && matchPattern(yield->getOperand(sum.getYielded()), m_Constant());
    chunked.push_back(!constant);
    if (constant)
      continue;
    if (sum.getKind() != PairOutput::Rows && sum.getKind() != PairOutput::Columns)
      return refuse(op.getLoc(), "a sum over all pairs");
    wanted.push_back(sum.getYielded());
  }
  if (wanted.empty())
    return success();
  SeparableSums sums(op);
  if (failed(sums.run(wanted)))
    return refuse(sums.at, sums.reason);

  OpBuilder builder(op);
  StateRewrite rows(op, sums, PairOutput::Rows, featureBlock, builder);
  StateRewrite columns(op, sums, PairOutput::Columns, featureBlock, builder);
  for (StateRewrite *rewrite : {&rows, &columns})
    if (failed(rewrite->plan()))
      return refuse(op.getLoc(), rewrite->reason);
  int64_t chunk = sums.causal ? chooseChunk(rows, columns, op) : 0;

  llvm::MapVector<int64_t, Value> within;
  SmallVector<bool> counted = llvm::map_to_vector(chunked, [](bool is) { return !is; });
  if (sums.causal) {
    PairwiseOp near = clonePairwise(builder, op, chunked);
    near.setChunk(chunk);
    auto result = near.getResults().begin();
    for (auto [index, is] : llvm::enumerate(chunked))
      if (is)
        within[index] = *result++;
  }
  rows.build(within, chunk);
  columns.build(within, chunk);
  if (llvm::is_contained(counted, true)) {
    PairwiseOp counts = clonePairwise(builder, op, counted);
    auto result = counts.getResults().begin();
    for (auto [index, is] : llvm::enumerate(counted))
      if (is)
        within[index] = *result++;
  }
  for (auto [index, result] : llvm::enumerate(op.getResults()))
    result.replaceAllUsesWith(within[index]);
  op.erase();
  return success();
}

} // namespace
