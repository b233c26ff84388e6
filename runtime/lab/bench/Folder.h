// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_RUNTIME_LAB_BENCH_FOLDER_H
#define TAYLOR_RUNTIME_LAB_BENCH_FOLDER_H
#include <filesystem>

namespace taylor::bench {

/// A folder that is gone afterwards, also when SIGINT or SIGTERM comes: from the first folder on they end
/// nothing by themselves, but checkInterrupts throws. A second one ends the process.
struct TemporaryFolder {
  std::filesystem::path path;
  /// Throws runtime::Error where it cannot be created.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
};

/// Throws runtime::Error if SIGINT or SIGTERM has come. System calls that wait end with EINTR then.
void checkInterrupts();

} // namespace taylor::bench

#endif
