// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled attention, forward and backward, with every wait, barrier, commit and swizzle of its PTX broken in
// turn: the interpreter reports a fault, a result is wrong, or, without a swizzle, banks conflict that did
// not.
#include "runtime/ArtifactFile.h"
#include "runtime/Error.h"
#include "runtime/artifact.h"
#include "runtime/ptx/Interpreter.h"
#include "test/runtime/ptx/Unawaited.h"
#include "gtest/gtest.h"
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace taylor::runtime::ptx;
namespace fs = std::filesystem;

struct Case {
  std::string name, spec;
  int channels;
  std::string options; ///< of taylorc
  bool isForFullRuns;
  std::string target = "sm_80";
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

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

/// What the interpreter's parser has against a text; nothing if it is PTX.
std::string messageOfParser(const std::string &text) {
  try {
    parse(text);
  } catch (const taylor::runtime::Error &error) {
    return error.what();
  }
  return "";
}

/// One way to call the kernels, of those that a broken text is tried with until one catches it.
struct Call {
  uint64_t seed;       ///< of the order of warps
  std::string options; ///< of taylor-run
};
/// Code that a missing gradient turns off may have a barrier that serves others too, so that theirs is needed
/// only then.
const Call kCalls[] = {
    {0, ""}, {1, ""}, {2, ""}, {0, " --absent-grad=q"}, {0, " --absent-grad=k"}, {0, " --absent-grad=v"}};

enum class Verdict {
  Right,
  Slower,   ///< right, with more bank conflicts
  Wrong,    ///< a result past its contract, or written outside of it
  Reported, ///< by the interpreter while it ran
  Unfit     ///< anything else: the text is no kernel, or the test is at fault
};

Verdict judge(const Output &output, const std::map<std::string, uint64_t> &conflicts) {
  static const std::regex fault(
      ", line \\d+ '.*', block \\(\\d+,\\d+,\\d+\\), thread \\(\\d+,\\d+,\\d+\\): "),
      wrong("  FAILED\n|written outside\n");
  if (!WIFEXITED(output.status) || WEXITSTATUS(output.status) > 1)
    return Verdict::Unfit;
  if (WEXITSTATUS(output.status) == 1)
    return std::regex_search(output.text, fault)   ? Verdict::Reported
           : std::regex_search(output.text, wrong) ? Verdict::Wrong
                                                   : Verdict::Unfit;
  std::map<std::string, uint64_t> counts = conflictsOf(output.text);
  if (counts.size() != conflicts.size())
    return Verdict::Unfit;
  for (auto &[kernel, count] : counts)
    if (count > conflicts.at(kernel))
      return Verdict::Slower;
  return Verdict::Right;
}

/// Lines of the text before `line` (from 1), back to the one that has `part`, and after it, up to the one
/// that has.
std::string textSince(const std::vector<std::string> &lines, size_t line, const std::string &part) {
  std::string text;
  for (size_t at = line - 1; at-- > 0 && lines[at].find(part) == std::string::npos;)
    text = lines[at] + "\n" + text;
  return text;
}
std::string textUntil(const std::vector<std::string> &lines, size_t line, const std::string &part) {
  std::string text;
  for (size_t at = line; at < lines.size(); ++at) {
    text += lines[at] + "\n";
    if (lines[at].find(part) != std::string::npos)
      break;
  }
  return text;
}

/// Provably redundant: a fence of registers (wgmma.fence) after another one of the same straight line, since
/// which no instruction has written a register of the product that follows.
bool isFenceRepeated(const std::vector<std::string> &lines, size_t line) {
  std::string since = textSince(lines, line, "wgmma.fence"),
              product = textUntil(lines, line, "wgmma.commit_group");
  if (lines[line - 1].find("wgmma.fence") == std::string::npos || since.find("$L") != std::string::npos)
    return false;
  static const std::regex written("\\n\\s*(?!wgmma)[a-z][\\w.]*\\s+(%r\\d+)\\b"), used("%r\\d+\\b");
  std::set<std::string> registers(std::sregex_token_iterator(product.begin(), product.end(), used), {});
  for (std::sregex_iterator match(since.begin(), since.end(), written), end; match != end; ++match)
    if (registers.contains((*match)[1]))
      return false;
  return true;
}

/// Provably redundant: a product's commit where the next wait, of the same straight line, is for all groups,
/// and another commit stands before it.
bool isCommitShared(const std::vector<std::string> &lines, size_t line) {
  std::string until = textUntil(lines, line, "wgmma.wait_group");
  return lines[line - 1].find("wgmma.commit_group") != std::string::npos &&
         until.find("wgmma.commit_group") != std::string::npos && until.find("$L") == std::string::npos &&
         until.find("wgmma.wait_group.sync.aligned 0;") != std::string::npos;
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
                          " --target=" + GetParam().target + " " + GetParam().options;
    Output made = capture(compile + " -o " + (folder / "whole.so").string());
    ASSERT_EQ(made.status, 0) << made.text;
    ASSERT_EQ(capture(compile + " --emit=asm -o " + (folder / "text").string()).status, 0);
    text = readFile(folder / "text");
    text.resize(text.find_last_not_of('\n') + 1);
    text += "\n";
    artifact = readFile(folder / "whole.so");
    place = artifact.find(text);
    ASSERT_NE(place, std::string::npos);
    for (const Call &call : kCalls)
      if (!conflicts.contains(call.options)) {
        Output whole = check(text, call);
        ASSERT_EQ(whole.status, 0) << whole.text;
        conflicts[call.options] = conflictsOf(whole.text);
        ASSERT_TRUE(conflicts[call.options].contains("forward.attend")) << whole.text;
      }
  }
  void TearDown() override {
    if (!folder.empty())
      fs::remove_all(folder);
  }

