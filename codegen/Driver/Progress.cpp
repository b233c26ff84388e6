// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Progress.h"

#include "llvm/Support/Process.h"
#include <chrono>
#include <cstdio>

using namespace taylor;
using Seconds = std::chrono::duration<double>;

static constexpr Seconds kPatience(2), kRedraw(0.5), kPlainLine(5);

Progress::Progress(std::string program)
    : program(std::move(program)), isTerminal(llvm::sys::Process::StandardErrIsDisplayed()),
      watcher([this] { watch(); }) {}

Progress::~Progress() {
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  ended.notify_one();
  watcher.join();
  clear();
}

void Progress::begin(std::string next) {
  std::lock_guard lock(mutex);
  phase = std::move(next);
}

void Progress::clear() {
  std::lock_guard lock(mutex);
  if (drawn && isTerminal) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }
  drawn = false;
}

void Progress::watch() {
  auto start = std::chrono::steady_clock::now();
  Seconds wait = kPatience;
  std::unique_lock lock(mutex);
  while (!ended.wait_for(lock, wait, [&] { return done; })) {
    Seconds passed = std::chrono::steady_clock::now() - start;
    std::fprintf(stderr, isTerminal ? "\r\033[K%s: %s (%.0f s)" : "%s: %s (%.0f s)\n", program.c_str(),
                 phase.c_str(), passed.count());
    std::fflush(stderr);
    drawn = true;
    wait = isTerminal ? kRedraw : kPlainLine;
  }
}
