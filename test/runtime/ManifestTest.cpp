// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Manifest.h"
#include "runtime/Error.h"
#include "runtime/Forms.h"
#include <gtest/gtest.h>

namespace taylor::runtime {
namespace {

/// A small manifest; each test replaces one piece of it.
std::string manifestWith(const std::string &from = "", const std::string &to = "") {
  std::string text = R"json({
    "taylor": {"version": "0.1.0", "abi": 2}, "hash": "ab", "spec": "s", "parameters": {"order": 10}, "mask": "causal",
    "form": "parallel", "dtype": "bf16",
    "sizes": {"d": 64, "e": 32, "j": 4},
    "tensors": {
      "inputs": [
        {"name": "q", "axes": ["b", "h", "t", "d"], "dtype": "bf16", "source": {"kind": "projection", "bias": true}, "gradient": true},
        {"name": "w", "axes": ["e", "j"], "dtype": "f32", "source": {"kind": "parameter", "initial": {"kind": "normal", "mean": 1, "deviation": 0.5}}, "gradient": true},
        {"name": "x", "axes": ["b", "u"], "dtype": "i32", "source": {"kind": "input"}, "gradient": false}],
      "outputs": [{"name": "o", "axes": ["b", "h", "t", "e"], "dtype": "bf16"}],
      "saved": [{"name": "m", "axes": ["b", "h", "t"], "dtype": "f32"}]},
    "functions": {"forward": {"tensors": ["input:q", "input:w", "output:o", "saved:m"]},
                  "backward": {"tensors": ["output:o", "saved:m", "cotangent:o", "gradient:w"]}},
    "targets": [
      {"name": "native", "kind": "cpu", "cpu": "c", "features": ["avx2"], "tiles": {"t": 64},
       "functions": {"forward": {"kernels": ["attend"], "workspace": []}, "backward": {"kernels": ["a", "b"]}}},
      {"name": "sm_80", "kind": "ptx", "tiles": {"t": 128},
       "functions": {
         "forward": {
           "workspace": [{"name": "columns.0", "axes": ["b", "g", "u", "d"], "sizes": ["b", "g", "u", "64"], "dtype": "bf16"}],
           "kernels": [{"name": "attend", "entry": "forward_attend", "grid": ["b", "h", "ceildiv(t, 128)"], "threads": 128, "shared": 49152,
                        "arguments": [{"tensor": "input:q", "aligned16": true}, {"workspace": "columns.0"}, {"tensor": "saved:m"}]}]},
         "backward": {"kernels": [{"name": "a", "entry": "backward_a", "grid": [], "threads": 32, "shared": 0, "arguments": []}]}}}]})json";
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (!from.empty() && at != std::string::npos)
    text.replace(at, from.size(), to);
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

TEST(Manifest, Targets) {
  Manifest manifest = Manifest::parse(manifestWith());
  size_t forward = size_t(manifest.function("forward"));
  ASSERT_EQ(manifest.targets.size(), 2u);
  EXPECT_EQ(manifest.targets[0].kind, TargetInfo::Kind::Cpu);
  EXPECT_EQ(manifest.targets[0].features, std::vector<std::string>{"avx2"});
  EXPECT_EQ(manifest.targets[0].functions[forward].forms[0].kernels[0].name, "attend");
  EXPECT_EQ(manifest.target("sm_90"), nullptr);
  const TargetInfo *gpu = manifest.target("sm_80");
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->kind, TargetInfo::Kind::Ptx);
  const FormCode &code = gpu->functions[forward].forms[0];
  const KernelInfo &kernel = code.kernels[0];
  EXPECT_EQ(kernel.entry, "forward_attend");
  EXPECT_EQ(kernel.threads, 128);
  EXPECT_EQ(kernel.shared, 49152);
  ASSERT_EQ(kernel.arguments.size(), 3u);
  EXPECT_EQ(kernel.arguments[0].slot, 0);
  EXPECT_EQ(kernel.arguments[1].workspace, 0);
  EXPECT_EQ(kernel.arguments[2].slot, 3);
  const int64_t dims[TAYLOR_DIM_COUNT] = {2, 4, 2, 129, 200, 71};
  ASSERT_EQ(kernel.grid.size(), 3u);
  EXPECT_EQ(kernel.grid[2].evaluate(dims), 2);
  EXPECT_EQ(code.workspace[0].sizes[2].evaluate(dims), 200);
  EXPECT_EQ(code.workspace[0].because, "");
  EXPECT_TRUE(manifest.functions[forward].slots[0].aligned16);
  EXPECT_FALSE(manifest.functions[forward].slots[3].aligned16);
}

