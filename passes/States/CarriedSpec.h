// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A specification whose sequence is cut into several calls: the arguments and results by which one call
// hands its state to the next, and why a specification cannot be cut.
#ifndef TAYLOR_PASSES_STATES_CARRIEDSPEC_H
#define TAYLOR_PASSES_STATES_CARRIEDSPEC_H

#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace taylor {

/// One specification, and the states that its calls hand on.
class CarriedSpec {
public:
  /// `isTwin`: taylor-plan-steps made another specification of the same step. This one takes the place of
  /// that if its states can be carried and are not too large, and is erased otherwise.
  CarriedSpec(SpecOp spec, bool isTwin)
      : mode(spec.getCarriesAttr().getMode()), builder(spec.getContext()), loc(spec.getLoc()), spec(spec),
        isTwin(isTwin) {}

  /// Emits an error; `wayOut` says what the user can do. For a twin, which no one asked for, keeps the text
  /// as the reason instead (getReason). Returns failure.
  mlir::LogicalResult refuse(mlir::Location at, const llvm::Twine &why, llvm::StringRef wayOut);
  mlir::LogicalResult refuseTwin(const llvm::Twine &why);
  /// Emits a warning: at once, or for a twin when reportWarnings is called.
  void warn(mlir::Location at, const llvm::Twine &text);
  void reportWarnings();
  /// Why a twin does not take its place; empty where it does, or after an error.
  llvm::StringRef getReason() const { return reason; }
  /// Adds an argument "initial.KIND<n>" (without <n> if not `numbered`), which has a gradient; setFinal says
  /// which value the next call gets for it.
  mlir::Value addInitial(llvm::StringRef kind, ArrayType type, bool numbered = true);
  void setFinal(mlir::Value initial, mlir::Value final);
  /// Makes these values results of the specification.
  mlir::LogicalResult yieldFinals();
  size_t getNumCarried() const { return values.size(); }
  /// Bytes of all states of one head.
  double countBytes() const;

  /// A step over a cache of keys, or the preparation of such keys.
  bool isOverKeys() const { return mode == CarryMode::Queries || mode == CarryMode::Keys; }
  mlir::Type real();
  mlir::Block &body() { return spec.getBody().front(); }

  const CarryMode mode;
  /// Shared by all carriers (TokenCarrier, PairCarrier, ..): where they insert operations.
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
