// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of a kernel without running it: registers, shared memory, how many blocks a multiprocessor
// holds, and which instructions the text has.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_KERNELREPORT_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_KERNELREPORT_H

#include "codegen/Targets/NVPTX/Machines.h"
#include "codegen/Targets/NVPTX/Ptxas.h"
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mlir::simt {

struct KernelReport {
  std::string name, target;
  int64_t threads = 0, shared = 0; ///< of a block; bytes
  /// Score tiles, where the kernel has any: queries by keys. The tile program knows.
  int64_t queries = 0, keys = 0;
  /// From ptxas; absent without it.
  std::optional<KernelUse> use;
  /// Blocks and warps that one multiprocessor holds at a time; 0 blocks: it cannot be launched. Without ptxas
  /// the registers are taken to suffice.
  int64_t blocksPerSM = 0, warpsPerSM = 0;
  /// Instructions in the text, by class: matrix, matrix load, float, special, integer, convert, move,
  /// shuffle, shared memory, global memory, copy, barrier, control, other.
  std::map<std::string, int64_t> instructions;
};

struct CodeReport {
  std::vector<KernelReport> kernels; ///< one per entry
  std::vector<std::string> warnings; ///< of ptxas, also its advice on performance; or that there is none

  /// Adds the kernels and, each once, the warnings of another target.
  void add(CodeReport other);
};

/// Queries and keys of the score tiles of each kernel of the module's tile programs, by the name of its
/// entry.
using ScoreTiles = std::map<std::string, std::pair<int64_t, int64_t>>;
ScoreTiles findScoreTiles(ModuleOp module);

/// Of a `simt.ptx`; runs `ptxas` (a path; empty: none). Nothing and `error` where ptxas refuses.
std::optional<CodeReport> reportKernels(PTXOp code, const ScoreTiles &tiles, llvm::StringRef ptxas,
                                        std::string &error);

/// A table for people, and JSON: {"kernels": [{"name": .., "registers": .., ..}], "warnings": []}.
std::string printTable(const CodeReport &report);
std::string printJSON(const CodeReport &report);

} // namespace mlir::simt
#endif
