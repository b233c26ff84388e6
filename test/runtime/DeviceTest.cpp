// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code for a GPU (device-fixture/), in the interpreter and on the fake driver: values, parameters, what is
// absent, and every message.
#include "runtime/Artifact.h"
#include "runtime/Call.h"
#include "runtime/Error.h"
#include "runtime/cuda/Memory.h"
#include "test/runtime/Fixture.h"
#include "test/runtime/cuda/fake-driver.h"
#include <algorithm>
#include <cstring>
#include <numeric>

namespace taylor::test {
namespace {

constexpr int64_t b = 2, h = 3, t = 37, d = 8;

/// One array as the host has it; where it runs is for the test to say.
struct Call {
  Array<float> q{{b, h, t, d}, 1}, o{{b, h, t, d}}, m{{b, h, t}}, cotangent{{b, h, t, d}, 2},
      dq{{b, h, t, d}};

  std::vector<TaylorTensor> forward() { return {q.tensor(), o.tensor(), m.tensor()}; }
  std::vector<TaylorTensor> backward() { return {cotangent.tensor(), dq.tensor()}; }

  float sum(int64_t i, int64_t j, int64_t k) {
    float y = 0;
    for (int64_t c = 0; c < d; ++c)
      y = c == 0 ? q.at(i, j, k, 0) : y + q.at(i, j, k, c);
    return y;
  }
  void expectForward(bool saved = true) {
    for (int64_t i = 0; i < b; ++i)
      for (int64_t j = 0; j < h; ++j)
        for (int64_t k = 0; k < t; ++k) {
          ASSERT_EQ(m.at(i, j, k), saved ? sum(i, j, k) : 0) << i << j << k;
          for (int64_t c = 0; c < d; ++c)
            ASSERT_EQ(o.at(i, j, k, c), sum(i, j, k) * q.at(i, j, k, c));
        }
  }
};

/// [b, t, h, d] in memory.
void permute(Array<float> &x) {
  Array<float> old = x;
  x.strides = {x.sizes[1] * x.sizes[2] * x.sizes[3], x.sizes[3], x.sizes[1] * x.sizes[3], 1};
  for (int64_t i = 0; i < b; ++i)
    for (int64_t j = 0; j < h; ++j)
      for (int64_t k = 0; k < t; ++k)
        for (int64_t l = 0; l < d; ++l)
          x.at(i, j, k, l) = old.at(i, j, k, l);
}

TaylorRunOptions optionsFor(TaylorDevice device) {
  TaylorRunOptions options = {};
  options.struct_size = sizeof(options);
  options.device = device;
  return options;
}

void expectFailure(const Kernel &kernel, const std::vector<TaylorTensor> &tensors,
                   const TaylorRunOptions &options, const std::string &message,
                   const char *function = "forward") {
  EXPECT_EQ(run(kernel, function, tensors, &options), 1);
  EXPECT_EQ(taylor_last_error(), message);
}

class OfDevice : public testing::Test {
protected:
  /// The artifact `device` with some of its bytes replaced by as many others.
  Kernel damaged(const std::string &from, const std::string &to) {
    EXPECT_EQ(from.size(), to.size());
    std::string bytes = readBytes(fixturePath("device"));
    size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    bytes.replace(at, from.size(), to);
    bytes.resize(bytes.size() - sizeof(TaylorTrailer));
    TaylorTrailer trailer = {TAYLOR_ARTIFACT_MAGIC, TAYLOR_ARTIFACT_ABI, bytes.size(),
                             runtime::wordChecksum(bytes.data(), bytes.size())};
    bytes.append(reinterpret_cast<char *>(&trailer), sizeof(trailer));
    path = folder.path + "/damaged.so";
    writeBytes(path, bytes);
    TaylorKernel *loaded = nullptr;
    EXPECT_EQ(taylor_load(path.c_str(), &loaded), 0) << taylor_last_error();
    return Kernel(loaded, taylor_unload);
  }
  /// `device` with kernels of its forward that begin early.
  Kernel early() {
    std::string manifest =
        "0,\n            \"arguments\": [{\"tensor\": \"input:q\", \"aligned16\": true}, "
        "{\"workspace\": \"y\"}]},\n"
        "           {\"name\": \"finish\", \"entry\": \"forward_finish\", \"grid\": [\"b\", \"h\", "
        "\"t\"], \"threads\": 8, \"shared\": 0,\n            \"arguments\"";
    std::string changed = manifest, before = "\n            \"arg", after = "\"early\":true,\"arg";
    for (size_t at = 0; (at = changed.find(before, at)) != std::string::npos;)
      changed.replace(at, before.size(), after);
    return damaged(manifest, changed);
  }

