// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over pairs as reads of states, for one operation in one direction: into rows, or into columns.
#ifndef TAYLOR_PASSES_STATES_STATEREWRITE_H
#define TAYLOR_PASSES_STATES_STATEREWRITE_H

#include "passes/States/SeparableSums.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace taylor {

/// A product of scalars of `op`'s weight region that depend on one side of the pair only, times arrays, as an
/// array. Null for none of either.
mlir::Value buildFactor(mlir::OpBuilder &builder, PairwiseOp op, llvm::ArrayRef<mlir::Value> factors,
                        mlir::ValueRange arrays);

/// A decay exp(a[t] - c[u]) taken apart at the edges of chunks: `row` and `column` are its factors for what a
/// token sees up to its edge, `edges` the array that is read at edges. Where pairs are of one document,
/// `ownRow` and `ownColumn` are 1 where the edge is of the token's document and 0 elsewhere, where the
/// factors are 0 too; `documents` is read at edges. Null: no decay, no documents.
struct ChunkDecay {
  mlir::Value row, column, edges, documents, ownRow, ownColumn;
};

/// A decay exp(a[t] - c[u]) taken apart at the edge to which states from an earlier call belong: what a query
/// sees of them, what a key counts in the states behind the call, and what is left there of those before it;
/// in the recurrent form, behind each token in place of the call. All null: none. Of documents: 1 for a query
/// that goes on with the one of before, 0 for others, and 1 for a key of the last one, over b and the token.
struct CarriedDecay {
  mlir::Value row, column, keep, ownRow, ownColumn;
};

/// Which chunks a token reads a sum over. Own: those that u <= t leaves, for a query the chunks before its
/// own, for a key those behind it. Opposite: for a query those behind, for a key those before.
enum class ChunkSide { Own, Opposite };

/// One operation's sums in one direction (into rows, or into columns) as reads of states.
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

  /// `contracts`: sums of the very vectors that their score reads are contractions with states that others
  /// read too, which have no derivative; else these vectors are values as any others.
  mlir::LogicalResult plan(bool contracts);
  /// The operation's results in this direction: `within` (one per result, null where all pairs are in the
  /// states) plus what is read. `decay` is there where the operation's terms decay.
  void build(llvm::MapVector<int64_t, mlir::Value> &within, int64_t chunkOrWhole, const ChunkDecay &decay);
  bool isOpposite() const { return opposite; }
  /// Whether any of the sums is kept as states; they are not where their weights are 0.
  bool hasStates() const { return !pieces.empty(); }
  /// What `stateTypes`, `buildCarried` and `buildSteps` that follow are made with.
  void setDecay(const CarriedDecay &decay);
  /// The states of the sums, over all keys.
  llvm::SmallVector<ArrayType> stateTypes();
  /// Adds to the operation's results in `within` what is read from `initial`, one array per state; gives each
  /// state with this operation's tokens added.
  llvm::SmallVector<mlir::Value> buildCarried(llvm::MapVector<int64_t, mlir::Value> &within,
                                              llvm::ArrayRef<mlir::Value> initial);
  /// Begins the operation's results in `within` with what queries read of states that their own token was
  /// added to, token after token from `initial` on (one array per state); gives the states behind the last.
  llvm::SmallVector<mlir::Value> buildSteps(llvm::MapVector<int64_t, mlir::Value> &within,
                                            llvm::ArrayRef<mlir::Value> initial);
  /// Of all states of one chunk, batch and head.
  double getStateBytes() const;
  std::string reason;

