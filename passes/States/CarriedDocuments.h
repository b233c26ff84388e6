// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packed documents of a sequence that is cut into several calls. taylor-add-documents names each document by
// the position of its first token ("start"). A document whose start lies before the call's first token began
// in an earlier call. Masks only compare starts for equality, so they use positions counted within the call;
// everything else uses positions in the whole sequence.
#ifndef TAYLOR_PASSES_STATES_CARRIEDDOCUMENTS_H
#define TAYLOR_PASSES_STATES_CARRIEDDOCUMENTS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/States/CarriedPlaces.h"

namespace taylor {

/// Where the documents of one specification start, and which of them an earlier call began.
class CarriedDocuments {
public:
  CarriedDocuments(CarriedSpec &carried, CarriedPlaces &places)
      : carried(carried), places(places), builder(carried.builder), loc(carried.loc) {}

  /// Finds the array of documents and makes two of it: starts counted within the call, for masks and
  /// within(..), and starts in the whole sequence, for everything else.
  void part();
  /// Whether `array`, over keys, has the starts that masks compare.
  bool isLocal(mlir::Value array) const { return array == localDocuments; }
  /// To be called where a pass puts the array `by` in place of `array`.
  void replace(mlir::Value array, mlir::Value by) {
    if (array == documents)
      documents = by;
  }
  /// The start of each token's document in the whole sequence, [b, token]; null without documents.
  mlir::Value getStarts(AxisRef token);
  /// The start of the last token's document, [b]; of the document of the call's token `number`, [b].
  mlir::Value getLastStart();
  mlir::Value buildStartOf(AxisRef token, int64_t number);
  /// A condition on each token: x `predicate` y. Without x and y it holds for all.
  struct Where {
    mlir::arith::CmpFPredicate predicate = {};
    mlir::Value x, y;
  };
  /// Tokens whose document an earlier call began; tokens of the last token's document.
  Where goesOn(mlir::Value starts) { return {mlir::arith::CmpFPredicate::OLT, starts, places.getPosition()}; }
  Where isLast(mlir::Value starts) { return {mlir::arith::CmpFPredicate::OEQ, starts, getLastStart()}; }
  /// Keys that are not the first token of their document.
  Where goesOnAtKey() {
    return {mlir::arith::CmpFPredicate::OLT, getStarts(AxisRole::Key), places.getPlaces(AxisRole::Key)};
  }
  /// `array` (null: 1) where the condition holds, `other` elsewhere.
  mlir::Value keepWhere(const Where &where, mlir::Value array = {}, double other = 0.0);
  /// `array` where an earlier call began the document that starts at `starts`, 0 elsewhere; `array`
  /// everywhere if `starts` is null.
  mlir::Value keepIfBegun(mlir::Value array, mlir::Value starts);
  /// `array` at the tokens of the last token's document, 0 elsewhere.
  mlir::Value keepLastDocument(mlir::Value array, AxisRef token);

private:
  CarriedSpec &carried;
  CarriedPlaces &places;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// Over keys: starts counted within the call, and starts in the whole sequence.
  mlir::Value localDocuments, documents;
  /// `documents` read at queries, and at the last token.
  mlir::Value starts, lastStart;
};

} // namespace taylor

#endif
