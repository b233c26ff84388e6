// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses of a ring: who waits for what, and copies that signal (PTX ISA, "cp.async.bulk.tensor").
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_RINGEMITTER_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_RINGEMITTER_H

#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "codegen/Targets/NVPTX/Thread/PieceCopier.h"
#include "codegen/Targets/NVPTX/Thread/RingSignals.h"

namespace mlir::simt {

/// Knows the slot and the phase of each use, and the tensor maps with which the producer fills it.
class RingEmitter {
public:
  RingEmitter(ThreadPlaces &places, GlobalWindows &windows, SharedSlots &slots, RingSignals &signals,
              PieceCopier &copier)
      : places(places), windows(windows), slots(slots), signals(signals), copier(copier) {}

  /// `address`: of the tensor map.
  void addMap(const Box &box, Value address) { maps.push_back({box, address}); }
  /// simt.acquire and simt.wait_full.
  void emitUse(Operation *op, Value ring, Value number);
  /// A copy to a ring.
  void emitFill(CopyOp op);
  void emitRelease(ReleaseOp op);

private:
  void emitPiecesOfUse(CopyOp op, Value full);
  void emitBoxes(CopyOp op, const Box &box, Value signal);
  void emitCutBoxes(CopyOp op, const Box &box, Value full);
  void emitZeros(CopyOp op, Value first);
  Value isWhole(CopyOp op);
  Value countRows(CopyOp op);
  void arriveOnce(Location loc, Value signal);

  ThreadPlaces &places;
  GlobalWindows &windows;
  SharedSlots &slots;
  RingSignals &signals;
  PieceCopier &copier;
  SmallVector<std::pair<Box, Value>> maps;
};

} // namespace mlir::simt
#endif
