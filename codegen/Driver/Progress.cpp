// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Progress.h"

#include "llvm/Support/Process.h"
#include <cstdio>

using namespace taylor;
using runtime::kClearLine;

static constexpr double kRedraw = 0.5, kPlainLine = 5; // seconds

Progress::Progress(std::string program)
    : program(std::move(program)), isTerminal(llvm::sys::Process::StandardErrIsDisplayed()),
      work([this](double seconds) { return show(seconds); }) {}

Progress::~Progress() {
  work.end();
  clear();
}

void Progress::begin(std::string next) {
  std::lock_guard lock(mutex);
  phase = std::move(next);
}

void Progress::clear() {
  std::lock_guard lock(mutex);
  if (drawn && isTerminal) {
    std::fputs(kClearLine, stderr);
    std::fflush(stderr);
  }
  drawn = false;
}

double Progress::show(double seconds) {
  std::lock_guard lock(mutex);
  std::fprintf(stderr, "%s%s: %s (%.0f s)%s", isTerminal ? kClearLine : "", program.c_str(), phase.c_str(),
               seconds, isTerminal ? "" : "\n");
  std::fflush(stderr);
  drawn = true;
  return isTerminal ? kRedraw : kPlainLine;
}
