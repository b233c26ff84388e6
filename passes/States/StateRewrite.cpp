// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/States/StateRewrite.h"

#include "dialect/Sources.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/RegionDerivative.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace taylor;

Value taylor::buildFactor(OpBuilder &builder, PairwiseOp op, ArrayRef<Value> factors, ValueRange others) {
  if (factors.empty() && others.size() <= 1)
    return others.empty() ? Value() : others.front();
  Location loc = op.getLoc();
  SmallVector<Value> arrays;
  SmallVector<BlockArgument> arguments;
  SmallVector<AxisRef> extra;
  walkSources(factors, [&](Value scalar) {
    if (auto argument = dyn_cast<BlockArgument>(scalar)) {
      arguments.push_back(argument);
      arrays.push_back(op.getArrayOf(argument));
    } else if (auto index = scalar.getDefiningOp<IndexOp>()) {
      extra.push_back(index.getAxis());
    }
    return true;
  });
  if (factors.size() == 1 && others.empty() && isa<BlockArgument>(factors[0]))
    return arrays[0];
  arrays.append(others.begin(), others.end());
  ArrayType type = joinAxes(arrays, op.getRealType(), extra);
  return buildMap(
      builder, loc, arrays, {},
      [&](OpBuilder &b, Location where, ValueRange x) -> Value {
        IRMapping values;
        for (auto [argument, scalar] : llvm::zip(arguments, x))
          values.map(argument, scalar);
        SmallVector<Value> scalars = llvm::to_vector(x.take_back(others.size()));
        for (Value factor : factors)
          scalars.push_back(cloneScalar(b, factor, values));
        Value product = scalars.front();
        for (Value scalar : llvm::drop_begin(scalars))
          product = arith::MulFOp::create(b, where, product, scalar);
        return product;
      },
      type);
}

Value StateRewrite::buildProduct(ArrayRef<Value> factors, ArrayRef<Value> arrays) {
  SmallVector<Value> present;
  llvm::copy_if(arrays, std::back_inserter(present), [](Value array) { return bool(array); });
  return buildFactor(builder, op, factors, present);
}

Value StateRewrite::keepOwn(Value array, Value own) {
  if (!sums.documents || !array || !own || array == own)
    return array;
  return buildMap(builder, loc, {array, own}, {}, [](OpBuilder &b, Location where, ValueRange x) {
    return buildOrZero(b, where, buildIsNonzero(b, where, x[1]), x[0]);
  });
}

size_t StateRewrite::addState(Value array, ArrayRef<Value> factors) {
  StateValue value{array, SmallVector<Value>(factors)};
  if (auto it = llvm::find(stateValues, value); it != stateValues.end())
    return it - stateValues.begin();
  stateValues.push_back(value);
  return stateValues.size() - 1;
}

LogicalResult StateRewrite::planTerm(int64_t result, const SeparableTerm &term) {
  Value array = op.getArrayOfSum(result);
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
  if (contracts && array && array == side.summed) {
    // sum over u of p(s) x[u] is the derivative by the reader's vector of the sum of p's integral.
    piece.derivative = true;
    piece.weights.assign(1, 0.0);
    for (auto [n, coefficient] : llvm::enumerate(term.series))
      piece.weights.push_back(coefficient / double(n + 1));
  } else if (array && other) {
    reason = "a sum contracts with an array while its weight has a second inner product";
    return failure();
  }
  const double *lowestWeight = llvm::find_if(piece.weights, [](double weight) { return weight != 0.0; });
  if (lowestWeight == piece.weights.end()) // a coefficient so small that its integral's is 0
    return success();
  int64_t lowest = lowestWeight - piece.weights.begin();
  piece.state = addState(array && !piece.derivative ? array : other, summedFactors(term));
  first = std::min(first, lowest);
  last = std::max(last, int64_t(piece.weights.size()) - 1);
  pieces.push_back(piece);
  return success();
}

ArrayType StateRewrite::finestHeads(ArrayRef<ArrayType> types) {
  auto has = [&](AxisRef axis) {
    return llvm::any_of(types, [&](ArrayType type) { return type.has(axis); });
  };
  SmallVector<AxisRef> axes;
  for (AxisRef axis : {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead, AxisRole::Query, AxisRole::Key})
    if (has(axis) && !(axis == AxisRole::KeyHead && has(AxisRole::Head)))
      axes.push_back(axis);
  return joinAxes({}, op.getRealType(), axes);
}

