// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading a manifest's JSON with messages that say which field is wrong, and where.
#ifndef TAYLOR_RUNTIME_MANIFESTJSON_H
#define TAYLOR_RUNTIME_MANIFESTJSON_H
#include "runtime/Error.h"
#include "runtime/Manifest.h"
#include <nlohmann/json.hpp>

namespace taylor::runtime {

using Json = nlohmann::json;

/// Field `key` of `object`, which messages call `where`.
inline const Json &field(const Json &object, const char *key, const std::string &where) {
  if (!object.is_object() || !object.contains(key))
    fail("requires field '", key, "' in ", where, " of the manifest");
  return object[key];
}

/// A value as T; a wrong JSON type becomes a message.
template <typename T> T convert(const Json &value, const char *key, const std::string &where) {
  try {
    // JSON's numbers become integers by a cast, which not every number survives.
    if (!std::is_same_v<T, int64_t> || value.is_number_integer())
      return value.get<T>();
  } catch (const Json::exception &) {
  }
  fail("unsupported value ", value.dump(), " of field '", key, "' in ", where, " of the manifest");
}

template <typename T> T get(const Json &object, const char *key, const std::string &where) {
  return convert<T>(field(object, key, where), key, where);
}

/// The same for a field that may be missing.
template <typename T> T get(const Json &object, const char *key, const std::string &where, T fallback) {
  return object.is_object() && object.contains(key) ? get<T>(object, key, where) : fallback;
}

/// Refuses fields that have no meaning here: misspelt ones, or those of a later version.
void checkFields(const Json &object, std::initializer_list<const char *> known, const std::string &where);

TaylorDtype parseDtype(const std::string &name, const std::string &where);

/// The list `targets` of a manifest whose tensors and functions are known; sets which of their slots must be
/// aligned.
void parseTargets(const Json &list, Manifest &manifest);

} // namespace taylor::runtime

#endif
