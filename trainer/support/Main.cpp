// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/support/Main.h"
#include "trainer/support/Error.h"
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>
#include <unistd.h>

namespace taylor::trainer {

std::string describeException() {
  try {
    throw;
  } catch (const c10::OutOfMemoryError &) { // of a GPU
    return describeOutOfMemory();
  } catch (const c10::Error &error) {
    std::string message = error.what_without_backtrace(); // what() carries a stack trace
    return message.find("can't allocate memory") == std::string::npos ? message : describeOutOfMemory();
  } catch (const std::bad_alloc &) {
    return describeOutOfMemory();
  } catch (const std::exception &error) {
    return error.what();
  }
}

int runGuarded(const std::function<int()> &work) {
  // Where it is set, memory that cannot be had aborts the process; libtorch 2.11 leaves it set at random.
  FLAGS_caffe2_use_fatal_for_enforce = false;
  try {
    return work();
  } catch (...) {
    std::fprintf(stderr, "error: %s\n", describeException().c_str());
  }
  return 1;
}

void leave(int status) {
  std::cout.flush();
  bool lost = std::fflush(nullptr) != 0 || std::ferror(stdout) || !std::cout;
  if (lost && status == 0) {
    std::fprintf(stderr, "error: cannot write to standard output: %s\n", std::strerror(errno));
    status = 1;
  }
  ::_exit(status);
}

} // namespace taylor::trainer