TEST(Manifest, SaysWhyAnArrayHasMemory) {
  Manifest manifest = Manifest::parse(manifestWith(
      R"({"name": "columns.0", )", R"({"name": "columns.0", "because": "every block reads it", )"));
  const FormCode &code = manifest.target("sm_80")->functions[size_t(manifest.function("forward"))].forms[0];
  EXPECT_EQ(code.workspace[0].because, "every block reads it");
}

TEST(Manifest, Extents) {
  auto evaluate = [](const char *text, std::vector<int64_t> dims = {3, 4, 2, 129, 200, 71}) {
    return Extent::parse(text, "a test").evaluate(dims.data());
  };
  EXPECT_EQ(evaluate("64"), 64);
  EXPECT_EQ(evaluate("t"), 129);
  EXPECT_EQ(evaluate("ceildiv(t, 64)"), 3);
  EXPECT_EQ(evaluate("ceildiv(u, 200)"), 1);
  EXPECT_EQ(evaluate("ceildiv(16, b * g)"), 3);
  EXPECT_EQ(evaluate("ceildiv( 16,b*g )"), 3);
  EXPECT_EQ(evaluate("ceildiv(4, b * g)", {0, 0, 0, 0, 0, 0}), 4); // no division by 0
  EXPECT_EQ(evaluate("b * h * 2"), 24);
  EXPECT_EQ(evaluate("lag"), 129 + 200 + 256);
  EXPECT_EQ(evaluate("ceildiv(lag, 64)"), 10);
  EXPECT_EQ(evaluate("lag", {1, 1, 1, int64_t(1) << 62, int64_t(1) << 62, 0}), -1);
  EXPECT_EQ(evaluate("t * t * t", {1, 1, 1, int64_t(1) << 40, 1, 0}), -1);
  for (const char *bad : {"", "x", "t,", "ceildiv(t)", "ceildiv(t, 64", "0", "-1", "64 t", "offset", "t *"})
    try {
      Extent::parse(bad, "a test");
      ADD_FAILURE() << bad;
    } catch (const Error &error) {
      EXPECT_EQ(
          error.what(),
          "expected a size such as 64, t, b * g or ceildiv(t, 64) in a test of the manifest, but got '" +
              std::string(bad) + "'");
    }
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

/// A processor's forward in two forms: one pays for pairs, the other for queries and keys.
std::string manifestWithForms(const std::string &parallel, const std::string &chunked) {
  return manifestWith(
      "\"forward\": {\"kernels\": [\"attend\"], \"workspace\": []}",
      "\"forward\": {\"reason\": \"r\", \"form\": \"parallel\", " + parallel +
          ", \"kernels\": [\"attend\"], \"alternatives\": [{" + chunked +
          ", \"state\": {\"features\": 3, \"channels\": 2}, \"kernels\": [\"states\", \"attend\"]}]}");
}

TEST(Manifest, Forms) {
  Manifest manifest = Manifest::parse(manifestWithForms(
      R"("cost": {"pair": 2})", R"("form": "chunked", "cost": {"call": 8, "query": 10, "key": 20})"));
  size_t forward = size_t(manifest.function("forward"));
  const TargetFunction &code = manifest.targets[0].functions[forward];
  ASSERT_EQ(code.forms.size(), 2u);
  EXPECT_EQ(code.forms[1].kernels.size(), 2u);
  EXPECT_EQ(code.forms[1].state, (StateSize{3, 2}));
  EXPECT_EQ(manifest.target("sm_80")->functions[forward].forms[0].name, "parallel"); // where nothing is said
  auto choose = [&](Dims dims, const char *form = "") {
    return chooseForm(code, manifest, dims, form, "forward", "native");
  };
  // b h g t u offset: 2 pairs T (T + 1) / 2 heads against 8 + 10 T heads + 20 U groups.
  EXPECT_EQ(choose({1, 1, 1, 29, 29, 0}), 0);
  EXPECT_EQ(choose({1, 1, 1, 30, 30, 0}), 1);
  EXPECT_EQ(choose({1, 4, 1, 16, 16, 0}), 1); // keys count once for four heads
  EXPECT_EQ(choose({1, 1, 1, 1, 1000, 999}), 0);
  EXPECT_EQ(choose({1, 1, 1, 30, 30, -30}), 0); // sees nothing
  EXPECT_EQ(choose({1, 1, 1, 4096, 4096, 0}, "parallel"), 0);
  EXPECT_EQ(choose({1, 1, 1, 1, 1, 0}, "chunked"), 1);
  try {
    choose({1, 1, 1, 1, 1, 0}, "recurrent");
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(),
                 "expected a form of 'forward' for target 'native' (parallel, chunked), but got "
                 "'recurrent': compile with --form=recurrent");
  }
}

