// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Error.h"
#include "runtime/cuda/Program.h"
#include "test/runtime/cuda/fake-driver.h"
#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>

using namespace taylor::runtime;
using namespace taylor::runtime::cuda;

namespace {

template <typename Action> std::string messageOf(Action action) {
  try {
    action();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

class Cuda : public testing::Test {
protected:
  void SetUp() override {
    setenv("TAYLOR_CUDA_DRIVER", FAKE_DRIVER, 1);
    DriverApi::get(); // the process's one
    fake.calls.clear();
    fake.failures.clear();
    fake.outerContext = 1;
  }
  long count(const std::string &prefix) const {
    return std::ranges::count_if(fake.calls,
                                 [&](const std::string &call) { return call.starts_with(prefix); });
  }
  void launch(DeviceProgram &program, unsigned shared = 0, const std::string &kernel = "forward") {
    int value = 7;
    void *parameters[] = {&value};
    program.launch(kernel, {{4, 2, 1}, {128, 1, 1}, shared}, reinterpret_cast<Stream>(uintptr_t(9)),
                   parameters);
  }

  FakeDriver &fake = *fakeDriver();
  std::vector<Image> images = {{"sm_80", false, "cubin80"}, {"sm_80", true, "ptx80"}};
};

TEST_F(Cuda, ListsDevices) {
  std::vector<DeviceInfo> devices = DriverApi::get().devices();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1].name, "Fake H100");
  EXPECT_EQ(devices[1].capability, 90);
  EXPECT_EQ(devices[1].sharedPerBlock, 232448);
}

TEST_F(Cuda, ChoosesTheImageThatFits) {
  std::vector<Image> all = {{"sm_80", true, "a"},
                            {"sm_80", false, "b"},
                            {"sm_86", false, "c"},
                            {"sm_90a", false, "d"},
                            {"sm_89", true, "e"}};
  auto chosen = [&](int capability) {
    const Image *image = chooseImage(all, capability);
    return image ? std::string(image->bytes) : "none";
  };
  EXPECT_EQ(chosen(75), "none");
  EXPECT_EQ(chosen(80), "b");
  EXPECT_EQ(chosen(86), "c");
  EXPECT_EQ(chosen(89), "c"); // a cubin of the same major version before newer PTX
  EXPECT_EQ(chosen(90), "d");
  EXPECT_EQ(chosen(100), "e"); // PTX goes to the driver's compiler; a suffix fits its own GPU only
}

// What was made for one GPU alone comes first there, also as PTX, and goes to no other.
TEST_F(Cuda, ChoosesTheImageOfOneGpuThere) {
  std::vector<Image> all = {{"sm_80", true, "ptx80"},
                            {"sm_80", false, "cubin80"},
                            {"sm_90", false, "cubin90"},
                            {"sm_90a", true, "ptx90a"}};
  auto chosen = [&](int capability) { return std::string(chooseImage(all, capability)->bytes); };
  EXPECT_EQ(chosen(80), "cubin80");
  EXPECT_EQ(chosen(89), "cubin80");
  EXPECT_EQ(chosen(90), "ptx90a");
  EXPECT_EQ(chosen(100), "ptx80");
  all.push_back({"sm_90a", false, "cubin90a"});
  EXPECT_EQ(chosen(80), "cubin80");
  EXPECT_EQ(chosen(90), "cubin90a");
  EXPECT_EQ(chosen(100), "ptx80");
  std::vector<Image> exact = {{"sm_90a", true, "a"}};
  EXPECT_EQ(chooseImage(exact, 100), nullptr);
  EXPECT_EQ(chooseImage(exact, 80), nullptr);
  std::vector<Image> roles = {{"sm_90a+roles", true, "roles"}, {"sm_80", true, "plain"}};
  EXPECT_EQ(std::string(chooseImage(roles, 90)->bytes), "roles");
  EXPECT_EQ(std::string(chooseImage(roles, 100)->bytes), "plain");
  std::vector<Image> early = {{"sm_90+early", true, "early"}, {"sm_80", true, "plain"}};
  EXPECT_EQ(std::string(chooseImage(early, 100)->bytes), "early");
  EXPECT_EQ(std::string(chooseImage(early, 80)->bytes), "plain");
}

TEST_F(Cuda, LaunchesOnTheCallersStream) {
  DeviceProgram program("softmax.so", images);
  launch(program);
  EXPECT_EQ(fake.calls.back(),
            "cuLaunchKernel function=101 grid=4,2,1 block=128,1,1 shared=0 stream=9 parameter=7");
  EXPECT_EQ(count("cuFuncSetAttribute"), 0);
}

TEST_F(Cuda, LaunchesEarly) {
  DeviceProgram program("softmax.so", images);
  int value = 7;
  void *parameters[] = {&value};
  LaunchShape shape{{4, 2, 1}, {128, 1, 1}, 0, /*startsEarly=*/true};
  program.launch("forward", shape, reinterpret_cast<Stream>(uintptr_t(9)), parameters);
  EXPECT_EQ(fake.calls.back(),
            "cuLaunchKernelEx function=101 grid=4,2,1 block=128,1,1 shared=0 stream=9 parameter=7 early");
  fake.failures = {{"cuLaunchKernelEx", 701}};
  EXPECT_EQ(
      messageOf([&] { program.launch("forward", shape, nullptr, parameters); }),
      "kernel 'forward': cuLaunchKernelEx failed with CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701): too many "
      "resources requested for launch");
}

TEST_F(Cuda, LaunchesAsManyBlocksAsRun) {
  DeviceProgram program("softmax.so", images);
  int value = 7;
  void *parameters[] = {&value};
  LaunchShape shape{{400, 1, 1}, {128, 1, 1}, 0, /*startsEarly=*/false, /*isPersistent=*/true};
  program.launch("forward", shape, nullptr, parameters);
  EXPECT_EQ(fake.calls.back(),
            "cuLaunchKernel function=101 grid=108,1,1 block=128,1,1 shared=0 stream=0 parameter=7");
  shape.grid[0] = 5;
  shape.startsEarly = true;
  program.launch("forward", shape, nullptr, parameters);
  EXPECT_EQ(fake.calls.back(),
            "cuLaunchKernelEx function=101 grid=5,1,1 block=128,1,1 shared=0 stream=0 parameter=7 early");
}

TEST_F(Cuda, LoadsOncePerContext) {
  DeviceProgram program("softmax.so", images);
  launch(program);
  launch(program);
  EXPECT_EQ(count("cuModuleLoadDataEx cubin80"), 1);
  EXPECT_EQ(count("cuModuleGetFunction forward"), 1);
  {
    ContextScope scope(reinterpret_cast<void *>(uint64_t(2) << 40), "argument 'q'");
    launch(program);
  }
  EXPECT_EQ(count("cuModuleLoadDataEx ptx80"), 1); // the other GPU is newer: its driver compiles the PTX
  EXPECT_EQ(count("cuCtxPopCurrent"), 1);
  launch(program);
  EXPECT_EQ(count("cuModuleLoadDataEx"), 2);
}

TEST_F(Cuda, UnloadsEveryModule) {
  {
    DeviceProgram program("softmax.so", images);
    launch(program);
  }
  EXPECT_EQ(count("cuModuleUnload 100"), 1);
}

TEST_F(Cuda, ManyThreadsLoadOnce) {
  DeviceProgram program("softmax.so", images);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { launch(program); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(count("cuModuleLoadDataEx"), 1);
  EXPECT_EQ(count("cuLaunchKernel"), 8);
}

TEST_F(Cuda, AsksForMuchSharedMemoryOnce) {
  DeviceProgram program("softmax.so", images);
  launch(program, 100000);
  launch(program, 60000);
  EXPECT_EQ(count("cuFuncSetAttribute 8=100000"), 1);
  EXPECT_EQ(count("cuFuncSetAttribute"), 1); // never lowered
  EXPECT_EQ(messageOf([&] { launch(program, 200000); }),
            "kernel 'forward' requires 200000 bytes of shared memory, but a block of Fake A100 has 166912; "
            "compile with --target=sm_80");
}

TEST_F(Cuda, AGridWithoutBlocksLaunchesNothing) {
  DeviceProgram program("softmax.so", images);
  program.launch("forward", {{4, 0, 1}, {128, 1, 1}}, nullptr, nullptr);
  EXPECT_EQ(count("cuLaunchKernel"), 0);
  EXPECT_EQ(
      messageOf([&] { program.launch("forward", {{1, 70000, 1}, {128, 1, 1}}, nullptr, nullptr); }),
      "kernel 'forward' requires 70000 blocks along axis y of its grid, but a GPU takes at most 65535; use "
      "smaller batches");
}

TEST_F(Cuda, ErrorsNameKernelCallCodeAndMeaning) {
  DeviceProgram program("softmax.so", images);
  fake.failures = {{"cuLaunchKernel", 701}};
  EXPECT_EQ(messageOf([&] { launch(program); }),
            "kernel 'forward': cuLaunchKernel failed with CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701): too many "
            "resources requested for launch");
  fake.failures.clear();
  EXPECT_EQ(
      messageOf([&] { launch(program, 0, "missing"); }),
      "kernel 'missing': cuModuleGetFunction failed with CUDA_ERROR_NOT_FOUND (500): named symbol not found");
}

TEST_F(Cuda, ShowsTheDriversCompilerLog) {
  DeviceProgram program("softmax.so", {{"sm_80", true, "ptx80"}});
  fake.failures = {{"cuModuleLoadDataEx", 218}};
  EXPECT_EQ(
      messageOf([&] { launch(program); }),
      "code for sm_80 in 'softmax.so' (ptx input, line 3; error: unknown opcode): cuModuleLoadDataEx failed "
      "with CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation failed");
  // What failed is not kept.
  fake.failures.clear();
  launch(program);
  EXPECT_EQ(count("cuLaunchKernel"), 1);
}

TEST_F(Cuda, SaysWhichTargetToCompileFor) {
  DeviceProgram program("softmax.so", {{"sm_90a", false, "cubin90a"}});
  EXPECT_EQ(
      messageOf([&] { launch(program); }),
      "expected code for Fake A100 (sm_80) in 'softmax.so', but got sm_90a; compile with --target=sm_80");
}

TEST_F(Cuda, RefusesMemoryThatIsNotOfAGpu) {
  int onHost = 0;
  EXPECT_EQ(messageOf([&] { ContextScope scope(&onHost, "argument 'q'"); }),
            "expected memory of a GPU in argument 'q', but the driver does not know its pointer");
  fake.outerContext = 0;
  DeviceProgram program("softmax.so", images);
  EXPECT_EQ(messageOf([&] { launch(program); }),
            "expected a current CUDA context for kernel 'forward', but this thread has none");
}

/// Exits with 0 where a process whose driver is this one starts with the message, twice.
[[noreturn]] void startWith(const char *driver, int devices, const std::string &message) {
  setenv("TAYLOR_CUDA_DRIVER", driver, 1);
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  fakeDriver()->deviceCount = devices;
  std::string first = messageOf([] { DriverApi::get(); }), second = messageOf([] { DriverApi::get(); });
  std::fprintf(stderr, "%s\n", first.c_str());
  _exit(first == second && first.starts_with(message) ? 0 : 1);
}

TEST(CudaStart, SaysWhatIsMissing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // each in a process that has loaded no driver yet
  auto succeeds = testing::ExitedWithCode(0);
  EXPECT_EXIT(startWith("libno-such-driver.so", 2,
                        "requires an NVIDIA driver, but libno-such-driver.so could not be loaded ("),
              succeeds, "run on the processor instead");
  EXPECT_EXIT(
      startWith("libm.so.6", 2,
                "requires a newer NVIDIA driver: libm.so.6 has no cuInit; run on the processor instead "
                "(--device=cpu), or in the interpreter (--device=ptx)"),
      succeeds, "");
  EXPECT_EXIT(
      startWith(FAKE_DRIVER, 0,
                "requires an NVIDIA GPU, but the driver finds none (CUDA_VISIBLE_DEVICES=''); run on the "
                "processor instead (--device=cpu), or in the interpreter (--device=ptx)"),
      succeeds, "");
}

} // namespace
