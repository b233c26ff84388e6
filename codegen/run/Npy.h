// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy's .npy files (format versions 1 to 3), little endian: f32, f64 and i32.
#ifndef TAYLOR_CODEGEN_RUN_NPY_H
#define TAYLOR_CODEGEN_RUN_NPY_H

#include "dialect/Reference/Precision.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace taylor::run {

using reference::Dtype;
using reference::Real;

struct NpyArray {
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> sizes;
  /// Row major, whatever the file's order.
  std::vector<Real> values;
};

/// Reads a file. Errors name the file and what is wrong with it: not .npy, truncated, too long, an
/// unsupported type.
llvm::Expected<NpyArray> readNpy(const std::string &path);

/// Writes values as f32, f64 or i32 (bf16 and f16 as f32), to a file next to `path` that replaces it when it
/// is complete.
llvm::Error writeNpy(const std::string &path, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<Real> values,
                     Dtype dtype);

} // namespace taylor::run

#endif
