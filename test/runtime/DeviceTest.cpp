// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code for a GPU (device-fixture/) in the interpreter: values, parameters, what is absent, and every message.
#include "test/runtime/DeviceCall.h"
#include <numeric>
#include <sstream>

namespace taylor::test::device {
namespace {

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

} // namespace
} // namespace taylor::test::device
