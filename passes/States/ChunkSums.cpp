// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chunked form: sums over pairs as sums within chunks and states between them.
#include "dialect/Refusal.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Tile/TileDialect.h"
#include "passes/Algebra/PairwiseRewrite.h"
#include "passes/Debug.h"
#include "passes/Passes.h"
#include "passes/Specification/DocumentMask.h"
#include "passes/States/SeparableSums.h"
#include "passes/States/StateRewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

#define DEBUG_TYPE "taylor-chunk-sums"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_CHUNKSUMSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// How chunks are chosen: the pass's options, or a function's plan, whose fields have the same names.
struct Chunking {
  int64_t chunk, unit, balance, farBalance, nearBytes, featureBlock;

  bool isValid() const {
    return chunk >= 0 && unit >= 1 && balance >= 1 && farBalance >= 1 && nearBytes >= 0 && featureBlock >= 1;
  }
};

struct ChunkSums : taylor::impl::ChunkSumsPassBase<ChunkSums> {
  using ChunkSumsPassBase::ChunkSumsPassBase;

  void runOnOperation() override {
    llvm::DenseSet<Location> warned;
    for (FunctionOp function : llvm::to_vector(getOperation().getOps<FunctionOp>())) {
      if (!tile::isPlanned(function, [](const TileSizes &sizes) { return sizes.chunked; }))
        continue;
      chunking = {chunk, unit, balance, farBalance, nearBytes, featureBlock};
      if (function.getPlanAttr()) {
        TileSizes sizes = tile::getTileSizes(function);
        chunking = {sizes.chunk,      sizes.getChunkUnit(), sizes.balance,
                    sizes.farBalance, sizes.nearBytes,      sizes.featureBlock};
      }
      if (!chunking.isValid()) {
        getOperation().emitError("expected a positive unit, balance, far-balance and feature-block, and no "
                                 "negative chunk and near-bytes");
        if (function.isTwin())
          (void)reportFault(function.emitError(), "the chunked form",
                            "use --form=parallel until it is mended");
        return signalPassFailure();
      }
      FailureOr<std::string> refusal = rewrite(function, warned);
      if (failed(refusal))
        return signalPassFailure();
      if (!refusal->empty())
        return eraseTwins(*refusal);
    }
  }

private:
  /// Of the function that is rewritten.
  Chunking chunking;
  /// Why a sum has no states.
  struct Refusal {
    Location at;
    std::string why;
  };
  /// If none of the function's sums can be chunked: returns the reason for a twin, an error for any other
  /// function. `warned`: locations with a warning already; the backward's sums have those of the forward's.
  FailureOr<std::string> rewrite(FunctionOp function, llvm::DenseSet<Location> &warned);
  /// Erases all twins; the functions that they were copied from get `refusal` as the reason.
  void eraseTwins(StringRef refusal);
  /// Nothing if it succeeded.
  std::optional<Refusal> rewrite(PairwiseOp op);
  static Value buildMaximum(OpBuilder &builder, PairwiseOp op);
  static ChunkDecay buildDecay(OpBuilder &builder, PairwiseOp op, const SeparableSums &sums, int64_t chunk,
                               ChunkSide side, bool readByKeys);
  int64_t chooseChunk(ArrayRef<StateRewrite> parts, PairwiseOp op, const SeparableSums &sums);
  /// Puts sums within chunks and reads of states in place of those results that `chunked` chooses, and in
  /// place of the others sums over pairs of their own.
  void replaceByStates(OpBuilder &builder, PairwiseOp op, const SeparableSums &sums, ArrayRef<bool> chunked,
                       MutableArrayRef<StateRewrite> parts);
};

static constexpr llvm::StringLiteral kRefused = "unsupported chunked form: ";

void ChunkSums::eraseTwins(StringRef refusal) {
  SymbolTable symbols(getOperation());
  for (FunctionOp twin : llvm::to_vector(getOperation().getOps<FunctionOp>())) {
    auto form = cast_if_present<tile::FormAttr>(twin.getFormAttr());
    if (!form || form.getKind() != Form::Chunked || !twin.isTwin())
      continue;
    auto function = symbols.lookup<FunctionOp>(FunctionOp::nameOf(twin.getSpecName(), form.getFunction()));
    auto own = cast<tile::FormAttr>(function.getFormAttr());
    function.setFormAttr(own.withLeftOut(kRefused + refusal));
    symbols.erase(twin);
    ++numErased;
  }
}

