// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An artifact's manifest (MANIFEST.md): its records, and the schema of its JSON, which is in their functions
// `fields`. Needs the standard library only: the runtime reads and checks by it, and the compiler writes by
// it.
#ifndef TAYLOR_RUNTIME_MANIFEST_H
#define TAYLOR_RUNTIME_MANIFEST_H
#include "runtime/Extent.h"
#include "runtime/artifact.h"
#include "runtime/taylor.h"
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taylor::runtime {

//===----------------------------------------------------------------------===//
// How a record says what its JSON is
//===----------------------------------------------------------------------===//
//
// A record is a JSON object. It lists its fields in `fields`, in the order in which they are written:
//
//   visit.required(KEY, MEMBER, range)    must be there
//   visit.defaulted(KEY, MEMBER, range)   may be missing, and is then what a new record has; always written
//   visit.optional(KEY, MEMBER)           the same, but written only where it is not what a new record has
//
// Fields that it does not list are refused. ManifestReader.h and the writer in codegen/Driver/Manifest.cpp
// are such visitors. Members are bool, int64_t, double, std::string, enums (kEnumNames), records, and
// std::vector, std::map<std::string, ..> and std::optional of these.
//
// Where a record has `brief()`, that is what may stand for the object; without `fields` it always does.

struct AnyVisitor;
template <typename T>
concept HasFields = requires(T &record, AnyVisitor &visit) { record.fields(visit); };
template <typename T>
concept HasBrief = requires(T &record) { record.brief(); };

/// Bounds of a number, or of how many elements a list has.
struct FieldRange {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

/// A list of records that is an object in JSON: their names are its keys.
template <typename Record> struct ByName {
  std::vector<Record> &list;
};
template <typename Record> ByName(std::vector<Record> &) -> ByName<Record>;

/// An enum's values in JSON, in the order of the enumerators.
template <typename Enum> inline constexpr std::array<std::string_view, 0> kEnumNames = {};
template <>
inline constexpr std::array<std::string_view, 5> kEnumNames<TaylorDtype> = {"f32", "bf16", "f64", "i32",
                                                                            "f16"};

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// The distribution from which a learned parameter starts.
struct Initial {
  enum class Kind { Zeros, Ones, Constant, Uniform, Normal };
  Kind kind = Kind::Zeros;
  double value = 0;               ///< Constant.
  double low = 0, high = 0;       ///< Uniform, half open.
  double mean = 0, deviation = 0; ///< Normal.

  Kind &brief() { return kind; } ///< "ones"
  bool isBrief() const { return false; }
  template <typename Visitor> void fields(Visitor &visit) {
    visit.required("kind", kind);
    if (kind == Kind::Constant)
      visit.required("value", value);
    if (kind == Kind::Uniform) {
      visit.required("low", low);
      visit.required("high", high);
    }
    if (kind == Kind::Normal) {
      visit.required("mean", mean);
      visit.required("deviation", deviation);
    }
  }
  bool operator==(const Initial &) const = default;
};
template <>
inline constexpr std::array<std::string_view, 5> kEnumNames<Initial::Kind> = {"zeros", "ones", "constant",
                                                                              "uniform", "normal"};

/// Where a model gets an input.
struct Source {
  enum class Kind { Projection, Parameter, Input, None };
  Kind kind = Kind::None; ///< None: of no input.
  bool bias = false;      ///< Projection.
  Initial initial;        ///< Parameter.

  template <typename Visitor> void fields(Visitor &visit) {
    visit.required("kind", kind);
    if (kind == Kind::Projection)
      visit.defaulted("bias", bias);
    if (kind == Kind::Parameter)
      visit.required("initial", initial);
  }
  bool operator==(const Source &) const = default;
};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Source::Kind> = {"projection", "parameter",
                                                                             "input"};

/// One axis of a tensor: its name, and either its run-time size's place in TaylorCall.dims or its fixed size.
struct TensorAxis {
  std::string name;
  int dim = -1;     ///< TaylorDim, or -1 for a channel.
  int64_t size = 0; ///< Of a channel.
  bool isChannel() const { return dim < 0; }

  std::string &brief() { return name; }
};

/// What is asked of a tensor's strides (artifact.h).
struct TensorLayout {
  std::string strides = "any";
  std::string contiguous; ///< The axis that must have stride 1, a channel.

  template <typename Visitor> void fields(Visitor &visit) {
    visit.required("strides", strides);
    visit.optional("contiguous", contiguous);
  }
};

struct TensorInfo {
  std::string name;
  std::vector<TensorAxis> axes;
  TaylorDtype dtype = TAYLOR_F32;
  TensorLayout layout;
  Source source;         ///< Of an input.
  bool gradient = false; ///< Of an input: the backward can give its gradient.
  bool optional = false; ///< May be absent: 0 where it is read, not computed where it is written.
  /// Of an i32 input: no element is below the one before it along the last axis, nor beyond 2^24.
  bool ascending = false;
  /// What a call hands on to the next (taylorc --states, --decode), which its name says: initial.NAME is an
  /// input, final.NAME the output after the call.
  bool isState() const;
  /// Place of the axis u, or -1: what is kept of keys grows along it.
  int keyAxis() const;

  template <typename Visitor> void fields(Visitor &visit) {
    visit.required("name", name);
    visit.required("axes", axes, {0, TAYLOR_MAX_RANK});
    visit.required("dtype", dtype);
    visit.optional("optional", optional);
    visit.defaulted("layout", layout);
    visit.optional("source", source);
    if (source.kind != Source::Kind::None) {
      visit.defaulted("gradient", gradient);
      visit.optional("ascending", ascending);
    }
  }
};

struct TensorLists {
  std::vector<TensorInfo> inputs, outputs, saved;
  /// What calls over all keys keep of them (taylorc --decode): arrays over u, of which the function `append`
  /// writes those of new keys, and what it hands on.
  std::vector<TensorInfo> cache;

  template <typename Visitor> void fields(Visitor &visit) {
    visit.defaulted("inputs", inputs);
    visit.defaulted("outputs", outputs);
    visit.defaulted("saved", saved);
    visit.optional("cache", cache);
  }
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

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

  std::string &brief() { return label; }
};

/// A function as callers see it, whatever the target.
struct FunctionInfo {
  std::string name;
  std::vector<Slot> slots;
  /// Tokens are added to states one after the other, so queries and keys are the same tokens (T = U, offset
  /// 0).
  bool isRecurrent = false;
  /// Of a recurrence: slots of states before a call and of those after it that may be the same memory, and
  /// the pairs of labels that they were found by.
  std::vector<std::pair<int, int>> carried;
  std::optional<std::vector<std::vector<std::string>>> carriedLabels;

  template <typename Visitor> void fields(Visitor &visit) {
    visit.required("tensors", slots);
    visit.optional("carried", carriedLabels);
  }
};

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// One dense array that the kernels of a call share.
struct WorkspaceInfo {
  std::string name;
  std::string because; ///< Why it has memory, for people; empty where the manifest does not tell.
  std::vector<std::string> axes;
  std::vector<Extent> sizes;
  TaylorDtype dtype = TAYLOR_F32;

  template <typename Visitor> void fields(Visitor &visit) {
    visit.required("name", name);
    visit.optional("because", because);
    visit.defaulted("axes", axes);
    visit.required("sizes", sizes, {0, TAYLOR_MAX_RANK});
    visit.required("dtype", dtype);
  }
};

/// One array that a GPU's kernel takes: a slot of its function, or an array of its workspace.
struct KernelArgument {
  std::string tensor, array; ///< The label of the one or the name of the other.
  bool aligned16 = false;    ///< As Slot has it, by this kernel.
  int slot = -1;
  int workspace = -1;

  template <typename Visitor> void fields(Visitor &visit) {
    visit.optional("tensor", tensor);
    visit.optional("workspace", array);
    visit.optional("aligned16", aligned16);
  }
};

/// A tensor map that a kernel takes after its other parameters: how it copies boxes of an array.
struct KernelMap {
  int64_t argument = 0;     ///< Of the kernel.
  std::vector<int64_t> box; ///< Elements along each axis of the array.
  int64_t swizzle = 0;      ///< Bytes of a line in shared memory: 32, 64 or 128.

  template <typename Visitor> void fields(Visitor &visit) {
    visit.required("argument", argument, {0});
    visit.required("box", box, {1, 5});
    visit.required("swizzle", swizzle, {32, 128});
  }
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

  std::string &brief() { return name; }
  bool isBrief() const { return entry.empty(); }
  template <typename Visitor> void fields(Visitor &visit) {
    constexpr int64_t mostExtents = 8, mostThreads = 1024; // on every GPU
    constexpr int64_t mostShared = 1 << 20;                // no GPU has as much
    visit.required("name", name);
    visit.required("entry", entry);
    visit.required("grid", grid, {0, mostExtents});
    visit.required("threads", threads, {1, mostThreads});
    visit.required("shared", shared, {0, mostShared});
    visit.required("arguments", arguments, {0, TAYLOR_MAX_ARGUMENTS});
    visit.optional("persistent", isPersistent);
    visit.optional("early", startsEarly);
    visit.optional("maps", maps);
  }
};

/// What a call costs, as the compiler estimates it, in picoseconds of one core or of a whole GPU; only ratios
/// matter.
struct CallCost {
  double call = 0;  ///< Of every call.
  double pair = 0;  ///< Of each pair of a query and a key that it sees, in each of B H heads.
  double query = 0; ///< Of each of B H T queries.
  double key = 0;   ///< Of each of B G U keys.

  template <typename Visitor> void fields(Visitor &visit) {
    visit.defaulted("call", call, {0});
    visit.defaulted("pair", pair, {0});
    visit.defaulted("query", query, {0});
    visit.defaulted("key", key, {0});
  }
};

/// Floating-point operations, counted as CallCost's picoseconds are; a multiply-add is two.
struct FormOperations {
  double pair = 0, query = 0, key = 0;

  template <typename Visitor> void fields(Visitor &visit) {
    visit.defaulted("pair", pair, {0});
    visit.defaulted("query", query, {0});
    visit.defaulted("key", key, {0});
  }
};

/// Rows and columns of the first state of one head; 0 without states.
struct StateSize {
  int64_t features = 0, channels = 0;

  template <typename Visitor> void fields(Visitor &visit) {
    visit.required("features", features);
    visit.required("channels", channels);
  }
  bool operator==(const StateSize &) const = default;
};

/// A function's code for one target in one form.
struct FormCode {
  std::string name = "parallel"; ///< Or "long", "chunked", "recurrent".
  CallCost cost;
  FormOperations operations; ///< 0 where the manifest does not tell.
  StateSize state;
  std::vector<KernelInfo> kernels; ///< Run in order.
  std::vector<WorkspaceInfo> workspace;

  template <typename Visitor> void fields(Visitor &visit) {
    visit.defaulted("form", name);
    visit.defaulted("cost", cost);
    visit.defaulted("operations", operations);
    visit.optional("state", state);
    visit.required("kernels", kernels);
    visit.defaulted("workspace", workspace);
  }
};

/// A function's code for one target. All forms take the function's tensors and give the same results.
struct TargetFunction {
  std::string name, reason;
  std::vector<FormCode> forms = std::vector<FormCode>(1);
  std::vector<FormCode> alternatives; ///< As written; Manifest::parse appends them to `forms`.

  template <typename Visitor> void fields(Visitor &visit) {
    visit.optional("reason", reason);
    forms.front().fields(visit);
    visit.optional("alternatives", alternatives);
  }
};

struct TargetInfo {
  enum class Kind { Cpu, Ptx };
  std::string name; ///< As given to taylorc: "native", "sm_80".
  Kind kind = Kind::Cpu;
  std::string cpu;                       ///< LLVM's name of the processor.
  std::vector<std::string> features;     ///< That it must have, in LLVM's names.
  std::map<std::string, int64_t> tiles;  ///< For people.
  std::vector<TargetFunction> functions; ///< In the order of Manifest::functions.

  template <typename Visitor> void fields(Visitor &visit) {
    visit.required("name", name);
    visit.required("kind", kind);
    if (kind == Kind::Cpu) {
      visit.defaulted("cpu", cpu);
      visit.defaulted("features", features);
    }
    visit.defaulted("tiles", tiles);
    visit.required("functions", ByName(functions));
  }
};
template <> inline constexpr std::array<std::string_view, 2> kEnumNames<TargetInfo::Kind> = {"cpu", "ptx"};

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// The compiler that an artifact is from.
struct CompilerVersion {
  std::string version, commit;
  int64_t abi = 0;

  template <typename Visitor> void fields(Visitor &visit) {
    visit.required("version", version);
    visit.defaulted("commit", commit);
    visit.defaulted("abi", abi);
  }
};

struct Manifest : TensorLists {
  std::string text; ///< The JSON it was read from.
  CompilerVersion compiler;
  std::string hash, spec, mask, form;
  std::map<std::string, double> parameters;
  TaylorDtype dtype = TAYLOR_F32;
  std::map<std::string, int64_t> sizes;
  bool aligned = false; ///< Key arrays are read at query positions: 0 <= offset and offset + T <= U.
  std::vector<FunctionInfo> functions;
  std::vector<TargetInfo> targets; ///< At least one, but none of a partial manifest.

  template <typename Visitor> void fields(Visitor &visit) {
    visit.required("taylor", compiler);
    visit.defaulted("hash", hash);
    visit.required("spec", spec);
    visit.defaulted("parameters", parameters);
    visit.defaulted("mask", mask);
    visit.defaulted("form", form);
    visit.required("dtype", dtype);
    visit.required("sizes", sizes, {1});
    visit.defaulted("aligned", aligned);
    visit.required("tensors", static_cast<TensorLists &>(*this));
    visit.defaulted("functions", ByName(functions));
    visit.defaulted("targets", targets);
  }

  /// Reads and checks a manifest; throws Error that names the field. `partial`: of a specification before its
  /// channels have sizes (taylorc --emit=manifest); these are then 0.
  static Manifest parse(std::string_view json, bool partial = false);

  /// Index of a function, or -1.
  int function(std::string_view name) const;
  /// The target of a name, or null.
  const TargetInfo *target(std::string_view name) const;
  /// Index of the output that an input is after the call; -1 where the input is no state.
  int finalOf(int input) const;
  /// Description of the tensor in a slot.
  const TensorInfo &tensor(const Slot &slot) const { return tensors(slot.role)[size_t(slot.index)]; }
  /// The list that tensors of a role are in.
  const std::vector<TensorInfo> &tensors(Role role) const;
  /// Role and place of the tensor with this label, "gradient:q", if there is one.
  std::optional<Slot> slotOf(std::string_view label) const;
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
