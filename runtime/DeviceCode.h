// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An artifact's code for GPUs, and what its two devices share: which target runs, and what a kernel is given.
#ifndef TAYLOR_RUNTIME_DEVICECODE_H
#define TAYLOR_RUNTIME_DEVICECODE_H
#include "runtime/Call.h"
#include "runtime/Error.h"
#include "runtime/Manifest.h"
#include "runtime/TensorMapArguments.h"
#include "runtime/cuda/Program.h"
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <span>

namespace taylor::runtime {

/// Where the arrays of a workspace lie in it, and its size, in bytes.
struct WorkspaceLayout {
  std::span<const WorkspaceInfo> arrays; ///< of the form, which outlives this
  std::vector<int64_t> offsets, bytes;
  int64_t size = 0;
  /// None.
  WorkspaceLayout() = default;
  /// Throws Error where the size passes 2^63.
  WorkspaceLayout(const FormCode &code, const Dims &dims);
};

/// What a tensor map is made of; none where the array has no elements.
using MapArguments = std::optional<TensorMapArguments>;
/// 128 bytes, as a device reads them.
using MapBytes = std::array<uint64_t, 16>;

/// One launch: a kernel, its blocks, its parameters, 8 bytes each (artifact.h), and its tensor maps.
struct KernelLaunch {
  const KernelInfo &kernel;
  unsigned blocks = 0; ///< 0: nothing to run.
  std::vector<uint64_t> parameters;
  std::vector<MapArguments> maps;
  /// `workspace` is the address at which the layout begins. Throws Error for a grid past 2^31 - 1 blocks,
  /// and for sizes or positions past 2^31 - 1024.
  KernelLaunch(const KernelInfo &kernel, const Manifest &manifest, const FunctionInfo &function,
               const BoundCall &call, const WorkspaceLayout &layout, uint64_t workspace);
};

/// Whether code for the target takes tensor maps.
bool hasMaps(const TargetInfo &target);
/// What a kernel's tensor map says of a call's array.
MapArguments describeMap(const KernelMap &map, const KernelArgument &argument, const Manifest &manifest,
                         const FunctionInfo &function, const BoundCall &call, const WorkspaceLayout &layout,
                         uint64_t workspace);

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

  /// Name of the form that runs a call: in the interpreter, or on the GPU of `stream`. Where the call's
  /// tensors have no tensor maps, the target that runs it follows: "parallel on sm_80".
  const std::string &formOf(int function, const BoundCall &call, const Executor &executor);

private:
  const FormCode &codeOf(const TargetInfo &target, int function, const Dims &dims,
                         std::string_view form) const;
  /// Empty, or the first tensor of which a kernel's map cannot be made, and why. `encode` throws Error.
  template <typename Encode>
  std::string findUndescribed(const TargetInfo &target, int function, const BoundCall &call,
                              const Executor &executor, Encode encode) const;
  /// PTX text that the interpreter takes (Interpret.cpp; without an interpreter there is none).
  struct Interpreted;
  /// `plain`: of targets without tensor maps.
  const Interpreted &parsed(bool plain = false);
  /// The text that runs a call. Throws Error where none can.
  const Interpreted &interpretedFor(int function, const BoundCall &call, const Executor &executor);
  /// The target whose text runs a call in the interpreter, and the first one that it takes. Throws Error.
  std::pair<const TargetInfo *, const TargetInfo *> interpretedTargets(int function, const BoundCall &call,
                                                                       const Executor &executor);
  /// Likewise on the GPU of the current context.
  cuda::DeviceProgram &programFor(int function, const BoundCall &call, const Executor &executor);
  [[noreturn]] void refuse(const TargetInfo &target, const std::string &why) const;

  std::string name;
  const Manifest &manifest;
  std::vector<cuda::Image> images;
  cuda::DeviceProgram program, plainProgram; ///< of all targets, and of those without tensor maps
  /// Of all texts, and of those without maps; no lock, which a forked child could find locked.
  std::atomic<const Interpreted *> interpreted[2] = {};
  std::mutex mutex;
  std::set<std::string> formNames; ///< that were asked for
};

template <typename Encode>
std::string DeviceCode::findUndescribed(const TargetInfo &target, int function, const BoundCall &call,
                                        const Executor &executor, Encode encode) const {
  const FunctionInfo &info = manifest.functions[size_t(function)];
  for (const KernelInfo &kernel : codeOf(target, function, call.dims, executor.form).kernels)
    for (const KernelMap &map : kernel.maps) {
      const KernelArgument &argument = kernel.arguments[size_t(map.argument)];
      if (argument.slot < 0)
        continue; // dense
      MapArguments made = describeMap(map, argument, manifest, info, call, {}, 0);
      constexpr uint64_t anywhere = 4096; // where shapes alone are known
      if (made && !made->address)
        made->address = anywhere;
      try {
        if (made)
          encode(*made);
      } catch (const Error &error) {
        return "'" + info.slots[size_t(argument.slot)].label + "' has none: " + error.what();
      }
    }
  return "";
}

} // namespace taylor::runtime

#endif
