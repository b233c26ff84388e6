// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_SUPPORT_ACTIVITY_H
#define TAYLOR_TRAINER_SUPPORT_ACTIVITY_H
#include <string>

namespace taylor::trainer {

/// Notes what the program does from here on, and what a user can do about it where memory for it cannot be
/// had: nowDoing("loading 'runs/softmax'", "a smaller model needs less").
void nowDoing(std::string what, std::string wayOut);

/// "out of memory while loading 'runs/softmax'; a smaller model needs less".
std::string describeOutOfMemory();

} // namespace taylor::trainer
#endif
