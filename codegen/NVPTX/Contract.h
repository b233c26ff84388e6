// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What device code and runtime agree on: entries, parameters, launches. See README.md, "The contract".
#ifndef TAYLOR_CODEGEN_NVPTX_CONTRACT_H
#define TAYLOR_CODEGEN_NVPTX_CONTRACT_H

#include "dialect/Tile/TileDialect.h"
#include <string>

namespace mlir::simt {

/// The first parameters of each entry, i64 each; the order of TaylorDim. Values lie between -2^31 and 2^31.
inline constexpr llvm::StringLiteral kSizeRoles[] = {"b", "h", "g", "t", "u", "offset"};

/// Attributes of a tile.kernel: warps of a block, and bytes of its shared memory (i64 each).
inline constexpr llvm::StringLiteral kWarpsAttr = "simt.warps";
inline constexpr llvm::StringLiteral kSharedAttr = "simt.shared";

/// `forward_attend` for kernel @attend of program @forward.
std::string getEntryName(tile::KernelOp kernel);
std::string getEntryName(llvm::StringRef program, llvm::StringRef kernel);
int64_t getNumWarps(tile::KernelOp kernel);
int64_t getSharedBytes(tile::KernelOp kernel);

/// The program's arrays that the kernel uses: tensors, then workspace, in the program's order. After the
/// sizes each one is a parameter, its address; a tensor's strides follow, in elements, one per axis.
llvm::SmallVector<Value> getArguments(tile::KernelOp kernel);

/// Whether a tensor must have its address and all strides (but the last one, which is 1, and those of axes of
/// size 1) at multiples of 16 bytes: rows of a constant size that is a multiple of 16 bytes.
bool isAligned16(tile::ArrayType type);

} // namespace mlir::simt
#endif
