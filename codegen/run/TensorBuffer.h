// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor in memory as kernels see it: storage type, order of axes, and NaN around it.
#ifndef TAYLOR_CODEGEN_RUN_TENSORBUFFER_H
#define TAYLOR_CODEGEN_RUN_TENSORBUFFER_H

#include "codegen/run/Problem.h"
#include "dialect/Reference/Array.h"
#include "runtime/taylor.h"

namespace taylor::run {

class TensorBuffer {
public:
  struct Layout {
    /// Tokens before heads in memory.
    bool tokensFirst = false;
    /// Every token axis is longer in memory than the tensor says, rows are apart, and the first element is
    /// not aligned to a vector; what does not belong to the tensor is NaN.
    bool poison = false;
  };
  /// All bits set, which is NaN in every float type.
  TensorBuffer(reference::Shape shape, reference::Dtype dtype, const Layout &layout);

  /// Values in row-major order of the shape, rounded to the storage type.
  void write(llvm::ArrayRef<reference::Real> values);
  reference::Array read() const;
  /// True if nothing outside the tensor has been written.
  bool isSurroundingIntact() const;
  TaylorTensor describe();

  const reference::Shape &getShape() const { return shape; }

private:
  /// Byte of each element, in row-major order of the shape.
  void forEachElement(llvm::function_ref<void(int64_t byte)> visit) const;

  reference::Shape shape;
  reference::Dtype dtype;
  int64_t width;
  int64_t begin = 0;
  std::vector<int64_t> strides;
  std::vector<unsigned char> memory;
};

/// Outputs and gradients of a problem, from the memory that was written, found by role ("output:o"). An
/// output without memory is an error that says what lacks it (`of`); a gradient without memory has no
/// elements.
mlir::FailureOr<Evaluated> readResults(const Problem &problem,
                                       llvm::function_ref<TensorBuffer *(const std::string &role)> find,
                                       llvm::StringRef of, bool withGradients);

} // namespace taylor::run

#endif
