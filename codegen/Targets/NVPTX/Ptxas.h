// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From PTX text to machine code where ptxas is found, and what it says of it.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_PTXAS_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_PTXAS_H

#include "codegen/Targets/NVPTX/Machines.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::simt {

/// What ptxas says of one kernel, per thread.
struct KernelUse {
  std::string name;
  int64_t registers = 0;
  int64_t spillStores = 0, spillLoads = 0; ///< bytes
  int64_t stack = 0;                       ///< bytes
  int64_t shared = 0;                      ///< bytes of static shared memory, per block
};

struct Assembly {
  std::string cubin;
  std::vector<KernelUse> kernels;
  /// Lines that ptxas prints as warnings or advice on performance.
  std::vector<std::string> warnings;
};

/// The path of ptxas: $TAYLOR_PTXAS, else in PATH, else the one of torch's or Triton's wheel in the active
/// Python environment ($VIRTUAL_ENV) or in ./.venv. Empty where there is none.
std::string findPtxas();

/// Assembles the text. A message in `error` where ptxas refuses it or cannot run.
std::optional<Assembly> assemble(llvm::StringRef ptxas, llvm::StringRef ptx, const Machine &target,
                                 std::string &error);

/// Reads what `ptxas -v` prints.
void parsePtxasLog(llvm::StringRef log, Assembly &assembly);

} // namespace mlir::simt
#endif
