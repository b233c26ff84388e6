// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which sweeps need not go where a mask makes a tile constant.
#include "codegen/Targets/CPU/KernelPlan.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

static bool holds(const std::optional<Mask> &mask, const Constraint &constraint) {
  return mask && llvm::is_contained(mask->constraints, constraint);
}

/// Whether leaving out elements of this value does not change the reduction.
static bool neutral(ReductionKind kind, double value) {
  return kind == ReductionKind::sum   ? value == 0
         : kind == ReductionKind::max ? value <= -1e38
                                      : value >= 1e38;
}

/// Finds the constraints that let a sweep leave elements out: what it hands on is constant or unread where
/// they fail. It knows the masks of what a sweep computes, and where the results have places.
class KernelPlan::SkipFinder {
public:
  explicit SkipFinder(KernelPlan &plan) : plan(plan) {}

  void run() { findSkips(*plan.kernel.getBlock()); }

private:
  /// Whether nothing outside the sweep reads the value where the constraint fails.
  bool unreadOutside(Value value, const Sweep &sweep, const Constraint &constraint) const {
    DotOp dot = sweep.dot;
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      if (plan.sweepOf.lookup(user) == &sweep && user != dot.getOperation())
        return true;
      return isa<MapOp>(user) && llvm::all_of(user->getResults(), [&](Value result) {
               return holds(maskOf(result), constraint);
             });
    });
  }

  /// The constraints of the masks of all that a sweep computes.
  static SmallVector<Constraint> constraintsOf(const Sweep &sweep) {
    SmallVector<Constraint> constraints;
    for (Operation *op : sweep.ops)
      for (Value result : op->getResults())
        if (std::optional<Mask> mask = maskOf(result))
          for (const Constraint &constraint : mask->constraints)
            if (!llvm::is_contained(constraints, constraint))
              constraints.push_back(constraint);
    return constraints;
  }

  /// Whether the sweep need not compute elements where the constraint fails.
  bool mayLeaveOut(const Sweep &sweep, const Constraint &constraint) const {
    auto handsOn = [&](Value value) {
      return plan.placeOf(value, plan.laneOf(value)) != nullptr || plan.pairStoreOf(value);
    };
    if (DotOp dot = sweep.dot;
        dot && handsOn(dot.getResult()) && !unreadOutside(dot.getResult(), sweep, constraint))
      return false;
    return llvm::all_of(sweep.ops, [&](Operation *op) {
      if (auto reduce = dyn_cast<ReduceOp>(op)) {
        std::optional<Mask> mask = maskOf(reduce.getInput());
        return holds(mask, constraint) && neutral(reduce.getKind(), mask->outside.getValueAsDouble());
      }
      return isa<MapOp>(op) && llvm::all_of(op->getResults(), [&](Value result) {
               return !handsOn(result) || holds(maskOf(result), constraint) ||
                      unreadOutside(result, sweep, constraint);
             });
    });
  }

  void findSkips(Block &block) {
    for (Step &step : plan.steps[&block]) {
      if (step.kind == Step::Control)
        for (Region &region : step.op->getRegions())
          for (Block &inner : region)
            findSkips(inner);
      if (step.kind != Step::SweepStep || step.sweep->axes.size() != 2)
        continue;
      for (const Constraint &constraint : constraintsOf(*step.sweep))
        if (mayLeaveOut(*step.sweep, constraint))
          step.sweep->skips.push_back(constraint);
    }
  }

  KernelPlan &plan;
};

void KernelPlan::findSkips() { SkipFinder(*this).run(); }
