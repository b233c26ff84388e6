// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// runtime/torch/Attention.h as a trainer uses it: the manifest tells which modules to build, call() trains.
#include "runtime/torch/Attention.h"
#include "runtime/torch/Parallel.h"
#include "test/runtime/Fixture.h"
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/sigmoid.h>
#include <c10/core/GradMode.h>
#include <chrono>
#include <thread>
#include <torch/csrc/autograd/autograd.h>

namespace taylor::test {
namespace {

class AttentionTest : public testing::Test {
protected:
  TemporaryFolder folder;
  void SetUp() override {
    for (const char *name : {"FIXTURE_FAIL", "FIXTURE_KILL", "FIXTURE_DELAY"})
      unsetenv(name);
    setenv("TAYLOR_CACHE_DIR", folder.path.c_str(), 1);
    setenv("TAYLORC", sourcePath("fixture.py").c_str(), 1);
  }
  static at::Tensor random(at::IntArrayRef sizes) { return at::randn(sizes).requires_grad_(); }
};

/// The inputs that the manifest asks for, b = 2, h = 4, g = 2, t = u = 9.
std::vector<at::Tensor> inputsOf(const Manifest &manifest) {
  std::vector<at::Tensor> inputs;
  for (const TensorInfo &info : manifest.inputs) {
    std::vector<int64_t> sizes;
    for (const TensorAxis &axis : info.axes)
      sizes.push_back(axis.isChannel() ? axis.size : std::vector<int64_t>{2, 4, 2, 9, 9}[size_t(axis.dim)]);
    inputs.push_back(at::randn(sizes).requires_grad_());
  }
  return inputs;
}

TEST_F(AttentionTest, ManifestAndGradients) {
  Attention attention({.spec = sourcePath("gated.mlir"), .headDim = 16, .valueDim = 8});
  const Manifest &manifest = attention.manifest();
  ASSERT_EQ(manifest.inputs.size(), 5u);
  EXPECT_EQ(manifest.inputs[3].name, "out_gate");
  EXPECT_EQ(manifest.inputs[3].source.kind, Source::Kind::Projection);
  EXPECT_TRUE(manifest.inputs[3].source.bias);
  EXPECT_EQ(manifest.inputs[4].source.kind, Source::Kind::Parameter);
  EXPECT_EQ(manifest.inputs[4].source.initial.kind, Initial::Kind::Ones);
  EXPECT_EQ(manifest.sizes.at("e"), 8);

  std::vector<at::Tensor> x = inputsOf(manifest);
  at::Tensor ours = attention.call(x);
  at::Tensor softmax = at::scaled_dot_product_attention(x[0], x[1], x[2], {}, 0.0, /*is_causal=*/true, {},
                                                        /*enable_gqa=*/true);
  at::Tensor theirs = at::sigmoid(x[3]).unsqueeze(-1) * x[4] * softmax;
  EXPECT_LT((ours - theirs).abs().max().item<float>(), 1e-5);
  at::Tensor cotangent = at::randn(ours.sizes());
  auto gradients = torch::autograd::grad({ours}, x, {cotangent}),
       expected = torch::autograd::grad({theirs}, x, {cotangent});
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_LT((gradients[i] - expected[i]).norm().item<float>(), 1e-5 * expected[i].norm().item<float>())
        << manifest.inputs[i].name;
}

TEST_F(AttentionTest, Options) {
  Attention attention({.spec = sourcePath("plain.mlir"), .headDim = 16, .mask = "bidirectional"});
  std::vector<at::Tensor> x = inputsOf(attention.manifest());
  EXPECT_EQ(attention.manifest().mask, "bidirectional");
  at::Tensor theirs = at::scaled_dot_product_attention(x[0], x[1], x[2], {}, 0.0, false, {}, true);
  EXPECT_LT((attention.call(x) - theirs).abs().max().item<float>(), 1e-5);
  Attention aligned({.spec = sourcePath("plain.mlir"), .headDim = 16, .parameters = {{"aligned", "1"}}});
  EXPECT_TRUE(aligned.manifest().aligned);
}

TEST_F(AttentionTest, Autocast) {
  Attention attention({.spec = sourcePath("gated.mlir"), .headDim = 16, .dtype = at::kBFloat16});
  EXPECT_EQ(attention.manifest().dtype, TAYLOR_BF16);
  std::vector<at::Tensor> x = inputsOf(attention.manifest());
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::Tensor o = attention.call(x);
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, false);
  EXPECT_EQ(o.scalar_type(), at::kBFloat16);
  o.sum().backward();
  EXPECT_EQ(x[0].grad().scalar_type(), at::kFloat);
  EXPECT_EQ(x[4].grad().scalar_type(), at::kFloat);
}

TEST_F(AttentionTest, AnEditedFileChangesNothing) {
  std::string spec = folder.path + "/spec.mlir";
  writeBytes(spec, readBytes(sourcePath("plain.mlir")));
  Attention attention({.spec = spec, .headDim = 16});
  std::vector<at::Tensor> x = inputsOf(attention.manifest());
  at::Tensor before = attention.call(x);
  std::filesystem::remove(spec);
  EXPECT_TRUE(attention.call(x).equal(before));
}

TEST_F(AttentionTest, AReplacedArtifactChangesNothing) {
  std::string artifact = folder.path + "/attention.so";
  std::filesystem::copy_file(fixturePath("plain"), artifact);
  Attention attention({.spec = artifact, .headDim = 8, .valueDim = 4});
  std::vector<at::Tensor> x = inputsOf(attention.manifest());
  at::Tensor before = attention.call(x);
  std::filesystem::rename(artifact, folder.path + "/old.so");
  std::filesystem::copy_file(fixturePath("gated"), artifact);
  at::Tensor after = attention.call(x);
  EXPECT_TRUE(after.equal(before));
  std::filesystem::remove(artifact);
  auto gradients = torch::autograd::grad({after.sum()}, {x[0]}),
       expected = torch::autograd::grad({before.sum()}, {x[0]});
  EXPECT_TRUE(gradients[0].equal(expected[0]));
}

/// What a thread whose core another program took for 20 ms does to a region.
static void runWithALateThread(int64_t milliseconds) {
  parallelFor(
      nullptr, 2,
      [](void *late, int64_t i) {
        if (i == 1)
          std::this_thread::sleep_for(std::chrono::milliseconds(*static_cast<int64_t *>(late)));
      },
      &milliseconds);
}

TEST_F(AttentionTest, ThreadsThatComeLateAreNotCalled) {
  int before = at::get_num_threads();
  at::set_num_threads(2);
  auto untilAll = [] {
    int64_t waited = 0;
    for (; parallelThreads() != 2 && waited < 5000; ++waited)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return waited;
  };
  untilAll();
  for (int i = 0; i < 3; ++i) // more than another program's share of these calls
    runWithALateThread(20);
  EXPECT_EQ(parallelThreads(), 1);
  EXPECT_LT(untilAll(), 2000); // and called again
  for (int i = 0; i < 20 && parallelThreads() == 2; ++i)
    runWithALateThread(20);
  EXPECT_EQ(parallelThreads(), 1);
  at::set_num_threads(1);
  EXPECT_EQ(parallelThreads(), 1);
  at::set_num_threads(before);
}

TEST_F(AttentionTest, NoGradientNoSavedTensors) {
  Attention attention({.spec = sourcePath("plain.mlir"), .headDim = 16});
  std::vector<at::Tensor> x = inputsOf(attention.manifest());
  at::NoGradGuard guard;
  EXPECT_FALSE(attention.call(x).requires_grad());
}

TEST_F(AttentionTest, NoTensor) {
  Attention attention({.spec = sourcePath("plain.mlir"), .headDim = 16});
  std::vector<at::Tensor> x = inputsOf(attention.manifest());
  x[1] = at::Tensor();
  at::NoGradGuard guard;
  try {
    attention.call(x);
    FAIL() << "expected an error";
  } catch (const c10::Error &error) {
    EXPECT_STREQ(error.what_without_backtrace(), "taylor: requires a tensor for 'k', but got none");
  }
}

TEST_F(AttentionTest, Errors) {
  auto expectError = [](AttentionOptions options, const std::string &message) {
    try {
      Attention attention(options);
      FAIL() << "expected an error: " << message;
    } catch (const c10::Error &error) {
      EXPECT_EQ(std::string(error.what_without_backtrace()).substr(0, message.size()), message);
    }
  };
  expectError({.spec = "nowhere.mlir"},
              "taylor: expected the path of a specification or its text, but got 'nowhere.mlir', where "
              "there is no file");
  expectError({.spec = sourcePath("plain.mlir"), .headDim = 0},
              "taylor: expected a positive head size, but got 0");
  expectError({.spec = sourcePath("plain.mlir"), .valueDim = -1},
              "taylor: expected a value size of at least 0, but got -1");
  expectError({.spec = sourcePath("plain.mlir"), .dtype = at::kLong},
              "taylor: expected dtype Float, BFloat16, Half or Double, but got Long");
  setenv("FIXTURE_FAIL", "SPEC:2:3: error: requires a thing", 1);
  expectError({.spec = sourcePath("plain.mlir"), .headDim = 24},
              "taylor: taylorc could not compile " + sourcePath("plain.mlir") +
                  " (--dtype=f32 --head-dim=24 --value-dim=24)\n" + sourcePath("plain.mlir") +
                  ":2:3: error: requires a thing");
  // What is asked for besides sizes and dtype comes before them.
  expectError({.spec = sourcePath("plain.mlir"), .headDim = 24, .mask = "causal", .documents = true},
              "taylor: taylorc could not compile " + sourcePath("plain.mlir") +
                  " (--mask=causal --documents");
}

} // namespace
} // namespace taylor::test
