// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies from global to shared memory by the threads themselves.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_PIECECOPIER_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_PIECECOPIER_H

#include "codegen/Targets/NVPTX/Thread/GlobalWindows.h"
#include "codegen/Targets/NVPTX/Thread/SharedSlots.h"

namespace mlir::simt {

/// Knows how threads share the pieces of a slot. Pieces of 4, 8 or 16 aligned bytes come asynchronously.
class PieceCopier {
public:
  PieceCopier(ThreadPlaces &places, GlobalWindows &windows, SharedSlots &slots)
      : places(places), windows(windows), slots(slots) {}

  /// A copy of no ring, where its condition holds.
  void emitCopy(CopyOp op);
  /// All threads of the team copy.
  void emitPieces(CopyOp op);

private:
  ThreadPlaces &places;
  GlobalWindows &windows;
  SharedSlots &slots;
};

} // namespace mlir::simt
#endif
