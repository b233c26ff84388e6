// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs PTX text on the host: parse a module, launch its kernels, get faults and counts. Needs no GPU and no
// driver.
#ifndef TAYLOR_RUNTIME_PTX_INTERPRETER_H
#define TAYLOR_RUNTIME_PTX_INTERPRETER_H
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace taylor::runtime::ptx {

struct ParsedModule;

/// One parameter of a kernel; bytes and alignment as the ABI lays them out (PTX ISA, "Kernel Function
/// Parameters").
struct KernelParameter {
  std::string name;
  size_t offset; ///< bytes from the start of the parameter block
  size_t bytes;
  size_t align;
};

/// What a launch has to know of a kernel.
struct KernelSignature {
  std::string name;
  std::vector<KernelParameter> parameters;
  size_t parameterBytes;            ///< size of the whole parameter block
  size_t staticSharedBytes;         ///< shared memory besides the dynamic part
  std::array<unsigned, 3> required; ///< .reqntid, zeros if absent
  std::array<unsigned, 3> most;     ///< .maxntid, zeros if absent
  size_t registers;                 ///< declared (virtual) registers
};

/// A parsed module; copies share its .global variables, which live as long as the last copy.
class Module {
public:
  explicit Module(std::shared_ptr<ParsedModule> program) : program(std::move(program)) {}
  /// The entries in the order of the text.
  std::vector<KernelSignature> kernels() const;
  ParsedModule &get() const { return *program; }

private:
  std::shared_ptr<ParsedModule> program;
};

/// Parses PTX text. Throws taylor::runtime::Error with `NAME:LINE:COLUMN: expected X, but got Y` (both from
/// 1) or `NAME:LINE:COLUMN: unsupported instruction 'x'`. An instruction that the interpreter lacks is
/// refused here, not when it would run: a program either runs as a whole or not at all.
Module parse(std::string_view text, std::string_view name = "ptx");

/// Host memory that a kernel may touch through global addresses; addresses are host addresses.
struct MemoryRange {
  void *data;
  size_t bytes;
  std::string name;     ///< for messages
  bool writable = true; ///< a store elsewhere is a fault
  /// The previous kernel of a dependent launch writes it: an access before griddepcontrol.wait is a fault.
  bool previous = false;
};

struct InterpreterOptions {
  uint64_t seed = 0;  ///< order of warps; the same seed gives the same order whatever the number of threads
  bool checks = true; ///< uninitialised values, races, fences, what is still under way. Bounds, alignment,
                      ///< barriers: always
  bool profile = false;
  unsigned threads = 1;               ///< host threads that take blocks
  uint64_t limit = uint64_t(1) << 36; ///< warp instructions per block, then a fault: loops that never end
};

enum class FaultKind {
  UninitialisedRegister,
  UninitialisedShared,
  OutOfBounds,
  Misaligned,
  Race,
  InFlight,  ///< touches bytes that a copy still fills, or registers of a wgmma that is under way
  Unfenced,  ///< wgmma.fence, fence.proxy.async or fence.mbarrier_init is missing
  Malformed, ///< what is no matrix descriptor, tensor map or mbarrier, or a number out of its range
  Divergent, ///< an instruction that a warp or warpgroup must execute together is executed by a part of it
  Deadlock,
  Limit,
  Trap,
};

struct Fault {
  FaultKind kind;
  std::string kernel;
  unsigned line;                  ///< in the PTX text, from 1
  std::array<unsigned, 3> block;  ///< %ctaid
  std::array<unsigned, 3> thread; ///< %tid of the first thread concerned
  uint64_t address;               ///< 0 where none is concerned; shared addresses are offsets
  std::string message; ///< everything above and what happened, one line; a deadlock adds one per warp
};

/// Instructions are counted once per warp that issues them.
struct Profile {
  enum Class {
    Integer,
    Float,
    Special,
    Convert,
    Move,
    Control,
    Barrier,
    Shuffle,
    Matrix,
    LoadMatrix,
    SharedMemory,
    GlobalMemory,
    OtherMemory,
    AsyncCopy,
    Atomic,
    Classes
  };
  std::array<uint64_t, Classes> issued{};
  uint64_t total = 0;
  uint64_t threadInstructions = 0;            ///< issued times active lanes
  uint64_t globalRead = 0, globalWritten = 0; ///< bytes, cp.async and atomics included
  uint64_t sharedRead = 0, sharedWritten = 0; ///< bytes
  uint64_t bankConflicts = 0; ///< extra shared-memory passes beyond the fewest for the access's width
  static const char *name(Class);
  double matrixShare() const { return total ? double(issued[Matrix]) / double(total) : 0; }
  void add(const Profile &);
};

struct RunReport {
  std::optional<Fault> fault; ///< of the block with the lowest index that has one
  Profile profile;            ///< zeros unless asked for
};

struct GridSize {
  unsigned x = 1, y = 1, z = 1;
};

/// Runs one kernel and returns when all its blocks have, or at a fault. `parameters` is the parameter block,
/// laid out as KernelSignature says; `dynamicShared` bytes belong to `.extern .shared` arrays. Throws Error
/// for a call that cannot start: no such kernel, a block size that the kernel forbids, a parameter block of
/// another size.
RunReport launch(const Module &, std::string_view kernel, GridSize grid, GridSize block, size_t dynamicShared,
                 std::span<const std::byte> parameters, std::span<const MemoryRange> memory,
                 const InterpreterOptions & = {});

} // namespace taylor::runtime::ptx

#endif
