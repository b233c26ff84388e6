// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_FIGURES_QUEUE_H
#define TAYLOR_TRAINER_FIGURES_QUEUE_H
#include "trainer/config/Config.h"
#include <filesystem>
#include <string>
#include <vector>

namespace taylor::trainer {

/// One training run to be made: taylor-train with these arguments, which leaves `folder`/summary.json when
/// done.
struct QueuedRun {
  std::string title; // for people: its label and its seed
  int64_t seed;
  std::filesystem::path folder;
  Config config;                      // what the arguments say
  std::vector<std::string> arguments; // without --out and --resume

  bool isDone() const { return std::filesystem::exists(folder / "summary.json"); }
};

/// Makes the runs that are not done, one after the other, each in a process of its own that goes on from its
/// newest checkpoint. A run that another process makes is left to it: the others come first, and then it is
/// waited for. At SIGINT and SIGTERM the run saves itself and nothing else is begun; a second one ends this
/// process, and with it, by SIGTERM, the run's. Returns 0, 128 + N after signal N, or the exit status of the
/// first run that did not end well, after which nothing else is begun. Throws Error where none can be
/// started, and where a folder has a run of other settings.
int makeRuns(const std::vector<QueuedRun> &runs);

} // namespace taylor::trainer
#endif
