// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// taylor.states, taylor.read_states, taylor.contract_states, taylor.step_states: what their operands and
// results must be.
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/TaylorDialect.h"

using namespace mlir;
using namespace taylor;

static ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

static AxisRef tokenAxisOf(ArrayType array) {
  return array.has(AxisRole::Query) ? nameOf(AxisRole::Query)
         : array.has(AxisRole::Key) ? nameOf(AxisRole::Key)
                                    : "";
}

template <typename Op> static Features featuresOf(Op op) {
  ArrayType vectors = typeOf(op.getVectors());
  return {vectors.sizeOf(channelOf(vectors)), int64_t(op.getFirst()), int64_t(op.getLast()),
          int64_t(op.getBlock())};
}

Features StatesOp::getFeatures() { return featuresOf(*this); }
Features ReadStatesOp::getFeatures() { return featuresOf(*this); }
Features ContractStatesOp::getFeatures() { return featuresOf(*this); }
Features StepStatesOp::getFeatures() { return featuresOf(*this); }
StringRef StatesOp::getToken() { return tokenAxisOf(typeOf(getVectors())); }
StringRef ReadStatesOp::getToken() { return tokenAxisOf(typeOf(getVectors())); }
StringRef ContractStatesOp::getToken() { return tokenAxisOf(typeOf(getVectors())); }

static SmallVector<double> numbersOf(std::optional<ArrayAttr> numbers) {
  if (!numbers)
    return {};
  return llvm::map_to_vector(numbers->getAsValueRange<FloatAttr>(),
                             [](const APFloat &number) { return number.convertToDouble(); });
}
SmallVector<double> StatesOp::getWeightValues() { return numbersOf(getWeights()); }
SmallVector<double> ReadStatesOp::getWeightValues() { return numbersOf(getWeights()); }
SmallVector<double> ContractStatesOp::getWeightValues() { return numbersOf(getWeights()); }
SmallVector<double> StepStatesOp::getWeightValues(size_t read) {
  return numbersOf(cast<ArrayAttr>(getWeights()[read]));
}

/// Vectors over tokens with one channel, and orders of a countable number of features.
template <typename Op> static LogicalResult verifyFeatures(Op op) {
  ArrayType vectors = typeOf(op.getVectors());
  int64_t channels = llvm::count_if(vectors.getAxes(), [](StringAttr axis) { return !isRuntimeAxis(axis); });
  if (tokenAxisOf(vectors).empty() || channels != 1)
    return op.emitOpError("expected vectors with a token axis and one channel, but got ") << vectors;
  Features features = op.getFeatures();
  if (features.first < 0 || features.last < features.first)
    return op.emitOpError("expected orders 0 <= first <= last, but got ")
           << features.first << " to " << features.last;
  if (features.block < 1)
    return op.emitOpError("expected a positive block, but got ") << features.block;
  if (features.channels == ArrayType::kUnknown)
    return op.emitOpError("requires the size of the channel of ")
           << vectors << ": run taylor-specialize before";
  if (!features.count() || *features.count() > std::numeric_limits<int32_t>::max())
    return op.emitOpError("unsupported orders up to ")
           << features.last << " of " << features.channels
           << " channels: they pass order 1000, or their state 2^31 - 1 features; use lower orders";
  return success();
}

static LogicalResult verifyWeights(Operation *op, const Features &features, ArrayAttr weights) {
  int64_t orders = features.last - features.first + 1;
  if (weights && int64_t(weights.size()) != orders)
    return op->emitOpError("expected a weight per order, ") << orders << ", but got " << weights.size();
  return success();
}

/// What those have in common that may have chunks.
template <typename Op> static LogicalResult verifyVectors(Op op) {
  if (failed(verifyFeatures(op)))
    return failure();
  if (int64_t(op.getChunk()) < 0)
    return op.emitOpError("expected no negative chunk, but got ") << int64_t(op.getChunk());
  if (op.getOpposite() && !op.getChunk())
    return op.emitOpError("requires chunk(..) for 'opposite': without chunks all tokens are summed");
  if (Value own = op.getOwn())
    if (ArrayType type = typeOf(own);
        tokenAxisOf(type) != op.getToken() || !isa<FloatType>(type.getElementType()) ||
        !type.without({AxisRole::Batch, op.getToken()}).getAxes().empty() || !op.getChunk())
      return op.emitOpError(
                 "expected own(..) of real numbers over the tokens of the vectors and perhaps b, between "
                 "chunks, but got ")
             << type << (op.getChunk() ? "" : " and no chunk");
  return verifyWeights(op, op.getFeatures(), op.getWeights().value_or(ArrayAttr()));
}