SmallVector<AxisRef> StateRewrite::lostAxes(int64_t result) const {
  auto type = cast<ArrayType>(PairwiseOp(op).getResult(result).getType());
  SmallVector<AxisRef> lost;
  if (resultHeads.has(AxisRole::Batch) && !type.has(AxisRole::Batch))
    lost.push_back(AxisRole::Batch);
  if (resultHeads.has(AxisRole::Head) && !type.has(AxisRole::Head))
    lost.push_back(type.has(AxisRole::KeyHead) ? StringRef(kGroup) : StringRef(nameOf(AxisRole::Head)));
  if (resultHeads.has(AxisRole::KeyHead) && !type.has(AxisRole::KeyHead))
    lost.push_back(AxisRole::KeyHead);
  return lost;
}

SmallVector<Value> StateRewrite::arraysIn(ArrayRef<Value> factors) const {
  SmallVector<Value> arrays;
  for (Value factor : factors)
    for (Value scalar : collectScalars(factor))
      if (auto argument = dyn_cast<BlockArgument>(scalar))
        arrays.push_back(PairwiseOp(op).getArrayOf(argument));
  return arrays;
}

bool StateRewrite::summedHasHeads() const {
  auto hasHeads = [](Value array) {
    return array && (arrayTypeOf(array).has(AxisRole::Head) || arrayTypeOf(array).has(AxisRole::KeyHead));
  };
  return hasHeads(side.summed) ||
         llvm::any_of(stateValues, [&](const StateValue &value) { return hasHeads(value.array); });
}

bool StateRewrite::statesHaveBatch() const {
  SmallVector<Value> arrays{side.summed};
  for (const StateValue &value : stateValues) {
    arrays.push_back(value.array);
    llvm::append_range(arrays, arraysIn(value.factors));
  }
  // Edges are those of keys on both sides.
  if (sums.columnExponent)
    llvm::append_range(arrays, arraysIn(sums.columnExponent));
  if (sums.rowExponent && kind == PairOutput::Columns)
    llvm::append_range(arrays, arraysIn(sums.rowExponent));
  arrays.push_back(sums.documents);
  return llvm::any_of(arrays, [](Value array) { return array && arrayTypeOf(array).has(AxisRole::Batch); });
}

LogicalResult StateRewrite::plan(bool withContractions) {
  contracts = withContractions;
  SmallVector<ArrayType> sumTypes;
  for (auto [index, sum] : llvm::enumerate(op.getSums().getAsRange<PairSumAttr>())) {
    if (sum.getKind() != kind)
      continue;
    for (const SeparableTerm &term : sums.yielded[sum.getYielded()])
      if (failed(planTerm(index, term)))
        return failure();
    sumTypes.push_back(cast<ArrayType>(op.getResult(index).getType()));
  }
  if (pieces.empty())
    return success();
  resultHeads = finestHeads(sumTypes);
  // If states differ between batches or heads and no result does, there is one state a batch and key head,
  // and reads are summed.
  SmallVector<AxisRef> ofStates;
  if (!resultHeads.has(AxisRole::Batch) && statesHaveBatch())
    ofStates.push_back(AxisRole::Batch);
  if (!resultHeads.has(AxisRole::Head) && !resultHeads.has(AxisRole::KeyHead) && summedHasHeads())
    ofStates.push_back(AxisRole::KeyHead);
  resultHeads = finestHeads({resultHeads, joinAxes({}, op.getRealType(), ofStates)});
  // The reader must have no axis that its sums lose. What it multiplies by per head, it reads per head.
  SmallVector<Value> readers{side.reader};
  for (const Piece &piece : pieces) {
    if (piece.array)
      readers.push_back(piece.array);
    for (Value array : arraysIn(piece.factors)) {
      readers.push_back(array);
      separateHeads(array);
    }
  }
  for (Value array : readers)
    for (AxisRef axis : {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead})
      if (cast<ArrayType>(array.getType()).has(axis) && !resultHeads.has(axis) &&
          !(axis == AxisRole::KeyHead && resultHeads.has(AxisRole::Head))) {
        reason = ("a sum loses the axis '" + Twine(axis) + "' of the array that it is read for").str();
        return failure();
      }
  auto reader = cast<ArrayType>(side.reader.getType());
  std::optional<int64_t> count = Features{reader.sizeOf(channelOf(reader)), first, last, block}.count();
  // Tables of features are made when compiling; at 2^23, of 64 channels of values, a state has 2 GiB.
  constexpr int64_t most = int64_t(1) << 23;
  if (!count || *count > most) {
    reason = "its state has " + (count ? std::to_string(*count) : "more than 2^62") +
             " features, and no more than 2^23 are supported";
    return failure();
  }
  return success();
}

