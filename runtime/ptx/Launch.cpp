// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Special registers, and a grid's blocks on host threads.
#include "runtime/ptx/Launch.h"
#include "runtime/Error.h"
#include "runtime/ptx/Block.h"
#include <algorithm>
#include <atomic>
#include <cfenv>
#include <mutex>
#include <thread>

namespace taylor::runtime::ptx {

const char *Profile::name(Class c) {
  static const char *names[] = {"integer", "float",   "special",      "convert",  "move",
                                "control", "barrier", "shuffle",      "mma",      "ldmatrix",
                                "shared",  "global",  "other memory", "cp.async", "atomic"};
  return c < Classes ? names[c] : "";
}

void Profile::add(const Profile &p) {
  for (unsigned k = 0; k < Classes; ++k)
    issued[k] += p.issued[k];
  total += p.total;
  threadInstructions += p.threadInstructions;
  globalRead += p.globalRead;
  globalWritten += p.globalWritten;
  sharedRead += p.sharedRead;
  sharedWritten += p.sharedWritten;
  bankConflicts += p.bankConflicts;
}

std::array<unsigned, 3> split(uint64_t n, GridSize size) {
  return {unsigned(n % size.x), unsigned(n / size.x % size.y), unsigned(n / size.x / size.y)};
}

uint64_t Launch::valueOf(Special special, const std::array<unsigned, 3> &blockCoordinates,
                         unsigned thread) const {
  unsigned axis = unsigned(special) % 3; // the first four kinds come in x, y, z
  unsigned lane = thread % 32;
  uint64_t bit = uint64_t(1) << lane;
  switch (special) {
  case Special::TidX:
  case Special::TidY:
  case Special::TidZ:
    return split(thread, block)[axis];
  case Special::NtidX:
  case Special::NtidY:
  case Special::NtidZ:
    return std::array{block.x, block.y, block.z}[axis];
  case Special::CtaidX:
  case Special::CtaidY:
  case Special::CtaidZ:
    return blockCoordinates[axis];
  case Special::NctaidX:
  case Special::NctaidY:
  case Special::NctaidZ:
    return std::array{grid.x, grid.y, grid.z}[axis];
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return thread / 32;
  case Special::NWarpId:
    return warps();
  case Special::NSmId:
    return 1;
  case Special::SmId:
  case Special::GridId:
    return 0;
  case Special::MaskEq:
    return bit;
  case Special::MaskLt:
    return bit - 1;
  case Special::MaskLe:
    return 2 * bit - 1;
  case Special::MaskGe:
    return uint32_t(0 - bit);
  case Special::MaskGt:
    return uint32_t(0 - 2 * bit);
  case Special::DynamicShared:
    return dynamicShared;
  case Special::TotalShared:
    return sharedBytes();
  }
  return 0;
}

namespace {

const Kernel &find(const Module &module, std::string_view name) {
  std::string known;
  for (const Kernel &k : module.get().kernels) {
    if (k.info.name == name)
      return k;
    known += (known.empty() ? "" : ", ") + k.info.name;
  }
  fail("expected one of the kernels ", known.empty() ? "(none)" : known, ", but got '", name, "'");
}

void check(const Kernel &k, GridSize grid, GridSize block, size_t parameters, size_t dynamicShared) {
  auto text = [](std::array<unsigned, 3> s) {
    return std::to_string(s[0]) + " x " + std::to_string(s[1]) + " x " + std::to_string(s[2]);
  };
  std::array<unsigned, 3> size{block.x, block.y, block.z};
  uint64_t threads = uint64_t(block.x) * block.y * block.z;
  const KernelSignature &info = k.info;
  if (threads == 0 || block.x > 1024 || block.y > 1024 || block.z > 1024 || threads > 1024)
    fail(info.name, ": expected a block of 1 to 1024 threads, but got ", text(size));
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    fail(info.name, ": expected a grid of at least one block, but got ", text({grid.x, grid.y, grid.z}));
  if (grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
    fail(info.name, ": expected a grid of at most 2147483647 x 65535 x 65535 blocks, but got ",
         text({grid.x, grid.y, grid.z}));
  if (info.required[0] && info.required != size)
    fail(info.name, ": expected a block of ", text(info.required), " threads (.reqntid), but got ",
         text(size));
  if (info.most[0] && threads > uint64_t(info.most[0]) * info.most[1] * info.most[2])
    fail(info.name, ": expected a block of at most ", text(info.most), " threads (.maxntid), but got ",
         text(size));
  if (parameters != info.parameterBytes)
    fail(info.name, ": expected ", info.parameterBytes, " bytes of parameters, but got ", parameters);
  if (k.dynamicBase + dynamicShared > size_t(1) << 20)
    fail(info.name, ": expected at most 1048576 bytes of shared memory, but got ",
         k.dynamicBase + dynamicShared);
}

/// Rounds to nearest with subnormals while it lives, whatever the caller's mode is.
struct ExactFloats {
  ExactFloats() {
    std::fegetenv(&before);
    std::fesetenv(FE_DFL_ENV);
  }
  ~ExactFloats() { std::fesetenv(&before); }
  std::fenv_t before;
};

} // namespace

RunReport launch(const Module &module, std::string_view name, GridSize grid, GridSize block,
                 size_t dynamicShared, std::span<const std::byte> parameters,
                 std::span<const MemoryRange> memory, const InterpreterOptions &options) {
  const Kernel &kernel = find(module, name);
  check(kernel, grid, block, parameters.size(), dynamicShared);
  Launch shared{kernel, grid, block, dynamicShared, parameters, {memory.begin(), memory.end()}, options};
  for (const Variable &v : module.get().variables)
    shared.ranges.push_back({v.data, v.bytes, v.name, v.writable});
  std::erase_if(shared.ranges, [](const MemoryRange &r) { return r.bytes == 0; });
  std::sort(shared.ranges.begin(), shared.ranges.end(),
            [](const MemoryRange &a, const MemoryRange &b) { return a.data < b.data; });

  uint64_t blocks = uint64_t(grid.x) * grid.y * grid.z;
  std::atomic<uint64_t> next{0}, end{blocks};
  RunReport report;
  uint64_t faulty = blocks;
  std::mutex mutex;
  auto work = [&] {
    ExactFloats floats;
    Block runner(shared);
    // Blocks are taken in order and those below a faulty one are finished, so the fault reported is the
    // lowest block's.
    for (uint64_t b; (b = next++) < end;) {
      std::optional<Fault> fault = runner.run(b);
      if (!fault)
        continue;
      std::lock_guard lock(mutex);
      end = std::min(end.load(), b);
      if (b < faulty) {
        faulty = b;
        report.fault = std::move(fault);
      }
    }
    std::lock_guard lock(mutex);
    report.profile.add(runner.profile());
  };
  std::vector<std::thread> others;
  for (unsigned k = 1; k < std::min<uint64_t>(options.threads, blocks); ++k)
    others.emplace_back(work);
  work();
  for (std::thread &t : others)
    t.join();
  return report;
}

} // namespace taylor::runtime::ptx