  /// What the check of an artifact says that has `changed` for the compiled text; no longer than that one.
  Output check(std::string changed, const Call &call) const {
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
                   channels + ",e=" + channels + " --ptx-seed=" + std::to_string(call.seed) + call.options);
  }

  /// A broken text that does not parse, or fails for a reason of its own, is a failure of the test.
  bool isCaught(const Mutation &mutation, const Call &call) const {
    if (std::string message = messageOfParser(mutation.text); !message.empty()) {
      ADD_FAILURE() << mutation.line << ": " << mutation.original
                    << " does not parse when broken: " << message;
      return true;
    }
    Output output = check(mutation.text, call);
    switch (judge(output, conflicts.at(call.options))) {
    case Verdict::Right:
      return false;
    case Verdict::Slower:
      return mutation.kind == Break::RemoveXor;
    case Verdict::Wrong:
    case Verdict::Reported:
      return true;
    case Verdict::Unfit:
      break;
    }
    ADD_FAILURE() << mutation.line << ": " << mutation.original
                  << " does not run when broken: " << output.text;
    return true;
  }

  bool isFull = false;
  fs::path bin, spec, folder;
  std::string text, artifact;
  size_t place = 0;                                                 ///< of the text in the artifact
  std::map<std::string, std::map<std::string, uint64_t>> conflicts; ///< of the whole text, by `Call::options`
};

TEST_P(PtxMutationEndToEnd, OnlyWhatIsBrokenIsCaught) {
  for (const Call &call : kCalls)
    if (isFull || call.seed) // what seed 0 gives is what others are held against
      EXPECT_EQ(judge(check(text, call), conflicts.at(call.options)), Verdict::Right);
  // Nor is a text caught for being another one, or one that is no PTX.
  std::string other = text;
  other.erase(0, other.find(".version"));
  ASSERT_LT(other.size(), text.size());
  EXPECT_EQ(judge(check(other, kCalls[0]), conflicts.at("")), Verdict::Right);
  other = text;
  other.replace(other.find("bar.sync"), 8, "bar.snyc");
  EXPECT_NE(messageOfParser(other), "");
  EXPECT_EQ(judge(check(other, kCalls[0]), conflicts.at("")), Verdict::Unfit);
}

