// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernel serves a call: from (specification, options) and from dtype and head sizes of the inputs.
#ifndef TAYLOR_RUNTIME_TORCH_REGISTRY_H
#define TAYLOR_RUNTIME_TORCH_REGISTRY_H
#include "dialect/AxisRole.h"
#include "runtime/ArtifactFile.h"
#include "runtime/Cache.h"
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace taylor {

/// Whether this thread runs a backward of torch's autograd. Each library of operators has its own.
bool isInBackward();

/// What a kernel is made for and run by. A GPU is told by its target, an interpreter takes any.
struct KernelPlace {
  TaylorDevice device = TAYLOR_CPU;
  const std::string *target = nullptr; ///< Of a GPU, as taylorc knows it; lives as long as the process.
  bool operator==(const KernelPlace &) const = default;
};

/// One specification under one list of options, with the kernels compiled from it so far.
class Program {
public:
  /// The program of a specification (path, text, or path of an artifact .so) and options of taylorc separated
  /// by spaces; among them `--device=ptx` runs code for GPUs in the interpreter, on CPU tensors. Cheap when
  /// it has been asked for before. A file that has changed since gives a new program; but not in a backward,
  /// where a forward that is computed again is the one that ran. `name` is what messages call a text, where
  /// it was read from a file.
  static std::shared_ptr<Program> find(std::string_view spec, std::string_view options,
                                       std::string_view name = {});

  Program(std::string spec, std::string options, std::string_view name);
  ~Program();

  /// A specification that find() takes for this program, whatever becomes of the file that it was read from:
  /// the text; of an artifact its path and checksum, and another file there is an error.
  const std::string &identity() const { return pinned; }

  /// Names, axes and sources of the tensors; sizes and dtypes are those of taylorc's defaults.
  const runtime::Manifest &signature() const { return description; }

  /// The kernel for a dtype, sizes of d and e (0 where no input has the axis) and a place. Compiles on first
  /// use. `name` as in find(): the same text may have come from several files.
  const runtime::Artifact &kernel(TaylorDtype dtype, int64_t d, int64_t e, const KernelPlace &place,
                                  std::string_view name = {});

  /// The manifest of such kernels. Where there is no kernel yet, none is compiled for it, but one with states
  /// for a GPU, whose sizes follow from its code.
  const runtime::Manifest &manifest(TaylorDtype dtype, int64_t d, int64_t e, const KernelPlace &place);

  /// Runs code for GPUs in the interpreter.
  bool interpreted = false;

  /// There are inputs that a call may leave out.
  bool takesOptional = false;

  /// There are states before and after a call, whose sizes depend on the target.
  bool hasStates = false;

  /// One input that has the axis and that no call leaves out, a learned one where nothing else has it; or -1.
  int inputWithAxis(AxisRole axis) const;
  int dInput, eInput, dtypeInput; ///< Such inputs that tell d, e and the dtype; -1: none.

private:
  struct Entry {
    TaylorDtype dtype;
    int64_t d, e;
    KernelPlace place;
    std::shared_ptr<const runtime::Artifact> artifact;
    const Entry *next;
  };
  struct Signature {
    TaylorDtype dtype;
    int64_t d, e;
    runtime::Manifest manifest;
  };
  class Turn;
  std::vector<std::string> sizedArguments(TaylorDtype dtype, int64_t d, int64_t e) const;
  const runtime::Artifact *search(TaylorDtype dtype, int64_t d, int64_t e, const KernelPlace &place) const;
  std::string pinned;
  std::vector<std::string> arguments;
  bool namesTarget = false; ///< Among the arguments.
  runtime::Specification source;
  std::shared_ptr<const runtime::Artifact> fixed; ///< Where the specification is an artifact.
  runtime::Manifest description;
  std::deque<Signature> signatures;            ///< Of kernels that were asked for before they were compiled.
  std::atomic<const Entry *> entries{nullptr}; ///< Only grows, so readers take no lock.
  bool isCompiling = false;                    ///< A thread is: others wait for their turn.
  unsigned compilingIn = 0;                    ///< forkGeneration() of that thread's process.
};

} // namespace taylor

#endif
