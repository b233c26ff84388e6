// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TRAINING_RUNFOLDER_H
#define TAYLOR_TRAINER_TRAINING_RUNFOLDER_H
#include "trainer/support/Files.h"
#include "trainer/training/Training.h"
#include <filesystem>

namespace taylor::trainer {

// A run's folder, in which nobody else trains while this lives: from its beginning where the folder is there,
// else from claim() on.
class RunFolder {
public:
  // Refuses a folder with a run in it, unless that is to go on or to be replaced, one that another process
  // trains in, and one that cannot be made or written; leaves all that a run has as it is. Throws Error.
  RunFolder(std::filesystem::path folder, Existing existing);

  // Makes the folder, or empties it of what a run leaves there. Throws Error, also where another process was
  // faster.
  void claim();

private:
  void lock();
  void refuseRun() const;

  std::filesystem::path folder;
  Existing existing;
  std::unique_ptr<FileLock> held;
};

// Whether a process trains in the folder at this moment.
bool isInUse(const std::filesystem::path &folder);

} // namespace taylor::trainer
#endif
