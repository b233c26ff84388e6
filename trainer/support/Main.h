// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_SUPPORT_MAIN_H
#define TAYLOR_TRAINER_SUPPORT_MAIN_H
#include <functional>

namespace taylor::trainer {

// Runs a program's work; whatever it throws becomes one message on stderr and exit status 1.
int runGuarded(const std::function<int()> &work);

} // namespace taylor::trainer
#endif
