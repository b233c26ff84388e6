// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a call has the size of an axis: for the runtime that fills it in, and for the code that reads it.
#ifndef TAYLOR_RUNTIME_AXISDIM_H
#define TAYLOR_RUNTIME_AXISDIM_H

#include "dialect/AxisRole.h"
#include "runtime/artifact.h"

namespace taylor {

/// Place of the axis' size in TaylorCall.dims; none of axes other than b, h, g, t and u.
constexpr std::optional<int> dimOf(std::string_view axis) {
  std::optional<AxisRole> role = axisRoleOf(axis);
  if (!role)
    return std::nullopt;
  switch (*role) {
  case AxisRole::Batch:
    return TAYLOR_DIM_B;
  case AxisRole::Head:
    return TAYLOR_DIM_H;
  case AxisRole::KeyHead:
    return TAYLOR_DIM_G;
  case AxisRole::Query:
    return TAYLOR_DIM_T;
  case AxisRole::Key:
    return TAYLOR_DIM_U;
  default:
    return std::nullopt;
  }
}

} // namespace taylor

#endif
