// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sequence in pieces: what one piece leaves behind is what the next begins from. Passes.td has the rule.
#include "dialect/Refusal.h"
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
  StateCarrier(SpecOp spec, bool isTwin)
      : carried(spec, isTwin), places(carried), documents(carried, places),
        tokens(carried, places, documents), decays(carried, places, documents, tokens.getRunningSums()),
        pairs(carried, places, documents, decays, spec.getCarriesAttr().getBlock()) {}

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
  void runOnOperation() override;

private:
  SpecOp findOther(SpecOp twin);
  void settle(SpecOp step, CarryMode mode);
  void takePlace(SpecOp twin, SpecOp other);
  LogicalResult chooseStep(SpecOp twin, SpecOp other);
  LogicalResult carry(SpecOp spec);

  /// Twins that took the other's place. `chooseStep` has carried them already.
  llvm::SmallPtrSet<Operation *, 4> placed;
};

} // namespace

/// Of a step from state to state, the specification of the same step over all keys; null where there is none.
SpecOp CarryStates::findOther(SpecOp twin) {
  CarryAttr carries = twin.getCarriesAttr();
  if (!twin.getStepOf() || twin.getPreparesKeys() || !carries || carries.getMode() != CarryMode::Recurrent)
    return nullptr;
  auto isOther = [&](SpecOp spec) {
    auto form = cast_if_present<tile::FormAttr>(spec.getFormAttr());
    CarryAttr others = spec.getCarriesAttr();
    return spec != twin && spec.getStepOfAttr() == twin.getStepOfAttr() && !spec.getPreparesKeys() && form &&
           form.getKind() == Form::Parallel && others && others.getMode() == CarryMode::Queries;
  };
  auto specs = getOperation().getOps<SpecOp>();
  auto other = llvm::find_if(specs, isOther);
  return other == specs.end() ? SpecOp() : *other;
}

/// Says what calls of the whole sequence carry, where no one has: what its step goes on from.
void CarryStates::settle(SpecOp step, CarryMode mode) {
  auto whole = getOperation().lookupSymbol<SpecOp>(*step.getStepOf());
  if (!whole || whole.getCarriesAttr())
    return;
  whole.setCarriesAttr(CarryAttr::get(&getContext(), mode, step.getCarriesAttr().getBlock()));
  LDBG() << "@" << whole.getSymName() << ": " << whole.getCarriesAttr();
}

/// The twin takes the place of the other one, and of what that prepares.
void CarryStates::takePlace(SpecOp twin, SpecOp other) {
  settle(twin, CarryMode::Pieces);
  StringAttr name = other.getSymNameAttr();
  for (SpecOp spec : llvm::make_early_inc_range(getOperation().getOps<SpecOp>()))
    if (spec == other || (spec.getPreparesKeys() && spec.getStepOfAttr() == twin.getStepOfAttr()))
      spec.erase();
  twin.setSymNameAttr(name);
  CarryAttr carries = twin.getCarriesAttr();
  twin.setCarriesAttr(CarryAttr::get(&getContext(), carries.getMode(), carries.getBlock()));
  placed.insert(twin);
  ++numTwins;
}

/// Of two specifications of one step one stays: the twin, if it can be, under the other's name.
LogicalResult CarryStates::chooseStep(SpecOp twin, SpecOp other) {
  CarryAttr carries = twin.getCarriesAttr();
  orderAxes(twin);
  StateCarrier carrier(twin, /*isTwin=*/true);
  CarriedSpec &carried = carrier.getCarried();
  if (succeeded(carrier.run())) {
    double bytes = carried.countBytes();
    if (carries.getChannels() == 0 ||
        bytes <= 4.0 * double(carries.getMostTokens()) * double(carries.getChannels())) {
      LDBG() << "@" << twin.getSymName() << ": takes its place, states of " << bytes << " bytes";
      carried.reportWarnings();
      numCarried += carried.getNumCarried();
      takePlace(twin, other);
      return success();
    }
    (void)carried.refuseTwin(
        llvm::formatv("its states have {0:F1} GB per head, more than keys and values of {1} tokens",
                      bytes * 1e-9, carries.getMostTokens()));
  }
  if (carried.getReason().empty())
    return reportFault(twin.emitError(), "a step that carries states",
                       "use --decode=cache until it is mended");
  LDBG() << "@" << twin.getSymName() << ": is erased, " << carried.getReason();
  auto form = cast<tile::FormAttr>(other.getFormAttr());
  std::string asked = form.getBecause() ? form.getBecause().str() + ", " : "";
  other.setFormAttr(form.withReason(asked + "over all keys: " + carried.getReason()));
  settle(other, CarryMode::Queries);
  twin.erase();
  return success();
}

LogicalResult CarryStates::carry(SpecOp spec) {
  orderAxes(spec);
  StateCarrier carrier(spec, /*isTwin=*/false);
  if (failed(carrier.run()))
    return failure();
  numCarried += carrier.getCarried().getNumCarried();
  return success();
}

void CarryStates::runOnOperation() {
  placed.clear();
  // What a step is decides what calls of the whole sequence carry.
  SmallVector<std::pair<SpecOp, SpecOp>> twins;
  for (SpecOp spec : getOperation().getOps<SpecOp>())
    if (SpecOp other = findOther(spec); other && !llvm::is_contained(llvm::make_second_range(twins), other))
      twins.push_back({spec, other});
  for (auto [twin, other] : twins)
    if (failed(chooseStep(twin, other)))
      return signalPassFailure();
  for (bool isStep : {true, false})
    for (SpecOp spec : getOperation().getOps<SpecOp>())
      if (spec.getCarriesAttr() && spec.getStepOf().has_value() == isStep && !placed.contains(spec) &&
          failed(carry(spec)))
        return signalPassFailure();
}