ArrayType StateRewrite::stateType(Value value, ValueRange values) {
  MLIRContext *context = builder.getContext();
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  auto append = [&](AxisRef name, int64_t size) {
    axes.push_back(StringAttr::get(context, name));
    sizes.push_back(size);
  };
  // One operation makes all states, so all have the same of b, h and g.
  auto has = [&](AxisRef axis) {
    return arrayTypeOf(side.summed).has(axis) ||
           llvm::any_of(values, [&](Value array) { return arrayTypeOf(array).has(axis); });
  };
  // What calls hand on, like any array that they carry, is of each batch.
  if (statesHaveBatch() || (!contracts && resultHeads.has(AxisRole::Batch)))
    append(AxisRole::Batch, ArrayType::kUnknown);
  if (has(AxisRole::Head) && resultHeads.has(AxisRole::Head))
    append(AxisRole::Head, ArrayType::kUnknown);
  else if (has(AxisRole::Head) || has(AxisRole::KeyHead))
    append(AxisRole::KeyHead, ArrayType::kUnknown);
  if (chunk)
    append(side.readerToken, ArrayType::kUnknown);
  auto vectors = cast<ArrayType>(side.summed.getType());
  append(AxisRole::Feature, *Features{vectors.sizeOf(channelOf(vectors)), first, last, block}.count());
  if (value)
    if (StringRef channel = channelOf(cast<ArrayType>(value.getType())); !channel.empty())
      append(channel, cast<ArrayType>(value.getType()).sizeOf(channel));
  return ArrayType::get(context, axes, sizes, op.getRealType());
}

StateRewrite::Summed StateRewrite::collectSummed() {
  Summed summed;
  std::optional<size_t> mass;
  for (auto [number, value] : llvm::enumerate(stateValues)) {
    if (!value.array && value.factors.empty() && !summedDecay) {
      mass = number;
      continue;
    }
    summed.order.push_back(number);
    summed.values.push_back(buildProduct(value.factors, {value.array, summedDecay}));
    if (!chunk)
      summed.values.back() = keepOwn(summed.values.back(), summedOwn);
  }
  for (Value value : summed.values)
    summed.types.push_back(stateType(value, summed.values));
  if (mass) {
    summed.mass = true;
    summed.order.push_back(*mass);
    summed.types.push_back(stateType({}, summed.values));
  }
  return summed;
}

/// Each begins from one of `initial`, where there are any.
SmallVector<Value> StateRewrite::buildSums(ArrayRef<Value> initial) {
  Summed summed = collectSummed();
  SmallVector<Value> begin;
  if (!initial.empty())
    for (size_t number : summed.order)
      begin.push_back(initial[number]);
  // In the chunked form the operation leaves out tokens of other documents; without chunks they are set to 0.
  auto built =
      StatesOp::create(builder, loc, summed.types, chunk ? side.summed : keepOwn(side.summed, summedOwn),
                       summed.values, begin, edges, documents, chunk ? summedOwn : Value(), summed.mass,
                       first, last, ArrayAttr(), block, chunk, opposite);
  SmallVector<Value> sums(stateValues.size());
  for (auto [number, sum] : llvm::zip(summed.order, built.getResults()))
    sums[number] = sum;
  return sums;
}

SmallVector<Value> StateRewrite::buildSteps(llvm::MapVector<int64_t, Value> &within,
                                            ArrayRef<Value> initial) {
  if (!hasStates()) {
    fillEmptySums(within);
    return {};
  }
  Summed summed = collectSummed();
  SmallVector<Value> begin =
      llvm::map_to_vector(summed.order, [&](size_t number) { return initial[number]; });
  SmallVector<int64_t> reads;
  SmallVector<Attribute> weights;
  SmallVector<Type> types;
  states.assign(initial.begin(), initial.end());
  for (const Piece &piece : pieces) {
    reads.push_back(llvm::find(summed.order, piece.state) - summed.order.begin());
    weights.push_back(builder.getF64ArrayAttr(weightsOf(piece)));
    types.push_back(readType(piece));
  }
  types.append(summed.types);
  auto steps = StepStatesOp::create(builder, loc, types, side.reader, keepOwn(side.summed, summedOwn),
                                    summed.values, begin, keep, /*documents=*/keep && sums.documents,
                                    summed.mass, reads, first, last, builder.getArrayAttr(weights), block);
  for (auto [piece, row] : llvm::zip(pieces, steps.getRows()))
    addRead(piece, row, within);
  fillEmptySums(within);
  SmallVector<Value> behind(stateValues.size());
  for (auto [number, state] : llvm::zip(summed.order, steps.getStates()))
    behind[number] = state;
  return behind;
}

