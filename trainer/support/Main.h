// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_SUPPORT_MAIN_H
#define TAYLOR_TRAINER_SUPPORT_MAIN_H
#include <functional>
#include <string>

namespace taylor::trainer {

/// What the exception that is being handled says, for people: without a stack trace, of memory that is short
/// with a way out. To be called in a catch block.
std::string describeException();

/// Runs a program's work; whatever it throws becomes one message on stderr and exit status 1.
int runGuarded(const std::function<int()> &work);

/// Ends the process with what it has written; a success whose standard output could not be written is status
/// 1 and a message. Without destructors: libtorch takes 0.1 s to forget its operators one by one.
[[noreturn]] void leave(int status);

} // namespace taylor::trainer
#endif
