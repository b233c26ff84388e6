// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/Registry.h"
#include "runtime/Error.h"
#include <algorithm>
#include <array>
#include <shared_mutex>
#include <sstream>
#include <sys/stat.h>
#include <unordered_map>

namespace taylor {
namespace {

using runtime::fail;

/// Any GPU's code does for the interpreter.
constexpr const char *anyGpu = "--target=sm_80";

/// What identifies a file's contents without reading them; all 0 for text.
struct Stamp {
  int64_t inode = 0, size = 0, seconds = 0, nanoseconds = 0;
  bool operator==(const Stamp &) const = default;
};

Stamp stampOf(const std::string &spec) {
  struct stat status;
  if (spec.size() > 4096 || spec.find('\n') != std::string::npos || stat(spec.c_str(), &status) != 0)
    return {};
  return {int64_t(status.st_ino), status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

struct Known {
  Stamp stamp;
  std::shared_ptr<Program> program;
};

/// All programs of the process, by specification and options.
struct Programs {
  std::shared_mutex mutex;
  std::unordered_map<std::string, Known> known;
};

Programs &programs() {
  static Programs *all = new Programs; // never destroyed: Python may call during the end of the process
  return *all;
}

/// The program asked for last in this thread: a model calls the same one again and again.
struct Recent {
  std::string spec, options;
  Stamp stamp;
  std::shared_ptr<Program> program;
};

std::vector<std::string> splitOptions(const std::string &options) {
  std::vector<std::string> list;
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    for (const char *reserved : {"--dtype", "--head-dim", "--value-dim", "--emit", "--save-stages", "-o"})
      if (word.rfind(reserved, 0) == 0)
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

/// Without the names of targets, and without how GPUs multiply and add. What a manifest says does not depend
/// on them, but for the sizes of states; and to say these of a GPU, its code would have to be made.
std::vector<std::string> withoutMachine(std::vector<std::string> arguments) {
  std::erase_if(arguments, [](const std::string &word) {
    return std::ranges::any_of(std::array{"--target=", "--f32-products=", "--bf16-products=", "--row-sums="},
                               [&](const char *option) { return word.rfind(option, 0) == 0; });
  });
  return arguments;
}

} // namespace

std::shared_ptr<Program> Program::find(std::string_view specView, std::string_view optionsView,
                                       std::string_view name) {
  static thread_local Recent recent;
  std::string spec(specView), options(optionsView);
  Stamp stamp = stampOf(spec);
  if (recent.program && recent.spec == spec && recent.options == options && recent.stamp == stamp)
    return recent.program;
  Programs &all = programs();
  std::string key = std::to_string(spec.size()) + ":" + spec + options;
  std::shared_ptr<Program> program;
  {
    std::shared_lock lock(all.mutex);
    auto it = all.known.find(key);
    if (it != all.known.end() && it->second.stamp == stamp)
      program = it->second.program;
  }
  if (!program) {
    program =
        std::make_shared<Program>(spec, options, name); // two threads may both do it; the cache compiles once
    std::unique_lock lock(all.mutex);
    Known &known = all.known[key];
    if (known.program && known.stamp == stamp)
      program = known.program;
    else
      known = {stamp, program};
  }
  recent = {std::move(spec), std::move(options), stamp, program};
  return program;
}

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
  if (spec.size() > 3 && spec.ends_with(".so")) {
    if (!arguments.empty())
      fail("unsupported options '", options, "' with the artifact '", spec, "', which is compiled already");
    fixed = runtime::Artifact::load(spec);
    description = fixed->manifest();
  } else {
    source = runtime::Specification::read(spec);
    if (!name.empty())
      source.name = name;
    description = runtime::compileManifest(source, withoutMachine(arguments));
  }
  takesOptional = std::ranges::any_of(description.inputs, &runtime::TensorInfo::optional);
  hasStates = std::ranges::any_of(description.inputs, &runtime::TensorInfo::isState);
  dInput = inputWithAxis("d");
  eInput = inputWithAxis("e");
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

int Program::inputWithAxis(const char *axis) const {
  int learned = -1; // where nothing else has it
  for (size_t i = 0; i < description.inputs.size(); ++i) {
    const runtime::TensorInfo &input = description.inputs[i];
    if (input.optional || std::ranges::find(input.axes, axis, &runtime::Axis::name) == input.axes.end())
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

const runtime::Manifest &Program::manifest(TaylorDtype dtype, int64_t d, int64_t e, const Place &place) {
  if (fixed)
    return fixed->manifest();
  // To learn of states what a GPU makes of them takes all of the compiler's work: what it gives is kept.
  if (hasStates && place.device != TAYLOR_CPU)
    return kernel(dtype, d, e, place).manifest();
  auto matches = [&](const auto &entry) { return entry.dtype == dtype && entry.d == d && entry.e == e; };
  for (const Entry *entry = entries.load(std::memory_order_acquire); entry; entry = entry->next)
    if (matches(*entry) && (!hasStates || entry->place == place))
      return entry->artifact->manifest();
  std::lock_guard lock(compiling);
  for (const Signature &known : signatures)
    if (matches(known))
      return known.manifest;
  std::vector<std::string> all = sizedArguments(dtype, d, e);
  if (!hasStates)
    all = withoutMachine(all);
  return signatures.emplace_back(Signature{dtype, d, e, runtime::compileManifest(source, all)}).manifest;
}

const runtime::Artifact &Program::kernel(TaylorDtype dtype, int64_t d, int64_t e, const Place &place,
                                         std::string_view name) {
  auto search = [&]() -> const runtime::Artifact * {
    for (const Entry *entry = entries.load(std::memory_order_acquire); entry; entry = entry->next)
      if (entry->dtype == dtype && entry->d == d && entry->e == e && entry->place == place)
        return entry->artifact.get();
    return nullptr;
  };
  if (const runtime::Artifact *found = search())
    return *found;
  std::lock_guard lock(compiling);
  if (const runtime::Artifact *found = search())
    return *found;
  std::shared_ptr<const runtime::Artifact> artifact = fixed;
  if (fixed) {
    if (fixed->manifest().dtype != dtype)
      fail("expected ", runtime::dtypeName(fixed->manifest().dtype), " inputs for the artifact '",
           fixed->path(), "', but got ", runtime::dtypeName(dtype));
  } else {
    std::vector<std::string> all = sizedArguments(dtype, d, e);
    if (!namesTarget && place.device != TAYLOR_CPU)
      all.push_back(place.target ? "--target=" + *place.target : anyGpu);
    artifact = runtime::compile({source.text, name.empty() ? source.name : std::string(name)}, all);
  }
  // Kept for the life of the program: there are few, and callers hold references.
  entries.store(new Entry{dtype, d, e, place, artifact, entries.load()}, std::memory_order_release);
  return *artifact;
}

} // namespace taylor
