// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/support/Interrupt.h"
#include <csignal>

namespace taylor::trainer {

namespace {
volatile std::sig_atomic_t received = 0;
}

void catchInterrupts() {
  struct sigaction action{};
  action.sa_handler = [](int signal) { received = signal; };
  action.sa_flags = SA_RESETHAND | SA_RESTART; // back to the default: the second one ends the process
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

int interrupted() { return received; }

} // namespace taylor::trainer
