// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the cases of one file share (taylor-run --cases): compiled kernels, and the reference of one problem.
#ifndef TAYLOR_CODEGEN_RUN_SHARED_H
#define TAYLOR_CODEGEN_RUN_SHARED_H

#include "codegen/run/Expectation.h"
#include "runtime/taylor.h"
#include <map>
#include <memory>
#include <set>
#include <string>

namespace taylor::run {

struct UnloadKernel {
  void operator()(TaylorKernel *kernel) const { taylor_unload(kernel); }
};
using KernelPtr = std::shared_ptr<TaylorKernel>;

class Shared {
public:
  explicit Shared(llvm::ArrayRef<RunOptions> cases);

  /// What the kernels of a case are compiled with as --decode: its own, or that of another case which differs
  /// in nothing else. The function `step` is one more, and the others are the same.
  std::optional<Decode> decodeOf(const RunOptions &options) const;

  /// Whether the kernels of a case are compiled with a backward: for its own gradients, or another such
  /// case's.
  bool needsBackward(const RunOptions &options) const;

  /// The kernels that a case was compiled with, or null: until `add`.
  KernelPtr findKernel(const RunOptions &options) const;
  void addKernel(const RunOptions &options, KernelPtr kernel);

  /// What the last case was judged by, where it was the same problem.
  std::optional<Expectation> findExpectation(const RunOptions &options, bool withGradients) const;
  void setExpectation(const RunOptions &options, bool withGradients, const Expectation &expectation);

  /// Whether the compiler refused the case that runs.
  bool isRefused = false;

private:
  std::string compiledKey(const RunOptions &options) const;

  std::map<std::string, Decode> decodes;
  std::set<std::string> withBackward; ///< Of kernels.
  std::map<std::string, KernelPtr> kernels;
  std::string problem;
  std::optional<Expectation> expectation;
};

} // namespace taylor::run

#endif