/// A state has one feature axis, of the size that the orders give, and the token axis of its reader.
static LogicalResult verifyState(Operation *op, ArrayType state, AxisRef reader, bool chunked,
                                 const Features &features) {
  if (state.sizeOf(AxisRole::Feature) != *features.count())
    return op->emitOpError("expected ")
           << *features.count() << " features along axis 'f' of a state, but got " << state;
  if (tokenAxisOf(state) != (chunked ? reader : AxisRef()))
    return op->emitOpError("expected a state ")
           << (chunked ? "with the token axis '" + reader.str() + "' of its reader" : "without a token axis")
           << ", but got " << state;
  return success();
}

LogicalResult EdgeOp::verify() {
  ArrayType array = typeOf(getArray()), result = typeOf(getResult());
  StringRef reader = tokenAxisOf(result);
  if (tokenAxisOf(array) != AxisRole::Key || reader.empty())
    return emitOpError("expected an array over u, read for t or u, but got ") << array << " for " << result;
  if (int64_t(getChunk()) < 1)
    return emitOpError("expected a positive chunk, but got ") << int64_t(getChunk());
  if (array.without({AxisRole::Key}) != result.without({reader}))
    return emitOpError("expected the axes of ") << array << " beside its tokens, but got " << result;
  return success();
}

/// States have the batches and heads of what decays them.
static LogicalResult verifyDecayed(Operation *op, ArrayType decay, ValueRange states) {
  for (AxisRef axis : {AxisRole::Batch, AxisRole::Head})
    for (Value state : states)
      if (decay.has(axis) && !typeOf(state).has(axis))
        return op->emitOpError("expected states with the axis '")
               << axis << "' of their decay, but got " << state.getType();
  return success();
}

LogicalResult StatesOp::verify() {
  if (failed(verifyVectors(*this)))
    return failure();
  if (Value decay = getDecay()) {
    if (getOpposite())
      return emitOpError("unsupported decay of an 'opposite' state: a decay runs from past keys to a query");
    ArrayType type = typeOf(decay);
    if (tokenAxisOf(type) != AxisRole::Key || !channelOf(type).empty() || !getChunk())
      return emitOpError("expected a decay over u, without a channel, between chunks, but got ")
             << type << (getChunk() ? "" : " and no chunk");
    if (failed(verifyDecayed(*this, type, getResults())))
      return failure();
  }
  if (Value within = getWithin())
    if (ArrayType type = typeOf(within); tokenAxisOf(type) != AxisRole::Key ||
                                         !type.without({AxisRole::Batch, AxisRole::Key}).getAxes().empty() ||
                                         !getChunk())
      return emitOpError("expected documents over u and perhaps b, between chunks, but got ")
             << type << (getChunk() ? "" : " and no chunk");
  if (getResults().size() != getValues().size() + getMass())
    return emitOpError("expected a result per value, and one for the mass, ")
           << getValues().size() + getMass() << ", but got " << getResults().size();
  if (!getInitial().empty() && (getChunk() || getInitial().size() != getResults().size()))
    return emitOpError("expected one array per result to begin from, without chunks, or none, but got ")
           << getInitial().size() << (getChunk() ? " and chunks" : "");
  for (auto [initial, result] : llvm::zip(getInitial(), getResults()))
    if (typeOf(initial).clone(typeOf(result).getElementType()) != result.getType())
      return emitOpError("expected to begin from an array of the result's axes, ")
             << result.getType() << ", but got " << initial.getType();
  for (Value value : getValues())
    if (tokenAxisOf(typeOf(value)) != getToken())
      return emitOpError("expected values over the tokens '")
             << getToken() << "', but got " << value.getType();
  for (auto [number, result] : llvm::enumerate(getResults())) {
    ArrayType state = typeOf(result);
    if (failed(verifyState(*this, state, getReader(), getChunk() != 0, getFeatures())))
      return failure();
    StringRef channel = number < getValues().size() ? channelOf(typeOf(getValues()[number])) : "";
    if (channelOf(state) != channel)
      return emitOpError("expected a state with the channel of its value, but got ") << state;
  }
  return success();
}

template <typename Op> static LogicalResult verifyReader(Op op) {
  if (failed(verifyVectors(op)))
    return failure();
  Features features = op.getFeatures();
  for (Value state : op.getStates())
    if (failed(verifyState(op, typeOf(state), op.getToken(), op.getChunk() != 0, features)))
      return failure();
  return success();
}

LogicalResult ReadStatesOp::verify() {
  if (failed(verifyReader(*this)))
    return failure();
  if (getResults().size() != getStates().size())
    return emitOpError("expected a result per state, ")
           << getStates().size() << ", but got " << getResults().size();
  if (!getInto().empty() && getInto().size() != getStates().size())
    return emitOpError("expected one array per state to add to, or none, but got ") << getInto().size();
  for (auto [state, result] : llvm::zip(getStates(), getResults()))
    if (channelOf(typeOf(state)) != channelOf(typeOf(result)) || tokenAxisOf(typeOf(result)) != getToken())
      return emitOpError("expected a result with the state's channel and the tokens of the vectors, but got ")
             << result.getType();
  for (auto [into, result] : llvm::zip(getInto(), getResults()))
    if (into.getType() != result.getType())
      return emitOpError("expected to add to an array of the result's type, ")
             << result.getType() << ", but got " << into.getType();
  return success();
}

