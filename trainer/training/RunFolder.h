// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TRAINING_RUNFOLDER_H
#define TAYLOR_TRAINER_TRAINING_RUNFOLDER_H
#include "trainer/support/Files.h"
#include "trainer/training/Training.h"
#include <filesystem>

namespace taylor::trainer {

/// A run's folder, in which no one else trains while this lives: from its beginning where the folder is
/// there, else from claim() on.
class RunFolder {
public:
  /// Refuses a folder with a run in it, unless that is to go on or to be replaced, one that another process
  /// trains in, and one that cannot be made or written; leaves all that a run has as it is. Throws Error.
  RunFolder(std::filesystem::path folder, Existing existing);

  /// Makes the folder, or empties it of what a run leaves there. Notes there that it is that of torchrun's
  /// `runId`, if that is not empty. Throws Error, also where another process was faster.
  void claim(const std::string &runId);

  /// Throws Error where the folder was removed, or another has its name, while this process trained in it.
  void requireThere() const;

private:
  void lock();
  void refuseRun() const;
  void empty() const;

  std::filesystem::path folder;
  Existing existing;
  std::unique_ptr<FileLock> held;
};

/// Whether a process trains in the folder at this moment.
bool isInUse(const std::filesystem::path &folder);

/// Whether torchrun's run `runId` has claimed the folder: then what it holds is its own, and an attempt that
/// follows may go on with it unasked. Ids repeat, so torchrun's first attempt begins by forgetting the claim
/// of another.
bool isClaimedBy(const std::filesystem::path &folder, const std::string &runId);
void forgetClaim(const std::filesystem::path &folder);

} // namespace taylor::trainer
#endif
