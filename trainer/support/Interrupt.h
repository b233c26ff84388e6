// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_SUPPORT_INTERRUPT_H
#define TAYLOR_TRAINER_SUPPORT_INTERRUPT_H

namespace taylor::trainer {

/// What each program does first: closed standard streams are none that a file could take the place of, and a
/// file that becomes larger than the system allows (SIGXFSZ) is an error of its write, with the file's name.
void prepareProcess();

/// From here on SIGINT and SIGTERM are only noted, so that a step can end and be saved; a second one ends the
/// process. So is SIGPIPE where nobody reads standard output or standard error any more.
void catchInterrupts();

/// The signal that came, or 0.
int interrupted();

} // namespace taylor::trainer
#endif
