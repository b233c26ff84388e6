// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/support/Main.h"
#include "trainer/support/Error.h"
#include <ATen/ops/empty.h>
#include <c10/util/Logging.h>
#include <gtest/gtest.h>

using namespace taylor::trainer;

namespace {

std::string described(const std::function<void()> &work) {
  try {
    work();
  } catch (...) {
    return describeException();
  }
  return "nothing thrown";
}

const char *outOfMemory = "out of memory while reading 'a'; a smaller one needs less";

} // namespace

TEST(Main, describesExceptions) {
  EXPECT_EQ(described([] { throw std::bad_alloc(); }), "out of memory");
  nowDoing("reading 'a'", "a smaller one needs less");
  EXPECT_EQ(described([] { fail("expected ", 1); }), "expected 1");
  EXPECT_EQ(described([] { throw std::bad_alloc(); }), outOfMemory);
  EXPECT_EQ(described([] { at::empty({int64_t(1) << 60}); }), outOfMemory);
  EXPECT_EQ(described([] { TORCH_CHECK(false, "torch says"); }), "torch says");
}

TEST(Main, MemoryThatCannotBeHadEndsWithAMessage) {
  FLAGS_caffe2_use_fatal_for_enforce = true; // as libtorch may have it
  EXPECT_EQ(runGuarded([] {
              at::empty({int64_t(1) << 60});
              return 0;
            }),
            1);
}
