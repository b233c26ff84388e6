// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of GPUs: what code generation needs to know of them, as numbers.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_MACHINES_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_MACHINES_H
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace mlir::simt {

/// Numbers of one compute capability (CUDA C++ Programming Guide, "Compute Capabilities").
struct Machine {
  std::string name;           // as given: "sm_80", "sm_90a+roles"
  unsigned ptxVersion = 80;   // version of the PTX ISA that the text asks for: 80 is 8.0
  int64_t sharedPerBlock = 0; // bytes that a block may ask for
  int64_t sharedPerSM = 0;    // bytes of a multiprocessor; each block takes 1 KiB more than it asks for
  int64_t threadsPerSM = 0;
  int64_t blocksPerSM = 0;
  int64_t cacheBytes = 0; // that blocks running at a time should read in common: of the second-level cache
  bool startsProducts = false; // has matrix instructions that run while their threads go on, for four warps
  bool hasDependentLaunches = false; // a kernel may begin before the one before it has ended
  bool assignsRoles = false; // an experiment: some warps copy for the others (taylor-simt-assign-roles)
  bool overlapsUses = false; // the same: a member's iterations overlap (taylor-simt-overlap-uses)
  bool persistsBlocks =
      false;                // the same: blocks with roles go from place to place (taylor-simt-persist-blocks)
  bool startsEarly = false; // an experiment: kernels use dependent launches (taylor-simt-start-early)
  bool rotatesOperands = false;   // an experiment: loops rotate keys and queries that pass by
  bool hasLongTiles = false;      // an experiment: further tiles for long sequences (LongTiles.cpp)
  int64_t registersPerSM = 65536; // of 32 bits
  int64_t registersPerThread = 255;

  /// The GPU: the name without options.
  llvm::StringRef chip() const { return llvm::StringRef(name).split('+').first; }
};

/// The GPU of that name, or of the newest number below it: PTX for one GPU runs on every later one, and newer
/// GPUs have no less of anything that they have. A name with a letter at its end is found only where the
/// table has it: its code runs on that GPU alone. `+roles`, after it `+overlap` and `+persistent`, or
/// `+computed`, then `+lengths`, and at the end `+early` turn experiments on. Null where the name is no `sm_`
/// and a number, the number is below all, or the GPU cannot take the experiment.
const Machine *findTarget(llvm::StringRef name);

/// Names of the table, for messages.
llvm::ArrayRef<llvm::StringRef> targetNames();
/// "unsupported target 'NAME'; expected sm_80, .. or sm_120", for a name that `findTarget` does not know.
std::string describeUnknownTarget(llvm::StringRef name);

} // namespace mlir::simt
#endif
