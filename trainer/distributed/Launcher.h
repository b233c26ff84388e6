// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_DISTRIBUTED_LAUNCHER_H
#define TAYLOR_TRAINER_DISTRIBUTED_LAUNCHER_H
#include <cstdint>

namespace taylor::trainer {

/// Bound to a port of this machine's own address that was free; process 0 inherits it, so that no one takes
/// the port meanwhile.
struct Listening {
  int socket = -1;
  int64_t port = 0;
};

/// Throws Error where there is none.
Listening listenAnywhere();

/// Runs this program `count` times on this machine, as torchrun would: with the same arguments and the
/// environment that worldFromEnvironment reads. Processors are shared: each process gets its part as
/// OMP_NUM_THREADS, unless that is set. Hands SIGINT and SIGTERM on. Once a process does not end well, ends
/// the others, and says which it was where a signal killed it. Returns the exit status: of the first that did
/// not end well, 128 + N of one that signal N ended. Throws Error where a process cannot be started.
int launchProcesses(int64_t count, char **arguments);

} // namespace taylor::trainer
#endif
