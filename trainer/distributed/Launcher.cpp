// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/distributed/Launcher.h"
#include "trainer/distributed/World.h"
#include "trainer/support/Error.h"
#include "trainer/support/Main.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace taylor::trainer {

namespace {

/// How long the others have to end once one has failed, and how long all have once a signal asked them to:
/// for a step and a checkpoint.
constexpr auto kFailurePatience = std::chrono::seconds(5), kSignalPatience = std::chrono::seconds(300);

[[noreturn]] void become(int64_t rank, int64_t count, const Listening &listening, char **arguments) {
  auto set = [](const char *name, int64_t value) { ::setenv(name, std::to_string(value).c_str(), 1); };
  set("RANK", rank);
  set("LOCAL_RANK", rank);
  set("WORLD_SIZE", count);
  ::setenv("MASTER_ADDR", "127.0.0.1", 1);
  set("MASTER_PORT", listening.port);
  set(kLaunchedVariable, 1);
  if (rank == 0)
    set(kListeningVariable, listening.socket);
  else
    ::close(listening.socket);
  int64_t threads = std::max<int64_t>(1, std::thread::hardware_concurrency() / count);
  ::setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), /*overwrite=*/0);
  ::setpgid(0, 0);                    // Ctrl-C reaches the launcher alone, which hands it on
  ::prctl(PR_SET_PDEATHSIG, SIGTERM); // a process does not outlive its launcher
  ::execv("/proc/self/exe", arguments);
  std::fprintf(stderr, "error: cannot start process %lld: %s\n", (long long)rank, std::strerror(errno));
  ::_exit(1);
}

class Supervisor {
public:
  explicit Supervisor(std::vector<pid_t> children) : children(std::move(children)) {}

  int run() {
    size_t left = children.size();
    while (left > 0) {
      int result = 0;
      pid_t child = ::waitpid(-1, &result, WNOHANG);
      auto found = child > 0 ? std::find(children.begin(), children.end(), child) : children.end();
      if (found == children.end()) {
        tick();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        continue;
      }
      *found = -1;
      --left;
      note(found - children.begin(), result);
    }
    return status;
  }

private:
  using Clock = std::chrono::steady_clock;

  void send(int signal) {
    for (pid_t child : children)
      if (child > 0)
        ::kill(child, signal);
  }

  void tick() {
    if (int signal = interrupted(); signal && !ending) {
      ending = true;
      send(signal);
      deadline = Clock::now() + kSignalPatience;
    }
    if (ending && Clock::now() > deadline) {
      send(SIGKILL);
      deadline = Clock::time_point::max();
    }
  }

  void note(int64_t rank, int result) {
    bool killed = WIFSIGNALED(result);
    int ended = killed ? 128 + WTERMSIG(result) : WEXITSTATUS(result);
    if (ended == 0)
      return;
    if (status == 0)
      status = ended;
    // All end so where a signal asked them to, or where another failed.
    if (failing || (ending && !killed) || (ended >= 128 && !killed))
      return;
    failing = true;
    if (killed) // else it has said why
      std::fprintf(stderr, "error: process %lld of %zu was killed by signal %d; the others are ended\n",
                   (long long)rank, children.size(), WTERMSIG(result));
    ending = true;
    deadline = Clock::now() + kFailurePatience;
  }

  std::vector<pid_t> children; // -1: ended
  int status = 0;
  bool ending = false, failing = false;
  Clock::time_point deadline = Clock::time_point::max();
};

} // namespace

Listening listenAnywhere() {
  Listening listening;
  listening.socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto *generic = reinterpret_cast<sockaddr *>(&address);
  if (listening.socket < 0 || ::bind(listening.socket, generic, size) != 0 ||
      ::listen(listening.socket, 1024) != 0 || ::getsockname(listening.socket, generic, &size) != 0)
    fail("cannot find a port for processes to meet at: ", std::strerror(errno));
  listening.port = ntohs(address.sin_port);
  return listening;
}

int launchProcesses(int64_t count, char **arguments) {
  Listening listening = listenAnywhere();
  std::vector<pid_t> children;
  for (int64_t rank = 0; rank < count; ++rank) {
    pid_t child = ::fork();
    if (child == 0)
      become(rank, count, listening, arguments);
    if (child < 0) {
      int error = errno;
      for (pid_t started : children)
        ::kill(started, SIGKILL);
      fail("cannot start process ", rank, " of ", count, ": ", std::strerror(error));
    }
    children.push_back(child);
  }
  ::close(listening.socket);
  catchInterrupts();
  return Supervisor(std::move(children)).run();
}

} // namespace taylor::trainer