/// Further tiles for long sequences: a form like others, whose costs say from how many pairs of a query on.
TEST(Manifest, TilesByLength) {
  Manifest manifest = Manifest::parse(
      manifestWithForms(R"("cost": {"call": 9, "pair": 1.375, "query": 44})",
                        R"("form": "long", "cost": {"call": 9, "pair": 1.298, "query": 154.5})"));
  const TargetFunction &code = manifest.targets[0].functions[size_t(manifest.function("forward"))];
  auto choose = [&](Dims dims, const char *form = "") {
    return code.forms[size_t(chooseForm(code, manifest, dims, form, "forward", "native"))].name;
  };
  // 110.5 / 0.077 = 1435 pairs of a query: sequences of 2870 tokens.
  EXPECT_EQ(choose({8, 16, 4, 1024, 1024, 0}), "parallel");
  EXPECT_EQ(choose({1, 1, 1, 2860, 2860, 0}), "parallel");
  EXPECT_EQ(choose({1, 1, 1, 2880, 2880, 0}), "long");
  EXPECT_EQ(choose({1, 2, 1, 16384, 16384, 0}), "long");
  EXPECT_EQ(choose({1, 2, 1, 64, 1430, 1366}), "parallel"); // few queries, which see 1367 to 1430 keys
  EXPECT_EQ(choose({1, 2, 1, 64, 3000, 2936}), "long");
  EXPECT_EQ(choose({1, 1, 1, 100, 100, 0}, "long"), "long");
  EXPECT_EQ(choose({1, 1, 1, 16384, 16384, 0}, "parallel"), "parallel");
}

TEST(Manifest, VisiblePairs) {
  for (int64_t queries : {1, 3, 7})
    for (int64_t keys : {1, 4, 9})
      for (int64_t offset : {-9, -2, 0, 3, 20}) {
        int64_t pairs = 0;
        for (int64_t t = 0; t < queries; ++t)
          for (int64_t u = 0; u < keys; ++u)
            pairs += u <= offset + t;
        Dims dims = {1, 1, 1, queries, keys, offset};
        EXPECT_EQ(visiblePairs(dims, true), double(pairs)) << queries << " " << keys << " " << offset;
        EXPECT_EQ(visiblePairs(dims, false), double(queries * keys));
      }
  double most = 9223372036854775807.0;
  EXPECT_EQ(visiblePairs({1, 1, 1, INT64_MAX, INT64_MAX, INT64_MAX}, true), most * most);
  EXPECT_EQ(visiblePairs({1, 1, 1, INT64_MAX, INT64_MAX, INT64_MIN}, true), 0);
}