void StateRewrite::setDecay(const CarriedDecay &decay) {
  readerDecay = decay.row;
  summedDecay = decay.column;
  keep = decay.keep;
  readerOwn = decay.ownRow;
  summedOwn = decay.ownColumn;
  ownKeep = decay.ownKeep;
  separateHeads(summedDecay);
}

void StateRewrite::separateHeads(Value array) {
  if (array && arrayTypeOf(array).has(AxisRole::Head))
    resultHeads = resultHeads.renamed(AxisRole::KeyHead, AxisRole::Head);
}

SmallVector<ArrayType> StateRewrite::stateTypes() {
  SmallVector<Value> products = llvm::map_to_vector(stateValues, [&](const StateValue &value) {
    return buildProduct(value.factors, {value.array, summedDecay});
  });
  SmallVector<Value> present;
  llvm::copy_if(products, std::back_inserter(present), [](Value product) { return bool(product); });
  return llvm::map_to_vector(products, [&](Value product) { return stateType(product, present); });
}

SmallVector<Value> StateRewrite::buildCarried(llvm::MapVector<int64_t, Value> &within,
                                              ArrayRef<Value> initial) {
  if (!hasStates())
    return {};
  states.assign(initial.begin(), initial.end());
  buildAllReads(within);
  SmallVector<Value> kept(initial);
  if (keep)
    for (Value &state : kept)
      state = buildMap(
          builder, loc, ownKeep ? ValueRange{state, keep, ownKeep} : ValueRange{state, keep}, {},
          [&](OpBuilder &b, Location where, ValueRange x) -> Value {
            Value product = arith::MulFOp::create(b, where, x[0], x[1]);
            return ownKeep ? buildOrZero(b, where, buildIsNonzero(b, where, x[2]), product) : product;
          },
          arrayTypeOf(state));
  return buildSums(kept);
}

SmallVector<double> StateRewrite::weightsOf(const Piece &piece) const {
  SmallVector<double> weights(last - first + 1, 0.0);
  for (int64_t n = first; n < int64_t(piece.weights.size()); ++n)
    weights[n - first] = piece.weights[n];
  return weights;
}

double StateRewrite::getStateBytes() const {
  double channels = 0;
  for (const StateValue &value : stateValues)
    channels += value.array ? double(countChannels(arrayTypeOf(value.array))) : 1;
  auto vectors = cast<ArrayType>(side.summed.getType());
  double features =
      pieces.empty() ? 0 : double(*Features{vectors.sizeOf(channelOf(vectors)), first, last, block}.count());
  Type real = PairwiseOp(op).getRealType();
  return features * channels * real.getIntOrFloatBitWidth() / 8;
}

void StateRewrite::build(llvm::MapVector<int64_t, Value> &within, int64_t chunkOrWhole,
                         const ChunkDecay &decay) {
  if (!hasStates())
    return fillEmptySums(within);
  chunk = chunkOrWhole;
  bool rows = kind == PairOutput::Rows;
  readerDecay = rows ? decay.row : decay.column;
  summedDecay = rows ? decay.column : decay.row;
  readerOwn = rows ? decay.ownRow : decay.seenColumn;
  summedOwn = rows ? decay.ownColumn : decay.ownRow;
  edges = decay.edges;
  documents = decay.documents;
  separateHeads(edges);
  states = buildSums({});
  buildAllReads(within);
  fillEmptySums(within);
}

void StateRewrite::fillEmptySums(llvm::MapVector<int64_t, Value> &within) {
  for (auto [index, sum] : llvm::enumerate(op.getSums().getAsRange<PairSumAttr>()))
    if (sum.getKind() == kind && !isCount(op, sum) && !within.lookup(index))
      within[index] = buildMap(
          builder, loc, {}, {},
          [&](OpBuilder &b, Location where, ValueRange) {
            return buildNumber(b, where, op.getRealType(), 0.0);
          },
          arrayTypeOf(op.getResult(index)));
}

