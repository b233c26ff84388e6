// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/endtoend/mutants/Rerun.h"
#include "runtime/Error.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace taylor::test {

using namespace runtime;

static float fromBf16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

/// Element `i` of an array.
static double valueAt(const std::byte *data, TaylorDtype dtype, size_t i) {
  if (dtype == TAYLOR_F32) {
    float value;
    std::memcpy(&value, data + 4 * i, 4);
    return double(value);
  }
  uint16_t bits;
  std::memcpy(&bits, data + 2 * i, 2);
  return double(fromBf16(bits));
}

Rerun::Rerun(CallOf given) : call(std::move(given)), artifact(Artifact::load(call.artifact)) {
  const Manifest &manifest = artifact->manifest();
  for (const char *function : {"forward", "backward"})
    if (int index = manifest.function(function); index >= 0 && runFunction(index))
      return;
  fail("expected a kernel '", call.kernel, "' in '", call.artifact, "'");
}

Rerun::Memory &Rerun::memoryOf(const Slot &slot) {
  auto [found, isNew] = tensors.try_emplace(slot.label);
  Memory &memory = found->second;
  if (!isNew)
    return memory;
  memory.info = artifact->manifest().tensor(slot);
  if (memory.info.dtype != TAYLOR_F32 && memory.info.dtype != TAYLOR_BF16)
    fail("unsupported tensor '", slot.label, "' of neither f32 nor bf16");
  for (const TensorAxis &axis : memory.info.axes) {
    static const char *const names[] = {"b", "h", "g", "t", "u"};
    memory.sizes.push_back(axis.isChannel() ? axis.size : call.sizes.at(names[axis.dim]));
    memory.count *= size_t(memory.sizes.back());
  }
  memory.strides.resize(memory.sizes.size(), 1);
  for (size_t axis = memory.sizes.size(); axis-- > 1;)
    memory.strides[axis - 1] = memory.strides[axis] * memory.sizes[axis];
  memory.lines.resize(memory.count * size_t(dtypeSize(memory.info.dtype)) / 64 + 1);
  std::mt19937 random(unsigned(std::hash<std::string>()(slot.label)));
  std::normal_distribution<float> normal;
  auto *data = reinterpret_cast<std::byte *>(memory.lines.data());
  for (size_t i = 0; i < memory.count; ++i) {
    float value = normal(random);
    if (memory.info.dtype == TAYLOR_F32) {
      std::memcpy(data + 4 * i, &value, 4);
    } else {
      auto bits = uint16_t(std::bit_cast<uint32_t>(value) >> 16);
      std::memcpy(data + 2 * i, &bits, 2);
    }
  }
  types[slot.label] = memory.info.dtype;
  return memory;
}

bool Rerun::runFunction(int function) {
  const FunctionInfo &info = artifact->manifest().functions[size_t(function)];
  std::vector<TaylorTensor> given;
  for (const Slot &slot : info.slots)
    given.push_back(call.absent.contains(slot.label) ? TaylorTensor{} : memoryOf(slot).tensor());
  BoundCall bound;
  bind(artifact->manifest(), function, given.data(), int64_t(given.size()), nullptr, TAYLOR_PTX, bound);
  Executor executor{.device = TAYLOR_PTX};
  for (const TargetInfo &target : artifact->manifest().targets)
    for (const FormCode &form : target.functions[size_t(function)].forms)
      for (const WorkspaceInfo &array : form.workspace)
        types["workspace:" + array.name] = array.dtype;
  executor.workspaceSize = workspaceSize(*artifact, function, bound.dims, executor);
  workspace.assign(size_t(executor.workspaceSize) / 64 + 1, {});
  executor.workspace = workspace.data();
  executor.ptx.launch = [&](const ptx::Module &module, const KernelInfo &one, unsigned blocks,
                            std::span<const std::byte> parameters, std::span<const ptx::MemoryRange> memory,
                            const ptx::InterpreterOptions &options) {
    ptx::InterpreterOptions counted = options;
    bool isKernel = one.entry == call.kernel;
    counted.profile = isKernel;
    if (kernel) // a later one
      return ptx::RunReport{};
    if (isKernel)
      keep(one, blocks, parameters, memory);
    ptx::RunReport report = ptx::launch(module, one.entry, {blocks}, {unsigned(one.threads)},
                                        size_t(one.shared), parameters, memory, counted);
    if (isKernel && !report.fault) {
      for (const ptx::MemoryRange &range : ranges) {
        auto *data = static_cast<const std::byte *>(range.data);
        after.emplace_back(data, data + (range.writable ? range.bytes : 0));
      }
      first = compare(report);
      limit = 8 * report.profile.total + 100000;
    }
    return report;
  };
  runtime::run(*artifact, function, bound, executor);
  return kernel != nullptr;
}

void Rerun::keep(const KernelInfo &info, unsigned count, std::span<const std::byte> parameters,
                 std::span<const ptx::MemoryRange> memory) {
  kernel = &info;
  blocks = count;
  bytes.assign(parameters.begin(), parameters.end());
  for (size_t map = 0; map < info.maps.size(); ++map)
    mapsAt.push_back(bytes.size() - sizeof(ptx::TensorMap) * (info.maps.size() - map));
  ranges.assign(memory.begin(), memory.end());
  for (const ptx::MemoryRange &range : ranges) {
    auto *data = static_cast<const std::byte *>(range.data);
    before.emplace_back(data, data + (range.writable ? range.bytes : 0));
  }
}

RerunOutcome Rerun::run(const ptx::Module &module, uint64_t seed, std::span<const std::byte> parameters) {
  for (size_t i = 0; i < ranges.size(); ++i)
    if (!before[i].empty())
      std::memcpy(ranges[i].data, before[i].data(), before[i].size());
  // A kernel's parameters lie at a multiple of 64 bytes, as maps ask.
  return compare(ptx::launch(module, kernel->entry, {blocks}, {unsigned(kernel->threads)},
                             size_t(kernel->shared),
                             parameters.empty() ? std::span<const std::byte>(bytes) : parameters, ranges,
                             {.seed = seed, .profile = true, .limit = limit}));
}

RerunOutcome Rerun::compare(const ptx::RunReport &report) const {
  RerunOutcome outcome{.fault = report.fault ? report.fault->message : "",
                       .bankConflicts = report.profile.bankConflicts,
                       .instructions = report.profile.total};
  for (size_t i = 0; !report.fault && i < ranges.size(); ++i)
    if (!after[i].empty() && std::memcmp(ranges[i].data, after[i].data(), after[i].size()) != 0) {
      outcome.isSame = false;
      outcome.difference = std::max(outcome.difference, differenceIn(ranges[i], after[i]));
    }
  return outcome;
}

double Rerun::differenceIn(const ptx::MemoryRange &range, const std::vector<std::byte> &right) const {
  auto type = types.find(range.name);
  if (type == types.end())
    fail("expected a tensor of a name, but got '", range.name, "'");
  size_t count = right.size() / size_t(dtypeSize(type->second));
  double most = 0, largest = 0;
  for (size_t i = 0; i < count; ++i) {
    double is = valueAt(static_cast<const std::byte *>(range.data), type->second, i);
    double should = valueAt(right.data(), type->second, i);
    if (std::isnan(should) && std::isnan(is))
      continue;
    double difference = std::abs(is - should);
    most = std::isnan(difference) ? INFINITY : std::max(most, difference);
    if (std::isfinite(should))
      largest = std::max(largest, std::abs(should));
  }
  return largest > 0 ? most / largest : most > 0 ? INFINITY : 0;
}

} // namespace taylor::test
