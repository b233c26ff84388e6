// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An artifact's manifest (MANIFEST.md), parsed. Holds no JSON type, so that callers need no JSON header.
#ifndef TAYLOR_RUNTIME_MANIFEST_H
#define TAYLOR_RUNTIME_MANIFEST_H
#include "runtime/Extent.h"
#include "runtime/artifact.h"
#include "runtime/taylor.h"
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace taylor::runtime {

/// The distribution from which a learned parameter starts.
struct Initial {
  enum class Kind { Zeros, Ones, Constant, Uniform, Normal };
  Kind kind = Kind::Zeros;
  double value = 0;               ///< Constant.
  double low = 0, high = 0;       ///< Uniform, half open.
  double mean = 0, deviation = 0; ///< Normal.
};

/// Where a model gets an input.
struct Source {
  enum class Kind { Projection, Parameter, Input };
  Kind kind = Kind::Input;
  bool bias = false; ///< Projection.
  Initial initial;   ///< Parameter.
};

/// One axis of a tensor: its name, and either its run-time size's place in TaylorCall.dims or its fixed size.
struct TensorAxis {
  std::string name;
  int dim = -1;     ///< TaylorDim, or -1 for a channel.
  int64_t size = 0; ///< Of a channel.
  bool isChannel() const { return dim < 0; }
};

struct TensorInfo {
  std::string name;
  std::vector<TensorAxis> axes;
  TaylorDtype dtype = TAYLOR_F32;
  Source source;         ///< Of an input.
  bool gradient = false; ///< Of an input: the backward can give its gradient.
  bool optional = false; ///< May be absent: 0 where it is read, not computed where it is written.
  /// Of an i32 input: no element is below the one before it along the last axis, nor beyond 2^24.
  bool ascending = false;
  /// What a call hands on to the next (taylorc --states, --decode), which its name says: initial.NAME is an
  /// input, final.NAME the output behind the call.
  bool isState() const;
  /// Place of the axis u, or -1: what is kept of keys grows along it.
  int keyAxis() const;
};

/// What a function does with one of its tensors. Cache and Append are one that is kept of keys, as it is read
/// and as it becomes.
enum class Role { Input, Output, Saved, Cotangent, Gradient, Cache, Append };

/// One entry of a function's tensor list.
struct Slot {
  std::string label; ///< As in the manifest: "gradient:q".
  Role role = Role::Input;
  int index = 0;        ///< Into inputs (Input, Gradient), outputs (Output, Cotangent), saved or cache.
  bool written = false; ///< By this function.
  bool optional = false;
  /// Code for some GPU of the artifact asks for an address and strides (but those of axes of size 1 and of a
  /// contiguous last axis) that are multiples of 16 bytes.
  bool aligned16 = false;
};

/// A function as callers see it, whatever the target.
struct FunctionInfo {
  std::string name;
  std::vector<Slot> slots;
  /// Tokens are added to states one after the other, so queries and keys are the same tokens (T = U, offset
  /// 0).
  bool isRecurrent = false;
  /// Of a recurrence: slots of states before a call and of those behind it that may be the same memory.
  std::vector<std::pair<int, int>> carried;
};

/// One dense array that the kernels of a call share.
struct WorkspaceInfo {
  std::string name;
  std::vector<Extent> sizes;
  TaylorDtype dtype = TAYLOR_F32;
};

/// One array that a GPU's kernel takes: a slot of its function, or an array of its workspace.
struct KernelArgument {
  int slot = -1;
  int workspace = -1;
};

/// A tensor map that a kernel takes after its other parameters: how it copies boxes of an array.
struct KernelMap {
  int argument = 0;         ///< Of the kernel.
  std::vector<int64_t> box; ///< Elements along each axis of the array.
  int swizzle = 0;          ///< Bytes of a line in shared memory: 32, 64 or 128.
};

/// One kernel. A processor's has only a name.
struct KernelInfo {
  std::string name;
  std::string entry;        ///< In the images of the target.
  std::vector<Extent> grid; ///< Blocks are their product, the last one fastest.
  int64_t threads = 0;      ///< Of a block.
  int64_t shared = 0;       ///< Dynamic shared memory of a block, bytes.
  std::vector<KernelArgument> arguments;
  std::vector<KernelMap> maps;
  bool isPersistent = false; ///< A block takes several places of the grid: as many blocks start as can run.
  bool startsEarly = false; ///< It may begin while the kernel before it in the call runs, for which it waits.
};

/// What a call costs, as the compiler estimates it, in picoseconds of one core or of a whole GPU; only ratios
/// matter.
struct CallCost {
  double call = 0;  ///< Of every call.
  double pair = 0;  ///< Of each pair of a query and a key that it sees, in each of B H heads.
  double query = 0; ///< Of each of B H T queries.
  double key = 0;   ///< Of each of B G U keys.
};

/// Floating-point operations, counted as CallCost's picoseconds are; a multiply-add is two.
struct FormOperations {
  double pair = 0, query = 0, key = 0;
};

/// A function's code for one target in one form.
struct FormCode {
  std::string name; ///< "parallel", "long", "chunked" or "recurrent".
  CallCost cost;
  FormOperations operations;          ///< 0 where the manifest does not tell.
  int64_t features = 0, channels = 0; ///< Rows and columns of its first state; 0 without states.
  std::vector<KernelInfo> kernels;    ///< Run in order.
  std::vector<WorkspaceInfo> workspace;
};

/// A function's code for one target. All forms take the function's tensors and give the same results.
struct TargetFunction {
  std::vector<FormCode> forms; ///< At least one.
};

struct TargetInfo {
  enum class Kind { Cpu, Ptx };
  std::string name; ///< As given to taylorc: "native", "sm_80".
  Kind kind = Kind::Cpu;
  std::string cpu;                       ///< LLVM's name of the processor.
  std::vector<std::string> features;     ///< That it must have, in LLVM's names.
  std::vector<TargetFunction> functions; ///< In the order of Manifest::functions.
};

struct Manifest {
  std::string text; ///< The JSON it was read from.
  std::string version, hash, spec, mask, form;
  std::map<std::string, double> parameters;
  TaylorDtype dtype = TAYLOR_F32;
  std::map<std::string, int64_t> sizes;
  bool aligned = false; ///< Key arrays are read at query positions: 0 <= offset and offset + T <= U.
  std::vector<TensorInfo> inputs, outputs, saved;
  /// What calls over all keys keep of them (taylorc --decode): arrays over u, of which the function `append`
  /// writes those of new keys, and what it hands on.
  std::vector<TensorInfo> cache;
  std::vector<FunctionInfo> functions;
  std::vector<TargetInfo> targets; ///< At least one, but for a partial manifest.

  /// Reads and checks a manifest; throws Error that names the field. `partial`: of a specification before its
  /// channels have sizes (taylorc --emit=manifest); these are then 0.
  static Manifest parse(std::string_view json, bool partial = false);

  /// Index of a function, or -1.
  int function(std::string_view name) const;
  /// The target of a name, or null.
  const TargetInfo *target(std::string_view name) const;
  /// Index of the output that an input is behind the call; -1 where the input is no state.
  int finalOf(int input) const;
  /// Description of the tensor in a slot.
  const TensorInfo &tensor(const Slot &slot) const;
};

/// "f32", "bf16", "f16", "f64" or "i32".
const char *dtypeName(int dtype);
/// Bytes of one element.
int64_t dtypeSize(int dtype);
/// Place of a run-time axis in TaylorCall.dims by its name (b, h, g, t, u), or -1.
int axisDim(std::string_view name);
/// "1,2,3".
std::string join(const std::vector<std::string> &pieces, const char *separator);

} // namespace taylor::runtime

#endif
