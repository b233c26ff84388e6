// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code that takes tensor maps (device-fixture/maps.json), in the interpreter and on the fake driver, and the
// other code for tensors that no map describes: twice the queries, or three times.
#include "runtime/cuda/Memory.h"
#include "test/runtime/Fixture.h"
#include "test/runtime/cuda/fake-driver.h"
#include <limits>

namespace taylor::test {
namespace {

constexpr int64_t b = 2, h = 3, t = 37, d = 8;

/// Queries at this many elements from one token to the next; NaN between them.
struct Queries : Array<float> {
  explicit Queries(int64_t apart) : Array<float>({b, h, t, d}, 1) {
    Array<float> old = *this;
    strides = {h * t * apart, t * apart, apart, 1};
    data.assign(size_t(b * h * t * apart), std::numeric_limits<float>::quiet_NaN());
    for (int64_t i = 0; i < b; ++i)
      for (int64_t j = 0; j < h; ++j)
        for (int64_t k = 0; k < t; ++k)
          for (int64_t l = 0; l < d; ++l)
            at(i, j, k, l) = old.at(i, j, k, l);
  }
};

void expectTimes(float factor, Array<float> &q, Array<float> &o) {
  for (int64_t i = 0; i < b; ++i)
    for (int64_t j = 0; j < h; ++j)
      for (int64_t k = 0; k < t; ++k)
        for (int64_t l = 0; l < d; ++l)
          ASSERT_EQ(o.at(i, j, k, l), factor * q.at(i, j, k, l)) << i << j << k << l;
}

class Maps : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("TAYLOR_CUDA_DRIVER", FAKE_DRIVER, 1); }
  void SetUp() override {
    options.struct_size = sizeof(options);
    fake.failures.clear();
    fake.calls.clear();
    fake.outerContext = 0;
  }
  std::string form(const Kernel &kernel, const std::vector<TaylorTensor> &tensors) {
    const char *name = nullptr;
    if (taylor_form(kernel.get(), "forward", tensors.data(), int64_t(tensors.size()), &options, &name))
      return taylor_last_error();
    return name;
  }
  FakeDriver &fake = *fakeDriver();
  Kernel kernel = loadFixture("maps"), alone = loadFixture("maps-alone");
  TaylorRunOptions options = {};
  Array<float> o{{b, h, t, d}}, m{{b, h, t}};
  /// Rows next to each other, rows with 16 bytes between, and rows that begin at no multiple of 16.
  Queries dense{8}, apart{12}, odd{9};
};

TEST_F(Maps, InTheInterpreter) {
  options.device = TAYLOR_PTX;
  for (Array<float> *q : {static_cast<Array<float> *>(&dense), static_cast<Array<float> *>(&apart)}) {
    std::vector<TaylorTensor> tensors = {q->tensor(), o.tensor(), m.tensor()};
    ASSERT_EQ(run(kernel, "forward", tensors, &options), 0) << taylor_last_error();
    expectTimes(2, *q, o);
    EXPECT_EQ(form(kernel, tensors), "parallel");
    ASSERT_EQ(run(alone, "forward", tensors, &options), 0) << taylor_last_error();
  }
  std::vector<TaylorTensor> tensors = {odd.tensor(), o.tensor(), m.tensor()};
  ASSERT_EQ(run(kernel, "forward", tensors, &options), 0) << taylor_last_error();
  expectTimes(3, odd, o);
  EXPECT_EQ(form(kernel, tensors), "parallel on sm_80");
}

TEST_F(Maps, OneAxisWithoutStrides) { // every batch is the same one
  options.device = TAYLOR_PTX;
  dense.strides[0] = 0;
  ASSERT_EQ(run(kernel, "forward", {dense.tensor(), o.tensor(), m.tensor()}, &options), 0)
      << taylor_last_error();
  expectTimes(2, dense, o);
}

TEST_F(Maps, NoOtherCode) {
  options.device = TAYLOR_PTX;
  std::vector<TaylorTensor> tensors = {odd.tensor(), o.tensor(), m.tensor()};
  std::string message =
      "requires tensors that a tensor map describes, for code of sm_90a in '" + fixturePath("maps-alone") +
      "', but 'input:q' has none: expected a stride of dimension 1 in multiples of 16 bytes, but got 36; "
      "copy it "
      "to a contiguous tensor, or compile with --target=sm_90a,sm_80, whose second code needs no tensor maps";
  EXPECT_EQ(run(alone, "forward", tensors, &options), 1);
  EXPECT_EQ(taylor_last_error(), message);
  EXPECT_EQ(form(alone, tensors), message);
}

TEST_F(Maps, OnAGpu) {
  using namespace runtime::cuda;
  PrimaryContext context(1);
  auto runOn = [&](Array<float> &q, float factor, const std::string &entry) {
    Buffer from(q.data.size() * sizeof(float)), to(o.data.size() * sizeof(float)),
        mass(m.data.size() * sizeof(float));
    from.upload(q.data.data());
    std::vector<TaylorTensor> tensors = {q.tensor(), o.tensor(), m.tensor()};
    for (auto [tensor, buffer] : {std::pair(&tensors[0], &from), {&tensors[1], &to}, {&tensors[2], &mass}}) {
      tensor->data = buffer->data();
      tensor->device = TAYLOR_CUDA;
    }
    fake.launches.clear();
    ASSERT_EQ(run(kernel, "forward", tensors, &options), 0) << taylor_last_error() << fake.fault;
    to.download(o.data.data());
    expectTimes(factor, q, o);
    ASSERT_EQ(fake.launches.size(), 1u);
    EXPECT_EQ(fake.launches[0].kernel, entry);
  };
  runOn(apart, 2, "forward_boxes");
  EXPECT_EQ(fake.launches[0].shared, 1088u);
  EXPECT_EQ(fake.launches[0].parameters.size(), 24u + 16u); // the map is at a multiple of 64 bytes
  runOn(odd, 3, "forward_pieces");
}

} // namespace
} // namespace taylor::test
