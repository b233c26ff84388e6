// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a long compilation is doing, on stderr.
#ifndef TAYLOR_CODEGEN_DRIVER_PROGRESS_H
#define TAYLOR_CODEGEN_DRIVER_PROGRESS_H

#include "runtime/SlowWork.h"

#include <mutex>
#include <string>

namespace taylor {

/// While this lives, and from two seconds on, stderr shows the phase and for how long all has taken: on a
/// terminal one line that is redrawn and taken away at the end, elsewhere a line every five seconds. A
/// compilation that ends within two seconds shows nothing.
class Progress {
public:
  /// `program` leads each line.
  explicit Progress(std::string program);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// What is done from now on.
  void begin(std::string phase);
  /// Takes a line that is being redrawn away, so that something else can be printed.
  void clear();

private:
  double show(double seconds);

  std::string program, phase;
  bool drawn = false;
  const bool isTerminal;
  std::mutex mutex; ///< Of the phase and the line.
  runtime::SlowWork work;
};

} // namespace taylor

#endif
