// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/StandardStreams.h"
#include "trainer/support/Main.h"
#include <csignal>
#include <poll.h>

namespace taylor::trainer {

namespace {
volatile std::sig_atomic_t received = 0;
}

void prepareProcess() {
  runtime::openStandardStreams();
  std::signal(SIGXFSZ, SIG_IGN);
}

/// Of other pipes their writers hear by EPIPE.
static void notePipe(int signal) {
  struct pollfd streams[2] = {{STDOUT_FILENO, 0, 0}, {STDERR_FILENO, 0, 0}};
  if (::poll(streams, 2, 0) > 0 && ((streams[0].revents | streams[1].revents) & POLLERR))
    received = signal;
}

void catchInterrupts() {
  struct sigaction action{};
  action.sa_handler = [](int signal) { received = signal; };
  action.sa_flags = SA_RESETHAND | SA_RESTART; // back to the default: the second one ends the process
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  struct sigaction pipe{}; // each write to it raises one
  pipe.sa_handler = notePipe;
  pipe.sa_flags = SA_RESTART;
  sigemptyset(&pipe.sa_mask);
  ::sigaction(SIGPIPE, &pipe, nullptr);
}

int interrupted() { return received; }

} // namespace taylor::trainer
