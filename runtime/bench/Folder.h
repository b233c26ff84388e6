// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "runtime/Error.h"
#include <cstdlib>
#include <filesystem>

namespace taylor::bench {

/// A folder that is gone afterwards. Throws runtime::Error.
struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "taylor-bench-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      runtime::fail("could not create a folder in '", std::filesystem::temp_directory_path().string(), "'");
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
};

} // namespace taylor::bench
