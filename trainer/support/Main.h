// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every program does, from its first line to its last.
#ifndef TAYLOR_TRAINER_SUPPORT_MAIN_H
#define TAYLOR_TRAINER_SUPPORT_MAIN_H
#include <functional>
#include <string>

namespace taylor::trainer {

/// What each program does first: no file can take the place of a closed standard stream, and a
/// file that becomes larger than the system allows (SIGXFSZ) is an error of its write, with the file's name.
void prepareProcess();

/// From here on SIGINT and SIGTERM are only noted, so that a step can end and be saved; a second one ends the
/// process. So is SIGPIPE where no one reads standard output or standard error any more.
void catchInterrupts();

/// The signal that came, or 0.
int interrupted();

/// Notes what the program does from here on, and what a user can do about it where memory for it cannot be
/// had: nowDoing("loading 'runs/softmax'", "a smaller model needs less").
void nowDoing(std::string what, std::string wayOut);

/// "out of memory while loading 'runs/softmax'; a smaller model needs less".
std::string describeOutOfMemory();

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