TEST(Manifest, CarriedStates) {
  const std::string tensors = R"("saved:m"]},)";
  auto carrying = [&](const std::string &pairs) {
    return manifestWith(tensors, R"("saved:m"], "carried": )" + pairs + "},");
  };
  Manifest manifest = Manifest::parse(carrying(R"([["input:q", "output:o"]])"));
  const FunctionInfo &forward = manifest.functions[size_t(manifest.function("forward"))];
  EXPECT_EQ(forward.carried, (std::vector<std::pair<int, int>>{{0, 2}}));
  EXPECT_FALSE(forward.slots[2].optional);
  EXPECT_TRUE(forward.isRecurrent);
  // What sums over tokens alone has states of its own, none of which is worked on in place.
  Manifest none = Manifest::parse(carrying("[]"));
  EXPECT_TRUE(none.functions[size_t(none.function("forward"))].isRecurrent);
  Manifest other = Manifest::parse(manifestWith(tensors, R"("saved:m"]},)"));
  EXPECT_FALSE(other.functions[size_t(other.function("forward"))].isRecurrent);
  const std::string refusal =
      "expected an input and an output of function 'forward' in its field 'carried' of "
      "the manifest, but got '";
  expectError(carrying(R"([["input:x", "output:o"]])"), refusal + "input:x'");
  expectError(carrying(R"([["input:q", "saved:m"]])"), refusal + "saved:m'");
  expectError(
      carrying(R"([["input:q"]])"),
      "expected pairs of tensors in field 'carried' of function 'forward' of the manifest, but got 1");
  expectError(manifestWith(tensors, R"("saved:m"], "carry": []},)"),
              "unsupported field 'carry' in function 'forward' of the manifest");
}

TEST(Manifest, PreparedKeys) {
  auto caching = [](const std::string &functions, const std::string &name = "append:k") {
    const std::string saved = R"("saved": [)", backward = R"("backward": {"tensors")";
    std::string text =
        manifestWith(saved, R"("cache": [{"name": "k", "axes": ["b", "u", "e"], "dtype": "bf16"},
                {"name": "position", "axes": ["b"], "dtype": "f32"}], )" +
                                saved);
    std::string more = R"("append": {"tensors": ["input:x", "cache:position", ")" + name +
                       R"(", "append:position"]}, )" + functions;
    return text.insert(text.find(backward), more);
  };
  const std::string step = R"("step": {"tensors": ["input:q", "cache:k", "output:o"]}, )",
                    extend = R"("extend": {"tensors": ["input:q", "cache:k", "output:o"]}, )";
  Manifest manifest = Manifest::parse(caching(step + extend), /*partial=*/true);
  ASSERT_EQ(manifest.cache.size(), 2u);
  EXPECT_EQ(manifest.cache[0].keyAxis(), 1);
  EXPECT_EQ(manifest.cache[1].keyAxis(), -1);
  const std::vector<Slot> &slots = manifest.functions[size_t(manifest.function("append"))].slots;
  EXPECT_TRUE(slots[1].role == Role::Cache && !slots[1].written && slots[1].index == 1);
  EXPECT_TRUE(slots[2].role == Role::Append && slots[2].written && !slots[2].optional);
  EXPECT_EQ(manifest.tensor(slots[2]).name, "k");
  EXPECT_THROW(Manifest::parse(caching(step + extend, "append:z"), true), Error);
  expectError(caching(step),
              "requires function 'extend' next to field 'cache' of the manifest, but got none");
}

