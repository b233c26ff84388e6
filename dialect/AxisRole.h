// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The axes that have a meaning, and their names: the one table of the compiler and the runtime. It needs the
// standard library only, since the runtime links no LLVM.
#ifndef TAYLOR_DIALECT_AXISROLE_H
#define TAYLOR_DIALECT_AXISROLE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace taylor {

/// What an axis means. Specifications may name other axes too: those are free, and have no role.
enum class AxisRole : uint8_t {
  Batch,        ///< b
  Head,         ///< h: of queries
  KeyHead,      ///< g: of keys and values; its size divides that of h
  Query,        ///< t: tokens of queries
  Key,          ///< u: tokens of keys
  Lag,          ///< lag: position of a query less that of a key
  Channel,      ///< d: of a score
  ValueChannel, ///< e: of a value
  Feature,      ///< f: of a state
};

/// All roles, in the order in which arrays have their axes.
inline constexpr AxisRole kAxisRoles[] = {AxisRole::Batch,   AxisRole::Head,         AxisRole::KeyHead,
                                          AxisRole::Query,   AxisRole::Key,          AxisRole::Lag,
                                          AxisRole::Channel, AxisRole::ValueChannel, AxisRole::Feature};

/// The name of the axis in types, formulas and manifests.
constexpr std::string_view nameOf(AxisRole role) {
  constexpr std::string_view names[] = {"b", "h", "g", "t", "u", "lag", "d", "e", "f"};
  return names[size_t(role)];
}

/// The role of the axis with this name; none of a free axis.
constexpr std::optional<AxisRole> axisRoleOf(std::string_view name) {
  for (AxisRole role : kAxisRoles)
    if (nameOf(role) == name)
      return role;
  return std::nullopt;
}

/// b, h, g, t, u, lag: the size is known at run time only.
constexpr bool isRuntime(AxisRole role) { return role <= AxisRole::Lag; }
/// t, u, lag: queries, keys, and how far a key lies before a query.
constexpr bool isToken(AxisRole role) {
  return role == AxisRole::Query || role == AxisRole::Key || role == AxisRole::Lag;
}

constexpr bool operator==(std::string_view name, AxisRole role) { return name == nameOf(role); }

} // namespace taylor

#endif
