// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One test per message about an argument: the whole text, and that nothing was written.
#include "runtime/Call.h"
#include "runtime/Error.h"
#include "test/runtime/Fixture.h"

namespace taylor::test {
namespace {

/// Places in the gated fixture's lists.
enum { Q, K, V, Gate, Weight, O, M, Z, GradientQ = 9 };

class Bind : public testing::Test {
protected:
  Kernel kernel = loadFixture("gated");
  Problem<float> problem;
  std::vector<TaylorTensor> forward = problem.forward();

  void expectError(const std::string &message, const char *function, const std::vector<TaylorTensor> &tensors,
                   const TaylorRunOptions *options = nullptr) {
    std::fill(problem.o.data.begin(), problem.o.data.end(), 7.0f);
    EXPECT_EQ(run(kernel, function, tensors, options), 1);
    EXPECT_EQ(taylor_last_error(), message);
    for (float x : problem.o.data)
      ASSERT_EQ(x, 7.0f) << "a refused call wrote to its output";
  }
  void expectError(const std::string &message) { expectError(message, "forward", forward); }
};

TEST_F(Bind, Rank) {
  forward[K].rank = 3;
  expectError("expected rank 4 [b, g, u, d] of 'input:k', but got rank 3");
}

TEST_F(Bind, ChannelSize) {
  Array<float> wide({2, 4, 5, 16});
  forward[Q] = wide.tensor();
  expectError("expected size 8 of axis d of 'input:q', but got 16");
}

TEST_F(Bind, InconsistentBatch) {
  Array<float> other({3, 2, 7, 8});
  forward[K] = other.tensor();
  expectError("expected size 2 of axis b of 'input:k' as of 'input:q', but got 3");
}

TEST_F(Bind, InconsistentHeads) {
  Array<float> other({2, 3, 5});
  forward[Gate] = other.tensor();
  expectError("expected size 4 of axis h of 'input:out_gate' as of 'input:q', but got 3");
}

TEST_F(Bind, InconsistentGroups) {
  Array<float> other({2, 1, 7, 4});
  forward[V] = other.tensor();
  expectError("expected size 2 of axis g of 'input:v' as of 'input:k', but got 1");
}

TEST_F(Bind, InconsistentQueries) {
  Array<float> other({2, 4, 6, 4});
  forward[O] = other.tensor();
  expectError("expected size 5 of axis t of 'output:o' as of 'input:q', but got 6");
}

TEST_F(Bind, InconsistentKeys) {
  Array<float> other({2, 2, 6, 4});
  forward[V] = other.tensor();
  expectError("expected size 7 of axis u of 'input:v' as of 'input:k', but got 6");
}

TEST_F(Bind, GroupsDivideHeads) {
  Problem<float> odd(Shape{.h = 5, .g = 2});
  expectError("expected a number of key/value heads that divides 5, the size of axis h of 'input:q', but got "
              "2 in axis g "
              "of 'input:k'",
              "forward", odd.forward());
}

TEST_F(Bind, NoGroupsForHeads) {
  Problem<float> none(Shape{.g = 0});
  expectError("expected a number of key/value heads that divides 4, the size of axis h of 'input:q', but got "
              "0 in axis g "
              "of 'input:k'",
              "forward", none.forward());
}

TEST_F(Bind, NegativeSize) {
  const int64_t sizes[] = {-1, 4, 5, 8};
  forward[Q].sizes = sizes;
  expectError("expected a size of at least 0 of axis b of 'input:q', but got -1");
}

TEST_F(Bind, Dtype) {
  forward[V].dtype = TAYLOR_F64;
  expectError("expected dtype f32 of 'input:v', but got f64");
}

TEST_F(Bind, UnknownDtype) {
  forward[V].dtype = 99;
  expectError("expected dtype f32 of 'input:v', but got an unknown dtype");
}

TEST_F(Bind, Device) { // the first tensor says where to run
  forward[K].device = TAYLOR_CUDA;
  expectError("expected device cpu of 'input:k', but got cuda");
  std::swap(forward[Q].device, forward[K].device);
  expectError("expected device cuda of 'input:k', but got cpu");
  forward[Q].device = 7;
  expectError("expected device cpu of 'input:q', but got an unknown device");
}

TEST_F(Bind, LastStride) {
  const int64_t strides[] = {320, 80, 16, 2};
  forward[Q].strides = strides;
  expectError("expected stride 1 of the last axis d of 'input:q', but got 2");
}

TEST_F(Bind, NegativeStride) {
  const int64_t strides[] = {160, -40, 8, 1};
  forward[Q].strides = strides;
  expectError("expected a stride of at least 0 of axis h of 'input:q', but got -40");
}

TEST_F(Bind, StrideBeyondMemory) {
  const int64_t strides[] = {int64_t(1) << 62, 40, 8, 1};
  forward[Q].strides = strides;
  expectError("unsupported stride 4611686018427387904 of axis b (size 2) of 'input:q': its memory would pass "
              "2^63 bytes");
}

TEST_F(Bind, NullData) {
  forward[K].data = nullptr;
  expectError("requires data of 'input:k', but got a null pointer");
}

TEST_F(Bind, NullOutput) {
  forward[O].data = nullptr;
  expectError("requires data of 'output:o', but got a null pointer");
}

TEST_F(Bind, NullSizes) {
  forward[K].sizes = nullptr;
  expectError("requires sizes and strides of 'input:k', but got a null pointer");
}

TEST_F(Bind, Alignment) {
  forward[Q].data = reinterpret_cast<void *>(uintptr_t(0x1002));
  expectError("expected data of 'input:q' aligned to 4 bytes, but got address 0x1002");
}

TEST_F(Bind, Count) {
  forward.pop_back();
  expectError("expected 8 tensors of 'forward' (input:q, input:k, input:v, input:out_gate, "
              "input:norm_weight, output:o, "
              "saved:m, saved:z), but got 7");
}

TEST_F(Bind, NullTensors) {
  EXPECT_EQ(taylor_run(kernel.get(), "forward", nullptr, 8, nullptr), 1);
  EXPECT_STREQ(taylor_last_error(), "requires tensors of 'forward', but got a null pointer");
}

TEST_F(Bind, OutputOverInput) {
  forward[O] = problem.v.tensor();
  forward[O].sizes = problem.o.sizes.data();
  forward[O].strides = problem.o.strides.data();
  expectError("requires memory of 'output:o' that no other tensor uses, but it overlaps 'input:v'");
}

TEST_F(Bind, SavedOverSaved) {
  forward[Z] = forward[M];
  expectError("requires memory of 'saved:m' that no other tensor uses, but it overlaps 'saved:z'");
}

TEST_F(Bind, OutputOverItself) {
  const int64_t strides[] = {80, 20, 0, 1};
  forward[O].strides = strides;
  expectError("expected strides of 'output:o' that give each element its own memory, but got [80, 20, 0, 1]");
}

TEST_F(Bind, InputMayRepeatItself) { // an expanded key, as torch makes them
  const int64_t strides[] = {0, 0, 8, 1};
  forward[K].strides = strides;
  EXPECT_EQ(run(kernel, "forward", forward), 0) << taylor_last_error();
}

TEST_F(Bind, InterleavedGradients) { // dq and dk in one packed buffer [b, t, heads of q and of k, d]
  problem = Problem<float>(Shape{.t = 7, .u = 7});
  EXPECT_EQ(run(kernel, "forward", problem.forward()), 0) << taylor_last_error();
  std::vector<TaylorTensor> backward = problem.backward();
  EXPECT_EQ(run(kernel, "backward", backward), 0) << taylor_last_error();
  std::vector<float> packed(2 * 7 * 6 * 8);
  const int64_t strides[] = {7 * 48, 8, 48, 1};
  backward[GradientQ].data = packed.data();
  backward[GradientQ].strides = backward[GradientQ + 1].strides = strides;
  backward[GradientQ + 1].data = packed.data() + 4 * 8;
  EXPECT_EQ(run(kernel, "backward", backward), 0) << taylor_last_error();
  EXPECT_EQ(packed[5], problem.dq.data[5]);
  EXPECT_EQ(packed[4 * 8 + 5], problem.dk.data[5]);
  backward[GradientQ + 1].data = packed.data() + 3 * 8;
  EXPECT_EQ(run(kernel, "backward", backward), 1);
  EXPECT_STREQ(taylor_last_error(),
               "requires memory of 'gradient:q' that no other tensor uses, but it overlaps 'gradient:k'");
}

TEST_F(Bind, Offset) {
  int64_t far = int64_t(1) << 60;
  TaylorRunOptions options = {sizeof(options), &far,    1,      nullptr, nullptr, nullptr, 0, 0,
                              nullptr,         nullptr, nullptr};
  expectError("unsupported sizes: kernels count to 2147482624, but got offset = 1152921504606846976; use "
              "shorter pieces",
              "forward", forward, &options);
}

TEST_F(Bind, AlignedOffset) {
  kernel = loadFixture("aligned");
  forward.erase(forward.begin() + Gate, forward.begin() + O);
  int64_t late = 3;
  TaylorRunOptions options = {sizeof(options), &late,   1,      nullptr, nullptr, nullptr, 0, 0,
                              nullptr,         nullptr, nullptr};
  expectError("requires 0 <= offset and offset + T <= U, as this specification reads key arrays at query "
              "positions, but got offset 3, T = 5, U = 7; give a key for every query",
              "forward", forward, &options);
  late = 2;
  EXPECT_EQ(run(kernel, "forward", forward, &options), 0) << taylor_last_error();
}

TEST_F(Bind, MoreQueriesThanKeysWithDocuments) {
  const int64_t sizes[] = {1, 4}, keySizes[] = {1, 2}, strides[] = {4, 1};
  runtime::TensorInfo queries, documents;
  queries.name = "q";
  queries.axes = {{"b", TAYLOR_DIM_B}, {"t", TAYLOR_DIM_T}};
  documents.name = "documents";
  documents.axes = {{"b", TAYLOR_DIM_B}, {"u", TAYLOR_DIM_U}};
  documents.ascending = true;
  TaylorTensor tensors[] = {{nullptr, TAYLOR_F32, TAYLOR_CPU, 2, sizes, strides},
                            {nullptr, TAYLOR_I32, TAYLOR_CPU, 2, keySizes, strides}};
  try {
    runtime::inferDims({queries, documents}, tensors, 2, nullptr, /*aligned=*/true);
    FAIL() << "expected an error";
  } catch (const runtime::Error &error) {
    EXPECT_STREQ(error.what(),
                 "requires 0 <= offset and offset + T <= U, as every query stands at a key of its "
                 "document, but got offset -2, T = 4, U = 2; give a key for every query");
  }
}

/// Sizes that inferDims() found are not taken from the tensors a second time.
TEST_F(Bind, InferredSizes) {
  auto artifact = runtime::Artifact::load(fixturePath("gated"));
  const runtime::Manifest &manifest = artifact->manifest();
  int function = manifest.function("forward");
  runtime::Dims dims = runtime::inferDims(manifest.inputs, forward.data(), int64_t(manifest.inputs.size()),
                                          nullptr, manifest.aligned);
  runtime::BoundCall inferred, known;
  auto bind = [&](const runtime::Dims &sizes) {
    runtime::bind(manifest, function, forward.data(), int64_t(forward.size()), sizes, TAYLOR_CPU, known);
  };
  runtime::bind(manifest, function, forward.data(), int64_t(forward.size()), nullptr, TAYLOR_CPU, inferred);
  bind(dims);
  EXPECT_EQ(known.dims, inferred.dims);
  auto expectRefusal = [&](const runtime::Dims &sizes, const std::string &message) {
    try {
      bind(sizes);
      ADD_FAILURE() << "expected an error";
    } catch (const runtime::Error &error) {
      EXPECT_EQ(error.what(), message);
    }
  };
  runtime::Dims other = dims;
  other[TAYLOR_DIM_T] = 6;
  expectRefusal(other, "expected size 6 of axis t of 'input:q' as of the inputs, but got 5");
  Array<float> shorter({2, 4, 4, 4});
  forward[O] = shorter.tensor();
  expectRefusal(dims, "expected size 5 of axis t of 'output:o' as of 'input:q', but got 4");
}

/// What bind() takes without a copy; it refuses the rest (Strides and Alignment tests).
TEST(Readable, StridesAndAddresses) {
  runtime::TensorInfo info;
  info.name = "q";
  info.dtype = TAYLOR_BF16;
  runtime::TensorAxis channel{"d"};
  channel.size = 8;
  info.axes = {{"t", TAYLOR_DIM_T}, channel};
  alignas(16) char data[64];
  auto isReadable = [&](std::vector<int64_t> sizes, std::vector<int64_t> strides, bool aligned16,
                        int64_t shift = 0) {
    return runtime::isReadable(
        info, {data + shift, TAYLOR_BF16, TAYLOR_CPU, int32_t(sizes.size()), sizes.data(), strides.data()},
        aligned16);
  };
  EXPECT_TRUE(isReadable({2, 8}, {8, 1}, true));
  EXPECT_TRUE(isReadable({2, 8}, {9, 1}, false));
  EXPECT_FALSE(isReadable({2, 8}, {9, 1}, true));
  EXPECT_TRUE(isReadable({1, 8}, {9, 1}, true)) << "a stride of one element says nothing";
  EXPECT_FALSE(isReadable({2, 8}, {1, 2}, false));
  EXPECT_TRUE(isReadable({2, 8}, {8, 1}, false, 2));
  EXPECT_FALSE(isReadable({2, 8}, {8, 1}, true, 2));
  EXPECT_TRUE(isReadable({0, 8}, {9, 2}, true, 2)) << "nor does any of no elements";
  EXPECT_TRUE(isReadable({8}, {2}, true, 2)) << "of another rank, which bind() refuses";
}

TEST_F(Bind, StridesOfWhatHasNoElementsSayNothing) {
  Problem<float> empty(Shape{.b = 0});
  for (const char *function : {"forward", "backward"})
    for (std::vector<int64_t> strides : {std::vector<int64_t>{0, 0, 0, 0}, {-1, -8, 3, 2}}) {
      std::vector<TaylorTensor> tensors = function[0] == 'f' ? empty.forward() : empty.backward();
      for (TaylorTensor &tensor : tensors)
        if (tensor.rank > 1) // all but the weight, which has elements
          tensor.strides = strides.data();
      EXPECT_EQ(run(kernel, function, tensors), 0) << taylor_last_error();
    }
}

TEST_F(Bind, Threads) {
  TaylorRunOptions options = {sizeof(options), nullptr, -2,     nullptr, nullptr, nullptr, 0, 0,
                              nullptr,         nullptr, nullptr};
  expectError("expected a number of threads of at least 0, but got -2", "forward", forward, &options);
}

TEST_F(Bind, OptionsSize) {
  TaylorRunOptions options = {};
  expectError("expected struct_size " + std::to_string(sizeof(options)) + " of TaylorRunOptions, but got 0",
              "forward", forward, &options);
}

TEST_F(Bind, Workspace) {
  EXPECT_EQ(run(kernel, "forward", forward), 0);
  int64_t bytes = 0;
  std::vector<TaylorTensor> backward = problem.backward();
  ASSERT_EQ(
      taylor_workspace(kernel.get(), "backward", backward.data(), int64_t(backward.size()), nullptr, &bytes),
      0);
  EXPECT_EQ(bytes, 2 * 4 * (5 + 4) * 4); // [B, H, T] and [B, H, E] floats
  alignas(64) char memory[512];
  TaylorRunOptions options = {sizeof(options), nullptr, 1,      nullptr, nullptr, memory, 100, 0,
                              nullptr,         nullptr, nullptr};
  expectError("expected a workspace of at least 288 bytes, but got 100", "backward", backward, &options);
  options.workspace_size = 288;
  EXPECT_EQ(run(kernel, "backward", backward, &options), 0) << taylor_last_error();
  options.workspace = memory + 4;
  EXPECT_EQ(run(kernel, "backward", backward, &options), 1);
  EXPECT_TRUE(std::string(taylor_last_error())
                  .starts_with("expected a workspace aligned to 64 bytes, but got address 0x"));
}

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) // they end the process instead
TEST_F(Bind, WorkspaceTooLarge) {
  // Views of one element many times over ask for more than the address space has, and for nothing else.
  std::vector<int64_t> strides(4, 0);
  strides[3] = 1;
  auto widen = [&](Array<float> &array) {
    array.sizes[1] = int64_t(1) << 24;
    array.sizes[2] = int64_t(1) << 30;
    array.strides.assign(strides.begin(), strides.begin() + int64_t(array.sizes.size()));
  };
  for (Array<float> *array :
       {&problem.q, &problem.gate, &problem.o, &problem.m, &problem.z, &problem.cotangent})
    widen(*array);
  std::vector<TaylorTensor> backward = problem.backward();
  backward[GradientQ] = backward[GradientQ + Gate] = TaylorTensor{}; // written, so without such a view
  int64_t offset = 0;
  TaylorRunOptions options = {sizeof(options), &offset, 1,      nullptr, nullptr, nullptr, 0, 0,
                              nullptr,         nullptr, nullptr};
  EXPECT_EQ(run(kernel, "backward", backward, &options), 1);
  EXPECT_STREQ(taylor_last_error(), "could not allocate a workspace of 144115188612726784 bytes");
}
#endif

TEST_F(Bind, Function) {
  expectError("unsupported function 'backward_of_backward': the artifact has backward and forward; second "
              "derivatives are "
              "not available",
              "backward_of_backward", forward);
  expectError("requires the name of a function, but got a null pointer", nullptr, forward);
}

TEST_F(Bind, NullKernel) {
  EXPECT_EQ(taylor_run(nullptr, "forward", nullptr, 0, nullptr), 1);
  EXPECT_STREQ(taylor_last_error(), "requires a kernel, but got a null pointer");
  EXPECT_EQ(taylor_manifest(nullptr), nullptr);
  EXPECT_EQ(taylor_tensor_count(nullptr, "forward"), -1);
  taylor_unload(nullptr);
}

TEST_F(Bind, NullPlaces) {
  EXPECT_EQ(
      taylor_workspace(kernel.get(), "forward", forward.data(), int64_t(forward.size()), nullptr, nullptr),
      1);
  EXPECT_STREQ(taylor_last_error(), "requires a place for the bytes, but got a null pointer");
  EXPECT_EQ(taylor_form(kernel.get(), "forward", forward.data(), int64_t(forward.size()), nullptr, nullptr),
            1);
  EXPECT_STREQ(taylor_last_error(), "requires a place for the form's name, but got a null pointer");
}

TEST_F(Bind, TensorNames) {
  EXPECT_EQ(taylor_tensor_count(kernel.get(), "backward"), 14);
  EXPECT_STREQ(taylor_tensor_name(kernel.get(), "backward", 9), "gradient:q");
  EXPECT_EQ(taylor_tensor_name(kernel.get(), "backward", 14), nullptr);
  EXPECT_STREQ(taylor_last_error(), "expected a tensor of 'backward' from 0 to 13, but got 14");
}

} // namespace
} // namespace taylor::test
