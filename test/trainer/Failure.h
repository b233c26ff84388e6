// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TEST_TRAINER_FAILURE_H
#define TAYLOR_TEST_TRAINER_FAILURE_H
#include "trainer/support/Error.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

/// The message of the Error that the work throws.
template <typename Work> std::string failure(Work work) {
  try {
    work();
  } catch (const taylor::trainer::Error &error) {
    return error.what();
  }
  return "(no error)";
}

/// A folder of a test's own, gone afterwards.
struct TemporaryFolder {
  TemporaryFolder()
      : path(std::filesystem::temp_directory_path() / ("taylor-test-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::string write(const std::string &name, const std::string &contents) const {
    std::ofstream(path / name, std::ios::binary) << contents;
    return path / name;
  }
  std::filesystem::path path;
};

#endif
