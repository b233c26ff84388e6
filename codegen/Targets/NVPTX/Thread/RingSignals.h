// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Signals of rings as mbarriers in shared memory (PTX ISA, "mbarrier").
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_RINGSIGNALS_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_RINGSIGNALS_H

#include "codegen/Targets/NVPTX/Thread/ThreadPlaces.h"

namespace mlir::simt {

/// Knows where signals are, how many arrivals each one expects, and the instructions on them. A signal is its
/// address, an i32.
class RingSignals {
public:
  explicit RingSignals(ThreadPlaces &places) : places(places) {}

  /// One thread sets the signals up: a use is full when one thread says so, and empty when each warp of all
  /// members has released it.
  void initialise(RolesOp roles);
  /// Of a slot, whether it is full or whether it is empty.
  Value signalOf(RingOp ring, Value slot, bool isEmpty);
  /// The producer's own, of a ring whose boxes it completes.
  Value ownSignalOf(RingOp ring);

  /// Until the phase of this parity is complete. A thread that waits is set aside for a while.
  void wait(Location loc, Value signal, Value parity);
  /// The parity of the phase that is not complete yet, an i32.
  Value phaseOf(Location loc, Value signal);
  /// Where `isOne`.
  void arrive(Location loc, Value signal, Value isOne);
  /// The thread arrives, and so many bytes will come before the phase is complete.
  void arriveBefore(Location loc, Value signal, int64_t bytes);
  /// The thread arrives once its asynchronous copies have come. One arrival more is expected.
  void arriveAfterCopies(Location loc, Value signal);

private:
  ThreadPlaces &places;
};

} // namespace mlir::simt
#endif