  TemporaryFolder folder;
  std::string path;
};

//===----------------------------------------------------------------------===//
// The interpreter
//===----------------------------------------------------------------------===//

class Interpreted : public OfDevice {
protected:
  void SetUp() override { // kernels read by 16 bytes
    unsetenv("TAYLOR_PTX_SEED");
    unsetenv("TAYLOR_PTX_CHECKS");
  }
  Kernel kernel = loadFixture("device");
  TaylorRunOptions options = optionsFor(TAYLOR_PTX);
  Call call;
};

TEST_F(Interpreted, ForwardAndBackward) {
  ASSERT_EQ(run(kernel, "forward", call.forward(), &options), 0) << taylor_last_error();
  call.expectForward();
  ASSERT_EQ(run(kernel, "backward", call.backward(), &options), 0) << taylor_last_error();
  for (size_t i = 0; i < call.dq.data.size(); ++i)
    ASSERT_EQ(call.dq.data[i], 2 * call.cotangent.data[i]);
}

TEST_F(Interpreted, Strides) {
  permute(call.q);
  permute(call.o);
  ASSERT_EQ(run(kernel, "forward", call.forward(), &options), 0) << taylor_last_error();
  call.expectForward();
}

TEST_F(Interpreted, AbsentResults) {
  std::vector<TaylorTensor> forward = call.forward();
  forward[2] = {};
  ASSERT_EQ(run(kernel, "forward", forward, &options), 0) << taylor_last_error();
  call.expectForward(/*saved=*/false);
  std::vector<TaylorTensor> backward = call.backward();
  backward[1] = {};
  ASSERT_EQ(run(kernel, "backward", backward, &options), 0) << taylor_last_error();
  EXPECT_EQ(call.dq.data, std::vector<float>(call.dq.data.size()));
}

TEST_F(Interpreted, NoBlocks) {
  call.q = Array<float>({b, h, 0, d});
  call.o = Array<float>({b, h, 0, d});
  call.m = Array<float>({b, h, 0});
  EXPECT_EQ(run(kernel, "forward", call.forward(), &options), 0) << taylor_last_error();
}

TEST_F(Interpreted, Workspace) {
  int64_t bytes = 0;
  std::vector<TaylorTensor> tensors = call.forward();
  ASSERT_EQ(taylor_workspace(kernel.get(), "forward", tensors.data(), 3, &options, &bytes), 0)
      << taylor_last_error();
  EXPECT_EQ(bytes, 192 + 896); // 37 and 222 numbers, each up to 64 bytes
  alignas(64) static char memory[2048];
  options.workspace = memory;
  options.workspace_size = bytes;
  ASSERT_EQ(run(kernel, "forward", tensors, &options), 0) << taylor_last_error();
  call.expectForward();
  float first;
  std::memcpy(&first, memory + 192, sizeof(first));
  EXPECT_EQ(first, call.sum(0, 0, 0));
  options.workspace_size = 1000;
  expectFailure(kernel, tensors, options, "expected a workspace of at least 1088 bytes, but got 1000");
}

TEST_F(Interpreted, SizesThatNoMachineHas) {
  const int64_t many[] = {1 << 16, 1 << 15, 1, d}, strides[] = {0, 0, 0, 1}, rows[] = {0, 0, 0};
  const int64_t huge[] = {1 << 30, 1 << 20, 1 << 30, d};
  std::vector<TaylorTensor> tensors = {
      {call.q.data.data(), TAYLOR_F32, TAYLOR_CPU, 4, many, strides}, {}, {}};
  int64_t bytes = 0;
  const int64_t count = 3;
  std::vector<TaylorTensor> shapes = {{nullptr, TAYLOR_F32, TAYLOR_CPU, 4, huge, strides},
                                      {nullptr, TAYLOR_F32, TAYLOR_CPU, 4, huge, strides},
                                      {nullptr, TAYLOR_F32, TAYLOR_CPU, 3, huge, rows}};
  EXPECT_EQ(taylor_workspace(kernel.get(), "forward", shapes.data(), count, &options, &bytes), 1);
  EXPECT_STREQ(taylor_last_error(), "unsupported sizes: the kernel's workspace would pass 2^63 bytes");
  // The backward's gradient is optional, so that a cotangent of any size can be given alone.
  tensors.resize(2);
  expectFailure(
      kernel, tensors, options,
      "unsupported sizes: kernel 'scale' would need more than 2147483647 blocks; use smaller batches",
      "backward");
  // One query past what 32 bits count, and positions as far.
  const int64_t longRows[] = {1, 1, 2147482625, d};
  tensors[0].sizes = longRows;
  expectFailure(kernel, tensors, options,
                "unsupported sizes: kernels count to 2147482624, but got T = 2147482625; use shorter pieces",
                "backward");
  const int64_t offset = 2147482624;
  options.offset = &offset;
  tensors = call.forward();
  expectFailure(kernel, tensors, options,
                "unsupported sizes: kernels count to 2147482624, but got offset + T = " +
                    std::to_string(offset + t) + "; use shorter pieces");
}

TEST_F(Interpreted, Alignment) {
  std::vector<TaylorTensor> tensors = call.forward();
  std::vector<float> memory(b * h * t * d + 16);
  float *aligned = memory.data();
  while (reinterpret_cast<uintptr_t>(aligned) % 16 != 0)
    ++aligned;
  tensors[0].data = aligned + 1;
  std::ostringstream address;
  address << static_cast<void *>(aligned + 1);
  expectFailure(
      kernel, tensors, options,
      "expected data of 'input:q' aligned to 16 bytes, as the GPU's kernels read it, but got address " +
          address.str() + "; copy it to such an address");
  const int64_t strides[] = {h * t * d, t * d, 9, 1};
  tensors[0].data = aligned;
  tensors[0].strides = strides;
  expectFailure(
      kernel, tensors, options,
      "expected a stride of axis t of 'input:q' that is a multiple of 4 elements (16 bytes), as the "
      "GPU's kernels read it, but got 9; copy it to a contiguous tensor");
  // What is not read 16 bytes at a time may lie anywhere, and an axis of size 1 may have any stride.
  tensors = call.forward();
  tensors[1].data = aligned + 1;
  EXPECT_EQ(run(kernel, "forward", tensors, &options), 0) << taylor_last_error();
  Array<float> one({b, h, 1, d}, 1), out({b, h, 1, d}), row({b, h, 1});
  one.strides[2] = 5;
  EXPECT_EQ(run(kernel, "forward", {one.tensor(), out.tensor(), row.tensor()}, &options), 0)
      << taylor_last_error();
}

TEST_F(Interpreted, WhereItCanRun) {
  expectFailure(kernel, call.forward(), optionsFor(TAYLOR_CPU),
                "expected code for this processor in '" + fixturePath("device") +
                    "', but got code for sm_80: compile with --target=native, or run it in the interpreter "
                    "(--device=ptx)");
  options.device = 3;
  expectFailure(kernel, call.forward(), options, "expected device 0 (cpu), 1 (cuda) or 2 (ptx), but got 3");
  options.device = TAYLOR_PTX;
  std::vector<TaylorTensor> tensors = call.forward();
  tensors[0].device = TAYLOR_CUDA;
  expectFailure(kernel, tensors, options, "expected device cpu of 'input:q', but got cuda");
  Problem<float> problem;
  Kernel host = loadFixture("gated");
  expectFailure(host, problem.forward(), options,
                "expected code for a GPU in '" + fixturePath("gated") +
                    "', but got code for native: compile with --target=sm_80 or another GPU's name");
}

TEST_F(Interpreted, ReadsPastATensor) {
  Kernel faulty = damaged("setp.ge.u64 %p0, %d4, %d1;", "setp.gt.u64 %p0, %d4, %d1;");
  call.q = Array<float>({1, 1, t, d}, 1);
  call.o = Array<float>({1, 1, t, d});
  call.m = Array<float>({1, 1, t});
  auto *end = call.q.data.data() + t * d;
  std::ostringstream address;
  address << static_cast<void *>(end);
  expectFailure(
      faulty, call.forward(), options,
      "'" + path +
          "' (sm_80): forward_rows, line 45 'ld.global.v4.f32', block (1,0,0), thread (5,0,0): reads "
          "16 bytes at global address " +
          address.str() +
          ", 1184 bytes after the start of 'input:q', which has "
          "1184 bytes");
}

TEST_F(Interpreted, WritesAnInput) {
  Kernel faulty = damaged("ld.param.u64 %d8, [p_o];", "ld.param.u64 %d8, [p_q];");
  std::ostringstream address;
  address << static_cast<void *>(call.q.data.data());
  expectFailure(
      faulty, call.forward(), options,
      "'" + path +
          "' (sm_80): forward_finish, line 112 'st.global.f32', block (0,0,0), thread (0,0,0): writes "
          "4 bytes at global address " +
          address.str() + ", but 'input:q' may only be read");
}

TEST_F(Interpreted, ReadsWorkspaceThatNobodyWrote) {
  Kernel faulty = damaged("st.global.f32 [%d12], %f8;", "                          ");
  ASSERT_EQ(run(faulty, "forward", call.forward(), &options), 0) << taylor_last_error();
  EXPECT_TRUE(std::isnan(call.o.data[0]));
}

TEST_F(Interpreted, ViewsOfOneArray) { // q and o between each other's rows
  Array<float> packed({b, h, t, 2 * d}, 1);
  std::vector<TaylorTensor> tensors = call.forward();
  for (int64_t i = 0; i < b; ++i)
    for (int64_t j = 0; j < h; ++j)
      for (int64_t k = 0; k < t; ++k)
        for (int64_t c = 0; c < d; ++c)
          packed.at(i, j, k, c) = call.q.at(i, j, k, c);
  tensors[0].data = packed.data.data();
  tensors[1].data = packed.data.data() + d;
  tensors[0].strides = tensors[1].strides = packed.strides.data();
  ASSERT_EQ(run(kernel, "forward", tensors, &options), 0) << taylor_last_error();
  EXPECT_EQ(packed.at(1, 2, 36, d + 3), call.sum(1, 2, 36) * call.q.at(1, 2, 36, 3));
}

TEST_F(Interpreted, TextThatItCannotRead) {
  Kernel faulty = damaged("mul.f32 %f2, %f0, %f1;", "mux.f32 %f2, %f0, %f1;");
  expectFailure(faulty, call.forward(), options, path + " (sm_80):101:3: unsupported instruction 'mux.f32'");
  Kernel binary = loadFixture("image-cubin");
  expectFailure(binary, call.forward(), options,
                "'" + fixturePath("image-cubin") +
                    "' has cubins only, which need a GPU: compile it with taylorc, which adds PTX");
}

TEST_F(Interpreted, ParametersOtherThanTheManifests) {
  Kernel faulty = damaged("{\"tensor\": \"saved:m\"}, {\"workspace\": \"y\"}",
                          "{\"tensor\": \"saved:m\"}                    ");
  expectFailure(faulty, call.forward(), options,
                "forward_finish: expected 168 bytes of parameters, but got 160");
}

TEST_F(Interpreted, TouchesBeforeItsWait) {
  Kernel unsafe = early();
  EXPECT_EQ(run(unsafe, "forward", call.forward(), &options), 1);
  EXPECT_NE(std::string(taylor_last_error()).find("requires griddepcontrol.wait before it"),
            std::string::npos)
      << taylor_last_error();
}

TEST_F(Interpreted, Profile) {
  struct Counts {
    std::vector<std::string> kernels;
    uint64_t global = 0;
  } counts;
  TaylorPtxOptions how = {};
  how.struct_size = sizeof(how);
  how.seed = 3;
  how.profile_context = &counts;
  how.profile = [](void *context, const TaylorPtxProfile *profile) {
    auto *counts = static_cast<Counts *>(context);
    EXPECT_EQ(std::accumulate(profile->class_instructions, profile->class_instructions + profile->class_count,
                              uint64_t(0)),
              profile->instructions);
    EXPECT_EQ(profile->bank_conflicts, 0u);
    for (int64_t i = 0; i < profile->class_count; ++i)
      if (std::string(profile->class_names[i]) == "global")
        counts->global += profile->class_instructions[i];
    counts->kernels.push_back(
        std::string(profile->function) + "." + profile->kernel + " " + profile->entry + " " +
        std::to_string(profile->blocks) + " x " + std::to_string(profile->threads) + " read " +
        std::to_string(profile->global_read) + " wrote " + std::to_string(profile->global_written));
  };
  options.ptx = &how;
  options.threads = 2;
  ASSERT_EQ(run(kernel, "forward", call.forward(), &options), 0) << taylor_last_error();
  EXPECT_EQ(counts.kernels,
            (std::vector<std::string>{"forward.rows forward_rows 12 x 32 read 7104 wrote 888",
                                      "forward.finish forward_finish 222 x 8 read 14208 wrote 7992"}));
  EXPECT_EQ(counts.global, 12u * 3 + 222 * 4);
  how.struct_size = 8;
  expectFailure(kernel, call.forward(), options,
                "expected struct_size " + std::to_string(sizeof(how)) + " of TaylorPtxOptions, but got 8");
}

TEST_F(Interpreted, Environment) {
  setenv("TAYLOR_PTX_SEED", "12", 1);
  setenv("TAYLOR_PTX_CHECKS", "0", 1);
  EXPECT_EQ(run(kernel, "forward", call.forward(), &options), 0) << taylor_last_error();
  runtime::PtxSettings settings = runtime::PtxSettings::fromEnvironment();
  EXPECT_EQ(settings.seed, 12u);
  EXPECT_FALSE(settings.checks);
  setenv("TAYLOR_PTX_CHECKS", "off", 1);
  expectFailure(kernel, call.forward(), options,
                "expected a number, 0 or 1, in TAYLOR_PTX_CHECKS, but got 'off'");
  unsetenv("TAYLOR_PTX_CHECKS");
  setenv("TAYLOR_PTX_SEED", "-1", 1);
  expectFailure(kernel, call.forward(), options, "expected a number in TAYLOR_PTX_SEED, but got '-1'");
  unsetenv("TAYLOR_PTX_SEED");
}

TEST(Images, Refused) {
  auto expectRefusal = [](const std::string &name, const std::string &message) {
    TaylorKernel *kernel = nullptr;
    EXPECT_EQ(taylor_load(fixturePath(name).c_str(), &kernel), 1);
    EXPECT_EQ(taylor_last_error(), "'" + fixturePath(name) + "': " + message);
  };
  expectRefusal("image-of-none", "expected images of the manifest's GPUs, but got one for 'sm_90'");
  expectRefusal("image-of-no-kind",
                "expected an image of kind 0 (PTX) or 1 (cubin) for target 'sm_80', but got 2");
  expectRefusal("image-open", "requires the bytes of the image for target 'sm_80', followed by a zero byte");
  expectRefusal("image-empty", "requires the bytes of the image for target 'sm_80'");
  expectRefusal("image-twice", "expected one PTX text for target 'sm_80', but got two");
  expectRefusal("image-missing", "requires an image for target 'sm_80', which the manifest names");
}

//===----------------------------------------------------------------------===//
// The fake driver
//===----------------------------------------------------------------------===//

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
    runtime::cuda::Driver::get();
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
} // namespace taylor::test