FailureOr<std::string> ChunkSums::rewrite(FunctionOp function, llvm::DenseSet<Location> &warned) {
  SmallVector<PairwiseOp> operations(function.getBody().front().getOps<PairwiseOp>());
  llvm::erase_if(operations, [](PairwiseOp op) { return op.getNumProducts() == 0; });
  SmallVector<Refusal> refusals;
  for (PairwiseOp op : operations)
    if (std::optional<Refusal> refusal = rewrite(op)) {
      LDBG() << refusal->at << ": stays over pairs, " << refusal->why;
      refusals.push_back(*refusal);
    }
  // Where some sums have the form, the others stay over pairs. Of a form that no one asked for, this is no
  // news (taylor-plan-forms).
  bool none = !operations.empty() && refusals.size() == operations.size();
  if (function.isTwin())
    return none ? refusals.front().why : "";
  llvm::DenseSet<Location> refused;
  for (const Refusal &refusal : refusals) {
    if (!(none ? refused : warned).insert(refusal.at).second)
      continue;
    InFlightDiagnostic diagnostic = none ? refuse(emitError(refusal.at)) : emitWarning(refusal.at);
    diagnostic << (none ? StringRef(kRefused) : "this sum stays over pairs: ") << refusal.why
               << "; it needs sums of finitely many powers of one inner product, with factors of the query "
                  "and of the key, over all keys, those of the query's document or those with u <= t"
               << (none ? "; use the parallel form" : "");
  }
  if (none)
    return failure();
  return std::string();
}

/// The largest so far, of an array over keys.
static Value buildLargestKey(OpBuilder &builder, Value array, Value within) {
  return buildRunningMaximum(builder, array, AxisRole::Key, within, /*exclusive=*/false,
                             [](OpBuilder &, Location, ValueRange x) { return x[0]; });
}

static Value buildMinus(OpBuilder &b, Location loc, ValueRange x) {
  return arith::NegFOp::create(b, loc, x[0]);
}

/// The running maximum of a[t] + c[u] over u <= t is a[t] plus that of c. Null where it is no such sum.
Value ChunkSums::buildMaximum(OpBuilder &builder, PairwiseOp op) {
  SeparableSums sums(op, /*acrossChunks=*/true);
  Operation *yield = op.getMaximum().front().getTerminator();
  std::optional<SplitScalar> parts = sums.split(yield->getOperand(0));
  if (!parts || !parts->column || failed(sums.readMask()) || !sums.causal)
    return {};
  Location loc = op.getLoc();
  Value largest = buildLargestKey(builder, buildFactor(builder, op, parts->column, {}), sums.documents);
  largest = AlignOp::create(builder, loc, arrayTypeOf(largest).renamed(AxisRole::Key, AxisRole::Query),
                            largest, axisAttr(builder, AxisRole::Query));
  SmallVector<Value> arrays{largest};
  if (parts->row)
    arrays.push_back(buildFactor(builder, op, parts->row, {}));
  Value floor = yield->getNumOperands() > 1 ? buildFactor(builder, op, yield->getOperand(1), {}) : Value();
  if (floor)
    arrays.push_back(floor);
  return buildMap(
      builder, loc, arrays, {},
      [&](OpBuilder &b, Location where, ValueRange x) -> Value {
        Value sum = parts->row ? arith::AddFOp::create(b, where, x[0], x[1]).getResult() : x[0];
        return floor ? arith::MaximumFOp::create(b, where, sum, x.back()).getResult() : sum;
      },
      rowType(op));
}

