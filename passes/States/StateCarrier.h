// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a sequence that goes on in another call needs of the calls before it, as arguments and results of its
// specification. A file per kind: CarryPairs.cpp (sums over keys, their decays), CarryTokens.cpp (running
// sums, shifts, convolutions, recurrences), CarryDocuments.cpp (where documents go on), CarryStates.cpp
// (places, and all of it in order).
#ifndef TAYLOR_PASSES_STATES_STATECARRIER_H
#define TAYLOR_PASSES_STATES_STATECARRIER_H

#include "dialect/Taylor/ArrayBuilder.h"
#include "passes/States/StateRewrite.h"

namespace taylor {

/// Which tokens a call does not have.
enum class CarryMode {
  Pieces,    ///< Those of earlier calls; sums within the call are over pairs.
  Recurrent, ///< The same; sums are recurrences.
  Queries,   ///< Earlier queries only: keys are all there.
  Keys,      ///< Those of earlier calls, of what keys become by themselves.
};

/// Adds what is carried to one specification, whose sums over keys are `taylor.pairwise`.
class StateCarrier {
public:
  /// Features of states come in blocks of so many components.
  StateCarrier(SpecOp spec, int64_t block, CarryMode mode);

  mlir::LogicalResult run();
  size_t getNumCarried() const { return carried.size(); }

  /// Longer shifts are not carried.
  static constexpr int64_t kMostShifted = 64;

private:
  /// An error; `wayOut` says what can be done.
  mlir::LogicalResult refuse(mlir::Location at, const llvm::Twine &why, llvm::StringRef wayOut);
  /// The same of a sum over pairs that has no states.
  mlir::LogicalResult refusePairs(mlir::Location at, const llvm::Twine &why);
  mlir::LogicalResult checkCausal(mlir::Operation *op);
  mlir::LogicalResult carry(mlir::Operation *op);

  /// Adds an argument "initial.KIND<n>" that the caller brings, and whose gradient there is; `setFinal` says
  /// what it is behind the call.
  mlir::Value addInitial(llvm::StringRef kind, ArrayType type, bool numbered = true);
  void setFinal(mlir::Value initial, mlir::Value final);
  mlir::LogicalResult finish();

  // Places.
  /// Tokens of the calls before, [b].
  mlir::Value getPosition();
  /// Places in the whole sequence, [b, token].
  mlir::Value getPlaces(AxisRef token);
  /// The number of a token within the call, as a scalar of a region.
  mlir::Value buildLocalIndex(mlir::OpBuilder &b, mlir::Location loc, AxisRef token);
  /// Makes places that a formula over arrays reads those of the whole sequence; refuses sizes, which are
  /// known at its end, but for those that bound a count.
  mlir::LogicalResult movePlaces(mlir::Region &formula, mlir::MutableOperandRange arrays);
  mlir::LogicalResult checkSize(SizeOp size);
  void widen(mlir::Operation *op);
  void carryPlaces(ArrayOpInterface op);

  // Documents (CarryDocuments.cpp).
  /// Finds the number by which masks know a document: where it starts. Masks and within(..) read it within
  /// the call, from which all count alike; all else reads it in the whole sequence.
  void partDocuments();
  /// Of each token, [b, token], where its document starts in the whole sequence; null without documents.
  mlir::Value getStarts(AxisRef token);
  /// The same of the last token, [b], and of the call's token of a number.
  mlir::Value getLastStart();
  mlir::Value buildStartOf(AxisRef token, int64_t number);
  /// Where the predicate holds of two arrays' numbers; everywhere without them.
  struct Where {
    mlir::arith::CmpFPredicate predicate = {};
    mlir::Value x, y;
  };
  /// Where documents that start there go on from before the call, or are the last token's.
  Where goesOn(mlir::Value starts) { return {mlir::arith::CmpFPredicate::OLT, starts, getPosition()}; }
  Where isLast(mlir::Value starts) { return {mlir::arith::CmpFPredicate::OEQ, starts, getLastStart()}; }
  /// Where the document of the token before goes on.
  Where goesOnAtKey() {
    return {mlir::arith::CmpFPredicate::OLT, getStarts(AxisRole::Key), getPlaces(AxisRole::Key)};
  }
  /// An array, or 1 without it, there; elsewhere 0.
  mlir::Value keepWhere(const Where &where, mlir::Value array = {});
  /// An array where documents that start there began before the call, else 0; without `starts` the array.
  mlir::Value keepIfBegun(mlir::Value array, mlir::Value starts);
  /// What of the call's tokens is of the last one's document, else 0.
  mlir::Value keepLastDocument(mlir::Value array, AxisRef token);

