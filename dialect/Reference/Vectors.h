// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays as one vector per token.
#ifndef TAYLOR_DIALECT_REFERENCE_VECTORS_H
#define TAYLOR_DIALECT_REFERENCE_VECTORS_H

#include "dialect/Reference/Operations.h"

namespace taylor::reference {

/// An array [.., token, channel] read as one vector per point of a loop that lacks the channel.
struct Vectors {
  Vectors(const Array &array, llvm::StringRef channel, const Shape &loop)
      : walk(array.shape, loop), length(array.shape.sizeOf(channel)),
        stride(Lines(array.shape, channel).stride) {}
  std::vector<Real> read(const Array &array, llvm::ArrayRef<int64_t> point) const {
    std::vector<Real> x;
    for (int64_t i = 0, at = walk(point); i < length; ++i)
      x.push_back(array.values[at + i * stride]);
    return x;
  }
  void add(Array &array, llvm::ArrayRef<int64_t> point, llvm::ArrayRef<Real> x) const {
    for (int64_t i = 0, at = walk(point); i < length; ++i)
      array.values[at + i * stride] += x[i];
  }
  Walk walk;
  int64_t length, stride;
};

/// The axis of an array that is neither a token nor a head, a batch or `f`.
inline llvm::StringRef channelOf(const Shape &shape) {
  for (const std::string &axis : shape.axes)
    if (axis != AxisRole::Batch && axis != AxisRole::Head && axis != AxisRole::KeyHead &&
        axis != AxisRole::Query && axis != AxisRole::Key && axis != AxisRole::Feature)
      return axis;
  return "";
}

} // namespace taylor::reference

#endif
