// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TRAINING_RUNFOLDER_H
#define TAYLOR_TRAINER_TRAINING_RUNFOLDER_H
#include "trainer/training/Training.h"
#include <filesystem>

namespace taylor::trainer {

// Refuses a folder with a run in it, unless that is to go on or to be replaced, and one that cannot be made
// or written; leaves everything as it is. Returns the folder. Throws Error.
std::filesystem::path checkFolder(const std::filesystem::path &folder, Existing existing);

// Makes the folder, or empties it of what a run leaves there. Throws Error.
void claimFolder(const std::filesystem::path &folder, Existing existing);

} // namespace taylor::trainer
#endif
