// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas: where it is, what it makes, what it says.
#include "codegen/Targets/NVPTX/Ptxas.h"
#include "codegen/Artifact/ExternalTool.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::simt;
using llvm::SmallVector;
using llvm::StringRef;

/// lib/pythonX.Y/site-packages/PACKAGE of an environment, for whichever version it has.
static std::string findInWheel(StringRef environment) {
  std::error_code code;
  llvm::SmallString<128> lib(environment);
  llvm::sys::path::append(lib, "lib");
  for (llvm::sys::fs::directory_iterator entry(lib, code), end; entry != end && !code; entry.increment(code))
    for (StringRef inside :
         {"nvidia/cu13/bin/ptxas", "torch/bin/ptxas", "triton/backends/nvidia/bin/ptxas"}) {
      llvm::SmallString<128> path(entry->path());
      llvm::sys::path::append(path, "site-packages", inside);
      if (llvm::sys::fs::can_execute(path))
        return path.str().str();
    }
  return "";
}

std::string simt::findPtxas() {
  if (const char *chosen = std::getenv("TAYLOR_PTXAS"))
    return chosen;
  if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  if (const char *environment = std::getenv("VIRTUAL_ENV"))
    if (std::string found = findInWheel(environment); !found.empty())
      return found;
  return findInWheel(".venv");
}

void simt::parsePtxasLog(StringRef log, Assembly &assembly) {
  static llvm::Regex entry("Compiling entry function '([^']+)'");
  static llvm::Regex stack(
      "([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads");
  static llvm::Regex registers("Used ([0-9]+) registers");
  static llvm::Regex shared("([0-9]+) bytes smem");
  auto number = [](StringRef text) {
    int64_t value = 0;
    text.getAsInteger(10, value);
    return value;
  };
  SmallVector<StringRef> lines, groups;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    if (line.contains("warning") || line.contains("Potential Performance Loss") || line.contains("(C75"))
      assembly.warnings.push_back(line.trim().str());
    if (entry.match(line, &groups))
      assembly.kernels.push_back({groups[1].str()});
    if (assembly.kernels.empty())
      continue;
    KernelUse &kernel = assembly.kernels.back();
    if (stack.match(line, &groups)) {
      kernel.stack = number(groups[1]);
      kernel.spillStores = number(groups[2]);
      kernel.spillLoads = number(groups[3]);
    }
    if (registers.match(line, &groups))
      kernel.registers = number(groups[1]);
    if (shared.match(line, &groups))
      kernel.shared = number(groups[1]);
  }
}

/// Whether a kernel is so long that ptxas is to take less trouble: above its first level of optimisation its
/// time grows with the square of a basic block (12 s for the longest of 13,700 lines, 4 s at the first
/// level). What ships stays below 9,000 lines.
static bool hasLongKernel(StringRef ptx) {
  constexpr size_t kMostLines = 12000;
  SmallVector<StringRef> kernels;
  ptx.split(kernels, ".entry");
  return llvm::any_of(kernels, [](StringRef kernel) { return kernel.count('\n') > kMostLines; });
}

std::optional<Assembly> simt::assemble(StringRef ptxas, StringRef ptx, const Machine &target,
                                       std::string &error) {
  std::string architecture = ("-arch=" + target.chip()).str();
  std::optional<taylor::ToolRun> run =
      taylor::runTool(ptxas, {"-v", hasLongKernel(ptx) ? "-O1" : "-O3", architecture}, ptx, "ptx", error);
  if (!run)
    return std::nullopt;
  if (!run->failure.empty()) {
    error = (ptxas + " refused the code for " + target.name + ": " + run->failure +
             "; TAYLOR_PTXAS names another ptxas, or none where it is empty")
                .str();
    return std::nullopt;
  }
  Assembly assembly;
  assembly.cubin = std::move(run->output);
  parsePtxasLog(run->log, assembly);
  return assembly;
}
