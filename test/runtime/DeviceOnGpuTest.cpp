// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code for a GPU (device-fixture/) on the fake driver: values, launches, contexts, and every message.
#include "runtime/Error.h"
#include "runtime/cuda/Memory.h"
#include "test/runtime/DeviceCall.h"
#include "test/runtime/cuda/fake-driver.h"
#include <algorithm>

namespace taylor::test::device {
namespace {

using runtime::cuda::Buffer;
using runtime::cuda::PrimaryContext;

/// A host array's twin on the current context's GPU.
struct DeviceArray {
  Array<float> &host;
  Buffer memory;
  explicit DeviceArray(Array<float> &host) : host(host), memory(host.data.size() * sizeof(float)) {
    memory.upload(host.data.data());
  }
  void download() { memory.download(host.data.data()); }
  TaylorTensor tensor() {
    TaylorTensor tensor = host.tensor();
    tensor.data = memory.data();
    tensor.device = TAYLOR_CUDA;
    return tensor;
  }
  uint64_t address() { return reinterpret_cast<uintptr_t>(memory.data()); }
};

class OnGpu : public OfDevice {
protected:
  static void SetUpTestSuite() { setenv("TAYLOR_CUDA_DRIVER", FAKE_DRIVER, 1); }
  void SetUp() override {
    runtime::cuda::DriverApi::get();
    fake.calls.clear();
    fake.launches.clear();
    fake.failures.clear();
    fake.capturing.clear();
    fake.outerContext = 0;
    options.stream = reinterpret_cast<void *>(uintptr_t(5));
  }
  long count(const std::string &prefix) const {
    return std::ranges::count_if(fake.calls,
                                 [&](const std::string &call) { return call.starts_with(prefix); });
  }
  FakeDriver &fake = *fakeDriver();
  Kernel kernel = loadFixture("device");
  TaylorRunOptions options = optionsFor(TAYLOR_CPU); // where the tensors are
  Call call;
};

TEST_F(OnGpu, ParametersAndValues) {
  PrimaryContext context(0);
  permute(call.q);
  DeviceArray q(call.q), o(call.o), m(call.m);
  ASSERT_EQ(run(kernel, "forward", {q.tensor(), o.tensor(), m.tensor()}, &options), 0)
      << taylor_last_error() << fake.fault;
  o.download();
  m.download();
  call.expectForward();
  ASSERT_EQ(fake.launches.size(), 2u);
  const FakeLaunch &rows = fake.launches[0], &finish = fake.launches[1];
  EXPECT_EQ(rows.kernel, "forward_rows");
  EXPECT_EQ(rows.grid, (std::array<unsigned, 3>{12, 1, 1}));
  EXPECT_EQ(rows.block, (std::array<unsigned, 3>{32, 1, 1}));
  EXPECT_EQ(rows.stream, 5u);
  EXPECT_EQ(rows.context, 1u);
  ASSERT_EQ(rows.parameters.size(), 12u);
  uint64_t y = rows.parameters[11];
  using Words = std::vector<uint64_t>;
  EXPECT_EQ(rows.parameters, (Words{b, h, h, t, t, 0, q.address(), h * t * d, d, h * d, 1, y}));
  EXPECT_EQ(finish.grid, (std::array<unsigned, 3>{b * h * t, 1, 1}));
  EXPECT_EQ(finish.parameters,
            (Words{b,           h,         h,     t, t, 0,           q.address(), h * t * d, d, h * d, 1,
                   o.address(), h * t * d, t * d, d, 1, m.address(), h * t,       t,         1, y}));
  EXPECT_EQ(count("cuMemAllocAsync 1088 stream=5"), 1);
  EXPECT_EQ(count("cuMemFreeAsync stream=5"), 1);
}

TEST_F(OnGpu, AbsentTensorsAreZero) {
  PrimaryContext context(0);
  DeviceArray q(call.q), o(call.o);
  int64_t offset = 9;
  options.offset = &offset;
  ASSERT_EQ(run(kernel, "forward", {q.tensor(), o.tensor(), {}}, &options), 0)
      << taylor_last_error() << fake.fault;
  o.download();
  call.expectForward(/*saved=*/false);
  const std::vector<uint64_t> &words = fake.launches.back().parameters;
  EXPECT_EQ(words[5], 9u);
  EXPECT_EQ(std::vector<uint64_t>(words.begin() + 16, words.begin() + 20), std::vector<uint64_t>(4, 0));
}

TEST_F(OnGpu, SeveralContexts) { // the driver compiles the same PTX for the other GPU
  for (int gpu : {0, 1, 0}) {
    Call other;
    PrimaryContext context(gpu);
    DeviceArray q(other.q), o(other.o), m(other.m);
    PrimaryContext elsewhere(1 - gpu); // what is current does not matter
    ASSERT_EQ(run(kernel, "forward", {q.tensor(), o.tensor(), m.tensor()}, &options), 0)
        << taylor_last_error();
    EXPECT_EQ(fake.launches.back().context, uintptr_t(gpu + 1));
    o.download();
    m.download();
    other.expectForward();
  }
  EXPECT_EQ(count("cuModuleLoadDataEx"), 2);
}

TEST_F(OnGpu, OneGpuPerCall) {
  PrimaryContext context(0);
  DeviceArray q(call.q), m(call.m);
  PrimaryContext other(1);
  DeviceArray o(call.o);
  expectFailure(kernel, {q.tensor(), o.tensor(), m.tensor()}, options,
                "expected memory of one GPU, but 'output:o' is in another context than 'input:q'");
  TaylorTensor host = call.o.tensor();
  expectFailure(kernel, {q.tensor(), host, m.tensor()}, options,
                "expected device cuda of 'output:o', but got cpu");
  host.device = TAYLOR_CUDA;
  expectFailure(kernel, {q.tensor(), host, m.tensor()}, options,
                "expected memory of a GPU in 'output:o', but the driver does not know its pointer");
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(OnGpu, CallersWorkspace) {
  PrimaryContext context(0);
  DeviceArray q(call.q), o(call.o), m(call.m);
  Buffer workspace(1088);
  options.workspace = workspace.data();
  options.workspace_size = 1088;
  ASSERT_EQ(run(kernel, "forward", {q.tensor(), o.tensor(), m.tensor()}, &options), 0) << taylor_last_error();
  EXPECT_EQ(count("cuMemAllocAsync"), 0);
  EXPECT_EQ(fake.launches[0].parameters[11], reinterpret_cast<uintptr_t>(workspace.data()) + 192);
  alignas(64) char host[1088];
  options.workspace = host;
  expectFailure(kernel, {q.tensor(), o.tensor(), m.tensor()}, options,
                "expected memory of a GPU in the workspace, but the driver does not know its pointer");
}

// The first kernel of a call begins after all that the stream had.
TEST_F(OnGpu, BeginsEarly) {
  PrimaryContext context(0);
  DeviceArray q(call.q), o(call.o), m(call.m);
  Kernel others = early();
  fake.execute = false; // the fixture's code does not wait
  EXPECT_EQ(run(others, "forward", {q.tensor(), o.tensor(), m.tensor()}, &options), 0) << taylor_last_error();
  fake.execute = true;
  EXPECT_EQ(count("cuLaunchKernel forward_rows"), 1);
  EXPECT_EQ(count("cuLaunchKernelEx forward_finish"), 1);
}

TEST_F(OnGpu, GraphCapture) {
  PrimaryContext context(0);
  DeviceArray q(call.q), o(call.o), m(call.m);
  Buffer workspace(1088);
  options.workspace = workspace.data();
  options.workspace_size = 1088;
  std::vector<TaylorTensor> tensors = {q.tensor(), o.tensor(), m.tensor()};
  fake.capturing = {5};
  expectFailure(kernel, tensors, options,
                "requires '" + fixturePath("device") +
                    "' to have run on this GPU before a CUDA graph is captured: its first run loads code");
  fake.capturing.clear();
  ASSERT_EQ(run(kernel, "forward", tensors, &options), 0) << taylor_last_error();
  fake.capturing = {5};
  fake.calls.clear();
  ASSERT_EQ(run(kernel, "forward", tensors, &options), 0) << taylor_last_error();
  // Launches and questions, and nothing that a capture forbids.
  EXPECT_EQ(count("cuLaunchKernel"), 2);
  for (const char *forbidden : {"cuMemAlloc", "cuModule", "cuFunc", "cuMemcpy", "cuStream"})
    EXPECT_EQ(count(forbidden), 0) << forbidden;
}

TEST_F(OnGpu, ErrorsOfTheDriver) {
  PrimaryContext context(0);
  DeviceArray q(call.q), o(call.o), m(call.m);
  std::vector<TaylorTensor> tensors = {q.tensor(), o.tensor(), m.tensor()};
  fake.failures = {{"cuMemAllocAsync", 2}};
  expectFailure(
      kernel, tensors, options,
      "a workspace of 1088 bytes: cuMemAllocAsync failed with CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
  fake.failures = {{"cuLaunchKernel", 701}};
  expectFailure(
      kernel, tensors, options,
      "kernel 'forward_rows': cuLaunchKernel failed with CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701): too many "
      "resources requested for launch");
  fake.failures = {{"cuMemAlloc", 2}};
  auto message = [](auto action) {
    try {
      action();
    } catch (const runtime::Error &error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message([] { Buffer array(100); }),
            "an array of 100 bytes: cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
  EXPECT_EQ(message([] { PrimaryContext none(2); }),
            "GPU 2: cuDeviceGet failed with CUDA_ERROR_INVALID_DEVICE (101): invalid device ordinal");
  fake.failures = {{"cuCtxPushCurrent", 101}};
  EXPECT_EQ(message([] { PrimaryContext one(1); }),
            "GPU 1: cuCtxPushCurrent failed with CUDA_ERROR_INVALID_DEVICE (101): invalid device ordinal");
  EXPECT_EQ(count("cuDevicePrimaryCtxRelease 1"), 1);
}

TEST_F(OnGpu, NothingToDo) {
  PrimaryContext context(0);
  call.q = Array<float>({b, h, 0, d});
  TaylorTensor q = call.q.tensor();
  q.device = TAYLOR_CUDA;
  TaylorTensor o = q;
  ASSERT_EQ(run(kernel, "forward", {q, o, {}}, &options), 0) << taylor_last_error();
  EXPECT_TRUE(fake.launches.empty());
}

} // namespace
} // namespace taylor::test::device
