// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hand-written artifact (artifact-fixture/) as unit tests use it.
#ifndef TAYLOR_TEST_RUNTIME_FIXTURE_H
#define TAYLOR_TEST_RUNTIME_FIXTURE_H
#include "runtime/taylor.h"
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#ifndef __has_feature // of clang
#define __has_feature(feature) 0
#endif

namespace taylor::test {

/// A variable that the test suite sets (test/lit.cfg.py).
inline std::string variable(const char *name) {
  const char *value = std::getenv(name);
  EXPECT_NE(value, nullptr) << "requires " << name << ": run the tests through lit";
  return value ? value : "";
}

inline std::string fixturePath(const std::string &name) {
  return variable("TAYLOR_BINARY_DIR") + "/test/runtime/fixtures/" + name + ".so";
}
inline std::string sourcePath(const std::string &name) {
  return variable("TAYLOR_SOURCE_DIR") + "/test/runtime/artifact-fixture/" + name;
}

/// A folder of this test alone, removed at the end.
struct TemporaryFolder {
  std::string path;
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "taylor-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

inline std::string readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void writeBytes(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

using Kernel = std::unique_ptr<TaylorKernel, void (*)(TaylorKernel *)>;

inline Kernel loadFixture(const std::string &name) {
  TaylorKernel *kernel = nullptr;
  EXPECT_EQ(taylor_load(fixturePath(name).c_str(), &kernel), 0) << taylor_last_error();
  return Kernel(kernel, taylor_unload);
}

/// An array with its own memory, sizes and strides.
template <typename T> struct Array {
  std::vector<int64_t> sizes, strides;
  std::vector<T> data;

  Array() = default;
  /// Contiguous, filled from a seed; 0: with zeros.
  explicit Array(std::vector<int64_t> sizes, unsigned seed = 0) : sizes(sizes), strides(sizes.size(), 1) {
    int64_t count = 1;
    for (size_t i = sizes.size(); i-- > 0; count *= sizes[i])
      strides[i] = count;
    data.resize(size_t(count));
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    for (T &x : data)
      x = seed ? T(normal(generator)) : T(0);
  }
  T &at(int64_t i, int64_t j = 0, int64_t k = 0, int64_t l = 0) {
    const int64_t index[] = {i, j, k, l};
    int64_t offset = 0;
    for (size_t a = 0; a < sizes.size(); ++a)
      offset += index[a] * strides[a];
    return data[size_t(offset)];
  }
  TaylorTensor tensor() {
    return {data.data(),  sizeof(T) == 8 ? TAYLOR_F64 : TAYLOR_F32,
            TAYLOR_CPU,   int64_t(sizes.size()),
            sizes.data(), strides.data()};
  }
};

/// Sizes of a problem for the gated fixture (d = 8, e = 4).
struct Shape {
  int64_t b = 2, h = 4, g = 2, t = 5, u = 7;
};

/// All tensors of a forward and a backward of the gated fixture.
template <typename T> struct Problem {
  static constexpr int64_t d = 8, e = 4;
  Shape shape;
  Array<T> q, k, v, gate, weight, o, m, z, cotangent, dq, dk, dv, dgate, dweight;

  explicit Problem(Shape s = {})
      : shape(s), q({s.b, s.h, s.t, d}, 1), k({s.b, s.g, s.u, d}, 2), v({s.b, s.g, s.u, e}, 3),
        gate({s.b, s.h, s.t}, 4), weight({e}, 5), o({s.b, s.h, s.t, e}), m({s.b, s.h, s.t}),
        z({s.b, s.h, s.t}), cotangent({s.b, s.h, s.t, e}, 6), dq(q.sizes), dk(k.sizes), dv(v.sizes),
        dgate(gate.sizes), dweight(weight.sizes) {}

  std::vector<TaylorTensor> forward() {
    return {q.tensor(),      k.tensor(), v.tensor(), gate.tensor(),
            weight.tensor(), o.tensor(), m.tensor(), z.tensor()};
  }
  std::vector<TaylorTensor> backward() {
    return {q.tensor(),  k.tensor(),  v.tensor(),     gate.tensor(),      weight.tensor(),
            o.tensor(),  m.tensor(),  z.tensor(),     cotangent.tensor(), dq.tensor(),
            dk.tensor(), dv.tensor(), dgate.tensor(), dweight.tensor()};
  }

  /// The output in double, in the words of fixture.c's head.
  double expected(int64_t b, int64_t h, int64_t t, int64_t c, int64_t offset) {
    int64_t group = h / (shape.h / shape.g);
    double mass = 0, sum = 0;
    for (int64_t i = 0; i < shape.u && i <= offset + t; ++i) {
      double s = 0;
      for (int64_t j = 0; j < d; ++j)
        s += double(q.at(b, h, t, j)) * k.at(b, group, i, j);
      double w = std::exp(s / std::sqrt(double(d)));
      mass += w;
      sum += w * v.at(b, group, i, c);
    }
    return mass > 0 ? weight.at(c) / (1 + std::exp(-double(gate.at(b, h, t)))) * sum / mass : 0;
  }
  double worstError(int64_t offset) {
    double worst = 0;
    for (int64_t b = 0; b < shape.b; ++b)
      for (int64_t h = 0; h < shape.h; ++h)
        for (int64_t t = 0; t < shape.t; ++t)
          for (int64_t c = 0; c < e; ++c)
            worst = std::max(worst, std::abs(double(o.at(b, h, t, c)) - expected(b, h, t, c, offset)));
    return worst;
  }
};

inline int run(const Kernel &kernel, const char *function, std::vector<TaylorTensor> tensors,
               const TaylorRunOptions *options = nullptr) {
  return taylor_run(kernel.get(), function, tensors.data(), int64_t(tensors.size()), options);
}

} // namespace taylor::test

#endif
