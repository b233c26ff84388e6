// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Contract.h"
#include "codegen/Targets/NVPTX/KernelSteps.h"
#include "codegen/Targets/NVPTX/TileModel.h"

using namespace mlir;
using namespace mlir::simt;

/// Whether the loop adds to sums that stay for a block of keys.
static bool sumsIntoColumns(scf::ForOp loop) {
  return llvm::any_of(loop.getBody()->getOps<StartOp>(), [](StartOp start) {
    return start.getC() && !start.getTile().hasAxis(tile::AxisRole::Query);
  });
}

std::string mlir::simt::findReasonForSmallerTiles(ModuleOp programs, const ScoreTiles &tiles) {
  std::string reason;
  programs.walk([&](tile::KernelOp kernel) {
    auto program = kernel->getParentOfType<tile::ProgramOp>();
    auto found = tiles.find(getEntryName(kernel));
    if (found == tiles.end() || !program.getForm() || program.getForm()->getName().getValue() != "parallel")
      return;
    auto [queries, keys] = found->second;
    if (keys >= kWideKeys && kernel.getBody().getOps<RolesOp>().empty())
      reason = "@" + getEntryName(kernel) + " has tiles of " + std::to_string(keys) + " keys and no roles";
    if (queries <= kNarrowQueries)
      return;
    kernel.walk([&](scf::ForOp loop) {
      if (!sumsIntoColumns(loop))
        return;
      int64_t registers = countLiveRegisters(loop);
      if (registers > kColumnRegisters)
        reason = "a loop over queries of @" + getEntryName(kernel) + " needs " + std::to_string(registers) +
                 " registers for tiles, more than " + std::to_string(kColumnRegisters);
    });
  });
  return reason;
}