TEST(Manifest, NamesOfStates) {
  const std::string outputs = R"("outputs": [{"name": "o", "axes": ["b", "h", "t", "e"], "dtype": "bf16"}])";
  std::string text =
      manifestWith(outputs, R"("outputs": [{"name": "o", "axes": ["b", "h", "t", "e"], "dtype": "bf16"},
      {"name": "final.edge0", "axes": ["b"], "dtype": "f32"}, {"name": "final.state0", "axes": ["b"], "dtype": "f32"}])");
  const std::string inputs = R"({"name": "x", "axes")";
  const std::string state =
      R"({"name": "initial.state0", "axes": ["b"], "dtype": "f32", "source": {"kind": "input"}}, )";
  Manifest manifest = Manifest::parse(text.replace(text.find(inputs), inputs.size(), state + inputs));
  ASSERT_EQ(manifest.inputs[2].name, "initial.state0");
  EXPECT_EQ(manifest.finalOf(2), 2);
  EXPECT_EQ(manifest.finalOf(0), -1);
  EXPECT_TRUE(manifest.inputs[2].isState());
  EXPECT_FALSE(manifest.inputs[3].isState());
  EXPECT_TRUE(manifest.outputs[1].isState());
  EXPECT_FALSE(manifest.outputs[0].isState());
  manifest.inputs[2].name = "initial.state1"; // of which there is none after
  EXPECT_EQ(manifest.finalOf(2), -1);
}

TEST(Manifest, OptionalInputs) {
  const std::string x = R"({"name": "x", "axes": ["b", "u"], "dtype": "i32", )";
  EXPECT_TRUE(Manifest::parse(manifestWith(x, x + R"("optional": true, )")).inputs[2].optional);
  const std::string w = R"({"name": "w", "axes": ["e", "j"], "dtype": "f32", )";
  expectError(manifestWith(w, w + R"("optional": true, )"),
              "expected optional inputs behind all others in the manifest, but got 'x' behind 'w'");
}

TEST(Manifest, Ascending) {
  auto ascending = [&](const std::string &name, const std::string &axes) {
    std::string field = "\"name\": \"" + name + "\", \"axes\": " + axes;
    return manifestWith(field, field + ", \"ascending\": true");
  };
  EXPECT_TRUE(Manifest::parse(ascending("x", "[\"b\", \"u\"]")).inputs[2].ascending);
  expectError(ascending("w", "[\"e\", \"j\"]"),
              "expected dtype i32 and an axis of the ascending input 'w' of the manifest");
}

TEST(Manifest, ContradictoryForms) {
  const std::string where = "function 'forward' of target 'native'";
  expectError(manifestWithForms(R"("cost": {"pair": -2})", R"("form": "chunked")"),
              "expected a number of at least 0 in field 'pair' in cost of " + where +
                  " of the manifest, but got -2");
  expectError(manifestWithForms(R"("cost": {}, "operations": {"key": -1})", R"("form": "chunked")"),
              "expected a number of at least 0 in field 'key' in operations of " + where +
                  " of the manifest, but got -1");
  expectError(manifestWithForms(R"("cost": {"pairs": 2})", R"("form": "chunked")"),
              "unsupported field 'pairs' in cost of " + where + " of the manifest");
  expectError(manifestWith("\"kernels\": [\"attend\"]",
                           "\"state\": {\"features\": 1e300, \"channels\": 2}, \"kernels\": [\"attend\"]"),
              "unsupported value 1e+300 of field 'features' in state of " + where + " of the manifest");
  expectError(manifestWithForms(R"("cost": {})", R"("form": "parallel")"),
              "expected each form of " + where + " of the manifest once, but got 'parallel' twice");
  expectError(manifestWithForms(R"("cost": {})", R"("form": "chunked", "alternatives": [])"),
              "unsupported field 'alternatives' in alternative 0 of " + where + " of the manifest");
}

