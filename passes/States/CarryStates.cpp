// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sequence in pieces: what one piece leaves behind is what the next begins from. Passes.td has the rule.
#include "dialect/Refusal.h"
#include "dialect/Taylor/Carried.h"
#include "dialect/Tile/TileDialect.h"
#include "passes/Debug.h"
#include "passes/Passes.h"
#include "passes/Specification/Rewrites.h"
#include "passes/States/PairCarrier.h"
#include "passes/States/TokenCarrier.h"

#include "llvm/Support/FormatVariadic.h"

#define DEBUG_TYPE "taylor-carry-states"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_CARRYSTATESPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// Cuts one specification, whose sums over keys are `taylor.pairwise`, between two calls: hands each
/// operation, in order, to the carrier that knows it.
class StateCarrier {
public:
  /// Features of states come in blocks of so many components.
  StateCarrier(SpecOp spec, int64_t block, CarryMode mode, bool isTwin)
      : carried(spec, mode, isTwin), places(carried), documents(carried, places),
        tokens(carried, places, documents), decays(carried, places, documents, tokens.getRunningSums()),
        pairs(carried, places, documents, decays, block) {}

  LogicalResult run();
  CarriedSpec &getCarried() { return carried; }

private:
  LogicalResult carry(Operation *op);

  CarriedSpec carried;
  CarriedPlaces places;
  CarriedDocuments documents;
  TokenCarrier tokens;
  DecayCarrier decays;
  PairCarrier pairs;
};

} // namespace

/// Gives results the axis b where an operand has it: earlier calls' values differ between batches.
static void widen(Operation *op) {
  auto has = [](Value array) {
    return isa<ArrayType>(array.getType()) && arrayTypeOf(array).has(AxisRole::Batch);
  };
  if (llvm::none_of(op->getOperands(), has))
    return;
  for (Value result : op->getResults())
    result.setType(withBatch(arrayTypeOf(result)));
}

static bool readsEarlier(Reach reach) {
  return reach == Reach::Window || reach == Reach::Before || reach == Reach::After;
}

LogicalResult StateCarrier::carry(Operation *op) {
  if (carried.mode == CarryMode::Queries) {
    bool ofQueries = llvm::any_of(op->getResultTypes(), [](Type type) {
      return isa<ArrayType>(type) && cast<ArrayType>(type).has(AxisRole::Query);
    });
    auto array = dyn_cast<ArrayOpInterface>(op);
    if (ofQueries && array && readsEarlier(array.getReach()))
      return tokens.carry(array);
    if (array && array.getReach() == Reach::Aligned && !ofQueries)
      return carried.refuse(op->getLoc(),
                            "'" + op->getName().getStringRef() +
                                "' to u reads queries of earlier calls, and keys alone are kept",
                            "take what it reads from an input over u, or keep states");
    // All keys are there, but of the queries the last ones.
    WalkResult sizes = op->walk([&](SizeOp size) -> WalkResult {
      return size.getAxis() == AxisRole::Query ? places.checkSize(size) : success();
    });
    return failure(sizes.wasInterrupted());
  }
  if (auto formula = dyn_cast<FormulaOpInterface>(op);
      formula && failed(places.moveIn(formula.getBody(), formula.getArraysMutable())))
    return failure();
  auto array = dyn_cast<ArrayOpInterface>(op);
  if (array)
    places.giveTo(array);
  widen(op);
  if (array && readsEarlier(array.getReach()))
    return tokens.carry(array);
  if (auto pairwise = dyn_cast<PairwiseOp>(op))
    return pairs.carry(pairwise);
  return success();
}

LogicalResult StateCarrier::run() {
  SmallVector<Operation *> operations =
      llvm::map_to_vector(carried.body().without_terminator(), [](Operation &op) { return &op; });
  carried.builder.setInsertionPointToStart(&carried.body());
  documents.part();
  if (carried.mode != CarryMode::Queries)
    for (Operation *op : operations)
      if (failed(pairs.checkCausal(op)))
        return failure();
  for (Operation *op : operations) {
    if (failed(carry(op)))
      return failure();
    if (carried.mode == CarryMode::Queries)
      widen(op);
  }
  places.finish();
  return carried.yieldFinals();
}

