// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_REPORT_PROGRESS_H
#define TAYLOR_TRAINER_REPORT_PROGRESS_H
#include "runtime/SlowWork.h"
#include <chrono>
#include <cstdint>
#include <string>

namespace taylor::trainer {

/// How far a job is, on stderr: a bar that is redrawn on a terminal, and else a plain line every few seconds.
/// Nothing is shown of a job that ends within two seconds, unless `eager`.
class Progress {
public:
  /// `total` units of work, of which `begin` were done before this process.
  Progress(std::string label, int64_t total, int64_t begin = 0, bool eager = false);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// `note` goes after the bar: what changes, such as the loss.
  void update(int64_t done, const std::string &note);
  /// A line of its own above the bar.
  void message(const std::string &line);
  /// Draws the end and closes the line.
  void finish();

private:
  using Clock = std::chrono::steady_clock;
  std::string line(int64_t columns) const;
  void draw(bool last);

  std::string label, note;
  int64_t total, begin, done;
  bool terminal, drawn = false, finished = false;
  double nextDraw; // seconds since start
  Clock::time_point start;
};

/// For work that cannot tell how far it is: while this lives, and from two seconds on, stderr shows what is
/// being done and for how long (once where stderr is no terminal).
class Elapsed {
public:
  explicit Elapsed(std::string label);
  ~Elapsed();
  Elapsed(const Elapsed &) = delete;
  Elapsed &operator=(const Elapsed &) = delete;

private:
  double show(double seconds);

  std::string label;
  bool terminal, drawn = false;
  runtime::SlowWork work;
};

/// "4:07" or "1:02:03".
std::string formatDuration(double seconds);

/// printf of one number.
std::string formatNumber(const char *pattern, double value);

/// "12 % waiting for data" after `lead`, of a share of the time; nothing where it is 1 % or less, or
/// unknown.
std::string formatWaiting(const char *lead, double share);

/// "5.32 M", for counts of parameters and tokens; units of 1000.
std::string formatCount(int64_t count);

/// "8 MB", or "11 kB" below 1 MB; rounded up, units of 1024.
std::string formatBytes(int64_t bytes);

} // namespace taylor::trainer
#endif
