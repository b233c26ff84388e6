// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What device code and runtime agree on: entries, parameters, launches. See README.md, "The contract".
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_LAUNCHCONTRACT_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_LAUNCHCONTRACT_H

#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include <optional>
#include <string>

namespace mlir::simt {

// The first parameters of each entry are the sizes (codegen/Targets/Frame/SizeValues.h), i64 each. They lie
// between -2^31 and 2^31.

/// Of the function that a kernel becomes: `#simt.entry`.
inline constexpr llvm::StringLiteral kEntryAttr = "simt.entry";

/// `forward_attend` for kernel @attend of program @forward.
std::string getEntryName(tile::KernelOp kernel);
/// Refuses kernels that take more arrays or bytes of parameters than a launch may have.
LogicalResult checkParameters(tile::KernelOp kernel);
/// How the kernel is launched: what `simt.ptx` and the manifest tell of it.
EntryAttr describeEntry(tile::KernelOp kernel);
/// Warps of a block and bytes of its shared memory, as the kernel's `launch` says.
int64_t getNumWarps(tile::KernelOp kernel);
int64_t getSharedBytes(tile::KernelOp kernel);
void setNumWarps(tile::KernelOp kernel, int64_t warps);
void setSharedBytes(tile::KernelOp kernel, int64_t bytes);

/// The program's arrays that the kernel uses: tensors, then workspace, in the program's order. After the
/// sizes each one is a parameter, its address; a tensor's strides follow, in elements, one per axis.
llvm::SmallVector<Value> getArguments(tile::KernelOp kernel);

/// Whether a tensor must have its address and all strides (but the last one, which is 1, and those of axes of
/// size 1) at multiples of 16 bytes: rows of a constant size that is a multiple of 16 bytes.
bool isAligned16(tile::ArrayType type);

/// A copy as boxes of one tensor map (CUDA Driver API, "Tensor Map Object Management"): what lies in the box,
/// in elements along each axis of the array. A slot takes as many as its rows have panels.
struct Box {
  Value array;
  llvm::SmallVector<int64_t> sizes;
  int64_t swizzle = 0; ///< bytes of a line
  bool operator==(const Box &) const = default;
};

/// Bytes of a tensor map, a kernel's parameter, and what their address is a multiple of.
inline constexpr int64_t kMapBytes = 128, kMapAlignment = 64;

/// The boxes of a copy into a swizzled buffer; none where no tensor map describes it, whatever the sizes.
std::optional<Box> getBox(CopyOp copy);
/// Whether the producer waits for boxes of the ring that `until` cuts within the array, and completes them:
/// it then has a signal of its own, after those of the slots.
bool completesBoxes(RingOp ring);
/// Those of all bulk copies of a kernel, each once: its last parameters are their tensor maps, 128 bytes at
/// multiples of 64.
llvm::SmallVector<Box> getBoxes(tile::KernelOp kernel);

/// Whether blocks take several places of the kernel's grid, one after the other (simt.own_tiles).
bool isPersistent(tile::KernelOp kernel);

/// Threads of a block: of all roles where the kernel has such.
int64_t getNumThreads(tile::KernelOp kernel);

} // namespace mlir::simt
#endif
