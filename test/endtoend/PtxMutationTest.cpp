// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled attention, forward and backward, with every wait, barrier, commit and swizzle of its PTX broken in
// turn: the interpreter reports a fault, a result is wrong, or banks conflict that did not.
#include "runtime/Artifact.h"
#include "runtime/artifact.h"
#include "test/runtime/ptx/Mutation.h"
#include "gtest/gtest.h"
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace {

using namespace taylor::runtime::ptx;
namespace fs = std::filesystem;

struct Case {
  std::string name, spec;
  int channels;
  std::string options; ///< of taylorc
  bool isForFullRuns;
};

void PrintTo(const Case &value, std::ostream *stream) { *stream << value.name; }

struct Output {
  int status;
  std::string text;
};

Output capture(const std::string &command) {
  Output output;
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> part;
  while (size_t count = std::fread(part.data(), 1, part.size(), pipe))
    output.text.append(part.data(), count);
  output.status = pclose(pipe);
  return output;
}

std::string readFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Bank conflicts of each kernel.
std::map<std::string, uint64_t> conflictsOf(const std::string &profile) {
  static const std::regex line("([\\w.]+): \\d+ blocks.* (\\d+) bank conflicts");
  std::map<std::string, uint64_t> conflicts;
  for (std::sregex_iterator match(profile.begin(), profile.end(), line), end; match != end; ++match)
    conflicts[(*match)[1]] = std::stoull((*match)[2]);
  return conflicts;
}

class PtxMutationEndToEnd : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    for (const char *name : {"TAYLOR_FULL", "TAYLOR_BINARY_DIR", "TAYLOR_SOURCE_DIR"})
      ASSERT_NE(std::getenv(name), nullptr) << "requires " << name << ", as lit gives it";
    isFull = std::strcmp(std::getenv("TAYLOR_FULL"), "1") == 0;
    if (GetParam().isForFullRuns && !isFull)
      GTEST_SKIP() << "runs under ./test.sh --full";
    bin = fs::path(std::getenv("TAYLOR_BINARY_DIR")) / "bin";
    spec = fs::path(std::getenv("TAYLOR_SOURCE_DIR")) / "examples/specs" / (GetParam().spec + ".mlir");
    folder = fs::temp_directory_path() / ("taylor-mutations-" + std::to_string(getpid()));
    fs::create_directories(folder);
    setenv("TAYLOR_PTXAS", "", 1); // text alone
    std::string compile = (bin / "taylorc").string() + " " + spec.string() +
                          " --dtype=bf16 --head-dim=" + std::to_string(GetParam().channels) +
                          " --target=sm_80 " + GetParam().options;
    Output made = capture(compile + " -o " + (folder / "whole.so").string());
    ASSERT_EQ(made.status, 0) << made.text;
    ASSERT_EQ(capture(compile + " --emit=asm -o " + (folder / "text").string()).status, 0);
    text = readFile(folder / "text");
    text.resize(text.find_last_not_of('\n') + 1);
    text += "\n";
    artifact = readFile(folder / "whole.so");
    place = artifact.find(text);
    ASSERT_NE(place, std::string::npos);
  }
  void TearDown() override {
    if (!folder.empty())
      fs::remove_all(folder);
  }

  /// What the check of an artifact says that has `changed` for the compiled text; no longer than that one.
  Output check(std::string changed, uint64_t seed) const {
    EXPECT_LE(changed.size(), text.size());
    changed.resize(text.size(), '\n');
    std::string bytes = artifact.substr(0, place) + changed + artifact.substr(place + text.size());
    TaylorTrailer trailer;
    char *end = bytes.data() + bytes.size() - sizeof(trailer);
    std::memcpy(&trailer, end, sizeof(trailer));
    trailer.checksum = taylor::runtime::wordChecksum(bytes.data(), bytes.size() - sizeof(trailer));
    std::memcpy(end, &trailer, sizeof(trailer));
    std::ofstream(folder / "changed.so", std::ios::binary) << bytes;
    // Three tiles of keys for the second block of queries, three or five of queries for the first of keys;
    // the last ones ragged; two heads share keys.
    std::string channels = std::to_string(GetParam().channels);
    return capture((bin / "taylor-run").string() + " " + spec.string() +
                   " --kernel=" + (folder / "changed.so").string() +
                   " --device=ptx --check --poison --ptx-profile --threads=1 --dtype=bf16 "
                   "--shape=b=1,h=2,g=1,t=130,u=130,d=" +
                   channels + ",e=" + channels + " --ptx-seed=" + std::to_string(seed));
  }

  bool isFull = false;
  fs::path bin, spec, folder;
  std::string text, artifact;
  size_t place = 0;
};

TEST_P(PtxMutationEndToEnd, NothingSurvives) {
  Output whole = check(text, 0);
  ASSERT_EQ(whole.status, 0) << whole.text;
  std::map<std::string, uint64_t> conflicts = conflictsOf(whole.text);
  ASSERT_TRUE(conflicts.contains("forward.attend")) << whole.text;
  // A text that was changed runs too: what is caught below is caught for what it breaks.
  std::string other = text;
  other.erase(0, other.find(".version"));
  ASSERT_LT(other.size(), text.size());
  Output same = check(other, 0);
  ASSERT_EQ(same.status, 0) << same.text;
  EXPECT_EQ(conflictsOf(same.text), conflicts);

  auto isCaught = [&](const Mutation &mutation, uint64_t seed) {
    Output output = check(mutation.text, seed);
    if (output.status != 0)
      return true;
    for (auto &[kernel, count] : conflictsOf(output.text))
      if (count > conflicts.at(kernel))
        return true;
    return false;
  };
  // One swizzle in four is enough for each day.
  std::map<Break, unsigned> found;
  auto isTried = [&](const Mutation &mutation) {
    unsigned number = found[mutation.kind]++;
    return isFull || mutation.kind != Break::RemoveXor || number % 4 == 0;
  };
  std::vector<Mutation> survivors = survivorsOf(text, 3, isCaught, isTried);
  for (auto [kind, least] : {std::pair(Break::RemoveBarrier, 4u),
                             {Break::RemoveWait, 3u},
                             {Break::LoosenWait, 3u},
                             {Break::RemoveCommit, 6u},
                             {Break::RemoveXor, 30u}})
    EXPECT_GE(found[kind], least);
  // Provably redundant: LLVM gives the path on which a loop does not run a copy of the commit before the
  // loop.
  std::vector<std::string> lines = linesOf(text);
  std::erase_if(survivors, [&](const Mutation &mutation) {
    bool isAlone = mutation.line >= 2 && lines[mutation.line - 2].ends_with(":");
    return mutation.kind == Break::RemoveCommit && isAlone && isNeverAwaited(text, mutation.line);
  });
  EXPECT_TRUE(survivors.empty()) << listOf(survivors);
}

INSTANTIATE_TEST_SUITE_P(Kernels, PtxMutationEndToEnd,
                         testing::Values(Case{"Softmax64", "softmax", 64, "", false},
                                         Case{"DecayGates64", "decay-gates", 64, "", false},
                                         Case{"NormL2_128", "softmax-norm-l2", 128, "", false},
                                         Case{"Softmax128", "softmax", 128, "", true},
                                         Case{"Softmax192", "softmax", 192, "", true},
                                         Case{"SoftmaxAtomic64", "softmax", 64, "--row-sums=atomic", true},
                                         Case{"LayerNorm64", "softmax-count-layernorm", 64, "", true}),
                         [](const auto &info) { return info.param.name; });

} // namespace
