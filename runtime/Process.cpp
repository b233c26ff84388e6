// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Process.h"
#include "runtime/Error.h"
#include "runtime/Fork.h"
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace taylor::runtime {
namespace {

/// Its end is seen when the program has ended: no child that another thread forks keeps it open.
struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    UnsharedDescriptors::open(
        [&] {
          int ends[2];
          if (pipe2(ends, O_CLOEXEC) != 0)
            fail("could not create a pipe: ", std::strerror(errno));
          read = ends[0];
          write = ends[1];
        },
        {&read, &write});
  }
  ~Pipe() {
    closeWrite();
    UnsharedDescriptors::close(read);
  }
  void closeWrite() { UnsharedDescriptors::close(write); }
};

/// Reads what is there; false at the end of the stream.
bool drain(int descriptor, std::string &text) {
  char buffer[4096];
  ssize_t count = read(descriptor, buffer, sizeof(buffer));
  if (count > 0)
    text.append(buffer, size_t(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

} // namespace

int startProcess(const std::vector<std::string> &arguments, int input, int output, int errors) {
  std::vector<char *> argv;
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, errors, 2);
  pid_t pid;
  int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    fail("could not start '", arguments[0], "': ", std::strerror(error));
  return pid;
}

ProcessResult runProcess(const std::vector<std::string> &arguments, double slowSeconds,
                         const std::function<void()> &slow) {
  ProcessResult result;
  Pipe output, errors;
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  pid_t pid = startProcess(arguments, nothing, output.write, errors.write);
  close(nothing);
  output.closeWrite();
  errors.closeWrite();

  auto begin = std::chrono::steady_clock::now();
  pollfd streams[2] = {{output.read, POLLIN, 0}, {errors.read, POLLIN, 0}};
  bool told = false;
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    double left =
        slowSeconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!told && left <= 0) {
      slow();
      told = true;
    }
    int ready = poll(streams, 2, told ? -1 : int(left * 1000) + 1);
    if (ready <= 0)
      continue;
    if (streams[0].revents && !drain(output.read, result.output))
      streams[0].fd = -1;
    if (streams[1].revents && !drain(errors.read, result.errors))
      streams[1].fd = -1;
  }
  int status = 0;
  pid_t waited;
  while ((waited = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
  }
  // A host program that ignores SIGCHLD has its children reaped for it; what the program wrote then decides.
  if (waited < 0)
    result.exitCode = result.errors.empty() ? 0 : 1;
  else if (WIFEXITED(status))
    result.exitCode = WEXITSTATUS(status);
  else
    result.signal = WTERMSIG(status);
  return result;
}

} // namespace taylor::runtime
