// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/support/Main.h"
#include <c10/util/Exception.h>
#include <cstdio>
#include <new>

namespace taylor::trainer {

int runGuarded(const std::function<int()> &work) {
  try {
    return work();
  } catch (const c10::Error &error) { // its what() carries a stack trace
    std::fprintf(stderr, "error: %s\n", error.what_without_backtrace());
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "error: out of memory; a smaller train.batch, train.context or model needs less\n");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  }
  return 1;
}

} // namespace taylor::trainer
