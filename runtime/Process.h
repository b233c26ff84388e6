// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs another program.
#ifndef TAYLOR_RUNTIME_PROCESS_H
#define TAYLOR_RUNTIME_PROCESS_H
#include <functional>
#include <string>
#include <vector>

namespace taylor::runtime {

struct ProcessResult {
  std::string output; ///< Standard output.
  std::string errors; ///< Standard error.
  int exitCode = -1;  ///< -1 where a signal ended it.
  int signal = 0;
};

/// Starts arguments[0] with no shell; a name without a slash is looked for in PATH. `input`, `output` and
/// `errors` become its standard streams. Returns its number. Throws Error where it cannot be started.
int startProcess(const std::vector<std::string> &arguments, int input, int output, int errors);

/// Runs arguments[0] with no shell and waits; a name without a slash is looked for in PATH. `slow` is called
/// once if it takes longer than `slowSeconds`. Throws Error where it cannot be started.
ProcessResult runProcess(const std::vector<std::string> &arguments, double slowSeconds,
                         const std::function<void()> &slow);

} // namespace taylor::runtime

#endif