TEST(Manifest, ContradictoryTargets) {
  const std::string kernel = "kernel 'attend' of function 'forward' of target 'sm_80'";
  expectError(manifestWith("\"targets\"", "\"goals\""),
              "unsupported field 'goals' in the top level of the manifest");
  std::string none = manifestWith();
  none = none.substr(0, none.find("\"targets\"")) + "\"targets\": []}";
  expectError(none, "expected targets in the manifest, but got none");
  expectError(manifestWith("\"sm_80\", \"kind\"", "\"native\", \"kind\""),
              "expected each target of the manifest once, but got 'native' twice");
  expectError(manifestWith("\"kind\": \"ptx\"", "\"kind\": \"tpu\""),
              "expected cpu or ptx in field 'kind' in target 'sm_80' of the manifest, but got 'tpu'");
  expectError(manifestWith("\"kind\": \"ptx\"", "\"kind\": \"ptx\", \"warps\": 4"),
              "unsupported field 'warps' in target 'sm_80' of the manifest");
  expectError(manifestWith("\"backward\": {\"kernels\": [\"a\"", "\"sideward\": {\"kernels\": [\"a\""),
              "expected functions of the manifest in target 'native', but got 'sideward'");
  expectError(
      manifestWith("[\"a\", \"b\"]", "[\"a\", 3]"),
      "unsupported value 3 of field 'kernels' in function 'backward' of target 'native' of the manifest");
  expectError(
      manifestWith("\"backward_a\"", "\"forward_attend\""),
      "expected an entry for each kernel of target 'sm_80' of the manifest, but got 'forward_attend' twice");
  expectError(manifestWith("\"threads\": 128", "\"threads\": 1025"),
              "expected a number from 1 to 1024 in field 'threads' in " + kernel +
                  " of the manifest, but got 1025");
  expectError(manifestWith("\"shared\": 49152", "\"shared\": -1"),
              "expected a number from 0 to 1048576 in field 'shared' in " + kernel +
                  " of the manifest, but got -1");
  expectError(manifestWith("\"threads\": 128, \"shared\": 49152,", "\"threads\": 128,"),
              "requires field 'shared' in " + kernel + " of the manifest");
  expectError(manifestWith("\"shared\": 49152", "\"shared\": 49152, \"stages\": 2"),
              "unsupported field 'stages' in " + kernel + " of the manifest");
  expectError(manifestWith("ceildiv(t, 128)", "t / 128"),
              "expected a size such as 64, t, b * g or ceildiv(t, 64) in " + kernel +
                  " of the manifest, but got 't / 128'");
  expectError(manifestWith("[\"b\", \"h\", \"ceildiv(t, 128)\"]",
                           "[\"b\", \"b\", \"b\", \"b\", \"b\", \"b\", \"b\", \"b\", \"b\"]"),
              "expected 0 to 8 elements in field 'grid' in " + kernel + " of the manifest, but got 9");
  expectError(manifestWith("{\"tensor\": \"saved:m\"}", "{\"tensor\": \"saved:z\"}"),
              "expected arguments of " + kernel +
                  " that function 'forward' of target 'sm_80' has, but got 'saved:z'");
  expectError(manifestWith("{\"workspace\": \"columns.0\"}", "{\"workspace\": \"columns.1\"}"),
              "expected arguments of " + kernel +
                  " that function 'forward' of target 'sm_80' has, but got 'columns.1'");
  expectError(
      manifestWith("{\"tensor\": \"saved:m\"}", "{\"tensor\": \"saved:m\", \"workspace\": \"columns.0\"}"),
      "expected either a tensor or a workspace as each argument of " + kernel +
          " of the manifest, but got 'saved:m' and 'columns.0'");
  expectError(manifestWith("{\"tensor\": \"saved:m\"}", "{}"),
              "expected either a tensor or a workspace as each argument of " + kernel +
                  " of the manifest, but got '' and ''");
  expectError(manifestWith("{\"tensor\": \"saved:m\"}", "3"),
              "expected an object as argument 2 of " + kernel + " of the manifest, but got 3");
  expectError(
      manifestWith("[\"a\", \"b\"]",
                   "[\"a\", {\"name\": \"b\", \"entry\": \"b\", \"grid\": [], \"threads\": 1, "
                   "\"shared\": 0, \"arguments\": []}]"),
      "expected a name alone of kernel 'b' of function 'backward' of target 'native' of the manifest");
  std::string named = manifestWith();
  size_t kernels = named.find("[{\"name\": \"a\", \"entry\"");
  named.replace(kernels, named.find("]}]", kernels) + 3 - kernels, "[\"a\"]");
  expectError(named,
              "expected an entry of kernel 'a' of function 'backward' of target 'sm_80' of the manifest");
  expectError(manifestWith(", \"backward\": {\"kernels\": [\"a\", \"b\"]}", ""),
              "requires field 'backward' in target 'native' of the manifest");
  expectError(manifestWith("\"64\"], \"dtype\": \"bf16\"", "\"64\"], \"dtype\": \"f8\""),
              "expected f32, bf16, f64, i32 or f16 in field 'dtype' in workspace 'columns.0' of function "
              "'forward' of "
              "target 'sm_80' of the manifest, but got 'f8'");
}

