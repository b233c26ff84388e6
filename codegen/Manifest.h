// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest of an artifact (runtime/MANIFEST.md), gathered from the module while it is compiled: inputs
// and outputs from the specification, saved arrays and gradients from its derived functions, kernels from the
// tile programs.
#ifndef TAYLOR_CODEGEN_MANIFEST_H
#define TAYLOR_CODEGEN_MANIFEST_H

#include "codegen/CostModel.h"
#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>
#include <vector>

namespace taylor {

/// One array that crosses the artifact's boundary. Sizes are ArrayType::kUnknown for axes of run-time size.
struct ManifestTensor {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> axes;
  std::string dtype;
  /// A caller may leave it out: 0 where it is read.
  bool optional = false;
};

struct ManifestInput : ManifestTensor {
  SourceAttr source;
  /// The backward can give its gradient.
  bool gradient = false;
  /// Its elements must ascend along the last axis.
  bool ascending = false;
};

/// One dense array that lives between the kernels of a call.
struct ManifestWorkspace {
  std::string name;
  /// In the order of memory; sizes as tile programs write them: `64`, `t`, `ceildiv(t, 64)`.
  std::vector<std::string> axes, sizes;
  std::string dtype;
};

/// A function as callers see it, on any target.
struct ManifestFunction {
  std::string name;
  /// Role and name of each tensor, in the order of TaylorCall.data.
  std::vector<std::string> tensors;
  /// Of a recurrence: states before a call and behind it that it may work on in place.
  using Carried = std::optional<std::vector<std::pair<std::string, std::string>>>;
  Carried carried;
};

/// One array that a kernel reads or writes.
struct ManifestArgument {
  /// Of a tensor ("input:q"), or of a workspace.
  std::string name;
  bool isWorkspace = false;
  /// The address, and every stride but those of axes of size 1 and of a contiguous last axis, must be
  /// multiples of 16 bytes.
  bool aligned16 = false;
};

/// A tensor map that a kernel takes (runtime/MANIFEST.md).
struct ManifestMap {
  size_t argument;
  std::vector<int64_t> box;
  int64_t swizzle;
};

/// One kernel. A GPU's has all fields: `addPrograms` gives the first three, the target the others.
struct ManifestKernel {
  std::string name;
  /// As tile programs write extents: `b`, `ceildiv(t, 64)`.
  std::vector<std::string> grid;
  /// The arrays that it uses: tensors, then workspaces, each in the order of the program.
  std::vector<ManifestArgument> arguments;
  /// Name of its entry in the target's images.
  std::string entry;
  int64_t threads = 0;
  /// Bytes of dynamic shared memory.
  int64_t shared = 0;
  std::vector<ManifestMap> maps;
  /// A block takes one place of the grid after the other: no more blocks are launched than run at a time.
  bool isPersistent = false;
  /// It waits for the kernels before it, and so may begin while they run.
  bool startsEarly = false;
};

/// A function's code for one target in one form.
struct ManifestCode {
  /// Of the program: the function's in the first form, behind that with the form's: "forward_chunked".
  std::string name;
  /// Of the function, and of the form: "parallel" or "chunked".
  std::string function, form = "parallel";
  FormCost cost;
  /// Of a function's first form: why which form runs, in words.
  std::string reason;
  std::vector<ManifestKernel> kernels;
  std::vector<ManifestWorkspace> workspace;
};

struct ManifestTarget {
  std::string name, kind;
  /// Of a processor: LLVM's name, and what the code needs of it.
  std::string processor;
  std::vector<std::string> features;
  std::map<std::string, int64_t> tiles;
  std::vector<ManifestCode> functions;
};

/// A form of a target's programs.
struct FormPlan {
  std::string name = "parallel";
  /// Beside another one: programs are called by it too.
  bool isAlternative = false;
  /// By function: its cost, and why which form runs, in words.
  std::map<std::string, FormCost> costs;
  std::map<std::string, std::string> reasons;
};

struct Manifest {
  std::string hash, spec, mask, form = "parallel", dtype;
  mlir::DictionaryAttr parameters;
  /// Key arrays are read at query positions: the caller must keep 0 <= offset and offset + T <= U.
  bool aligned = false;
  std::vector<ManifestInput> inputs;
  std::vector<ManifestTensor> outputs, saved;
  /// What is kept of keys from call to call: arrays over u, and what the function `append` hands on.
  std::vector<ManifestTensor> cache;
  std::vector<ManifestFunction> functions;
  std::vector<ManifestTarget> targets;
  /// By function, what becomes ManifestFunction::carried.
  std::map<std::string, ManifestFunction::Carried> carried;

  /// Name, parameters and mask of a specification.
  void addSpecification(SpecOp spec);
  /// Its inputs and outputs, with sizes and storage types; those that calls hand on included.
  /// `ascending` (may be empty) names the input whose elements must ascend.
  void addInterface(SpecOp spec, llvm::StringRef ascending);
  /// Saved arrays and gradients of the derived functions in `module`, which may be recurrences.
  void addFunctions(mlir::ModuleOp module, bool areRecurrent);
  /// What a recurrence carries in place.
  void addCarried(FunctionOp function);
  /// What the function that prepares keys gives and hands on.
  void addCache(FunctionOp function);
  /// Kernels and workspace of a target's tile programs in one form, and the tensors that all programs of a
  /// function take: one that takes other tensors is an error. A form beside the first one gives programs
  /// their names in `module`.
  mlir::LogicalResult addPrograms(mlir::ModuleOp module, const FormPlan &form, ManifestTarget &target);
  /// The JSON text, indented, with a line break at its end.
  std::string print() const;
};

} // namespace taylor

#endif