TEST_P(PtxMutationEndToEnd, NothingSurvives) {
  // One swizzle in eight is enough for each day. Bits of descriptors make the text longer than its place is:
  // the interpreter's own test tries them (Inputs/attention90.ptx).
  std::map<Break, unsigned> found;
  auto isTried = [&](const Mutation &mutation) {
    unsigned number = found[mutation.kind]++;
    return mutation.kind != Break::Descriptor &&
           (isFull || mutation.kind != Break::RemoveXor || number % 8 == 0);
  };
  std::vector<Mutation> survivors = survivorsOf(
      text, std::size(kCalls),
      [&](const Mutation &mutation, unsigned run) { return isCaught(mutation, kCalls[run]); }, isTried);
  using Instructions = std::vector<std::string>;
  for (const auto &[kind, instructions] :
       {std::pair(Break::RemoveBarrier, Instructions{"bar.sync"}),
        {Break::RemoveWait, {"cp.async.wait_", "wgmma.wait_group"}},
        {Break::LoosenWait, {"cp.async.wait_group", "wgmma.wait_group"}},
        {Break::RemoveCommit, {"cp.async.commit_group", "wgmma.commit_group"}},
        {Break::RemoveFence, {"wgmma.fence", "fence.proxy.async"}},
        {Break::RemoveXor, {"xor.b32"}}}) {
    size_t there = 0;
    for (const std::string &instruction : instructions)
      there += countOf(text, instruction);
    EXPECT_EQ(found[kind], there) << instructions.front();
    EXPECT_TRUE(there > 0 || kind == Break::RemoveFence) << instructions.front();
  }
  EXPECT_EQ(found[Break::RemoveFence] > 0, GetParam().target == "sm_90a");
  // Provably redundant: where copies are off, before a loop that does not run or in its last iteration, LLVM
  // gives their path its own copy of the commit, which starts it. No wait follows on it: `Unawaited.h` proves
  // that from the branches of the text.
  std::set<size_t> commits;
  for (const Mutation &mutation : survivors)
    if (mutation.kind == Break::RemoveCommit)
      commits.insert(mutation.line);
  std::vector<std::string> lines = linesOf(text);
  for (size_t line = 2; line <= lines.size(); ++line)
    if (lines[line - 1].find("cp.async.commit_group") != std::string::npos && isNeverAwaited(text, line)) {
      EXPECT_TRUE(commits.contains(line)) << line << ": was caught, so what proves it redundant is wrong";
      if (lines[line - 2].ends_with(":"))
        commits.erase(line);
    }
  std::erase_if(survivors, [&](const Mutation &mutation) {
    return mutation.kind == Break::RemoveCommit && !commits.contains(mutation.line);
  });
  std::erase_if(survivors, [&](const Mutation &mutation) {
    return (mutation.kind == Break::RemoveFence && isFenceRepeated(lines, mutation.line)) ||
           (mutation.kind == Break::RemoveCommit && isCommitShared(lines, mutation.line));
  });
  EXPECT_TRUE(survivors.empty()) << listOf(survivors);
}

INSTANTIATE_TEST_SUITE_P(Kernels, PtxMutationEndToEnd,
                         testing::Values(Case{"Softmax64", "softmax", 64, "", false},
                                         Case{"Started64", "softmax", 64, "", true, "sm_90a"},
                                         Case{"Started192", "softmax", 192, "", true, "sm_90a"},
                                         Case{"DecayGates64", "decay-gates", 64, "", true},
                                         Case{"NormL2_128", "softmax-norm-l2", 128, "", true},
                                         Case{"Softmax128", "softmax", 128, "", true},
                                         Case{"Softmax192", "softmax", 192, "", true},
                                         Case{"SoftmaxAtomic64", "softmax", 64, "--row-sums=atomic", true},
                                         Case{"LayerNorm64", "softmax-count-layernorm", 64, "", true}),
                         [](const auto &info) { return info.param.name; });

} // namespace
