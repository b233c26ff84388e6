// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Torch's scalar types and ours. Headers alone: the same for libtorch's C++ interface and for its stable ABI.
#ifndef TAYLOR_RUNTIME_TORCH_DTYPE_H
#define TAYLOR_RUNTIME_TORCH_DTYPE_H
#include "runtime/taylor.h"
#include <cstdint>
#include <torch/headeronly/core/ScalarType.h>

namespace taylor {

/// The scalar type in which a tensor of a manifest's dtype is handed over.
inline torch::headeronly::ScalarType scalarType(TaylorDtype dtype) {
  using torch::headeronly::ScalarType;
  switch (dtype) {
  case TAYLOR_BF16:
    return ScalarType::BFloat16;
  case TAYLOR_F16:
    return ScalarType::Half;
  case TAYLOR_F64:
    return ScalarType::Double;
  case TAYLOR_I32:
    return ScalarType::Int;
  default:
    return ScalarType::Float;
  }
}

/// The TaylorDtype of a scalar type, or -1.
inline int32_t dtypeOf(torch::headeronly::ScalarType type) {
  using torch::headeronly::ScalarType;
  switch (type) {
  case ScalarType::Float:
    return TAYLOR_F32;
  case ScalarType::BFloat16:
    return TAYLOR_BF16;
  case ScalarType::Half:
    return TAYLOR_F16;
  case ScalarType::Double:
    return TAYLOR_F64;
  case ScalarType::Int:
    return TAYLOR_I32;
  default:
    return -1;
  }
}

} // namespace taylor

#endif
