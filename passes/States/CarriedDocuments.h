// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Documents that go on in another call. taylor-add-documents knows a document by the position of its first
// token. In the whole sequence this says which tokens go on from the calls before: those whose document
// starts before the call's first token. Masks only compare it, so they count within the call, where tiles of
// other documents are skipped by it.
#ifndef TAYLOR_PASSES_STATES_CARRIEDDOCUMENTS_H
#define TAYLOR_PASSES_STATES_CARRIEDDOCUMENTS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/States/CarriedPlaces.h"

namespace taylor {

/// The documents of one specification.
class CarriedDocuments {
public:
  CarriedDocuments(CarriedSpec &carried, CarriedPlaces &places)
      : carried(carried), places(places), builder(carried.builder), loc(carried.loc) {}

  /// Finds the number by which masks know a document: where it starts. Masks and within(..) read it within
  /// the call, from which all count alike; all else reads it in the whole sequence.
  void part();
  /// Whether an array over keys is what masks compare.
  bool isLocal(mlir::Value array) const { return array == localDocuments; }
  /// Notes that another array stands for one from here on.
  void replace(mlir::Value array, mlir::Value by) {
    if (array == documents)
      documents = by;
  }
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
  Where goesOn(mlir::Value starts) { return {mlir::arith::CmpFPredicate::OLT, starts, places.getPosition()}; }
  Where isLast(mlir::Value starts) { return {mlir::arith::CmpFPredicate::OEQ, starts, getLastStart()}; }
  /// Where the document of the token before goes on.
  Where goesOnAtKey() {
    return {mlir::arith::CmpFPredicate::OLT, getStarts(AxisRole::Key), places.getPlaces(AxisRole::Key)};
  }
  /// An array, or 1 without it, there; elsewhere 0.
  mlir::Value keepWhere(const Where &where, mlir::Value array = {});
  /// An array where documents that start there began before the call, else 0; without `starts` the array.
  mlir::Value keepIfBegun(mlir::Value array, mlir::Value starts);
  /// What of the call's tokens is of the last one's document, else 0.
  mlir::Value keepLastDocument(mlir::Value array, AxisRef token);

private:
  CarriedSpec &carried;
  CarriedPlaces &places;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// Over keys: the numbers that masks compare, and where documents start in the whole sequence.
  mlir::Value localDocuments, documents;
  /// `documents` over queries, and at the last token.
  mlir::Value starts, lastStart;
};

} // namespace taylor

#endif
