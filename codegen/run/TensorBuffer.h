// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor in memory as kernels see it: storage type, order of axes, and NaN around it.
#ifndef TAYLOR_CODEGEN_RUN_TENSORBUFFER_H
#define TAYLOR_CODEGEN_RUN_TENSORBUFFER_H

#include "codegen/run/Options.h"
#include "codegen/run/Problem.h"
#include "dialect/Reference/Array.h"
#include "runtime/taylor.h"
#include <map>
#include <memory>

namespace taylor::run {

class TensorBuffer {
public:
  struct Layout {
    /// Tokens before heads in memory.
    bool tokensFirst = false;
    /// Every token axis is longer in memory than the tensor says, rows are apart, and the first element is
    /// not aligned to a vector; what does not belong to the tensor is NaN.
    bool poison = false;
    /// The first element and rows begin at multiples of 16 bytes all the same, as kernels for GPUs ask for.
    bool aligned = false;
  };
  /// All bits set, which is NaN in every float type.
  TensorBuffer(reference::Shape shape, reference::Dtype dtype, const Layout &layout);

  /// Values in row-major order of the shape, rounded to the storage type.
  void write(llvm::ArrayRef<reference::Real> values);
  reference::Array read() const;
  /// True if nothing outside the tensor has been written.
  bool isSurroundingIntact() const;
  TaylorTensor describe();
  /// All of it, with what surrounds the tensor.
  llvm::MutableArrayRef<unsigned char> getMemory() { return memory; }

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

/// Calls `write` for the arrays that functions read, with their roles: inputs, then cotangents where
/// gradients are asked for. Stops where it fails.
mlir::LogicalResult writeArguments(
    const Problem &problem, bool withGradients,
    llvm::function_ref<mlir::LogicalResult(const std::string &role, const reference::Array &array)> write);

/// Tensors by role ("input:q", "gradient:k").
class TensorBuffers {
public:
  /// The layout of all of them.
  explicit TensorBuffers(const RunOptions &options);
  TensorBuffer &add(const std::string &role, const reference::Shape &shape, reference::Dtype dtype);
  /// Null where there is none.
  TensorBuffer *find(const std::string &role) const;
  /// Fails, with a message that says who writes (`who`: "kernels"), where anything outside a tensor was
  /// written.
  mlir::LogicalResult checkSurroundings(llvm::StringRef who) const;
  /// Outputs and gradients of a problem, from the memory that was written. An output without memory is an
  /// error that says what lacks it (`of`); a gradient without memory has no elements.
  mlir::FailureOr<Outcome> readResults(const Problem &problem, llvm::StringRef of, bool withGradients) const;

private:
  TensorBuffer::Layout layout;
  std::map<std::string, std::unique_ptr<TensorBuffer>> buffers;
};

} // namespace taylor::run

#endif