TEST(Manifest, EarlyAndPersistent) {
  auto with = [](const std::string &value) {
    return manifestWith("{\"tensor\": \"saved:m\"}]", "{\"tensor\": \"saved:m\"}], \"early\": " + value);
  };
  auto persistent = Manifest::parse(
      manifestWith("{\"tensor\": \"saved:m\"}]", "{\"tensor\": \"saved:m\"}], \"persistent\": true"));
  size_t forward = size_t(persistent.function("forward"));
  EXPECT_TRUE(persistent.targets[1].functions[forward].forms[0].kernels[0].isPersistent);
  auto startsEarly = [](const Manifest &manifest) {
    return manifest.targets[1]
        .functions[size_t(manifest.function("forward"))]
        .forms[0]
        .kernels[0]
        .startsEarly;
  };
  EXPECT_TRUE(startsEarly(Manifest::parse(with("true"))));
  EXPECT_FALSE(startsEarly(Manifest::parse(with("false"))));
  expectError(with("1"), "unsupported value 1 of field 'early' in kernel 'attend' of function 'forward' of "
                         "target 'sm_80' of the manifest");
}

TEST(Manifest, Maps) {
  auto with = [](const std::string &map) {
    return manifestWith("{\"tensor\": \"saved:m\"}]", "{\"tensor\": \"saved:m\"}], \"maps\": [" + map + "]");
  };
  Manifest manifest = Manifest::parse(with("{\"argument\": 0, \"box\": [1, 1, 128, 64], \"swizzle\": 128}, "
                                           "{\"argument\": 1, \"box\": [1, 1, 64, 16], \"swizzle\": 32}"));
  const KernelInfo &kernel =
      manifest.targets[1].functions[size_t(manifest.function("forward"))].forms[0].kernels[0];
  ASSERT_EQ(kernel.maps.size(), 2u);
  EXPECT_EQ(kernel.maps[0].argument, 0);
  EXPECT_EQ(kernel.maps[0].box, (std::vector<int64_t>{1, 1, 128, 64}));
  EXPECT_EQ(kernel.maps[0].swizzle, 128);
  EXPECT_EQ(kernel.maps[1].argument, 1);
  std::string kernelText = "kernel 'attend' of function 'forward' of target 'sm_80'",
              map = "a map of " + kernelText;
  expectError(with("{\"argument\": 3, \"box\": [1, 1, 1, 1], \"swizzle\": 32}"),
              "expected an argument of " + kernelText + " in its maps of the manifest, but got 3");
  expectError(with("{\"argument\": -1, \"box\": [1, 1, 1, 1], \"swizzle\": 32}"),
              "expected a number of at least 0 in field 'argument' in map 0 of " + kernelText +
                  " of the manifest, but got -1");
  expectError(with("{\"argument\": 0, \"box\": [1, 1, 1], \"swizzle\": 32}"),
              "expected a box of 1 to 256 elements along each of its array's 4 axes in " + map +
                  " of the manifest, but got [1,1,1]");
  expectError(with("{\"argument\": 0, \"box\": [1, 1, 1, 257], \"swizzle\": 32}"),
              "expected a box of 1 to 256 elements along each of its array's 4 axes in " + map +
                  " of the manifest, but got [1,1,1,257]");
  expectError(with("{\"argument\": 0, \"box\": [1, 1, 1, 16], \"swizzle\": 48}"),
              "expected swizzle 32, 64 or 128 in " + map + " of the manifest, but got 48");
  expectError(with("{\"argument\": 2, \"box\": [1, 1, 16], \"swizzle\": 32}"),
              "expected an array whose last axis is a channel for " + map +
                  " of the manifest, but got 'saved:m'");
  expectError(with("{\"argument\": 0, \"box\": [1, 1, 1, 16], \"swizzle\": 32, \"step\": 1}"),
              "unsupported field 'step' in map 0 of " + kernelText + " of the manifest");
}

