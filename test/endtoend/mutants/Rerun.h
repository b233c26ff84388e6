// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel of a call in the interpreter, run again and again with other texts on the memory that it found.
#ifndef TAYLOR_TEST_ENDTOEND_MUTANTS_RERUN_H
#define TAYLOR_TEST_ENDTOEND_MUTANTS_RERUN_H
#include "runtime/ArtifactFile.h"
#include "runtime/Call.h"
#include "runtime/ptx/Interpreter.h"
#include "runtime/ptx/TensorMap.h"
#include <map>
#include <set>

namespace taylor::test {

/// A call of an artifact's forward and backward on random tensors.
struct CallOf {
  std::string artifact;                 ///< a file
  std::string kernel;                   ///< the entry that is run again
  std::map<std::string, int64_t> sizes; ///< of b, h, g, t, u
  std::set<std::string> absent;         ///< labels of tensors that are not given: "gradient:q"
};

/// What came of a run.
struct RerunOutcome {
  std::string fault; ///< the interpreter's message
  uint64_t bankConflicts = 0;
  uint64_t instructions = 0;
  bool isSame = true;    ///< each bit that the kernel may write
  double difference = 0; ///< the largest one in a tensor or a workspace, over its largest number
  /// A fault, or a result that no rounding explains.
  bool isCaught() const { return !fault.empty() || !(difference < kWrong); }
  static constexpr double kWrong = 0.02;
};

class Rerun {
public:
  /// Runs the call up to the kernel, and this once as it is. Throws taylor::runtime::Error.
  explicit Rerun(CallOf call);
  /// The kernel with another text and, where it is given, other bytes of parameters.
  RerunOutcome run(const runtime::ptx::Module &module, uint64_t seed,
                   std::span<const std::byte> parameters = {});
  const RerunOutcome &whole() const { return first; }
  const std::vector<std::byte> &parameters() const { return bytes; }
  /// Where tensor maps lie in the parameters.
  const std::vector<size_t> &maps() const { return mapsAt; }

private:
  /// Memory of a tensor, aligned as GPUs ask.
  struct Memory {
    runtime::TensorInfo info;
    std::vector<int64_t> sizes, strides;
    struct alignas(64) Line {
      std::byte bytes[64];
    };
    std::vector<Line> lines;
    size_t count = 1;
    TaylorTensor tensor() {
      return {lines.data(), info.dtype, TAYLOR_CPU, int64_t(sizes.size()), sizes.data(), strides.data()};
    }
  };
  Memory &memoryOf(const runtime::Slot &slot);
  /// Runs a function; true if it has the kernel.
  bool runFunction(int function);
  void keep(const runtime::KernelInfo &, unsigned blocks, std::span<const std::byte> parameters,
            std::span<const runtime::ptx::MemoryRange> memory);
  RerunOutcome compare(const runtime::ptx::RunReport &report) const;
  double differenceIn(const runtime::ptx::MemoryRange &range, const std::vector<std::byte> &right) const;

  CallOf call;
  std::shared_ptr<const runtime::Artifact> artifact;
  std::map<std::string, Memory> tensors;
  std::vector<Memory::Line> workspace;
  std::map<std::string, TaylorDtype> types; ///< of ranges, by name
  // Of the kernel
  const runtime::KernelInfo *kernel = nullptr;
  unsigned blocks = 0;
  std::vector<std::byte> bytes;
  std::vector<size_t> mapsAt;
  std::vector<runtime::ptx::MemoryRange> ranges;
  std::vector<std::vector<std::byte>> before, after; ///< of each range; none where it is read only
  RerunOutcome first;
  uint64_t limit = uint64_t(1) << 30;
};

} // namespace taylor::test

#endif
