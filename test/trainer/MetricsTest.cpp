// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/report/Metrics.h"
#include "Failure.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Files.h"
#include <cmath>

using namespace taylor::trainer;

namespace {

TEST(EventFile, Crc32cOfTheStandardsExample) { EXPECT_EQ(crc32c("123456789"), 0xe3069283U); }

TEST(Metrics, AResumedRunDropsLaterLines) {
  TemporaryFolder folder;
  {
    Metrics metrics(folder.path, -1, -1, true);
    for (int step = 1; step <= 4; ++step)
      metrics.write(step, {{"loss", 5.0 - step}});
    metrics.write(4, {{"validation_loss", NAN}});
  }
  EXPECT_EQ(readFile(folder.path / "metrics.jsonl"), "{\"step\":1,\"loss\":4.0}\n{\"step\":2,\"loss\":3.0}\n{"
                                                     "\"step\":3,\"loss\":2.0}\n{\"step\":4,\"loss\":1.0}\n"
                                                     "{\"step\":4,\"validation_loss\":null}\n");
  std::ofstream(folder.path / "metrics.jsonl", std::ios::app) << "{\"step\":2,\"lo"; // cut off by a kill
  Metrics(folder.path, 2, -1, true).write(3, {{"loss", 7}});
  EXPECT_EQ(readFile(folder.path / "metrics.jsonl"),
            "{\"step\":1,\"loss\":4.0}\n{\"step\":2,\"loss\":3.0}\n{\"step\":3,\"loss\":7.0}\n");
  int events = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder.path))
    events += entry.path().filename().string().starts_with("events.out.tfevents.");
  EXPECT_EQ(events, 1);
}

// It will be evaluated again: the checkpoint that it goes on from was saved before that.
TEST(Metrics, AResumedRunDropsEvaluationsThatItDoesNotKnow) {
  TemporaryFolder folder;
  {
    Metrics metrics(folder.path, -1, -1, false);
    for (int step = 1; step <= 2; ++step) {
      metrics.write(step, {{"loss", 5.0 - step}});
      metrics.write(step, {{"validation_loss", 6.0 - step}});
    }
  }
  Metrics(folder.path, 2, 1, false);
  EXPECT_EQ(readFile(folder.path / "metrics.jsonl"),
            "{\"step\":1,\"loss\":4.0}\n{\"step\":1,\"validation_loss\":5.0}\n{\"step\":2,\"loss\":3.0}\n");
}

TEST(Metrics, WhatCannotBeRemovedIsNamed) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.path / "events.out.tfevents.1" / "full");
  EXPECT_EQ(failure([&] { Metrics(folder.path, -1, -1, false); }),
            "cannot remove '" + (folder.path / "events.out.tfevents.1").string() + "': Directory not empty");
}

TEST(Progress, Durations) {
  EXPECT_EQ(formatDuration(0.4), "0:00");
  EXPECT_EQ(formatDuration(247), "4:07");
  EXPECT_EQ(formatDuration(3723), "1:02:03");
  EXPECT_EQ(formatWaiting("  ", 0.016), "  2 % waiting for data");
  EXPECT_EQ(formatWaiting(", ", 1), ", 100 % waiting for data");
  for (double share : {0.0, 0.01, std::nan("")})
    EXPECT_EQ(formatWaiting(", ", share), "");
}

TEST(Progress, Sizes) {
  EXPECT_EQ(formatBytes(1), "1 kB");
  EXPECT_EQ(formatBytes((1 << 20) - 1024), "1023 kB");
  EXPECT_EQ(formatBytes(1 << 20), "1 MB");
  EXPECT_EQ(formatBytes((8 << 20) + 1), "9 MB");
}

} // namespace
