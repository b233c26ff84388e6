// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States of the chunked and the recurrent form: which arrays have memory for them, and their tiles.
#include "passes/LowerToTile/Emit/StateReads.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/LoweringInterface.h"

#include "dialect/Taylor/ArrayBuilder.h"

using namespace mlir;
using namespace taylor;

namespace {

struct EdgeLowering : LoweringOpInterface::ExternalModel<EdgeLowering, EdgeOp> {
  void chooseKept(Operation *op, FunctionMemory &kept) const {
    kept.keep(op->getOperand(0), "other tokens read it");
  }
  bool readsElsewhere(Operation *) const { return true; }
  Value emitTile(Operation *op, Value, TileEmitter &emitter, Frame &frame) const {
    return StateReads(emitter).emitEdge(cast<EdgeOp>(op), frame);
  }
};

struct StatesLowering : LoweringOpInterface::ExternalModel<StatesLowering, StatesOp> {
  void chooseKept(Operation *op, FunctionMemory &kept) const {
    auto states = cast<StatesOp>(op);
    for (Value state : states.getResults())
      kept.keep(state, "other blocks read a state");
    for (Value atEdges : {states.getDecay(), states.getWithin()})
      if (atEdges)
        kept.keep(atEdges, "it is read where chunks meet");
    for (Value initial : states.getInitial())
      kept.keep(initial, "states begin with it");
    kept.keepSummed(states.getVectors());
  }
  Value emitTile(Operation *, Value, TileEmitter &, Frame &) const { llvm_unreachable("has memory"); }
};

struct StepStatesLowering : LoweringOpInterface::ExternalModel<StepStatesLowering, StepStatesOp> {
  void chooseKept(Operation *op, FunctionMemory &kept) const {
    auto steps = cast<StepStatesOp>(op);
    for (Value result : steps.getResults())
      kept.keep(result, "a recurrence works in its memory");
    for (Value initial : steps.getInitial())
      kept.keep(initial, "states begin with it");
    kept.keepSummed(steps.getVectors());
    if (steps.getKeep())
      kept.keep(steps.getKeep(), "it is read token after token");
    // One for every head of a group, panel after panel; one token is read where it lies.
    bool ofGroup = arrayTypeOf(steps.getReaders()).has(AxisRole::Head) &&
                   !arrayTypeOf(steps.getStates().front()).has(AxisRole::Head);
    bool oneToken = kept.getSizes().stepTokens == 1;
    if (ofGroup || oneToken)
      kept.keep(steps.getReaders(), "it is read for every panel of a state");
    if (oneToken) {
      kept.keep(steps.getVectors(), "it is read for every panel of a state");
      for (Value value : steps.getValues())
        kept.keep(value, "it is read for every panel of a state");
    }
  }
  Value emitTile(Operation *, Value, TileEmitter &, Frame &) const { llvm_unreachable("has memory"); }
};

/// Of what reads states, a panel of features at a time.
template <typename Model, typename Op> struct PanelLowering : LoweringOpInterface::ExternalModel<Model, Op> {
  void chooseKept(Operation *op, FunctionMemory &kept) const {
    for (Value operand : op->getOperands())
      if (arrayTypeOf(operand).has(AxisRole::Feature))
        kept.keep(operand, "other blocks read a state");
  }
  bool readsElsewhere(Operation *) const { return true; }
};

struct ReadStatesLowering : PanelLowering<ReadStatesLowering, ReadStatesOp> {
  Value emitTile(Operation *op, Value result, TileEmitter &emitter, Frame &frame) const {
    StateReads(emitter).emitRead(cast<ReadStatesOp>(op), frame); // fills in all of its results
    return frame.tiles.lookup(result);
  }
};

struct ContractStatesLowering : PanelLowering<ContractStatesLowering, ContractStatesOp> {
  Value emitTile(Operation *op, Value, TileEmitter &emitter, Frame &frame) const {
    return StateReads(emitter).emitContract(cast<ContractStatesOp>(op), frame);
  }
};

} // namespace

void taylor::attachStates(MLIRContext *context) {
  ContractStatesOp::attachInterface<ContractStatesLowering>(*context);
  EdgeOp::attachInterface<EdgeLowering>(*context);
  ReadStatesOp::attachInterface<ReadStatesLowering>(*context);
  StatesOp::attachInterface<StatesLowering>(*context);
  StepStatesOp::attachInterface<StepStatesLowering>(*context);
}
