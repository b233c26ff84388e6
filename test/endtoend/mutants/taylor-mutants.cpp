// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// taylor-mutants ARTIFACT KERNEL SIZES MAP_SIZES STEP: runs a kernel of an artifact in the interpreter with
// one place of its text, or of its tensor maps, broken after the other. test/endtoend/mutants/README.md
#include "runtime/Error.h"
#include "test/endtoend/mutants/Rerun.h"
#include "test/runtime/ptx/RoleMutation.h"
#include <cstring>
#include <fstream>
#include <iostream>

namespace {

using namespace taylor;
using namespace taylor::runtime;
using test::Rerun;
using test::RerunOutcome;

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    fail("cannot read '", path, "'");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Of an artifact's one PTX text, one kernel alone, which is parsed once for each mutant.
std::string textOf(const std::string &artifact, const std::string &kernel) {
  size_t begin = artifact.find("\n.version ");
  if (begin == std::string::npos || artifact.find("\n.version ", begin + 1) != std::string::npos)
    fail("expected an artifact with one PTX text");
  std::string text = artifact.substr(begin, artifact.find('\0', begin) - begin);
  size_t head = text.find(".visible .entry "), start = text.find(".visible .entry " + kernel + "(");
  if (start == std::string::npos)
    fail("expected a kernel '", kernel, "' in the text");
  return text.substr(0, head) + text.substr(start, text.find(".visible .entry ", start + 1) - start);
}

/// "b=1,h=2"
std::map<std::string, int64_t> sizesOf(const std::string &text) {
  std::map<std::string, int64_t> sizes;
  std::istringstream stream(text);
  for (std::string one; std::getline(stream, one, ',');)
    sizes[one.substr(0, one.find('='))] = std::stoll(one.substr(one.find('=') + 1));
  return sizes;
}

/// Orders of warps that a mutant is tried with until one catches it. What is wrong in any order needs one;
/// who does not wait for a copy is seen where that copy is the last of many that are under way.
uint64_t ordersFor(ptx::Break kind) {
  switch (kind) {
  case ptx::Break::Descriptor:
  case ptx::Break::Transpose:
  case ptx::Break::ChangeMap:
  case ptx::Break::ChangeRegisters:
    return 1;
  case ptx::Break::PassWait:
    return 64;
  default:
    return 6;
  }
}

/// Tries mutants, and prints a line for each: fault, wrong (a result), slower, close (to
/// the right result) or same; what
/// is broken, where, and the fault, between tabs.
class Trial {
public:
  explicit Trial(unsigned step) : step(step) {}

