// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function's kernels in the interpreter of PTX: what a GPU would do to the same memory, with every rule
// checked.
#include "runtime/DeviceCode.h"
#include "runtime/Error.h"
#include "runtime/Memory.h"
#include "runtime/ptx/Interpreter.h"
#include "runtime/ptx/TensorMap.h"
#include <algorithm>
#include <cstring>
#include <memory>

namespace taylor::runtime {
namespace {

/// The bytes between a tensor's first and last element.
size_t extentOf(const TensorInfo &info, const Dims &dims, const int64_t *strides) {
  int64_t last = 0;
  for (size_t i = 0; i < info.axes.size(); ++i) {
    const TensorAxis &axis = info.axes[i];
    int64_t size = axis.isChannel() ? axis.size : dims[size_t(axis.dim)];
    if (size == 0)
      return 0;
    last += (size - 1) * strides[i];
  }
  return size_t((last + 1) * dtypeSize(info.dtype));
}

/// Joins ranges that share bytes, as views of one packed array do: the interpreter wants each address in one.
void joinOverlaps(std::vector<ptx::MemoryRange> &ranges) {
  std::ranges::sort(ranges, {}, &ptx::MemoryRange::data);
  size_t kept = 0;
  for (size_t i = 1; i < ranges.size(); ++i) {
    ptx::MemoryRange &last = ranges[kept], &next = ranges[i];
    auto *end = static_cast<char *>(last.data) + last.bytes;
    if (next.data >= end) {
      std::swap(ranges[++kept], next);
      continue;
    }
    auto *nextEnd = static_cast<char *>(next.data) + next.bytes;
    last.bytes = size_t(std::max(end, nextEnd) - static_cast<char *>(last.data));
    last.name += ", " + next.name;
    last.writable |= next.writable;
  }
  ranges.resize(std::min(ranges.size(), kept + 1));
}

} // namespace

struct DeviceCode::Interpreted {
  const TargetInfo *target;
  ptx::Module module;
};

/// The first PTX text that the interpreter takes, in the order of the artifact; kept when it is parsed. Two
/// threads may both parse it.
const DeviceCode::Interpreted &DeviceCode::parsed(bool plain) {
  if (const Interpreted *known = interpreted[plain].load(std::memory_order_acquire))
    return *known;
  std::string failure =
      "'" + name + "' has cubins only, which need a GPU: compile it with taylorc, which adds PTX";
  std::unique_ptr<Interpreted> mine;
  for (size_t i = 0; !mine && i < images.size(); ++i) {
    if (!images[i].isPtx || (plain && hasMaps(*manifest.target(images[i].target))))
      continue;
    try {
      ptx::Module module = ptx::parse(images[i].bytes, name + " (" + images[i].target + ")");
      mine.reset(new Interpreted{manifest.target(images[i].target), std::move(module)});
    } catch (const Error &error) {
      failure = error.what();
    }
  }
  if (!mine)
    throw Error(failure);
  const Interpreted *known = nullptr;
  if (interpreted[plain].compare_exchange_strong(known, mine.get(), std::memory_order_acq_rel))
    known = mine.release();
  return *known;
}

DeviceCode::~DeviceCode() {
  for (auto &one : interpreted)
    delete one.load();
}

const DeviceCode::Interpreted &DeviceCode::interpretedFor(int function, const BoundCall &call,
                                                          const Executor &executor) {
  const Interpreted &first = parsed();
  std::string why = findUndescribed(*first.target, function, call, executor, ptx::makeTensorMap);
  if (why.empty())
    return first;
  bool hasOther = std::ranges::any_of(images, [&](const cuda::Image &image) {
    return image.isPtx && !hasMaps(*manifest.target(image.target));
  });
  if (!hasOther)
    refuse(*first.target, why);
  return parsed(/*plain=*/true);
}

std::pair<const TargetInfo *, const TargetInfo *>
DeviceCode::interpretedTargets(int function, const BoundCall &call, const Executor &executor) {
  return {interpretedFor(function, call, executor).target, parsed().target};
}

/// The kernel's parameters as they lie in memory, with those of its maps.
static std::vector<uint64_t> layOut(const KernelLaunch &launch) {
  std::vector<uint64_t> words = launch.parameters;
  for (const MapArguments &map : launch.maps) {
    words.resize((words.size() + 7) / 8 * 8);
    MapBytes bytes = {};
    if (map && map->address) {
      ptx::TensorMap made = ptx::makeTensorMap(*map);
      std::memcpy(&bytes, &made, sizeof made);
    }
    words.insert(words.end(), bytes.begin(), bytes.end());
  }
  return words;
}

/// Few, so that blocks of small problems take more than one place.
static constexpr unsigned kInterpretedMultiprocessors = 3;

static ptx::RunReport launchKernel(const ptx::Module &module, const KernelInfo &kernel, unsigned blocks,
                                   std::span<const std::byte> parameters,
                                   std::span<const ptx::MemoryRange> memory,
                                   const ptx::InterpreterOptions &options) {
  return ptx::launch(module, kernel.entry, {blocks}, {unsigned(kernel.threads)}, size_t(kernel.shared),
                     parameters, memory, options);
}

void DeviceCode::interpret(int function, const BoundCall &call, const Executor &executor) {
  const auto &[target, module] = interpretedFor(function, call, executor);
  const FunctionInfo &info = manifest.functions[size_t(function)];
  const FormCode &code = codeOf(*target, function, call.dims, executor.form);
  WorkspaceLayout layout(code, call.dims);
  Workspace own;
  auto *workspace = static_cast<char *>(chooseWorkspace(layout.size, executor, [&] {
    own = Workspace(size_t(layout.size));
    return own.data();
  }));
  // NaN in every type: what is read before it was written shows.
  if (layout.size > 0 && executor.ptx.checks)
    std::memset(workspace, 0xff, size_t(layout.size));

  std::vector<ptx::MemoryRange> ranges;
  for (size_t i = 0; i < info.slots.size(); ++i)
    if (call.data[i])
      ranges.push_back(
          {call.data[i],
           extentOf(manifest.tensor(info.slots[i]), call.dims, &call.strides[i * TAYLOR_MAX_RANK]),
           info.slots[i].label, info.slots[i].written});
  for (size_t i = 0; i < code.workspace.size(); ++i)
    ranges.push_back(
        {workspace + layout.offsets[i], size_t(layout.bytes[i]), "workspace:" + code.workspace[i].name});
  std::erase_if(ranges, [](const ptx::MemoryRange &range) { return range.bytes == 0; });
  joinOverlaps(ranges);

  ptx::InterpreterOptions options{.seed = executor.ptx.seed,
                                  .checks = executor.ptx.checks,
                                  .profile = bool(executor.ptx.profile),
                                  .threads = unsigned(std::min<int64_t>(executor.threads, 1024))};
  PtxSettings::Launcher run = executor.ptx.launch ? executor.ptx.launch : launchKernel;
  for (const KernelInfo &kernel : code.kernels) {
    KernelLaunch launch(kernel, manifest, info, call, layout, reinterpret_cast<uintptr_t>(workspace));
    if (launch.blocks == 0)
      continue;
    for (ptx::MemoryRange &range : ranges)
      range.previous = kernel.startsEarly && range.writable;
    if (kernel.isPersistent)
      launch.blocks = std::min(launch.blocks, kInterpretedMultiprocessors);
    std::vector<uint64_t> words = layOut(launch);
    ptx::RunReport report =
        run(module, kernel, launch.blocks, std::as_bytes(std::span(words)), ranges, options);
    if (report.fault)
      fail("'", name, "' (", target->name, "): ", report.fault->message);
    if (executor.ptx.profile)
      executor.ptx.profile(info.name, kernel, launch.blocks, report.profile);
  }
}

PtxSettings::Profiler PtxSettings::profilerOf(const TaylorPtxOptions &given) {
  return [&given](const std::string &function, const KernelInfo &kernel, unsigned blocks,
                  const ptx::Profile &counts) {
    const char *names[ptx::Profile::Classes];
    for (int i = 0; i < ptx::Profile::Classes; ++i)
      names[i] = ptx::Profile::name(ptx::Profile::Class(i));
    TaylorPtxProfile profile = {
        function.c_str(),     kernel.name.c_str(), kernel.entry.c_str(),  blocks,
        kernel.threads,       counts.total,        ptx::Profile::Classes, names,
        counts.issued.data(), counts.globalRead,   counts.globalWritten,  counts.sharedRead,
        counts.sharedWritten, counts.bankConflicts};
    given.profile(given.profile_context, &profile);
  };
}

} // namespace taylor::runtime
