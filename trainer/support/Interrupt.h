// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_SUPPORT_INTERRUPT_H
#define TAYLOR_TRAINER_SUPPORT_INTERRUPT_H

namespace taylor::trainer {

// From here on SIGINT and SIGTERM are only noted, so that a step can end and be saved; a second one ends the
// process.
void catchInterrupts();

// The signal that came, or 0.
int interrupted();

} // namespace taylor::trainer
#endif
