// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call of the fixture's code for a GPU (device-fixture/): its arrays, its expected values, and artifacts
// with a few bytes changed.
#ifndef TAYLOR_TEST_RUNTIME_DEVICECALL_H
#define TAYLOR_TEST_RUNTIME_DEVICECALL_H
#include "runtime/ArtifactFile.h"
#include "runtime/Call.h"
#include "test/runtime/Fixture.h"
#include <cstring>

namespace taylor::test::device {

inline constexpr int64_t b = 2, h = 3, t = 37, d = 8;

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
inline void permute(Array<float> &x) {
  Array<float> old = x;
  x.strides = {x.sizes[1] * x.sizes[2] * x.sizes[3], x.sizes[3], x.sizes[1] * x.sizes[3], 1};
  for (int64_t i = 0; i < b; ++i)
    for (int64_t j = 0; j < h; ++j)
      for (int64_t k = 0; k < t; ++k)
        for (int64_t l = 0; l < d; ++l)
          x.at(i, j, k, l) = old.at(i, j, k, l);
}

inline TaylorRunOptions optionsFor(TaylorDevice device) {
  TaylorRunOptions options = {};
  options.struct_size = sizeof(options);
  options.device = device;
  return options;
}

inline void expectFailure(const Kernel &kernel, const std::vector<TaylorTensor> &tensors,
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

} // namespace taylor::test::device

#endif
