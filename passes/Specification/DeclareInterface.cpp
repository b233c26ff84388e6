// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of a specification as an attribute of its module. Passes.td has the rule.
#include "passes/Debug.h"
#include "passes/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "taylor-declare-interface"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_DECLAREINTERFACEPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// Key arrays read at query positions: `taylor.align`, or the log-decay of a sum.
bool readsKeysAtQueries(SpecOp spec) {
  return spec
      .walk([](Operation *op) {
        auto array = dyn_cast<ArrayOpInterface>(op);
        bool reads = array && array.getReach() == Reach::Aligned;
        if (auto sums = dyn_cast<RecurrencesOp>(op))
          reads |= bool(sums.getDecay());
        if (auto sum = dyn_cast<RecurrenceOp>(op))
          reads |= bool(sum.getDecay());
        return reads ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Bidirectional where one sum is, or where tokens read later ones or all: only what has none of it keeps
/// every query from its future.
Mask maskOf(SpecOp spec) {
  Mask mask = Mask::Causal;
  spec.walk([&](Operation *op) {
    auto sumsAll = [](auto sums) { return sums.getMask() == Mask::Bidirectional; };
    auto readsLater = [](ArrayOpInterface op) {
      return op.getReach() == Reach::After || op.getReach() == Reach::All;
    };
    bool looksAhead = TypeSwitch<Operation *, bool>(op)
                          .Case<RecurrencesOp, RecurrenceOp>(sumsAll)
                          .Case(readsLater)
                          .Default(false);
    if (looksAhead)
      mask = Mask::Bidirectional;
  });
  return mask;
}

struct DeclareInterface : taylor::impl::DeclareInterfacePassBase<DeclareInterface> {
  using DeclareInterfacePassBase::DeclareInterfacePassBase;

  void runOnOperation() override {
    auto specs = llvm::make_filter_range(getOperation().getOps<SpecOp>(),
                                         [](SpecOp spec) { return !spec.getStepOf(); });
    if (!llvm::hasSingleElement(specs)) {
      getOperation().emitError("expected one taylor.spec, but got ")
          << llvm::range_size(specs) << "; taylorc takes the one that --spec names";
      return signalPassFailure();
    }
    SpecOp spec = *specs.begin();
    Builder builder(&getContext());
    auto known = getOperation()->getAttrOfType<InterfaceAttr>(kInterface);
    UnitAttr aligned = known                      ? known.getAligned()
                       : readsKeysAtQueries(spec) ? builder.getUnitAttr()
                                                  : UnitAttr();
    auto interface =
        InterfaceAttr::get(&getContext(), spec.getSymNameAttr(), spec.getParameters(),
                           known ? known.getMask() : maskOf(spec), aligned, inputs(spec), outputs(spec));
    LDBG() << "@" << spec.getSymName() << ": " << stringifyMask(interface.getMask()) << ", "
           << (known ? "as declared before" : "as its sums say")
           << (aligned ? ", reads keys at queries" : "");
    ++numDeclared;
    getOperation()->setAttr(kInterface, interface);
  }

private:
  ArrayAttr inputs(SpecOp spec) {
    SmallVector<Attribute> tensors;
    for (auto [argument, name, source] :
         llvm::zip(spec.getBody().getArguments(), spec.getArgNames(), spec.getSources())) {
      auto text = cast<StringAttr>(name);
      tensors.push_back(
          TensorAttr::get(&getContext(), text, argument.getType(), cast<SourceAttr>(source),
                          text.getValue() == ascending ? UnitAttr::get(&getContext()) : UnitAttr()));
    }
    return ArrayAttr::get(&getContext(), tensors);
  }

  ArrayAttr outputs(SpecOp spec) {
    SmallVector<Attribute> tensors;
    auto yield = cast<YieldOp>(spec.getBody().front().getTerminator());
    for (auto [value, name] : llvm::zip(yield.getValues(), *yield.getNames()))
      tensors.push_back(
          TensorAttr::get(&getContext(), cast<StringAttr>(name), value.getType(), SourceAttr(), UnitAttr()));
    return ArrayAttr::get(&getContext(), tensors);
  }
};

} // namespace
