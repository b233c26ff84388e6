// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A structured walk through two programs at once: the kernel, and the kernel without one of its commits. It
// carries, for all copies under way on any path, how many groups were committed after theirs in each.
#include "codegen/Targets/NVPTX/KernelSteps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Debug.h"
#include "llvm/ADT/TypeSwitch.h"
#include <set>

#define DEBUG_TYPE "taylor-simt-schedule-copies"

using namespace mlir;
using namespace mlir::simt;

namespace {

class GroupComparison {
public:
  GroupComparison(tile::KernelOp kernel, CommitOp left) : left(left) {
    kernel.walk([&](WaitOp wait) { most = std::max<int64_t>(most, wait.getGroups()); });
    State state;
    walk(*kernel.getBlock(), state);
  }
  /// Whether some copy that a wait covers with the commit is not covered without it.
  bool differs() const { return isDifferent; }

private:
  /// Groups committed after a copy's own, with and without the commit; -1 before its own is. What every wait
  /// covers counts as `most`.
  using Ages = std::pair<int64_t, int64_t>;
  using State = std::set<Ages>;

  void walk(Block &block, State &state) {
    for (Operation &op : block)
      llvm::TypeSwitch<Operation *>(&op)
          .Case([&](scf::ForOp loop) { walk(loop, state); })
          .Case([&](scf::IfOp branch) { walk(branch, state); })
          .Case([&](RolesOp roles) { walk(roles.getConsumerBlock(), state); })
          .Case([&](CopyOp) { state.insert({-1, -1}); })
          .Case([&](CommitOp commit) { this->commit(commit, state); })
          .Case([&](WaitOp wait) { this->wait(wait.getGroups(), state); });
  }
  void walk(scf::IfOp branch, State &state) {
    State otherwise = state;
    walk(branch.getThenRegion().front(), state);
    if (!branch.getElseRegion().empty())
      walk(branch.getElseRegion().front(), otherwise);
    state.merge(otherwise);
  }
  /// Through any number of iterations.
  void walk(scf::ForOp loop, State &state) {
    for (size_t known = state.size() + 1; known != state.size();) {
      known = state.size();
      State end = state;
      walk(*loop.getBody(), end);
      state.merge(end);
    }
  }
  void commit(CommitOp commit, State &state) {
    State next;
    for (auto [with, without] : state)
      next.insert({std::min(with + 1, most), std::min(without + (commit == left ? 0 : 1), most)});
    state = std::move(next);
  }
  void wait(int64_t groups, State &state) {
    isDifferent |=
        llvm::any_of(state, [&](Ages ages) { return ages.first >= groups && ages.second < groups; });
    std::erase_if(state, [&](Ages ages) { return ages.second >= groups; });
  }

  CommitOp left;
  int64_t most = 0;
  bool isDifferent = false;
};

} // namespace

void mlir::simt::joinGroups(tile::KernelOp kernel) {
  SmallVector<CommitOp> commits;
  kernel.walk([&](CommitOp commit) { commits.push_back(commit); });
  for (CommitOp commit : commits)
    if (!GroupComparison(kernel, commit).differs()) {
      LDBG() << commit.getLoc() << ": joins the next group, no wait tells them apart";
      commit.erase();
    }
}