  // Sums over keys
  mlir::LogicalResult carryPairs(PairwiseOp op);
  mlir::LogicalResult refuseLaterPieces(PairwiseOp op);
  mlir::LogicalResult movePlaces(PairwiseOp op);
  /// Of the sums `counted` says are none of constants; `whole` has the operation's results.
  mlir::LogicalResult carrySums(PairwiseOp op, llvm::ArrayRef<int64_t> wanted, llvm::ArrayRef<bool> counted,
                                llvm::MapVector<int64_t, mlir::Value> &whole);
  /// Of sums that become a recurrence.
  void warnSmallMass(PairwiseOp op, const SeparableSums &sums);
  CarriedDecay carryDecay(PairwiseOp op, const SeparableSums &sums);
  /// Whether a decay's exponents are a running sum that nothing else reads.
  bool isOwnSum(PairwiseOp op, mlir::Value row, mlir::Value column);
  /// Makes such a sum begin, in the next call, at how far it is above the edge, and the edge there 0: a sum
  /// over all calls would have fewer digits with each.
  void shortenSum(mlir::Location at, mlir::Value column, mlir::Value edge, mlir::Value last);
  /// The edge of the states that the call begins from.
  mlir::Value buildFirstEdge(mlir::Location at, mlir::Value initial);
  /// The edge behind each key or, `exclusive`, before it: `column` is c, `first` the edge before all,
  /// `within` numbers documents or is null.
  mlir::Value buildEdges(mlir::Location at, mlir::Value column, mlir::Value first, mlir::Value within,
                         bool exclusive);
  /// exp(x - y) there; elsewhere 0.
  mlir::Value buildDecay(mlir::Location at, mlir::Value x, mlir::Value y, const Where &where);
  CarriedDecay carryDocuments();
  void carryCount(PairwiseOp op, int64_t result, bool hasDocuments, mlir::Value &whole);

  // Tokens before
  mlir::LogicalResult carryTokens(ArrayOpInterface op);
  void carrySum(ScanOp op);
  void carryMaximum(ScanOp op);
  mlir::LogicalResult carryShift(ScanOp op);
  mlir::LogicalResult carryConvolution(ConvolveOp op);
  void carryRecurrent(RecurrentOpInterface op);
  /// What a scan runs over, as an array of its own.
  mlir::Value buildTerms(ScanOp op);
  /// In a region: `some`, or `none` where the call has no tokens.
  mlir::Value buildOrElse(mlir::OpBuilder &b, mlir::Location at, AxisRef token, mlir::Value none,
                          mlir::Value some);
  /// A formula of arrays at the call's last token or, where it has none, one of `otherwise`.
  mlir::Value buildAtLast(mlir::ValueRange arrays, AxisRef token, mlir::Value otherwise, ScalarBody element,
                          ScalarBody rest);
  /// An array at the call's last token, or `otherwise` where it has none; a constant to the derivative.
  mlir::Value buildAtLast(mlir::Value array, AxisRef token, mlir::Value otherwise);
  /// The last `count` tokens of an array before the call, along an axis of its own; the oldest first.
  mlir::Value carryLast(mlir::Value array, AxisRef token, int64_t count);
  llvm::StringRef lastAxis(int64_t count);
  mlir::Value lastOf(mlir::Value initial, AxisRef token, int64_t number, mlir::Value within);
  /// Refuses what reads tokens of later calls, or may begin anew in them.
  mlir::LogicalResult checkOrder(ArrayOpInterface op);
  /// Adds one array to each of the call's first tokens of a result, in place of it.
  void addToFirst(mlir::Value result, AxisRef token, llvm::ArrayRef<mlir::Value> terms);

  /// One of the two halves of a step over all keys.
  bool isOverKeys() const { return mode == CarryMode::Queries || mode == CarryMode::Keys; }
  mlir::Type real();
  mlir::Block &body() { return spec.getBody().front(); }

  struct Carried {
    std::string name;
    mlir::Value initial, final;
  };

  SpecOp spec;
  int64_t block;
  CarryMode mode;
  mlir::OpBuilder builder;
  mlir::Location loc;
  /// Where calls hand it on, it stands for an argument that becomes the last.
  mlir::Value position;
  llvm::StringMap<mlir::Value> places;
  /// Over keys: the numbers that masks compare, and where documents start in the whole sequence.
  mlir::Value localDocuments, documents;
  /// `documents` over queries, and at the last token.
  mlir::Value starts, lastStart;
  llvm::SmallVector<Carried> carried;
  llvm::StringMap<int64_t> kinds;
  /// Running sums over all calls, from the first term on, and what those before left of them.
  llvm::DenseMap<mlir::Value, mlir::Value> runningSums;
  llvm::DenseMap<int64_t, mlir::StringAttr> lastAxes;
};

} // namespace taylor

#endif
