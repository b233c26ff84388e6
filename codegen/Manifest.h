// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest of an artifact (runtime/MANIFEST.md), gathered from the module while it is compiled: inputs
// and outputs from the specification, saved arrays and gradients from its derived functions, kernels from the
// tile programs.
#ifndef TAYLOR_CODEGEN_MANIFEST_H
#define TAYLOR_CODEGEN_MANIFEST_H

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
};

struct ManifestInput : ManifestTensor {
  SourceAttr source;
  /// The backward can give its gradient.
  bool gradient = false;
};

/// One dense array that lives between the kernels of a call.
struct ManifestWorkspace {
  std::string name;
  /// In the order of memory; sizes as tile programs write them: `64`, `t`, `ceildiv(t, 64)`.
  std::vector<std::string> axes, sizes;
  std::string dtype;
};

struct ManifestFunction {
  std::string name;
  /// Role and name of each tensor, in the order of TaylorCall.data.
  std::vector<std::string> tensors;
  std::vector<std::string> kernels;
  std::vector<ManifestWorkspace> workspace;
};

struct Manifest {
  std::string hash, spec, mask, form = "parallel", dtype;
  mlir::DictionaryAttr parameters;
  std::string target, processor;
  std::vector<std::string> features;
  std::map<std::string, int64_t> tiles;
  /// Key arrays are read at query positions: the caller must keep 0 <= offset and offset + T <= U.
  bool aligned = false;
  std::vector<ManifestInput> inputs;
  std::vector<ManifestTensor> outputs, saved;
  std::vector<ManifestFunction> functions;

  /// Inputs, outputs, parameters and mask of a specification (after specialisation: with sizes and storage
  /// types).
  void addSpecification(SpecOp spec);
  /// Saved arrays and gradients of the derived functions in `module`.
  void addFunctions(mlir::ModuleOp module);
  /// Tensor lists, kernels and workspace of the tile programs in `module`.
  void addPrograms(mlir::ModuleOp module);
  /// The JSON text, indented, with a line break at its end.
  std::string print() const;
};

} // namespace taylor

#endif
