// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/Registry.h"
#include "runtime/Error.h"
#include "runtime/Fork.h"
#include <algorithm>
#include <array>
#include <chrono>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <unordered_map>

namespace taylor {
namespace {

using runtime::fail;

// Options of taylorc by who answers them in a call; others say what is computed, and the compiler gets them
// as they are. The compiler's one table is not linked here: test/infra/options.py compares these lists with
// it.
/// The call's tensors.
constexpr std::array kOptionsOfTensors = {"--dtype", "--head-dim", "--value-dim"};
/// The kernel cache, which names files and gets shared objects.
constexpr std::array kOptionsOfFiles = {"--emit", "--save-stages", "-o"};
/// The machine. What a manifest says does not depend on them, except for the sizes of states.
constexpr std::array kOptionsOfMachines = {"--target", "--f32-products", "--bf16-products", "--row-sums"};

/// Any GPU's code does for the interpreter.
constexpr const char *kAnyGpu = "--target=sm_80";

/// What identifies a file's contents without reading them; all 0 for text.
struct Stamp {
  int64_t inode = 0, size = 0, seconds = 0, nanoseconds = 0;
  bool operator==(const Stamp &) const = default;
};

Stamp stampOf(std::string_view spec) {
  constexpr size_t longestPath = 4095;
  if (spec.size() > longestPath || spec.find("taylor.spec") != std::string_view::npos)
    return {};
  std::array<char, longestPath + 1> path;
  *std::ranges::copy(spec, path.begin()).out = '\0';
  struct stat status;
  if (stat(path.data(), &status) != 0)
    return {};
  return {int64_t(status.st_ino), status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

struct Known {
  Stamp stamp;
  std::shared_ptr<Program> program;
  std::weak_ptr<Program> alias; ///< Of an identity: the program of a file, which goes with it.
};

/// All programs of the process, by specification and options.
struct Programs {
  std::unordered_map<std::string, Known> known;
  /// Of files that have changed since: a backward may still ask for them.
  std::array<std::shared_ptr<Program>, 16> replaced;
  size_t nextReplaced = 0;
};

/// Of all programs, and of what a program has compiled so far.
runtime::BriefMutex programsMutex;

Programs &programs() {
  static Programs *all = new Programs; // never destroyed: Python may call during the end of the process
  return *all;
}

/// The programs asked for last in this thread: a model calls the same ones again and again.
struct Recent {
  std::string spec, options;
  Stamp stamp;
  std::shared_ptr<Program> program;
};
struct Recents {
  std::array<Recent, 4> list;
  size_t next = 0;
};

std::string keyOf(std::string_view spec, std::string_view options) {
  return std::to_string(spec.size()) + ":" + std::string(spec) + std::string(options);
}

/// What identity() says of an artifact: "PATH.so#CHECKSUM", in 16 hexadecimal digits.
constexpr size_t kChecksumDigits = 16;

std::string pinArtifact(const std::string &path, uint64_t checksum) {
  std::string digits(kChecksumDigits, '0');
  for (size_t i = kChecksumDigits; i-- > 0; checksum /= 16)
    digits[i] = "0123456789abcdef"[checksum % 16];
  return path + "#" + digits;
}

/// The path of an artifact that is named by its path, or by what pinArtifact() makes of it; else "".
std::string artifactPath(const std::string &spec) {
  constexpr std::string_view ending = ".so";
  if (spec.size() > ending.size() && spec.ends_with(ending))
    return spec;
  size_t tail = kChecksumDigits + 1;
  if (spec.size() <= tail + ending.size() || spec[spec.size() - tail] != '#')
    return "";
  std::string path = spec.substr(0, spec.size() - tail);
  return path.ends_with(ending) ? path : "";
}

std::vector<std::string> splitOptions(const std::string &options) {
  std::vector<std::string> list;
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    auto begins = [&](const char *option) { return word.starts_with(option); };
    if (std::ranges::any_of(kOptionsOfTensors, begins) || std::ranges::any_of(kOptionsOfFiles, begins))
      fail("unsupported option '", word,
           "': dtype and sizes are taken from the tensors, and the kernel cache names files");
    list.push_back(word);
  }
  return list;
}

/// Whether an input says what a call is: it is there in each, and has the call's dtype, while learned
/// parameters keep fp32 in a 16-bit artifact.
bool tells(const runtime::TensorInfo &input) {
  return !input.optional && input.source.kind != runtime::Source::Kind::Parameter;
}

/// Without the names of targets, and without how GPUs multiply and add: a manifest with the sizes of a GPU's
/// states would need its code.
std::vector<std::string> withoutMachine(std::vector<std::string> arguments) {
  std::erase_if(arguments, [](const std::string &word) {
    return std::ranges::any_of(kOptionsOfMachines,
                               [&](std::string option) { return word.starts_with(option + "="); });
  });
  return arguments;
}

} // namespace

std::shared_ptr<Program> Program::find(std::string_view spec, std::string_view options,
                                       std::string_view name) {
  static thread_local Recents recents;
  // What a checkpoint computes again belongs to the forward that ran: its file is not looked at.
  bool isBackward = isInBackward();
  Stamp stamp = isBackward ? Stamp() : stampOf(spec);
  for (const Recent &recent : recents.list)
    if (recent.program && recent.spec == spec && recent.options == options &&
        (isBackward || recent.stamp == stamp))
      return recent.program;
  Programs &all = programs();
  std::string key = keyOf(spec, options);
  auto findKnown = [&]() -> std::shared_ptr<Program> {
    auto it = all.known.find(key);
    if (it == all.known.end())
      return nullptr;
    if (!it->second.program)
      return it->second.alias.lock();
    if (isBackward)
      stamp = it->second.stamp;
    return it->second.stamp == stamp ? it->second.program : nullptr;
  };
  std::shared_ptr<Program> program;
  {
    std::lock_guard lock(programsMutex);
    program = findKnown();
  }
  if (!program) {
    stamp = stampOf(spec);
    // Two threads may both do it; the cache compiles once.
    auto mine = std::make_shared<Program>(std::string(spec), std::string(options), name);
    std::shared_ptr<Program> oldest; // freed after the lock
    std::lock_guard lock(programsMutex);
    program = findKnown();
    if (!program) {
      program = mine;
      Known &known = all.known[key];
      if (known.program) {
        oldest = std::move(all.replaced[all.nextReplaced]);
        all.replaced[all.nextReplaced++] = std::move(known.program);
        all.nextReplaced %= all.replaced.size();
      }
      known = {stamp, program, {}};
      if (program->identity() != spec)
        all.known[keyOf(program->identity(), options)].alias = program;
    }
  }
  auto place = std::ranges::find_if(recents.list, [&](const Recent &recent) {
    return recent.program && recent.spec == spec && recent.options == options; // as the file was before
  });
  if (place == recents.list.end()) {
    place = recents.list.begin() + recents.next;
    recents.next = (recents.next + 1) % recents.list.size();
  }
  *place = {std::string(spec), std::string(options), stamp, program};
  return program;
}

/// One thread at a time compiles for a program. No lock is held meanwhile: a forked child does not wait for a
/// thread that it has not.
class Program::Turn {
public:
  explicit Turn(Program &program) : program(program) {
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      std::lock_guard lock(programsMutex);
      if (program.isCompiling && program.compilingIn == runtime::forkGeneration())
        continue;
      program.isCompiling = true;
      program.compilingIn = runtime::forkGeneration();
      return;
    }
  }
  ~Turn() {
    std::lock_guard lock(programsMutex);
    program.isCompiling = false;
  }
  Turn(const Turn &) = delete;

private:
  Program &program;
};

Program::Program(std::string spec, std::string options, std::string_view name)
    : arguments(splitOptions(options)) {
  std::erase_if(arguments, [&](const std::string &word) {
    if (word.rfind("--device", 0) != 0)
      return false;
    if (word != "--device=ptx")
      fail("expected --device=ptx, but got '", word, "': processor or GPU follow from where the tensors are");
    return interpreted = true;
  });
  for (const std::string &word : arguments)
    namesTarget |= word.rfind("--target", 0) == 0;
  if (std::string path = artifactPath(spec); !path.empty()) {
    if (!arguments.empty())
      fail("unsupported options '", options, "' with the artifact '", path, "', which is compiled already");
    fixed = runtime::Artifact::load(path);
    description = fixed->manifest();
    pinned = pinArtifact(path, fixed->checksum());
    if (spec != path && spec != pinned)
      fail("expected the artifact '", path, "' of the forward, with checksum ",
           spec.substr(spec.size() - kChecksumDigits), ", but got another file, with checksum ",
           pinned.substr(pinned.size() - kChecksumDigits), "; run the forward again");
  } else {
    source = runtime::Specification::read(spec);
    pinned = source.text;
    if (!name.empty())
      source.name = name;
    description = runtime::compileManifest(source, withoutMachine(arguments));
  }
  takesOptional = std::ranges::any_of(description.inputs, &runtime::TensorInfo::optional);
  hasStates = std::ranges::any_of(description.inputs, &runtime::TensorInfo::isState);
  dInput = inputWithAxis(AxisRole::Channel);
  eInput = inputWithAxis(AxisRole::ValueChannel);
  dtypeInput = -1;
  for (int i = int(description.inputs.size()) - 1; i >= 0; --i)
    if (tells(description.inputs[i]) && description.inputs[i].dtype != TAYLOR_I32)
      dtypeInput = i;
}

Program::~Program() {
  for (const Entry *entry = entries.load(); entry;) {
    const Entry *next = entry->next;
    delete entry;
    entry = next;
  }
}

int Program::inputWithAxis(AxisRole axis) const {
  int learned = -1; // where nothing else has it
  for (size_t i = 0; i < description.inputs.size(); ++i) {
    const runtime::TensorInfo &input = description.inputs[i];
    if (input.optional ||
        std::ranges::find(input.axes, nameOf(axis), &runtime::TensorAxis::name) == input.axes.end())
      continue;
    if (tells(input))
      return int(i);
    if (learned < 0)
      learned = int(i);
  }
  return learned;
}

std::vector<std::string> Program::sizedArguments(TaylorDtype dtype, int64_t d, int64_t e) const {
  std::vector<std::string> all = arguments;
  all.push_back(std::string("--dtype=") + runtime::dtypeName(dtype));
  if (d > 0)
    all.push_back("--head-dim=" + std::to_string(d));
  if (e > 0)
    all.push_back("--value-dim=" + std::to_string(e));
  return all;
}

const runtime::Artifact *Program::search(TaylorDtype dtype, int64_t d, int64_t e,
                                         const KernelPlace &place) const {
  for (const Entry *entry = entries.load(std::memory_order_acquire); entry; entry = entry->next)
    if (entry->dtype == dtype && entry->d == d && entry->e == e && entry->place == place)
      return entry->artifact.get();
  return nullptr;
}

const runtime::Manifest &Program::manifest(TaylorDtype dtype, int64_t d, int64_t e,
                                           const KernelPlace &place) {
  if (fixed)
    return fixed->manifest();
  // To learn of states what a GPU makes of them takes all of the compiler's work: what it gives is kept.
  if (hasStates && place.device != TAYLOR_CPU)
    return kernel(dtype, d, e, place).manifest();
  auto matches = [&](const auto &entry) { return entry.dtype == dtype && entry.d == d && entry.e == e; };
  for (const Entry *entry = entries.load(std::memory_order_acquire); entry; entry = entry->next)
    if (matches(*entry) && (!hasStates || entry->place == place))
      return entry->artifact->manifest();
  Turn turn(*this);
  {
    std::lock_guard lock(programsMutex);
    for (const Signature &known : signatures)
      if (matches(known))
        return known.manifest;
  }
  std::vector<std::string> all = sizedArguments(dtype, d, e);
  if (!hasStates)
    all = withoutMachine(all);
  Signature made{dtype, d, e, runtime::compileManifest(source, all)};
  std::lock_guard lock(programsMutex);
  return signatures.emplace_back(std::move(made)).manifest;
}

const runtime::Artifact &Program::kernel(TaylorDtype dtype, int64_t d, int64_t e, const KernelPlace &place,
                                         std::string_view name) {
  if (const runtime::Artifact *found = search(dtype, d, e, place))
    return *found;
  Turn turn(*this);
  if (const runtime::Artifact *found = search(dtype, d, e, place))
    return *found;
  std::shared_ptr<const runtime::Artifact> artifact = fixed;
  if (fixed) {
    if (fixed->manifest().dtype != dtype)
      fail("expected ", runtime::dtypeName(fixed->manifest().dtype), " inputs for the artifact '",
           fixed->path(), "', but got ", runtime::dtypeName(dtype));
  } else {
    std::vector<std::string> all = sizedArguments(dtype, d, e);
    if (!namesTarget && place.device != TAYLOR_CPU)
      all.push_back(place.target ? "--target=" + *place.target : kAnyGpu);
    artifact = runtime::compile({source.text, name.empty() ? source.name : std::string(name)}, all);
  }
  // Kept for the life of the program: there are few, and callers hold references.
  entries.store(new Entry{dtype, d, e, place, artifact, entries.load()}, std::memory_order_release);
  return *artifact;
}

} // namespace taylor