LogicalResult ContractStatesOp::verify() {
  if (failed(verifyReader(*this)))
    return failure();
  if (getValues().size() != getStates().size())
    return emitOpError("expected a value per state, ")
           << getStates().size() << ", but got " << getValues().size();
  for (auto [state, value] : llvm::zip(getStates(), getValues()))
    if (channelOf(typeOf(state)) != channelOf(typeOf(value)) || tokenAxisOf(typeOf(value)) != getToken())
      return emitOpError("expected a value with the state's channel and the tokens of the vectors, but got ")
             << value.getType();
  ArrayType vectors = typeOf(getVectors()), result = typeOf(getResult());
  if (channelOf(result) != channelOf(vectors) || tokenAxisOf(result) != getToken())
    return emitOpError("expected a result with the channel and tokens of the vectors, but got ") << result;
  if (getInto() && getInto().getType() != result)
    return emitOpError("expected to add to an array of the result's type, ")
           << result << ", but got " << getInto().getType();
  return success();
}

LogicalResult StepStatesOp::verify() {
  if (failed(verifyFeatures(*this)))
    return failure();
  ArrayType readers = typeOf(getReaders()), vectors = typeOf(getVectors());
  if (tokenAxisOf(readers) != AxisRole::Query || tokenAxisOf(vectors) != AxisRole::Key)
    return emitOpError("expected vectors over t that read and vectors over u that are summed, but got ")
           << readers << " and " << vectors;
  if (channelOf(readers).empty() || readers.sizeOf(channelOf(readers)) != getFeatures().channels)
    return emitOpError("expected vectors of ")
           << getFeatures().channels << " components on both sides, but got " << readers;
  size_t states = getValues().size() + getMass();
  if (getInitial().size() != states || getResults().size() != getReads().size() + states)
    return emitOpError("expected a state before and one after per value and for the mass, ")
           << states << ", but got " << getInitial().size() << " and "
           << int64_t(getResults().size()) - int64_t(getReads().size());
  for (Value value : getValues())
    if (tokenAxisOf(typeOf(value)) != AxisRole::Key)
      return emitOpError("expected values over the tokens 'u', but got ") << value.getType();
  for (auto [number, state] : llvm::enumerate(getStates())) {
    ArrayType type = typeOf(state);
    if (failed(verifyState(*this, type, AxisRole::Query, /*chunked=*/false, getFeatures())))
      return failure();
    if (channelOf(type) != (number < getValues().size() ? channelOf(typeOf(getValues()[number])) : ""))
      return emitOpError("expected a state with the channel of its value, but got ") << type;
    if (typeOf(getInitial()[number]).clone(type.getElementType()) != type)
      return emitOpError("expected to begin from an array of the state's axes, ")
             << type << ", but got " << getInitial()[number].getType();
  }
  if (getDocuments() && !getKeep())
    return emitOpError("expected what is kept of other documents' states, keep(..), next to 'documents'");
  if (Value keep = getKeep()) {
    ArrayType type = typeOf(keep);
    if (tokenAxisOf(type) != AxisRole::Key || !channelOf(type).empty())
      return emitOpError("expected what is kept of states over u, without a channel, but got ") << type;
    if (failed(verifyDecayed(*this, type, getStates())))
      return failure();
  }
  if (getWeights().size() != getReads().size())
    return emitOpError("expected weights for each read, ")
           << getReads().size() << ", but got " << getWeights().size();
  for (auto [row, state, weights] : llvm::zip(getRows(), getReads(), getWeights())) {
    if (state < 0 || size_t(state) >= states)
      return emitOpError("expected reads of states 0 to ") << int64_t(states) - 1 << ", but got " << state;
    if (!isa<ArrayAttr>(weights) || !llvm::all_of(cast<ArrayAttr>(weights), llvm::IsaPred<FloatAttr>))
      return emitOpError("expected numbers as weights, but got ") << weights;
    if (failed(verifyWeights(*this, getFeatures(), cast<ArrayAttr>(weights))))
      return failure();
    ArrayType type = typeOf(row), read = typeOf(getStates()[state]);
    if (tokenAxisOf(type) != AxisRole::Query || channelOf(type) != channelOf(read))
      return emitOpError("expected rows over t with the channel of their state, but got ") << type;
    for (AxisRef axis : {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead})
      if ((read.has(axis) && !type.has(axis) && !(axis == AxisRole::KeyHead && type.has(AxisRole::Head))) ||
          (axis == AxisRole::Batch && type.has(axis) && !read.has(axis)))
        return emitOpError("expected rows and states of the same batches and heads, but got ")
               << type << " of " << read;
  }
  return success();
}
