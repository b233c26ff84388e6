// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a producer of a kernel would copy, and whether it can (Passes.td, taylor-simt-assign-roles).
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_ROLESTREAMS_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_ROLESTREAMS_H
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::simt {

/// A copy in each iteration of a loop, which all members read.
struct RoleStream {
  CopyOp copy;
  AllocOp buffer;
  RingOp ring = {}; ///< takes the buffer's place; null before it is made
};

/// A loop whose iterations copy, and the loops around it, the outermost first.
struct StreamLoop {
  scf::ForOp loop;
  SmallVector<RoleStream> streams;
  SmallVector<scf::ForOp> around;
};

/// Whether matrix units compute the product while their threads go on.
bool isStarted(Operation *op);

/// The loops of one kernel that a producer can run for members, which are neighbours along the kernel's last
/// extent.
class RoleStreams {
public:
  explicit RoleStreams(tile::KernelOp kernel) : kernel(kernel) {}

  /// Whether the kernel has a loop for a producer, and nothing that roles cannot take. Before it is asked,
  /// nothing else is known.
  bool collect();
  /// Registers of a member's tiles in its largest loop, by `count`.
  int64_t countRegisters(function_ref<int64_t(scf::ForOp)> count) const;
  /// Whether so many neighbours are along the last extent.
  bool hasNeighbours(int64_t members) const { return !places || members <= places; }
  /// Bytes of shared memory with rings of so many slots, no two buffers sharing any.
  int64_t countShared(int64_t members, int64_t slots) const;

  MutableArrayRef<StreamLoop> getLoops() { return loops; }
  /// Those that are this loop, or in it.
  SmallVector<StreamLoop *> getLoopsIn(scf::ForOp loop);
  /// The kernel's last place, of which a gang of members takes several.
  BlockArgument getGang() const { return gang; }
  /// How many there are; 0: not known before the call.
  int64_t getPlaces() const { return places; }
  /// Whether the number follows from the kernel's last place.
  bool followsMember(Value value) const;
  /// Whether it is a loop with streams, or a loop or branch around one.
  bool isSkeleton(Operation *op) const { return skeleton.contains(op); }

private:
  bool addStream(CopyOp copy);
  bool isUniform(Value value, bool mayDifferByMember) const;
  bool areBoundsUniform(StreamLoop &entry);
  bool exchanges() const;
  bool feedsProducts(const StreamLoop &entry) const;

  tile::KernelOp kernel;
  SmallVector<StreamLoop> loops;
  llvm::DenseSet<Operation *> skeleton;
  BlockArgument gang;
  int64_t places = 0;
};

} // namespace mlir::simt
#endif
