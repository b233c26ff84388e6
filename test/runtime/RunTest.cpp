// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results of calls that are accepted: values, layouts, absent tensors, empty sizes, threads.
#include "test/runtime/Fixture.h"
#include <atomic>
#include <cstring>
#include <thread>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace taylor::test {
namespace {

enum { O = 5, M, Z, GradientQ = 9 };

TEST(Run, Forward) {
  Kernel kernel = loadFixture("gated");
  for (Shape shape :
       {Shape{}, Shape{.t = 1, .u = 1}, Shape{.h = 3, .g = 3, .t = 4, .u = 4}, Shape{.t = 7, .u = 3}}) {
    Problem<float> problem(shape);
    ASSERT_EQ(run(kernel, "forward", problem.forward()), 0) << taylor_last_error();
    EXPECT_LT(problem.worstError(shape.u - shape.t), 1e-6);
  }
}

TEST(Run, OffsetMovesTheMask) {
  Kernel kernel = loadFixture("gated");
  Problem<float> problem;
  for (int64_t offset : {-3, 0, 1, 100}) {
    TaylorRunOptions options = {sizeof(options), &offset, 1,      nullptr, nullptr, nullptr, 0, 0,
                                nullptr,         nullptr, nullptr};
    ASSERT_EQ(run(kernel, "forward", problem.forward(), &options), 0) << taylor_last_error();
    EXPECT_LT(problem.worstError(offset), 1e-6) << offset;
  }
}

TEST(Run, GradientsMatchDifferences) {
  Kernel kernel = loadFixture("gated-f64");
  Problem<double> problem;
  auto loss = [&] {
    EXPECT_EQ(run(kernel, "forward", problem.forward()), 0) << taylor_last_error();
    double sum = 0;
    for (size_t i = 0; i < problem.o.data.size(); ++i)
      sum += problem.o.data[i] * problem.cotangent.data[i];
    return sum;
  };
  loss();
  ASSERT_EQ(run(kernel, "backward", problem.backward()), 0) << taylor_last_error();
  auto check = [&](Array<double> &x, const Array<double> &gradient) {
    for (size_t i = 0; i < x.data.size(); i += 1 + x.data.size() / 17) {
      const double step = 1e-6, saved = x.data[i];
      x.data[i] = saved + step;
      double above = loss();
      x.data[i] = saved - step;
      double below = loss();
      x.data[i] = saved;
      EXPECT_NEAR((above - below) / (2 * step), gradient.data[i], 1e-8);
    }
  };
  check(problem.q, problem.dq);
  check(problem.k, problem.dk);
  check(problem.v, problem.dv);
  check(problem.gate, problem.dgate);
  check(problem.weight, problem.dweight);
}

TEST(Run, StridedViews) { // [b, t, h, d] in memory gives the same bits as [b, h, t, d]
  Kernel kernel = loadFixture("gated");
  Problem<float> plain, strided;
  ASSERT_EQ(run(kernel, "forward", plain.forward()), 0);
  auto permute = [](Array<float> &x) {
    Array<float> old = x;
    x.strides = {x.sizes[1] * x.sizes[2] * x.sizes[3], x.sizes[3], x.sizes[1] * x.sizes[3], 1};
    for (int64_t i = 0; i < x.sizes[0]; ++i)
      for (int64_t j = 0; j < x.sizes[1]; ++j)
        for (int64_t k = 0; k < x.sizes[2]; ++k)
          for (int64_t l = 0; l < x.sizes[3]; ++l)
            x.at(i, j, k, l) = old.at(i, j, k, l);
  };
  for (Array<float> *x : {&strided.q, &strided.k, &strided.v, &strided.o})
    permute(*x);
  ASSERT_EQ(run(kernel, "forward", strided.forward()), 0) << taylor_last_error();
  for (int64_t h = 0; h < 4; ++h)
    for (int64_t t = 0; t < 5; ++t)
      EXPECT_EQ(strided.o.at(1, h, t, 2), plain.o.at(1, h, t, 2));
}

TEST(Run, AbsentResults) {
  Kernel kernel = loadFixture("gated");
  Problem<float> all, some;
  ASSERT_EQ(run(kernel, "forward", all.forward()), 0);
  ASSERT_EQ(run(kernel, "backward", all.backward()), 0);
  auto forward = some.forward();
  forward[M] = forward[Z] = TaylorTensor{};
  ASSERT_EQ(run(kernel, "forward", forward), 0) << taylor_last_error();
  EXPECT_EQ(some.o.data, all.o.data);
  EXPECT_EQ(some.m.data, std::vector<float>(some.m.data.size())); // not written
  // Each gradient alone is what it is among all.
  some.m = all.m, some.z = all.z;
  const Array<float> *expected[] = {&all.dq, &all.dk, &all.dv, &all.dgate, &all.dweight};
  Array<float> *given[] = {&some.dq, &some.dk, &some.dv, &some.dgate, &some.dweight};
  for (int i = 0; i < 5; ++i) {
    auto backward = some.backward();
    for (int j = 0; j < 5; ++j)
      if (j != i)
        backward[size_t(GradientQ + j)] = TaylorTensor{};
    ASSERT_EQ(run(kernel, "backward", backward), 0) << taylor_last_error();
    EXPECT_EQ(given[i]->data, expected[i]->data);
  }
}

TEST(Run, EmptySizes) {
  Kernel kernel = loadFixture("gated");
  for (Shape shape : {Shape{.b = 0}, Shape{.t = 0}, Shape{.h = 0, .g = 0}, Shape{.u = 0}}) {
    Problem<float> problem(shape);
    std::fill(problem.o.data.begin(), problem.o.data.end(), 7.0f);
    EXPECT_EQ(run(kernel, "forward", problem.forward()), 0) << taylor_last_error();
    for (float x : problem.o.data) // without keys every row is empty
      EXPECT_EQ(x, 0.0f);
    EXPECT_EQ(run(kernel, "backward", problem.backward()), 0) << taylor_last_error();
  }
}

TEST(Run, ThreadsDoNotChangeBits) {
  Kernel kernel = loadFixture("gated");
  Problem<float> one(Shape{.b = 3, .t = 33, .u = 41}), many = one;
  TaylorRunOptions options = {sizeof(options), nullptr, 1,      nullptr, nullptr, nullptr, 0, 0,
                              nullptr,         nullptr, nullptr};
  ASSERT_EQ(run(kernel, "forward", one.forward(), &options), 0);
  ASSERT_EQ(run(kernel, "backward", one.backward(), &options), 0);
  for (int64_t threads : {2, 3, 8, 64}) {
    options.threads = threads;
    ASSERT_EQ(run(kernel, "forward", many.forward(), &options), 0);
    ASSERT_EQ(run(kernel, "backward", many.backward(), &options), 0);
    EXPECT_EQ(many.o.data, one.o.data);
    EXPECT_EQ(many.dq.data, one.dq.data);
    EXPECT_EQ(many.dk.data, one.dk.data);
    EXPECT_EQ(many.dweight.data, one.dweight.data);
  }
}

TEST(Run, CallersThreads) {
  Kernel kernel = loadFixture("gated");
  Problem<float> problem, expected;
  ASSERT_EQ(run(kernel, "forward", expected.forward()), 0);
  struct Counter {
    int64_t calls = 0, tasks = 0;
  } counter;
  auto backwards = [](void *context, int64_t tasks, void (*task)(void *, int64_t), void *taskContext) {
    auto *counter = static_cast<Counter *>(context);
    ++counter->calls;
    counter->tasks += tasks;
    for (int64_t i = tasks; i-- > 0;)
      task(taskContext, i);
  };
  TaylorRunOptions options = {sizeof(options), nullptr, 3,      backwards, &counter, nullptr, 0, 0,
                              nullptr,         nullptr, nullptr};
  ASSERT_EQ(run(kernel, "forward", problem.forward(), &options), 0) << taylor_last_error();
  EXPECT_EQ(counter.calls, 1);
  EXPECT_EQ(counter.tasks, 3);
  EXPECT_EQ(problem.o.data, expected.o.data);
}

TEST(Run, CallersThreadsThatDoNothing) {
  Kernel kernel = loadFixture("gated");
  Problem<float> problem;
  auto lazy = [](void *, int64_t, void (*)(void *, int64_t), void *) {};
  TaylorRunOptions options = {sizeof(options), nullptr, 2,      lazy, nullptr, nullptr, 0, 0,
                              nullptr,         nullptr, nullptr};
  EXPECT_EQ(run(kernel, "forward", problem.forward(), &options), 1);
  EXPECT_STREQ(taylor_last_error(), "expected parallel_for to run 2 tasks, but it left 8 of 8 blocks undone");
}

TEST(Run, LastErrorIsOfThisThread) {
  EXPECT_EQ(taylor_load("/nowhere/a.so", nullptr), 1);
  TaylorKernel *kernel = nullptr;
  EXPECT_EQ(taylor_load("/nowhere/a.so", &kernel), 1);
  std::thread([] {
    EXPECT_STREQ(taylor_last_error(), "");
    TaylorKernel *other = nullptr;
    EXPECT_EQ(taylor_load("/nowhere/b.so", &other), 1);
    EXPECT_STREQ(taylor_last_error(), "'/nowhere/b.so': No such file or directory");
  }).join();
  EXPECT_STREQ(taylor_last_error(), "'/nowhere/a.so': No such file or directory");
}

TEST(Run, ManyThreadsAtOnce) {
  Kernel kernel = loadFixture("gated");
  Problem<float> expected(Shape{.t = 31, .u = 31});
  ASSERT_EQ(run(kernel, "forward", expected.forward()), 0);
  ASSERT_EQ(run(kernel, "backward", expected.backward()), 0);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 20; ++repeat) {
        Problem<float> problem(expected.shape);
        TaylorRunOptions options = {
            sizeof(options), nullptr, 1 + (i + repeat) % 4, nullptr, nullptr, nullptr, 0, 0, nullptr,
            nullptr,         nullptr};
        wrong += run(kernel, "forward", problem.forward(), &options) ||
                 run(kernel, "backward", problem.backward(), &options);
        wrong += problem.o.data != expected.o.data || problem.dk.data != expected.dk.data;
        auto bad = problem.forward();
        bad[0].rank = i;
        if (i != 4)
          wrong +=
              run(kernel, "forward", bad) != 1 ||
              std::string(taylor_last_error()).find("but got rank " + std::to_string(i)) == std::string::npos;
        TaylorKernel *other = nullptr;
        wrong += taylor_load(fixturePath(i % 2 ? "gated" : "plain").c_str(), &other);
        taylor_unload(other);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

#if defined(__x86_64__)
TEST(Run, CallersFloatingPointModeCountsForNothing) {
  Kernel kernel = loadFixture("gated");
  Problem<float> usual, odd;
  TaylorRunOptions options = {sizeof(options), nullptr, 1,      nullptr, nullptr, nullptr, 0, 0,
                              nullptr,         nullptr, nullptr};
  ASSERT_EQ(run(kernel, "forward", usual.forward(), &options), 0);
  unsigned before = _mm_getcsr(), towardsZero = (before & ~0x6000u) | 0x6000u;
  _mm_setcsr(towardsZero);
  int status = run(kernel, "forward", odd.forward(), &options);
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(after & ~0x3fu, towardsZero & ~0x3fu); // and it is given back, except for its exception flags
  EXPECT_EQ(odd.o.data, usual.o.data);
}
#endif

} // namespace
} // namespace taylor::test
