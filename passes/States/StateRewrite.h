// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over pairs turned into reads of states, for one operation and one direction: a query sums over keys
// (rows), or a key over queries (columns).
#ifndef TAYLOR_PASSES_STATES_STATEREWRITE_H
#define TAYLOR_PASSES_STATES_STATEREWRITE_H

#include "passes/States/SeparableSums.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace taylor {

/// An array: the product of `factors`, scalars of `op`'s weight region that read one side of the pair alone,
/// and of `arrays`. Null if there are none.
mlir::Value buildFactor(mlir::OpBuilder &builder, PairwiseOp op, llvm::ArrayRef<mlir::Value> factors,
                        mlir::ValueRange arrays);

/// A decay exp(a[t] - c[u]) cut at the edges E of chunks. `row` is exp(a[t] - E), `column` exp(E - c[u]), and
/// `edges` the array from which E is read. With documents, `ownRow` and `ownColumn` are 1 where the edge lies
/// in the token's document and 0 elsewhere, where `row` and `column` are 0 too; `documents` is read at edges.
/// `seenColumn`, for sums into columns, is 1 for keys whose document is that of the query next to the edge,
/// and 0 for others. The edge's own document may have no query; its keys may be NaN and must not read the
/// state, which is 0. Null without a decay, and without documents.
struct ChunkDecay {
  mlir::Value row, column, edges, documents, ownRow, ownColumn, seenColumn;
};

/// A decay exp(a[t] - c[u]) cut at the edge between two calls (in the recurrent form: between two tokens).
/// `row`: the factor with which a query reads the states before; `column`: the factor with which a key enters
/// the states after; `keep`: the part of the states before that is left in those after. With documents,
/// `ownRow` is 1 for queries whose document an earlier call began, `ownColumn` 1 for keys of the last token's
/// document, both over b and the token, and `ownKeep` 1 where an earlier call began the last token's
/// document, over b; 0 elsewhere. Between tokens `keep` is -1 where a document begins (`taylor.step_states`).
/// A factor of 0 says nothing of documents: a decay may be rounded to 0. All null: no decay, no documents.
struct CarriedDecay {
  mlir::Value row, column, keep, ownRow, ownColumn, ownKeep;
};

/// Which chunks' states a token reads. Own: those that u <= t lets it see, for a query the chunks before its
/// own and for a key those after. Opposite: for a query the chunks after its own, for a key those before.
enum class ChunkSide { Own, Opposite };

/// One operation's sums in one direction, first planned (which states there are), then built.
class StateRewrite {
public:
  StateRewrite(PairwiseOp op, const SeparableSums &sums, PairOutput kind, int64_t block,
               mlir::OpBuilder &builder, ChunkSide chunkSide = ChunkSide::Own)
      : op(op), sums(sums), kind(kind), opposite(chunkSide == ChunkSide::Opposite), block(block),
        builder(builder), loc(op.getLoc()) {
    auto [row, column] = op.getProduct(sums.score);
    bool rows = kind == PairOutput::Rows;
    side = rows ? Side{row, column, AxisRole::Query} : Side{column, row, AxisRole::Key};
  }

  /// Decides which states the sums need; `reason` says why where it fails. `contracts`: a sum of the score's
  /// own vectors (as gradients have) is computed by contracting a state that another sum needs anyway; the
  /// result has no derivative. Otherwise such vectors are values like any others, with a state of their own.
  mlir::LogicalResult plan(bool contracts);
  /// Adds what is read of states to the operation's results in `within`, by number; null there: the states
  /// hold all pairs of that result. `decay`: null values unless the operation's terms decay or end with
  /// documents.
  void build(llvm::MapVector<int64_t, mlir::Value> &within, int64_t chunkOrWhole, const ChunkDecay &decay);
  bool isOpposite() const { return opposite; }
  PairOutput getKind() const { return kind; }
  /// Whether any sum needs a state: sums whose weights are 0 do not.
  bool hasStates() const { return !pieces.empty(); }
  /// To be called before `stateTypes`, `buildCarried` and `buildSteps`, which use it.
  void setDecay(const CarriedDecay &decay);
  /// The states of the sums, over all keys.
  llvm::SmallVector<ArrayType> stateTypes();
  /// Adds what is read from `initial`, one array per state, to the operation's results in `within`. Returns
  /// the states after this call's tokens.
  llvm::SmallVector<mlir::Value> buildCarried(llvm::MapVector<int64_t, mlir::Value> &within,
                                              llvm::ArrayRef<mlir::Value> initial);
  /// The recurrent form: token after token, adds the token to the states, which begin as `initial` (one array
  /// per state), and lets its query read them into `within`. Returns the states after the last token.
  llvm::SmallVector<mlir::Value> buildSteps(llvm::MapVector<int64_t, mlir::Value> &within,
                                            llvm::ArrayRef<mlir::Value> initial);
  /// Bytes of all states of one chunk, batch and head.
  double getStateBytes() const;
  std::string reason;

private:
  /// The two arrays of the score's inner product: of the token that reads a sum, and of those summed over.
  struct Side {
    mlir::Value reader, summed;
    AxisRef readerToken;
  };
  /// What a state sums, times features: an array (null: 1) times factors.
  struct StateValue {
    mlir::Value array;
    llvm::SmallVector<mlir::Value> factors;
    bool operator==(const StateValue &other) const = default;
  };
  struct Piece {
    int64_t result;
    llvm::SmallVector<double> weights; // by order, from order 0
    size_t state;
    /// Read with the derivative of the features in place of the features.
    bool derivative = false;
    /// What the reader multiplies by: scalars, and an array (the second inner product's) or null.
    llvm::SmallVector<mlir::Value> factors;
    mlir::Value array;
  };

