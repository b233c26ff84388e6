// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/figures/Queue.h"
#include "trainer/figures/Pictures.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/support/Main.h"
#include "trainer/training/RunFolder.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace taylor::trainer {

namespace {

/// Waits for the child, to which the first signal that comes is handed on: it is in a group of its own, so
/// that Ctrl-C does not reach it twice (a second one would end it at once). A signal does not end waitpid,
/// since its handler restarts calls: hence no call that waits.
int waitFor(pid_t child) {
  bool forwarded = false;
  int status = 0;
  for (pid_t ended; (ended = ::waitpid(child, &status, WNOHANG)) != child;) {
    if (ended < 0 && errno != EINTR)
      fail("cannot wait for a run: ", std::strerror(errno));
    if (int signal = interrupted(); signal && !forwarded) {
      ::kill(child, signal);
      forwarded = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int runTrainer(const QueuedRun &run) {
  std::vector<std::string> words = run.arguments;
  words.insert(words.begin(), "taylor-train");
  words.insert(words.end(), {"--out", run.folder.string(), "--resume"});
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // Until it is another program the child would note a signal in a handler, where no one looks.
  sigset_t both, before;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &both, &before);
  pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM); // a run does not outlive its queue
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (::getppid() == parent)
      ::execv("/proc/self/exe", arguments.data());
    ::_exit(127);
  }
  int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0)
    fail("cannot start a run: ", std::strerror(error));
  return waitFor(child);
}

class Queue {
public:
  explicit Queue(const std::vector<QueuedRun> &runs) : runs(runs), told(runs.size()) {
    for (size_t i = 0; i < runs.size(); ++i)
      left.push_back(i);
  }

  int work() {
    while (!left.empty()) {
      std::vector<size_t> busy;
      for (size_t i : left) {
        if (int signal = interrupted())
          return stop(text("in front of ", runs[i].title), 128 + signal);
        std::optional<int> status = make(i);
        if (!status)
          busy.push_back(i);
        else if (*status != 0)
          return stop(text("at ", runs[i].title), *status);
      }
      if (busy.size() == left.size())
        wait();
      left = std::move(busy);
    }
    int signal = interrupted();
    return signal ? stop("behind the last run", 128 + signal) : 0;
  }

private:
  void say(size_t i, const char *remark) {
    std::fprintf(stderr, "run %zu of %zu  %s%s\n", i + 1, runs.size(), runs[i].title.c_str(), remark);
  }

  int stop(const std::string &where, int status) {
    std::fprintf(stderr, "stopped %s (exit status %d); the same command goes on from there\n", where.c_str(),
                 status);
    return status;
  }

  /// The run's exit status; nothing where another process has it.
  std::optional<int> make(size_t i) {
    const QueuedRun &run = runs[i];
    requireSameRun(run.folder, run.config);
    if (run.isDone())
      return say(i, told[i] ? "  (done by another process)" : "  (done before)"), 0;
    // Queues keep each other out here, until the run has its own lock, and beyond its end.
    std::unique_ptr<FileLock> mine = FileLock::attempt(run.folder / ".queue");
    if (!mine || isInUse(run.folder))
      return leave(i);
    if (run.isDone()) // since it was looked at
      return say(i, "  (done by another process)"), 0;
    requireSameRun(run.folder, run.config);
    say(i, "");
    int status = runTrainer(run);
    if (status == 0 && !run.isDone())
      fail("requires a summary.json of '", run.folder.string(), "', which ended well and left none");
    if (status != 0 && !interrupted() && isInUse(run.folder)) // which has told so
      return leave(i);
    return status;
  }

  std::nullopt_t leave(size_t i) {
    if (!told[i])
      say(i, "  (another process trains it: later)");
    told[i] = true;
    return std::nullopt;
  }

  void wait() {
    if (!waiting)
      std::fprintf(stderr, "waiting    for what other processes train, %zu of %zu runs\n", left.size(),
                   runs.size());
    waiting = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }

  const std::vector<QueuedRun> &runs;
  std::vector<size_t> left; // numbers of those that are not done
  std::vector<bool> told;   // of which it was said that another process has them
  bool waiting = false;
};

} // namespace

int makeRuns(const std::vector<QueuedRun> &runs) {
  catchInterrupts();
  return Queue(runs).work();
}

} // namespace taylor::trainer
