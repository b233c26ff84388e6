// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a test sees of the fake CUDA driver.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

struct FakeDriver {
  std::mutex mutex;
  std::vector<std::string> calls;
  std::map<std::string, int> failures; // CUresult by call
  int deviceCount = 2;
  uintptr_t outerContext = 1; // current where nothing is pushed; 0: none
};

extern "C" FakeDriver *fakeDriver();