  llvm::SmallVector<mlir::Value> readerFactors(const SeparableTerm &term) {
    return kind == PairOutput::Rows ? term.rows : term.columns;
  }
  llvm::SmallVector<mlir::Value> summedFactors(const SeparableTerm &term) {
    return kind == PairOutput::Rows ? term.columns : term.rows;
  }
  mlir::LogicalResult planTerm(int64_t result, const SeparableTerm &term);
  size_t addState(mlir::Value array, llvm::ArrayRef<mlir::Value> factors);
  /// Whether what is read needs no factor before it is added to the result.
  bool isPlain(const Piece &piece) const {
    return piece.factors.empty() && !piece.array && !readerDecay && lostAxes(piece.result).empty();
  }
  /// The product of factors and of those arrays that are not null.
  mlir::Value buildProduct(llvm::ArrayRef<mlir::Value> factors, llvm::ArrayRef<mlir::Value> arrays);
  /// `array`, but 0 where `own` is 0 (the token's document is not the state's), also where `array` is NaN
  /// there. If either is null, `array`.
  mlir::Value keepOwn(mlir::Value array, mlir::Value own);
  bool summedHasHeads() const;
  /// Whether what states sum, or what decays or ends them, differs between batches.
  bool statesHaveBatch() const;
  /// If `array` differs between the heads of a group, has each head read the states by itself.
  void separateHeads(mlir::Value array);
  /// The arrays that these scalars read.
  llvm::SmallVector<mlir::Value> arraysIn(llvm::ArrayRef<mlir::Value> factors) const;
  ArrayType stateType(mlir::Value value, mlir::ValueRange values);
  /// Operands of the operation that sums: one value per state. The mass (sum of 1) has none and comes last.
  struct Summed {
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<mlir::Type> types;
    /// Which state each result of the operation is.
    llvm::SmallVector<size_t> order;
    bool mass = false;
  };
  Summed collectSummed();
  llvm::SmallVector<mlir::Value> buildSums(llvm::ArrayRef<mlir::Value> initial);
  void buildAllReads(llvm::MapVector<int64_t, mlir::Value> &within);
  /// Groups of pieces that one operation can read together: their weights agree. Pieces of a contraction are
  /// all of one result, other pieces of different results.
  std::vector<llvm::SmallVector<const Piece *>> groupPieces() const;
  void buildContraction(llvm::ArrayRef<const Piece *> group, llvm::MapVector<int64_t, mlir::Value> &within);
  void buildReads(llvm::ArrayRef<const Piece *> group, llvm::MapVector<int64_t, mlir::Value> &within);
  /// Adds `term`, read from a state, times the reader's factors to the piece's result.
  void addRead(const Piece &piece, mlir::Value term, llvm::MapVector<int64_t, mlir::Value> &within);
  mlir::Type readType(const Piece &piece);
  llvm::SmallVector<mlir::Value> statesOf(llvm::ArrayRef<const Piece *> group) const;
  /// The type of what is read before the reader's factors: heads, tokens, and the channels of `array`.
  ArrayType withChannelOf(mlir::Value array);
  llvm::SmallVector<double> weightsOf(const Piece &piece) const;
  /// All axes of the types without channels; h in place of g if one of them has h.
  ArrayType finestHeads(llvm::ArrayRef<ArrayType> types);
  /// Axes of what is read that the result has lost: it is summed over them (`group`: the heads of a group).
  llvm::SmallVector<AxisRef> lostAxes(int64_t result) const;
  /// Sets results that get neither pairs nor states to 0.
  void fillEmptySums(llvm::MapVector<int64_t, mlir::Value> &within);
  /// Adds `term` to the result, or makes it the result if there is none yet.
  void add(llvm::MapVector<int64_t, mlir::Value> &within, int64_t result, mlir::Value term);

  PairwiseOp op;
  const SeparableSums &sums;
  PairOutput kind;
  bool opposite;
  /// Tokens of a chunk; 0: all.
  int64_t chunk = 0;
  int64_t block;
  /// Those of ChunkDecay or CarriedDecay, by side; null where there is none.
  mlir::Value readerDecay, summedDecay, readerOwn, summedOwn, keep, ownKeep, edges, documents;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  Side side;
  bool contracts = false;
  llvm::SmallVector<StateValue> stateValues;
  llvm::SmallVector<Piece> pieces;
  llvm::SmallVector<mlir::Value> states;
  int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
  /// Batch, heads and tokens of what is read: the union over all results.
  ArrayType resultHeads;
};

} // namespace taylor

#endif
