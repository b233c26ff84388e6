// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TRAINING_RUNFOLDER_H
#define TAYLOR_TRAINER_TRAINING_RUNFOLDER_H
#include "trainer/training/Training.h"
#include <filesystem>

namespace taylor::trainer {

// Refuses a folder with a run in it, unless that is to go on or to be replaced, and one that cannot be made
// or written; leaves everything as it is. Returns the folder. Throws Error.
std::filesystem::path checkFolder(const std::filesystem::path &folder, Existing existing);

// Makes the folder, or empties it of what a run leaves there. Notes there that it is that of torchrun's
// `runId`, if that is not empty. Throws Error.
void claimFolder(const std::filesystem::path &folder, Existing existing, const std::string &runId);

// Whether torchrun's run `runId` has claimed the folder: then what it holds is its own, and an attempt that
// follows may go on with it unasked. Ids repeat, so torchrun's first attempt begins by forgetting the claim
// of another.
bool isClaimedBy(const std::filesystem::path &folder, const std::string &runId);
void forgetClaim(const std::filesystem::path &folder);

} // namespace taylor::trainer
#endif
