// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/support/Main.h"
#include <mutex>

namespace taylor::trainer {

namespace {

struct Activity {
  std::mutex mutex;
  std::string what, wayOut;
};

Activity &activity() {
  static Activity present;
  return present;
}

} // namespace

void nowDoing(std::string what, std::string wayOut) {
  std::lock_guard lock(activity().mutex);
  activity().what = std::move(what);
  activity().wayOut = std::move(wayOut);
}

std::string describeOutOfMemory() {
  std::lock_guard lock(activity().mutex);
  const auto &[mutex, what, wayOut] = activity();
  return "out of memory" + (what.empty() ? "" : " while " + what) + (wayOut.empty() ? "" : "; " + wayOut);
}

} // namespace taylor::trainer