TEST(Manifest, Errors) {
  expectError("[1, 2]", "expected a JSON object as manifest, but got 6 bytes that are none");
  expectError("{", "expected a JSON object as manifest, but got 1 bytes that are none");
  expectError(manifestWith("\"spec\": \"s\", ", ""),
              "requires field 'spec' in the top level of the manifest");
  expectError(manifestWith("\"spec\": \"s\"", "\"spec\": 3"),
              "unsupported value 3 of field 'spec' in the top level of the manifest");
  expectError(manifestWith("\"hash\": \"ab\"", "\"hash\": 5"),
              "unsupported value 5 of field 'hash' in the top level of the manifest");
  expectError(manifestWith("\"mask\": \"causal\"", "\"mask\": []"),
              "unsupported value [] of field 'mask' in the top level of the manifest");
  expectError(manifestWith("\"hash\": \"ab\"", "\"aligned\": 1"),
              "unsupported value 1 of field 'aligned' in the top level of the manifest");
  std::string deep = std::string(100000, '[') + std::string(100000, ']');
  expectError(manifestWith("\"spec\": \"s\"", "\"spec\": " + deep),
              "expected at most 64 lists and objects inside each other in the manifest");
  expectError(
      manifestWith("\"dtype\": \"bf16\"", "\"dtype\": \"f8\""),
      "expected f32, bf16, f64, i32 or f16 in field 'dtype' in the top level of the manifest, but got 'f8'");
  expectError(manifestWith("\"j\": 4", "\"j\": 0"),
              "expected a number of at least 1 in field 'j' in sizes of the manifest, but got 0");
  expectError(manifestWith(", \"j\": 4", ""),
              "requires the size of axis 'j' of input 'w' in field 'sizes' of the manifest");
  expectError(manifestWith("\"projection\"", "\"magic\""),
              "expected projection, parameter or input in field 'kind' in source of input 'q' of "
              "tensors of the manifest, but got 'magic'");
  expectError(manifestWith(", \"source\": {\"kind\": \"input\"}, \"gradient\": false", ""),
              "requires field 'source' in input 'x' of the manifest");
  expectError(manifestWith("\"mask\": \"causal\"", "\"mask\": \"causal\", \"masks\": 1"),
              "unsupported field 'masks' in the top level of the manifest");
  expectError(manifestWith("\"normal\"", "\"cauchy\""),
              "expected zeros, ones, constant, uniform or normal in field 'kind' in initial of source of "
              "input 'w' of tensors of the manifest, but got 'cauchy'");
  expectError(manifestWith("\"input:w\"", "\"input:y\""),
              "expected tensors of the manifest in function 'forward', but got 'input:y'");
  expectError(
      manifestWith("[\"e\", \"j\"]", "[\"e\", \"e\", \"e\", \"e\", \"e\", \"e\", \"e\", \"e\", \"e\"]"),
      "expected 0 to 8 elements in field 'axes' in input 'w' of tensors of the manifest, but got 9");
}

} // namespace
} // namespace taylor::runtime