namespace {

struct CarryStates : taylor::impl::CarryStatesPassBase<CarryStates> {
  using CarryStatesPassBase::CarryStatesPassBase;

  void runOnOperation() override;

private:
  std::optional<CarryMode> chooseMode(SpecOp spec) const;
  LogicalResult carry(SpecOp spec, CarryMode mode);
  LogicalResult carryTwin(SpecOp twin, SpecOp other, CarryMode mode);

  /// Specifications that are no more.
  llvm::SmallPtrSet<Operation *, 4> replaced;
};

} // namespace

/// Nothing if the specification has a form that another run of the pass is for.
std::optional<CarryMode> CarryStates::chooseMode(SpecOp spec) const {
  auto form = cast_if_present<tile::FormAttr>(spec.getFormAttr());
  bool isRecurrent = form ? form.getKind() == Form::Recurrent : bool(recurrent);
  if (form && isRecurrent == queriesOnly)
    return std::nullopt;
  return queriesOnly   ? spec.getPreparesKeys() ? CarryMode::Keys : CarryMode::Queries
         : isRecurrent ? CarryMode::Recurrent
                       : CarryMode::Pieces;
}

LogicalResult CarryStates::carry(SpecOp spec, CarryMode mode) {
  StateCarrier carrier(spec, featureBlock, mode, /*isTwin=*/false);
  if (failed(carrier.run()))
    return failure();
  numCarried += carrier.getCarried().getNumCarried();
  return success();
}

/// Of two specifications one stays: the twin, if it can be, under the other's name.
LogicalResult CarryStates::carryTwin(SpecOp twin, SpecOp other, CarryMode mode) {
  StateCarrier carrier(twin, featureBlock, mode, /*isTwin=*/true);
  CarriedSpec &carried = carrier.getCarried();
  if (succeeded(carrier.run())) {
    double bytes = carried.countBytes();
    if (channels == 0 || bytes <= 4.0 * double(mostTokens) * double(channels)) {
      LDBG() << "@" << twin.getSymName() << ": takes its place, states of " << bytes << " bytes";
      carried.reportWarnings();
      StringAttr name = other.getSymNameAttr();
      replaced.insert(other);
      other.erase();
      twin.setSymNameAttr(name);
      numCarried += carried.getNumCarried();
      ++numTwins;
      return success();
    }
    (void)carried.refuseTwin(
        llvm::formatv("its states have {0:F1} GB per head, more than keys and values of {1} tokens",
                      bytes * 1e-9, mostTokens));
  }
  if (carried.getReason().empty())
    return reportFault(twin.emitError(), "a step that carries states",
                       "use --decode=cache until it is mended");
  LDBG() << "@" << twin.getSymName() << ": is erased, " << carried.getReason();
  auto form = cast<tile::FormAttr>(other.getFormAttr());
  other.setFormAttr(
      form.withReason(form.getBecause().getValue() + ", over all keys: " + carried.getReason()));
  twin.erase();
  return success();
}

void CarryStates::runOnOperation() {
  replaced.clear();
  SymbolTable symbols(getOperation());
  for (SpecOp spec : llvm::to_vector(getOperation().getOps<SpecOp>())) {
    if (replaced.contains(spec))
      continue;
    std::optional<CarryMode> mode = chooseMode(spec);
    if (!mode)
      continue;
    orderAxes(spec);
    StringRef name = spec.getSymName();
    SpecOp other = name.consume_back(kTwinSuffix) ? symbols.lookup<SpecOp>(name) : SpecOp();
    if (failed(other ? carryTwin(spec, other, *mode) : carry(spec, *mode)))
      return signalPassFailure();
  }
}
