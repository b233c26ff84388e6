// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Manifest.h"
#include "runtime/Error.h"
#include <gtest/gtest.h>

namespace taylor::runtime {
namespace {

/// A small manifest; each test replaces one piece of it.
std::string manifestWith(const std::string &from = "", const std::string &to = "") {
  std::string text = R"({
    "taylor": {"version": "0.1.0", "abi": 1}, "hash": "ab", "spec": "s", "parameters": {"order": 10}, "mask": "causal",
    "form": "parallel", "dtype": "bf16", "target": {"name": "native", "cpu": "c", "features": ["avx2"]},
    "sizes": {"d": 64, "e": 32, "j": 4},
    "tensors": {
      "inputs": [
        {"name": "q", "axes": ["b", "h", "t", "d"], "dtype": "bf16", "source": {"kind": "projection", "bias": true}, "gradient": true},
        {"name": "w", "axes": ["e", "j"], "dtype": "f32", "source": {"kind": "parameter", "initial": {"kind": "normal", "mean": 1, "deviation": 0.5}}, "gradient": true},
        {"name": "x", "axes": ["b", "u"], "dtype": "i32", "source": {"kind": "input"}, "gradient": false}],
      "outputs": [{"name": "o", "axes": ["b", "h", "t", "e"], "dtype": "bf16"}],
      "saved": [{"name": "m", "axes": ["b", "h", "t"], "dtype": "f32"}]},
    "functions": {"forward": {"tensors": ["input:q", "input:w", "output:o", "saved:m"], "kernels": ["attend"]},
                  "backward": {"tensors": ["output:o", "saved:m", "cotangent:o", "gradient:w"], "kernels": ["a", "b"]}}})";
  if (!from.empty())
    text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(Manifest, Fields) {
  Manifest manifest = Manifest::parse(manifestWith());
  EXPECT_EQ(manifest.spec, "s");
  EXPECT_EQ(manifest.parameters.at("order"), 10);
  EXPECT_EQ(manifest.dtype, TAYLOR_BF16);
  ASSERT_EQ(manifest.inputs.size(), 3u);
  EXPECT_TRUE(manifest.inputs[0].source.bias);
  EXPECT_EQ(manifest.inputs[0].axes[2].dim, TAYLOR_DIM_T);
  EXPECT_EQ(manifest.inputs[0].axes[3].size, 64);
  EXPECT_EQ(manifest.inputs[1].axes[1].size, 4);
  EXPECT_EQ(manifest.inputs[1].source.initial.kind, Initial::Kind::Normal);
  EXPECT_EQ(manifest.inputs[1].source.initial.deviation, 0.5);
  EXPECT_EQ(manifest.inputs[2].source.kind, Source::Kind::Input);
  EXPECT_FALSE(manifest.aligned);
  const FunctionInfo &forward = manifest.functions[size_t(manifest.function("forward"))];
  const FunctionInfo &backward = manifest.functions[size_t(manifest.function("backward"))];
  EXPECT_TRUE(forward.slots[3].optional && forward.slots[3].written);
  EXPECT_FALSE(backward.slots[1].optional || backward.slots[1].written);
  EXPECT_TRUE(backward.slots[3].optional && backward.slots[3].written);
  EXPECT_EQ(manifest.tensor(backward.slots[3]).name, "w");
  EXPECT_EQ(manifest.function("sideways"), -1);
}

TEST(Manifest, Initials) {
  auto initial = [](const std::string &json) {
    return Manifest::parse(manifestWith(R"({"kind": "normal", "mean": 1, "deviation": 0.5})", json))
        .inputs[1]
        .source.initial;
  };
  EXPECT_EQ(initial(R"("zeros")").kind, Initial::Kind::Zeros);
  EXPECT_EQ(initial(R"({"kind": "ones"})").kind, Initial::Kind::Ones);
  EXPECT_EQ(initial(R"({"kind": "constant", "value": 0.5})").value, 0.5);
  EXPECT_EQ(initial(R"({"kind": "uniform", "low": -1, "high": 2})").high, 2);
}

TEST(Manifest, BeforeSizes) {
  Manifest manifest = Manifest::parse(manifestWith(", \"j\": 4", ""), /*partial=*/true);
  EXPECT_TRUE(manifest.inputs[1].axes[1].isChannel());
  EXPECT_EQ(manifest.inputs[1].axes[1].size, 0);
}

void expectError(const std::string &text, const std::string &message) {
  try {
    Manifest::parse(text);
    FAIL() << "expected an error: " << message;
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(Manifest, Errors) {
  expectError("[1, 2]", "expected a JSON object as manifest, but got 6 bytes that are none");
  expectError("{", "expected a JSON object as manifest, but got 1 bytes that are none");
  expectError(manifestWith("\"spec\": \"s\", ", ""),
              "requires field 'spec' in the top level of the manifest");
  expectError(manifestWith("\"spec\": \"s\"", "\"spec\": 3"),
              "unsupported value 3 of field 'spec' in the top level of the manifest");
  expectError(manifestWith("\"dtype\": \"bf16\"", "\"dtype\": \"f16\""),
              "expected dtype f32, bf16, f64 or i32 in the top level of the manifest, but got 'f16'");
  expectError(manifestWith("\"j\": 4", "\"j\": 0"),
              "expected a positive size of axis 'j' in the manifest, but got 0");
  expectError(manifestWith(", \"j\": 4", ""),
              "requires the size of axis 'j' of inputs 'w' in field 'sizes' of the manifest");
  expectError(
      manifestWith("\"projection\"", "\"magic\""),
      "expected source projection, parameter or input in inputs 'q' of the manifest, but got 'magic'");
  expectError(manifestWith("\"normal\"", "\"cauchy\""),
              "unsupported initial distribution 'cauchy' in inputs 'w' of the manifest");
  expectError(manifestWith("\"input:w\"", "\"input:y\""),
              "expected tensors of the manifest in function 'forward', but got 'input:y'");
  expectError(
      manifestWith("[\"e\", \"j\"]", "[\"e\", \"e\", \"e\", \"e\", \"e\", \"e\", \"e\", \"e\", \"e\"]"),
      "expected at most 8 axes in inputs 'w' of the manifest, but got 9");
}

} // namespace
} // namespace taylor::runtime
