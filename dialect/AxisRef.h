// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Axes as the compiler passes them around: a role, or the name of a free axis.
#ifndef TAYLOR_DIALECT_AXISREF_H
#define TAYLOR_DIALECT_AXISREF_H

#include "dialect/AxisRole.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace taylor {

/// The name of an axis, as a parameter: `array.has(AxisRole::Query)`, `array.has(name)`. It is not made from
/// a literal, so that a typing error in a role's name is an error of the C++ compiler.
class AxisRef : public llvm::StringRef {
public:
  constexpr AxisRef() = default;
  constexpr AxisRef(AxisRole role) : StringRef(nameOf(role)) {}
  constexpr AxisRef(llvm::StringRef name) : StringRef(name) {}
  constexpr AxisRef(std::string_view name) : StringRef(name) {}
  AxisRef(const std::string &name) : StringRef(name) {}
  AxisRef(mlir::StringAttr name) : StringRef(name.getValue()) {}
  AxisRef(const char *) = delete;
};

inline bool operator==(mlir::StringAttr name, AxisRole role) { return name.getValue() == role; }

/// True for b, h, g, t, u, lag, d, e, f: the axes whose meaning the dialects know.
inline bool isRoleAxis(AxisRef axis) { return axisRoleOf(axis).has_value(); }
/// True for b, h, g, t, u, lag: sizes known only at run time.
inline bool isRuntimeAxis(AxisRef axis) {
  std::optional<AxisRole> role = axisRoleOf(axis);
  return role && isRuntime(*role);
}
/// True for t, u, lag: queries, keys, and how far a key lies before a query.
inline bool isTokenAxis(AxisRef axis) {
  std::optional<AxisRole> role = axisRoleOf(axis);
  return role && isToken(*role);
}

/// In place of an axis that a reduction is over: the query heads of each key/value head, so that h becomes g.
inline constexpr llvm::StringLiteral kGroup = "group";

inline mlir::StringAttr axisAttr(mlir::MLIRContext *context, AxisRef axis) {
  return mlir::StringAttr::get(context, axis);
}
inline mlir::StringAttr axisAttr(mlir::Builder &builder, AxisRef axis) { return builder.getStringAttr(axis); }

inline mlir::ArrayAttr axesAttr(mlir::Builder &builder, llvm::ArrayRef<AxisRef> axes) {
  return builder.getStrArrayAttr(llvm::SmallVector<llvm::StringRef>(axes));
}

/// What is kept for each axis.
template <typename T> class AxisMap : public llvm::StringMap<T> {
  using Base = llvm::StringMap<T>;

public:
  using Base::Base;
  T &operator[](AxisRef axis) { return Base::operator[](axis); }
  T lookup(AxisRef axis) const { return Base::lookup(axis); }
  bool contains(AxisRef axis) const { return Base::contains(axis); }
  auto find(AxisRef axis) { return Base::find(axis); }
  auto find(AxisRef axis) const { return Base::find(axis); }
  template <typename... Args> auto try_emplace(AxisRef axis, Args &&...args) {
    return Base::try_emplace(axis, std::forward<Args>(args)...);
  }
};

} // namespace taylor

#endif
