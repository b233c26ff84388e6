// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/RegisterPool.h"
#include "runtime/ptx/Block.h"
#include "runtime/ptx/Report.h"
#include <algorithm>

namespace taylor::runtime::ptx {

void RegisterPool::reset(const Kernel &kernel, unsigned threads, size_t warps) {
  constexpr unsigned ofMultiprocessor = 65536, mostOfThread = 255;
  unsigned most =
      std::min(ofMultiprocessor / (threads * std::max(1u, kernel.blocksPerMultiprocessor)), mostOfThread);
  if (kernel.mostRegisters)
    most = std::min(most, kernel.mostRegisters);
  owned.assign(warps, most / 8 * 8); // they are allocated in eights
  free = 0;
}

bool RegisterPool::change(const Warp &w, const Instruction &i) {
  unsigned wanted = unsigned(i.count), &own = owned[w.index];
  const Kernel &kernel = w.block.launch.kernel;
  const KernelSignature &info = kernel.info;
  if (!kernel.mostRegisters && !(kernel.blocksPerMultiprocessor && (info.required[0] || info.most[0])))
    raise(w, i, FaultKind::Malformed, 0, 0,
          "requires .maxnreg, or .minnctapersm with .reqntid or .maxntid, without which ptxas ignores it");
  if (i.releases ? wanted > own : wanted < own)
    raise(w, i, FaultKind::Malformed, 0, 0,
          "expected at " + std::string(i.releases ? "most " : "least ") + std::to_string(own) +
              " registers, which warp " + std::to_string(w.index) + " has, but got " +
              std::to_string(wanted));
  if (!i.releases && 32 * (wanted - own) > free)
    return false;
  free += 32 * own - 32 * wanted;
  own = wanted;
  return true;
}

} // namespace taylor::runtime::ptx
