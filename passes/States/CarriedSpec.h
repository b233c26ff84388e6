// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A specification whose sequence goes on in another call: the arguments and results by which calls hand on
// what is carried, and what is refused of it.
#ifndef TAYLOR_PASSES_STATES_CARRIEDSPEC_H
#define TAYLOR_PASSES_STATES_CARRIEDSPEC_H

#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace taylor {

/// Which tokens a call does not have.
enum class CarryMode {
  Pieces,    ///< Those of earlier calls; sums within the call are over pairs.
  Recurrent, ///< The same; sums are recurrences.
  Queries,   ///< Earlier queries only: keys are all there.
  Keys,      ///< Those of earlier calls, of what keys become by themselves.
};

/// One specification, and what it carries.
class CarriedSpec {
public:
  /// A twin takes another one's place if it can, and is erased if it cannot.
  CarriedSpec(SpecOp spec, CarryMode mode, bool isTwin)
      : mode(mode), builder(spec.getContext()), loc(spec.getLoc()), spec(spec), isTwin(isTwin) {}

  /// An error; `wayOut` says what can be done. Of a twin, which no one asked for, it is a reason instead.
  mlir::LogicalResult refuse(mlir::Location at, const llvm::Twine &why, llvm::StringRef wayOut);
  mlir::LogicalResult refuseTwin(const llvm::Twine &why);
  /// Says it at once; of a twin when it takes its place.
  void warn(mlir::Location at, const llvm::Twine &text);
  void reportWarnings();
  /// Why a twin cannot be; empty: it can, or there was an error.
  llvm::StringRef getReason() const { return reason; }
  /// Adds an argument "initial.KIND<n>" that the caller brings, and whose gradient there is; `setFinal` says
  /// what it is behind the call.
  mlir::Value addInitial(llvm::StringRef kind, ArrayType type, bool numbered = true);
  void setFinal(mlir::Value initial, mlir::Value final);
  /// Makes what is behind the call results of the specification.
  mlir::LogicalResult yieldFinals();
  size_t getNumCarried() const { return values.size(); }
  /// Of one head.
  double countBytes() const;

  /// One of the two halves of a step over all keys.
  bool isOverKeys() const { return mode == CarryMode::Queries || mode == CarryMode::Keys; }
  mlir::Type real();
  mlir::Block &body() { return spec.getBody().front(); }

  const CarryMode mode;
  /// Where all that carries something writes.
  mlir::OpBuilder builder;
  mlir::Location loc;

private:
  struct Carried {
    std::string name;
    mlir::Value initial, final;
  };

  SpecOp spec;
  bool isTwin;
  std::string reason;
  llvm::SmallVector<std::pair<mlir::Location, std::string>> warnings;
  llvm::SmallVector<Carried> values;
  llvm::StringMap<int64_t> kinds;
};

} // namespace taylor

#endif
