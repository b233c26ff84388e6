// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a test sees of the fake CUDA driver.
#ifndef TAYLOR_TEST_RUNTIME_CUDA_FAKE_DRIVER_H
#define TAYLOR_TEST_RUNTIME_CUDA_FAKE_DRIVER_H
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

/// One launch of a kernel whose image is PTX text: its parameters are known by the text.
struct FakeLaunch {
  std::string kernel;
  std::array<unsigned, 3> grid, block;
  unsigned shared;
  uintptr_t stream, context;
  std::vector<uint64_t> parameters;
};

struct FakeDriver {
  std::mutex mutex;
  std::vector<std::string> calls;
  std::vector<FakeLaunch> launches;
  std::map<std::string, int> failures; // CUresult by call
  std::set<uintptr_t> capturing;       // streams: no module may be loaded meanwhile
  int deviceCount = 2;
  uintptr_t outerContext = 1; // current where nothing is pushed; 0: none
  bool execute = true;        // runs PTX in the interpreter; a fault is an illegal address
  std::string fault;          // of the last such launch
};

extern "C" FakeDriver *fakeDriver();

#endif
