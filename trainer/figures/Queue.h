// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_FIGURES_QUEUE_H
#define TAYLOR_TRAINER_FIGURES_QUEUE_H
#include <filesystem>
#include <string>
#include <vector>

namespace taylor::trainer {

// One training run to be made: taylor-train with these arguments, which leaves `folder`/summary.json when
// done.
struct QueuedRun {
  std::string title; // for people: its label and its seed
  std::filesystem::path folder;
  std::vector<std::string> arguments; // without --out and --resume
};

// Makes the runs that are not done, one after the other, each in a process of its own that goes on from its
// newest checkpoint. SIGINT and SIGTERM reach the run, which saves itself. Returns 0, or the exit status of
// the first run that did not end well, behind which nothing else is begun. Throws Error where none can be
// started.
int makeRuns(const std::vector<QueuedRun> &runs);

} // namespace taylor::trainer
#endif