  /// Every `step`th of a kind, and of the many of a matrix' descriptor fewer.
  bool isTried(ptx::Break kind) {
    return found[kind]++ % (kind == ptx::Break::Descriptor ? step * step : step) == 0;
  }
  void run(Rerun &rerun, ptx::Break kind, const std::string &detail, const std::string &place,
           const ptx::Module &module, std::span<const std::byte> parameters = {}) {
    RerunOutcome outcome;
    for (uint64_t seed = 0; seed < ordersFor(kind) && !outcome.isCaught(); ++seed)
      outcome = rerun.run(module, seed, parameters);
    // Without its swizzle a tile may be right all the same, where who writes and who reads has none.
    bool isSlower = kind == ptx::Break::RemoveXor && outcome.bankConflicts > rerun.whole().bankConflicts;
    const char *verdict = !outcome.fault.empty() ? "fault"
                          : outcome.isCaught()   ? "wrong"
                          : isSlower             ? "slower"
                          : outcome.isSame       ? "same"
                                                 : "close";
    std::cout << verdict << '\t' << nameOf(kind) << (detail.empty() ? "" : ": ") << detail << '\t' << place
              << '\t' << outcome.fault.substr(0, outcome.fault.find('\n')) << std::endl;
  }

private:
  unsigned step;
  std::map<ptx::Break, unsigned> found;
};

void breakText(Trial &trial, Rerun &rerun, const std::string &text) {
  std::vector<ptx::Mutation> all = ptx::mutationsOf(text);
  for (ptx::Mutation &mutation : ptx::RoleMutations(text).all)
    all.push_back(std::move(mutation));
  ptx::MutationPlaces places(text);
  std::map<std::string, unsigned> alike;
  for (const ptx::Mutation &mutation : all) {
    std::string place = places.of(mutation.line);
    unsigned number = ++alike[nameOf(mutation.kind) + mutation.detail + place];
    if (number > 1)
      place += " (" + std::to_string(number) + ")";
    if (trial.isTried(mutation.kind))
      trial.run(rerun, mutation.kind, mutation.detail, place, ptx::parse(mutation.text));
  }
}

/// Each field of each tensor map, as cuTensorMapEncodeTiled takes it.
void breakMaps(Trial &trial, Rerun &rerun, const ptx::Module &module) {
  using Map = ptx::TensorMap &;
  const std::pair<const char *, void (*)(Map)> changes[] = {
      {"address +16", [](Map m) { m.address += 16; }},
      {"channels -8", [](Map m) { m.sizes[0] -= 8; }},
      {"tokens -1", [](Map m) { m.sizes[1] -= 1; }},
      {"tokens +1", [](Map m) { m.sizes[1] += 1; }},
      {"heads +1", [](Map m) { m.sizes[2] += 1; }},
      {"stride of tokens +16", [](Map m) { m.strides[0] += 16; }},
      {"stride of heads +16", [](Map m) { m.strides[1] += 16; }},
      {"stride of batches +16", [](Map m) { m.strides[2] += 16; }},
      {"box of channels -8", [](Map m) { m.box[0] -= 8; }},
      {"box of tokens -1", [](Map m) { m.box[1] -= 1; }},
      {"box of tokens +1", [](Map m) { m.box[1] += 1; }},
      {"box of heads +1", [](Map m) { m.box[2] += 1; }},
      {"swizzle none", [](Map m) { m.swizzle = 0; }},
      {"swizzle half", [](Map m) { m.swizzle /= 2; }},
      {"step of tokens 2", [](Map m) { m.steps[1] = 2; }},
      {"order",
       [](Map m) {
         std::swap(m.box[1], m.box[2]);
         std::swap(m.sizes[1], m.sizes[2]);
         std::swap(m.strides[0], m.strides[1]);
       }},
  };
  for (size_t map = 0; map < rerun.maps().size(); ++map)
    for (auto &[name, change] : changes) {
      std::vector<std::byte> bytes = rerun.parameters();
      ptx::TensorMap made;
      std::memcpy(&made, bytes.data() + rerun.maps()[map], sizeof made);
      change(made);
      std::memcpy(bytes.data() + rerun.maps()[map], &made, sizeof made);
      if (trial.isTried(ptx::Break::ChangeMap))
        trial.run(rerun, ptx::Break::ChangeMap, name, "map " + std::to_string(map), module, bytes);
    }
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 6) {
    std::cerr << "error: expected ARTIFACT KERNEL SIZES MAP_SIZES STEP, but got " << argc - 1
              << " arguments\n";
    return 2;
  }
  try {
    std::string artifact = argv[1], kernel = argv[2], text = textOf(readFile(artifact), kernel);
    ptx::Module module = ptx::parse(text);
    Trial trial(unsigned(std::stoul(argv[5])));
    for (bool areMaps : {false, true}) {
      Rerun rerun(
          {.artifact = artifact, .kernel = kernel, .sizes = sizesOf(argv[areMaps ? 4 : 3]), .absent = {}});
      for (uint64_t seed = 0; seed < 2; ++seed)
        if (RerunOutcome whole = rerun.run(module, seed); !whole.fault.empty() || !whole.isSame)
          fail("expected a kernel that is right, but got: ", whole.fault);
      if (areMaps)
        breakMaps(trial, rerun, module);
      else
        breakText(trial, rerun, text);
    }
  } catch (const std::exception &error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