private:
  /// Arrays of the score's inner product: of the token that sums, and of the one that is summed over.
  struct Side {
    mlir::Value reader, summed;
    AxisRef readerToken;
  };
  /// A value whose products with features are summed: an array or null (1), times factors.
  struct StateValue {
    mlir::Value array;
    llvm::SmallVector<mlir::Value> factors;
    bool operator==(const StateValue &other) const = default;
  };
  struct Piece {
    int64_t result;
    llvm::SmallVector<double> weights; // by order, from order 0
    size_t state;
    /// Contracted with the derivative of features, and not with them.
    bool derivative = false;
    /// The reader's factor: a product of scalars, and an array (the second inner product's) or null.
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
  /// What is read of it is what is added.
  bool isPlain(const Piece &piece) const {
    return piece.factors.empty() && !piece.array && !readerDecay && lostAxes(piece.result).empty();
  }
  /// A product of factors and arrays, those that are not null.
  mlir::Value buildProduct(llvm::ArrayRef<mlir::Value> factors, llvm::ArrayRef<mlir::Value> arrays);
  /// `array`, or 0 where `own` is 0, since the edge is of another document: what is no number there stays
  /// there. Without documents, and where one of the two is null, `array`.
  mlir::Value keepOwn(mlir::Value array, mlir::Value own);
  bool summedHasHeads() const;
  /// What a head multiplies by itself (a decay in its own time, a factor) is read for each head of a group.
  void separateHeads(mlir::Value array);
  /// Arrays whose scalars a product has.
  llvm::SmallVector<mlir::Value> arraysIn(llvm::ArrayRef<mlir::Value> factors) const;
  ArrayType stateType(mlir::Value value, mlir::ValueRange values);
  /// What an operation that sums takes: a value per state, but none for the mass, which comes last.
  struct Summed {
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<mlir::Type> types;
    /// Numbers of states, in the operation's order.
    llvm::SmallVector<size_t> order;
    bool mass = false;
  };
  Summed collectSummed();
  llvm::SmallVector<mlir::Value> buildSums(llvm::ArrayRef<mlir::Value> initial);
  void buildAllReads(llvm::MapVector<int64_t, mlir::Value> &within);
  /// Pieces that one operation reads: their weights agree; contracted ones are of one result, others of
  /// different results.
  std::vector<llvm::SmallVector<const Piece *>> groupPieces() const;
  void buildContraction(llvm::ArrayRef<const Piece *> group, llvm::MapVector<int64_t, mlir::Value> &within);
  void buildReads(llvm::ArrayRef<const Piece *> group, llvm::MapVector<int64_t, mlir::Value> &within);
  /// Adds to a result what is read of a state, times the reader's factors.
  void addRead(const Piece &piece, mlir::Value term, llvm::MapVector<int64_t, mlir::Value> &within);
  mlir::Type readType(const Piece &piece);
  llvm::SmallVector<mlir::Value> statesOf(llvm::ArrayRef<const Piece *> group) const;
  /// What is read, before the reader's factors: over its heads and tokens, and the channels of `array`.
  ArrayType withChannelOf(mlir::Value array);
  llvm::SmallVector<double> weightsOf(const Piece &piece) const;
  /// The axes of all of the types, without channels, and h in place of g where one has h.
  ArrayType finestHeads(llvm::ArrayRef<ArrayType> types);
  /// Axes of what is read that the result sums over (`group`: the heads of a group).
  llvm::SmallVector<AxisRef> lostAxes(int64_t result) const;
  /// Results that neither pairs nor states are summed into are 0.
  void fillEmptySums(llvm::MapVector<int64_t, mlir::Value> &within);
  /// Adds to what is within chunks, or begins it.
  void add(llvm::MapVector<int64_t, mlir::Value> &within, int64_t result, mlir::Value term);

  PairwiseOp op;
  const SeparableSums &sums;
  PairOutput kind;
  bool opposite;
  /// 0: all tokens.
  int64_t chunk = 0;
  int64_t block;
  /// Null where there is none.
  mlir::Value readerDecay, summedDecay, readerOwn, summedOwn, keep, edges, documents;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  Side side;
  bool contracts = false;
  llvm::SmallVector<StateValue> stateValues;
  llvm::SmallVector<Piece> pieces;
  llvm::SmallVector<mlir::Value> states;
  int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
  /// Batch, heads and tokens of what is read: all that any result in this direction has.
  ArrayType resultHeads;
};

} // namespace taylor

#endif
