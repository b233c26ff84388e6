// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An artifact's code for GPUs, and what its two devices share: which target runs, and what a kernel is given.
#pragma once
#include "runtime/Call.h"
#include "runtime/Manifest.h"
#include "runtime/cuda/Program.h"
#include "runtime/ptx/Interpreter.h"
#include <atomic>

namespace taylor::runtime {

/// Where the arrays of a workspace lie in it, and its size, in bytes.
struct WorkspaceLayout {
  std::vector<int64_t> offsets, bytes;
  int64_t size = 0;
  /// Throws Error where the size passes 2^63.
  WorkspaceLayout(const FormCode &code, const Dims &dims);
};

/// One launch: a kernel, its blocks, and its parameters, 8 bytes each (artifact.h).
struct KernelLaunch {
  const KernelInfo &kernel;
  unsigned blocks = 0; ///< 0: nothing to run.
  std::vector<uint64_t> parameters;
  /// `workspace` is the address at which the layout begins. Throws Error for a grid past 2^31 - 1 blocks,
  /// and for sizes or positions past 2^31 - 1024.
  KernelLaunch(const KernelInfo &kernel, const Manifest &manifest, const FunctionInfo &function,
               const BoundCall &call, const WorkspaceLayout &layout, uint64_t workspace);
};

class DeviceCode {
public:
  /// `manifest` and the images' bytes outlive this.
  DeviceCode(const std::string &name, const Manifest &manifest, std::vector<cuda::Image> images);
  ~DeviceCode();

  /// Bytes of workspace that suffice for every target. `form`: as Executor's.
  int64_t workspaceSize(int function, const Dims &dims, std::string_view form) const;
  /// Runs a function's kernels in the interpreter of PTX (runtime/ptx), on the host's memory. Throws Error
  /// for a fault: it names kernel, line, thread and address.
  void interpret(int function, const BoundCall &call, const Executor &executor);
  /// Puts a function's kernels on the executor's stream. All tensors are memory of one GPU. Throws Error.
  void launch(int function, const BoundCall &call, const Executor &executor);

  /// Name of the form that runs a call: in the interpreter, or on the GPU of `stream`.
  const std::string &formOf(int function, const Dims &dims, const Executor &executor);

private:
  const FormCode &codeOf(const TargetInfo &target, int function, const Dims &dims,
                         std::string_view form) const;
  /// PTX text that the interpreter takes.
  struct Interpreted {
    const TargetInfo *target;
    ptx::Module module;
  };
  const Interpreted &parsed();

  std::string name;
  const Manifest &manifest;
  std::vector<cuda::Image> images;
  cuda::Program program;
  std::atomic<const Interpreted *> interpreted{nullptr}; // no lock, which a forked child could find locked
};

} // namespace taylor::runtime
