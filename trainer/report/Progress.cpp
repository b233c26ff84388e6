// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace taylor::trainer {

namespace {

using runtime::kClearLine;
using runtime::kPatience;

constexpr double kRedrawEvery = 0.1;    // on a terminal
constexpr double kPlainLineEvery = 5.0; // elsewhere

int64_t terminalColumns() {
  struct winsize window{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0)
    return 80;
  return window.ws_col;
}

} // namespace

std::string formatNumber(const char *pattern, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, pattern, value);
  return buffer;
}

std::string formatWaiting(const char *lead, double share) {
  return share > 0.01 ? lead + formatNumber("%.0f", 100 * share) + " % waiting for data" : std::string();
}

std::string formatCount(int64_t count) {
  double value = count;
  const char *unit = value >= 1e9 ? " G" : value >= 1e6 ? " M" : value >= 1e3 ? " k" : "";
  value /= value >= 1e9 ? 1e9 : value >= 1e6 ? 1e6 : value >= 1e3 ? 1e3 : 1;
  return formatNumber(*unit ? "%.2f" : "%.0f", value) + unit;
}

std::string formatBytes(int64_t bytes) {
  int shift = bytes >= 1 << 20 ? 20 : 10;
  return text((bytes + (int64_t(1) << shift) - 1) >> shift, shift == 20 ? " MB" : " kB");
}

std::string formatDuration(double seconds) {
  if (!(seconds < 3.6e15))
    return "over 10^12 hours";
  int64_t whole = std::llround(std::max(seconds, 0.0));
  char buffer[64];
  if (whole >= 3600)
    std::snprintf(buffer, sizeof buffer, "%lld:%02lld:%02lld", (long long)whole / 3600,
                  (long long)whole / 60 % 60, (long long)whole % 60);
  else
    std::snprintf(buffer, sizeof buffer, "%lld:%02lld", (long long)whole / 60, (long long)whole % 60);
  return buffer;
}

Progress::Progress(std::string label, int64_t total, int64_t begin, bool eager)
    : label(std::move(label)), total(total), begin(begin), done(begin), terminal(::isatty(STDERR_FILENO)),
      nextDraw(eager ? 0 : kPatience), start(Clock::now()) {}

Progress::~Progress() {
  if (drawn && !finished && terminal)
    std::fputc('\n', stderr); // left by an exception: its message starts on a new line
}

std::string Progress::line(int64_t columns) const {
  double share = total > 0 ? std::clamp(double(done) / total, 0.0, 1.0) : 1.0;
  double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  std::string tail = note.empty() ? "" : "  " + note;
  if (done > begin && done < total)
    tail += "  " + formatDuration(elapsed * (total - done) / (done - begin)) + " left";
  else if (done >= total)
    tail += "  " + formatDuration(elapsed);
  std::string head = text(label, " ", int(100 * share), "%");
  int64_t width = std::min<int64_t>(30, columns - 4 - int64_t(head.size() + tail.size()));
  if (!terminal || width < 5)
    return head + tail;
  int64_t filled = std::llround(share * width);
  return head + " [" + std::string(filled, '#') + std::string(width - filled, '-') + "]" + tail;
}

void Progress::draw(bool last) {
  if (!terminal) {
    std::fprintf(stderr, "%s\n", line(1 << 20).c_str());
    std::fflush(stderr);
  } else {
    int64_t columns = terminalColumns();
    std::fprintf(stderr, "%s%s%s", kClearLine, line(columns).substr(0, columns - 1).c_str(),
                 last ? "\n" : "");
    std::fflush(stderr);
  }
  drawn = true;
}

void Progress::update(int64_t nowDone, const std::string &newNote) {
  done = nowDone;
  note = newNote;
  double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  if (elapsed < nextDraw)
    return;
  draw(false);
  nextDraw = elapsed + (terminal ? kRedrawEvery : kPlainLineEvery);
}

void Progress::message(const std::string &line) {
  std::fprintf(stderr, "%s%s\n", terminal && drawn ? kClearLine : "", line.c_str());
  if (terminal && drawn)
    draw(false);
}

void Progress::finish() {
  if (!finished && (drawn || nextDraw == 0))
    draw(true);
  finished = true;
}

Elapsed::Elapsed(std::string label)
    : label(std::move(label)), terminal(::isatty(STDERR_FILENO)),
      work([this](double seconds) { return show(seconds); }) {}

Elapsed::~Elapsed() {
  work.end();
  if (drawn && terminal)
    std::fputs(kClearLine, stderr);
}

double Elapsed::show(double seconds) {
  if (terminal)
    std::fprintf(stderr, "%s%s  %s", kClearLine, label.c_str(), formatDuration(seconds).c_str());
  else if (!drawn)
    std::fprintf(stderr, "%s ..\n", label.c_str());
  std::fflush(stderr);
  drawn = true;
  return 1;
}

} // namespace taylor::trainer
