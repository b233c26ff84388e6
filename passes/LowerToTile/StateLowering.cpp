// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States of the chunked and the recurrent form: which arrays have memory for them, and their tiles.
#include "passes/LowerToTile/LoweringInterface.h"
#include "passes/LowerToTile/Partition.h"
#include "passes/LowerToTile/StateEmitter.h"

#include "dialect/Taylor/ArrayBuilder.h"

using namespace mlir;
using namespace taylor;

namespace {

struct EdgeLowering : LoweringOpInterface::ExternalModel<EdgeLowering, EdgeOp> {
  void chooseStored(Operation *op, Partition &partition) const { partition.store(op->getOperand(0)); }
  bool readsElsewhere(Operation *) const { return true; }
  Value emitTile(Operation *op, Value, TileEmitter &emitter, Frame &frame) const {
    return StateEmitter(emitter).emitEdge(cast<EdgeOp>(op), frame);
  }
};

struct StatesLowering : LoweringOpInterface::ExternalModel<StatesLowering, StatesOp> {
  void chooseStored(Operation *op, Partition &partition) const {
    auto states = cast<StatesOp>(op);
    for (Value state : states.getResults())
      partition.store(state);
    for (Value atEdges : {states.getDecay(), states.getWithin()})
      if (atEdges)
        partition.store(atEdges);
    for (Value initial : states.getInitial())
      partition.store(initial);
    partition.storeSummed(states.getVectors());
  }
  Value emitTile(Operation *, Value, TileEmitter &, Frame &) const { llvm_unreachable("has memory"); }
};

struct StepStatesLowering : LoweringOpInterface::ExternalModel<StepStatesLowering, StepStatesOp> {
  void chooseStored(Operation *op, Partition &partition) const {
    auto steps = cast<StepStatesOp>(op);
    for (Value result : steps.getResults())
      partition.store(result);
    for (Value initial : steps.getInitial())
      partition.store(initial);
    partition.storeSummed(steps.getVectors());
    if (steps.getKeep())
      partition.store(steps.getKeep());
    // One for every head of a group, panel after panel; one token is read where it lies.
    bool ofGroup = arrayTypeOf(steps.getReaders()).has(AxisRole::Head) &&
                   !arrayTypeOf(steps.getStates().front()).has(AxisRole::Head);
    bool oneToken = partition.getSizes().stepTokens == 1;
    if (ofGroup || oneToken)
      partition.store(steps.getReaders());
    if (oneToken) {
      partition.store(steps.getVectors());
      for (Value value : steps.getValues())
        partition.store(value);
    }
  }
  Value emitTile(Operation *, Value, TileEmitter &, Frame &) const { llvm_unreachable("has memory"); }
};

/// Of what reads states, a panel of features at a time.
template <typename Model, typename Op> struct PanelLowering : LoweringOpInterface::ExternalModel<Model, Op> {
  void chooseStored(Operation *op, Partition &partition) const {
    for (Value operand : op->getOperands())
      if (arrayTypeOf(operand).has(AxisRole::Feature))
        partition.store(operand);
  }
  bool readsElsewhere(Operation *) const { return true; }
};

struct ReadStatesLowering : PanelLowering<ReadStatesLowering, ReadStatesOp> {
  Value emitTile(Operation *op, Value result, TileEmitter &emitter, Frame &frame) const {
    StateEmitter(emitter).emitRead(cast<ReadStatesOp>(op), frame); // fills in all of its results
    return frame.tiles.lookup(result);
  }
};

struct ContractStatesLowering : PanelLowering<ContractStatesLowering, ContractStatesOp> {
  Value emitTile(Operation *op, Value, TileEmitter &emitter, Frame &frame) const {
    return StateEmitter(emitter).emitContract(cast<ContractStatesOp>(op), frame);
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
