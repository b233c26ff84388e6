// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/lab/bench/Folder.h"
#include "runtime/Error.h"
#include <csignal>
#include <cstdlib>

namespace taylor::bench {

namespace fs = std::filesystem;

static volatile std::sig_atomic_t received = 0;

TemporaryFolder::TemporaryFolder() {
  struct sigaction action{};
  action.sa_handler = [](int signal) { received = signal; };
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  std::string name = (fs::temp_directory_path() / "taylor-bench-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    runtime::fail("could not create a folder in '", fs::temp_directory_path().string(), "'");
  path = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path, error);
}

void checkInterrupts() {
  if (received)
    runtime::fail("stopped by signal ", int(received));
}

} // namespace taylor::bench