void StateRewrite::buildAllReads(llvm::MapVector<int64_t, Value> &within) {
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
      return isPlain(piece) == isPlain(head) &&
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
    Value value = buildProduct(piece->factors, {piece->array, readerDecay});
    if (!value) // 1
      value = buildMap(
          builder, loc, {}, {},
          [&](OpBuilder &b, Location where, ValueRange) {
            return buildNumber(b, where, op.getRealType(), 1.0);
          },
          resultHeads.clone(op.getRealType()));
    values.push_back(value);
  }
  Value into = lostAxes(head.result).empty() ? within[head.result] : Value();
  Value sum = ContractStatesOp::create(builder, loc, withChannelOf(side.reader), side.reader, statesOf(group),
                                       values, into, readerOwn, first, last,
                                       builder.getF64ArrayAttr(weightsOf(head)), block, chunk, opposite);
  if (into)
    within[head.result] = sum;
  else
    add(within, head.result, sum);
}

void StateRewrite::add(llvm::MapVector<int64_t, Value> &within, int64_t result, Value term) {
  if (SmallVector<AxisRef> lost = lostAxes(result); !lost.empty())
    term = buildReduce(builder, loc, Reduction::Sum, lost, term, {},
                       [](OpBuilder &, Location, ValueRange x) { return x[0]; });
  Value &sum = within[result];
  sum = sum ? buildSum(builder, loc, sum, term) : term;
}

ArrayType StateRewrite::withChannelOf(Value array) {
  ArrayType heads = resultHeads.clone(op.getRealType());
  StringRef channel = channelOf(arrayTypeOf(array));
  if (channel.empty())
    return heads;
  SmallVector<StringAttr> axes(heads.getAxes());
  SmallVector<int64_t> sizes(heads.getSizes());
  axes.push_back(builder.getStringAttr(channel));
  sizes.push_back(arrayTypeOf(array).sizeOf(channel));
  return ArrayType::get(builder.getContext(), axes, sizes, op.getRealType());
}

Type StateRewrite::readType(const Piece &piece) {
  return isPlain(piece) ? op.getResult(piece.result).getType() : Type(withChannelOf(states[piece.state]));
}

void StateRewrite::addRead(const Piece &piece, Value term, llvm::MapVector<int64_t, Value> &within) {
  // With chunks a token may read nothing: a key after which no chunk of queries begins, a query before whose
  // chunk no key lies (opposite: after it). It may be NaN, so what multiplies a read of 0 is 0.
  bool mayReadNothing = chunk;
  if (piece.array) // <the reader's array, what it reads>
    term = buildReduce(builder, loc, Reduction::Sum, {channelOf(arrayTypeOf(piece.array))},
                       {piece.array, term}, {}, [&](OpBuilder &b, Location where, ValueRange x) {
                         Value product = arith::MulFOp::create(b, where, x[0], x[1]);
                         return mayReadNothing ? buildAsked(b, where, x[1], product) : product;
                       });
  Value product = buildProduct(piece.factors, {term, readerDecay});
  if (mayReadNothing && product != term)
    product = buildMap(builder, loc, {product, term}, {}, [](OpBuilder &b, Location where, ValueRange x) {
      return buildAsked(b, where, x[1], x[0]);
    });
  add(within, piece.result, keepOwn(product, readerOwn));
}

void StateRewrite::buildReads(ArrayRef<const Piece *> group, llvm::MapVector<int64_t, Value> &within) {
  bool plain = isPlain(*group.front());
  SmallVector<Value> into;
  SmallVector<Type> types;
  for (const Piece *piece : group) {
    types.push_back(readType(*piece));
    if (plain && within[piece->result])
      into.push_back(within[piece->result]);
  }
  // The operation adds to all of its results or to none.
  if (into.size() != group.size())
    into.clear();
  // In the chunked form the operation leaves out tokens of other documents; without chunks they are set to 0,
  // so that they reach no gradient.
  auto read =
      ReadStatesOp::create(builder, loc, types, chunk ? side.reader : keepOwn(side.reader, readerOwn),
                           statesOf(group), into, plain && chunk ? readerOwn : Value(), first, last,
                           builder.getF64ArrayAttr(weightsOf(*group.front())), block, chunk, opposite);
  for (auto [piece, result] : llvm::zip(group, read.getResults())) {
    if (!into.empty())
      within[piece->result] = result;
    else if (plain)
      add(within, piece->result, result);
    else
      addRead(*piece, result, within);
  }
}