/// exp(a[t] - c[u]), for a key u before the chunk of t, as exp(a[t] - E) exp(E - c[u]). E, the chunk's edge,
/// is the least c so far, so that no factor is above 1. With documents, a factor is 0 where the token's
/// document is not the edge's. On the opposite side nothing decays. `readByKeys`: sums into columns read
/// states, too.
ChunkDecay ChunkSums::buildDecay(OpBuilder &builder, PairwiseOp op, const SeparableSums &sums, int64_t chunk,
                                 ChunkSide side, bool readByKeys) {
  if (!sums.columnExponent && !sums.documents)
    return {};
  Location loc = op.getLoc();
  auto readFor = [&](Value array, AxisRef token, bool query = false) -> Value {
    return EdgeOp::create(builder, loc, arrayTypeOf(array).renamed(AxisRole::Key, token), array, chunk,
                          side == ChunkSide::Opposite, query);
  };
  ChunkDecay decay;
  decay.documents = sums.documents;
  // Of queries or keys: exp(x[0] - x[1]) of `exponents`, and whether the two `documents` are one; neither
  // where there are none.
  auto buildSide = [&](ArrayRef<Value> exponents, ArrayRef<Value> documents, Value &factor, Value &own) {
    auto buildSame = [&](OpBuilder &b, Location where, ValueRange x, Value number) -> Value {
      if (documents.empty())
        return number;
      Value same = arith::CmpFOp::create(b, where, arith::CmpFPredicate::OEQ, x.take_back(2)[0], x.back());
      return buildOrZero(b, where, same, number);
    };
    if (!exponents.empty())
      factor = buildMap(builder, loc, llvm::to_vector(llvm::concat<const Value>(exponents, documents)), {},
                        [&](OpBuilder &b, Location where, ValueRange x) {
                          Value difference = arith::SubFOp::create(b, where, x[0], x[1]);
                          return buildSame(b, where, x, math::ExpOp::create(b, where, difference));
                        });
    if (!documents.empty())
      own = buildMap(builder, loc, documents, {}, [&](OpBuilder &b, Location where, ValueRange x) {
        return buildSame(b, where, x, buildNumber(b, where, x[0].getType(), 1.0));
      });
  };
  Value column, keys = sums.documents;
  SmallVector<Value> exponents, documents;
  if (sums.columnExponent) {
    column = buildFactor(builder, op, sums.columnExponent, {});
    // Written like buildMaximum's, so that the two become one operation.
    Value largest = buildLargestKey(builder, buildMap(builder, loc, column, {}, buildMinus), sums.documents);
    decay.edges = buildMap(builder, loc, largest, {}, buildMinus);
    exponents = {buildFactor(builder, op, sums.rowExponent, {}), readFor(decay.edges, AxisRole::Query)};
  }
  if (keys) {
    Value queries = AlignOp::create(builder, loc, arrayTypeOf(keys).renamed(AxisRole::Key, AxisRole::Query),
                                    keys, axisAttr(builder, AxisRole::Query));
    documents = {queries, readFor(keys, AxisRole::Query)};
  }
  buildSide(exponents, documents, decay.row, decay.ownRow);
  if (column)
    exponents = {readFor(decay.edges, AxisRole::Key), column};
  if (keys)
    documents = {readFor(keys, AxisRole::Key), keys};
  buildSide(exponents, documents, decay.column, decay.ownColumn);
  if (keys && readByKeys)
    buildSide({}, {readFor(keys, AxisRole::Key, /*query=*/true), keys}, decay.column, decay.seenColumn);
  return decay;
}

/// Within a chunk of C tokens each sees C / 2 others on the average (C where it sees those behind it too),
/// with 2 operations per channel of every product and sum; each state's bytes are moved about six times per
/// chunk (made, added up, read). Both cost the same at the smallest sum.
int64_t ChunkSums::chooseChunk(ArrayRef<StateRewrite> parts, PairwiseOp op, const SeparableSums &sums) {
  constexpr double kMoves = 6, kSmallest = 64, kLargest = 1 << 16;
  auto [chunk, unit, balance, farBalance, nearBytes, featureBlock] = chunking;
  double wanted = double(chunk);
  if (chunk == 0) {
    auto channelsOf = [](Value array) { return double(countChannels(arrayTypeOf(array))); };
    double perPair = 0;
    for (int64_t i = 0; i < op.getNumProducts(); ++i)
      perPair += 2 * channelsOf(op.getProduct(i).first);
    for (PairSumAttr sum : op.getSums().getAsRange<PairSumAttr>())
      perPair += !sum.getWeighted();
    for (Value array : op.getWeighted())
      perPair += 2 * channelsOf(array);
    if (sums.seesBothWays())
      perPair *= 2;
    double bytes = 0;
    for (const StateRewrite &part : parts)
      bytes += part.getStateBytes();
    double operations = double(bytes > double(nearBytes) ? farBalance : balance);
    wanted = std::clamp(std::sqrt(2 * kMoves * bytes * operations / perPair), kSmallest, kLargest);
    wanted = std::max(std::round(wanted / double(unit)), 1.0) * double(unit);
    LDBG() << op.getLoc() << ": states of " << bytes << " bytes at " << operations << " operations a byte, "
           << perPair << " operations a pair";
  }
  return int64_t(llvm::alignTo(uint64_t(wanted), uint64_t(unit)));
}

