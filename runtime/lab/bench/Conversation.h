// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Another program that works on request.
#ifndef TAYLOR_RUNTIME_LAB_BENCH_CONVERSATION_H
#define TAYLOR_RUNTIME_LAB_BENCH_CONVERSATION_H
#include <cstdint>
#include <string>
#include <vector>

namespace taylor::bench {

/// A process whose standard input and output are lines. What it says on standard error is shown where it
/// fails.
class Conversation {
public:
  /// Starts arguments[0], looked for in PATH where it has no slash; `name` is for messages. Throws
  /// runtime::Error.
  Conversation(std::string name, const std::vector<std::string> &arguments);
  /// Kills it where finish() was not called.
  ~Conversation();
  Conversation(const Conversation &) = delete;
  Conversation &operator=(const Conversation &) = delete;

  void tell(const std::string &line);
  /// Its next line. Throws runtime::Error, with what it said, where it has ended.
  std::string hear();
  /// Ends its input and waits. The most bytes it had resident. Throws runtime::Error where it did not end
  /// well.
  int64_t finish();

private:
  [[noreturn]] void failWithErrors(const std::string &what);

  std::string name;
  int pid = -1, lines = -1, errors = -1;
  std::string heard; ///< Beyond the last line.
};

} // namespace taylor::bench

#endif
