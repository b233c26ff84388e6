// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/figures/Queue.h"
#include "trainer/support/Error.h"
#include "trainer/support/Interrupt.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace taylor::trainer {

// Waits for the child, to which the first signal that comes is handed on: it is in a group of its own, so
// that Ctrl-C does not reach it twice (a second one would end it at once).
static int waitFor(pid_t child) {
  bool forwarded = false;
  int status = 0;
  while (::waitpid(child, &status, forwarded || !interrupted() ? 0 : WNOHANG) != child) {
    if (errno != EINTR && errno != 0)
      fail("cannot wait for a run: ", std::strerror(errno));
    if (int signal = interrupted(); signal && !forwarded) {
      ::kill(child, signal);
      forwarded = true;
    }
    errno = 0;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int runTrainer(const QueuedRun &run) {
  std::vector<std::string> words = run.arguments;
  words.insert(words.begin(), "taylor-train");
  words.insert(words.end(), {"--out", run.folder.string(), "--resume"});
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t parent = ::getpid(), child = ::fork();
  if (child < 0)
    fail("cannot start a run: ", std::strerror(errno));
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM); // a run does not outlive its queue
    if (::getppid() == parent)
      ::execv("/proc/self/exe", arguments.data());
    ::_exit(127);
  }
  return waitFor(child);
}

int makeRuns(const std::vector<QueuedRun> &runs) {
  catchInterrupts();
  for (size_t i = 0; i < runs.size(); ++i) {
    const QueuedRun &run = runs[i];
    bool done = fs::exists(run.folder / "summary.json");
    std::fprintf(stderr, "run %zu of %zu  %s%s\n", i + 1, runs.size(), run.title.c_str(),
                 done ? "  (done before)" : "");
    if (done)
      continue;
    int status = runTrainer(run);
    if (status == 0 && !fs::exists(run.folder / "summary.json"))
      fail("requires a summary.json of '", run.folder.string(), "', which ended well and left none");
    if (status != 0) {
      std::fprintf(stderr, "stopped at %s (exit status %d); the same command goes on from there\n",
                   run.title.c_str(), status);
      return status;
    }
  }
  return 0;
}

} // namespace taylor::trainer