std::optional<ChunkSums::Refusal> ChunkSums::rewrite(PairwiseOp op) {
  OpBuilder builder(op);
  if (op.hasMaximum()) {
    Value maximum = buildMaximum(builder, op);
    if (!maximum)
      return Refusal{op.getLoc(),
                     "its weights are exponentials, of scores or decays, which a running maximum shifts"};
    op = replaceMaximum(builder, op, maximum);
    builder.setInsertionPoint(op);
  }
  SmallVector<bool> chunked = llvm::map_to_vector(op.getSums().getAsRange<PairSumAttr>(),
                                                  [&](PairSumAttr sum) { return !isCount(op, sum); });
  auto hasSumInto = [&](PairOutput kind) {
    return llvm::any_of(llvm::zip(op.getSums().getAsRange<PairSumAttr>(), chunked), [&](auto entry) {
      return std::get<1>(entry) && std::get<0>(entry).getKind() == kind;
    });
  };
  if (!llvm::is_contained(chunked, true))
    return std::nullopt;
  if (hasSumInto(PairOutput::Diagonals))
    return Refusal{op.getLoc(), "a sum over the pairs of a distance"};
  SeparableSums sums(op, /*acrossChunks=*/true);
  if (failed(sums.run(weightsOf(op))))
    return Refusal{sums.at, sums.reason};
  if (sums.documents && !areShared(sums.documents))
    return Refusal{op.getLoc(), "documents of each head"};
  if (hasSumInto(PairOutput::Total))
    return rewrite(replaceTotals(builder, op));

  SmallVector<ChunkSide> sides{ChunkSide::Own};
  if (sums.seesBothWays())
    sides.push_back(ChunkSide::Opposite);
  std::vector<StateRewrite> parts;
  for (ChunkSide side : sides)
    for (PairOutput kind : {PairOutput::Rows, PairOutput::Columns}) {
      StateRewrite &part = parts.emplace_back(op, sums, kind, chunking.featureBlock, builder, side);
      if (failed(part.plan(/*contracts=*/true)))
        return Refusal{op.getLoc(), part.reason};
    }
  replaceByStates(builder, op, sums, chunked, parts);
  return std::nullopt;
}

/// Sums over pairs of those results that `keep` chooses; they become the entries of `results`.
static PairwiseOp buildPairs(OpBuilder &builder, PairwiseOp op, ArrayRef<bool> keep,
                             llvm::MapVector<int64_t, Value> &results) {
  PairwiseOp kept = clonePairwise(builder, op, keep);
  auto result = kept.getResults().begin();
  for (auto [index, is] : llvm::enumerate(keep))
    if (is)
      results[index] = *result++;
  return kept;
}

void ChunkSums::replaceByStates(OpBuilder &builder, PairwiseOp op, const SeparableSums &sums,
                                ArrayRef<bool> chunked, MutableArrayRef<StateRewrite> parts) {
  int64_t chunk = sums.isMasked() ? chooseChunk(parts, op, sums) : 0;
  LDBG() << op.getLoc() << ": "
         << (chunk ? "chunks of " + std::to_string(chunk) + " tokens" : "one state for all");
  ++numChunked;
  llvm::MapVector<int64_t, Value> results;
  if (sums.isMasked())
    buildPairs(builder, op, chunked, results).setChunk(chunk);
  bool readByKeys = llvm::any_of(parts, [](const StateRewrite &part) {
    return part.getKind() == PairOutput::Columns && part.hasStates();
  });
  ChunkDecay own = buildDecay(builder, op, sums, chunk, ChunkSide::Own, readByKeys), opposite;
  if (sums.seesBothWays())
    opposite = buildDecay(builder, op, sums, chunk, ChunkSide::Opposite, readByKeys);
  for (StateRewrite &part : parts)
    part.build(results, chunk, part.isOpposite() ? opposite : own);
  // A sum of constants is counted, over all pairs.
  SmallVector<bool> counted = llvm::map_to_vector(chunked, [](bool is) { return !is; });
  if (llvm::is_contained(counted, true))
    buildPairs(builder, op, counted, results);
  for (auto [index, result] : llvm::enumerate(op.getResults()))
    result.replaceAllUsesWith(results[index]);
  op.erase();
}

} // namespace
