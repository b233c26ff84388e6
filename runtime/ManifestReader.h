// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a manifest's JSON by the schema of its records (Manifest.h). Messages say which field is wrong, and
// where.
#ifndef TAYLOR_RUNTIME_MANIFESTREADER_H
#define TAYLOR_RUNTIME_MANIFESTREADER_H
#include "runtime/Error.h"
#include "runtime/Manifest.h"
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace taylor::runtime {

using Json = nlohmann::json;

/// The visitor of one record that reads it.
class ManifestReader {
public:
  /// Reads the whole; throws Error.
  static void read(const Json &json, Manifest &manifest) {
    ManifestReader(json, nullptr, "").readFields(manifest);
  }

  template <typename T> void required(const char *key, T &&member, FieldRange range = {}) {
    if (!json.contains(key))
      fail("requires field '", key, "' in ", where());
    defaulted(key, member, range);
  }
  template <typename T> void defaulted(const char *key, T &&member, FieldRange range = {}) {
    known.push_back(key);
    if (auto found = json.find(key); found != json.end())
      read(*found, {key, range, key}, member);
    // From its name on, a record is called by it.
    if constexpr (std::is_same_v<T, std::string &>)
      if (known.back() == "name")
        title = title.substr(0, title.find(' ')) + " '" + member + "'";
  }
  template <typename T> void optional(const char *key, T &&member) { defaulted(key, member); }

private:
  /// A field, or an element of its list.
  struct Field {
    const char *key;
    FieldRange range;
    std::string title; ///< Of the record that it is.
  };

  ManifestReader(const Json &json, const ManifestReader *parent, std::string title)
      : json(json), parent(parent), title(std::move(title)) {}

  template <typename Record> void readFields(Record &record) {
    if (!json.is_object())
      fail("expected an object as ", where(), ", but got ", json.dump());
    record.fields(*this);
    for (auto &[key, value] : json.items())
      if (std::ranges::find(known, key) == known.end())
        fail("unsupported field '", key, "' in ", where());
  }

  /// "kernel 'attend' of function 'forward' of target 'sm_80' of the manifest".
  std::string where() const {
    if (!parent)
      return "the top level of the manifest";
    return title + " of " + (parent->parent ? parent->where() : "the manifest");
  }
  [[noreturn]] void failValue(const Json &value, const Field &field) const {
    fail("unsupported value ", value.dump(), " of field '", field.key, "' in ", where());
  }

  template <typename T> void read(const Json &value, const Field &field, T &member) const {
    if constexpr (HasBrief<T>)
      if (!HasFields<T> || !value.is_object())
        return read(value, field, member.brief());
    if constexpr (HasFields<T>)
      ManifestReader(value, this, field.title).readFields(member);
    else if constexpr (std::is_enum_v<T>)
      readEnum(value, field, member);
    else if constexpr (!HasBrief<T>)
      readValue(value, field, member);
  }

  template <typename T> void readValue(const Json &value, const Field &field, T &member) const {
    // JSON's numbers become integers by a cast, which not every number survives.
    if (std::is_same_v<T, int64_t> && !value.is_number_integer())
      failValue(value, field);
    try {
      member = value.get<T>();
    } catch (const Json::exception &) {
      failValue(value, field);
    }
    if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>) {
      const auto [low, high] = field.range;
      if (double(member) >= low && double(member) <= high)
        return;
      bool both = std::isfinite(high);
      fail("expected a number ", both ? "from " : "of at least ", int64_t(low),
           both ? " to " + std::to_string(int64_t(high)) : "", " in field '", field.key, "' in ", where(),
           ", but got ", value.dump());
    }
  }

  template <typename Enum> void readEnum(const Json &value, const Field &field, Enum &member) const {
    constexpr auto &all = kEnumNames<Enum>;
    std::string text, names;
    readValue(value, field, text);
    auto found = std::ranges::find(all, text);
    for (size_t i = 0; i < all.size(); ++i)
      names += (i == 0 ? "" : i + 1 == all.size() ? " or " : ", ") + std::string(all[i]);
    if (found == all.end())
      fail("expected ", names, " in field '", field.key, "' in ", where(), ", but got '", text, "'");
    member = Enum(found - all.begin());
  }

  /// Each of "kernels" is a "kernel".
  template <typename T> void read(const Json &value, const Field &field, std::vector<T> &list) const {
    if (!value.is_array())
      failValue(value, field);
    if (double(value.size()) < field.range.low || double(value.size()) > field.range.high)
      fail("expected ", std::max(0.0, field.range.low), " to ", field.range.high, " elements in field '",
           field.key, "' in ", where(), ", but got ", value.size());
    std::string word = field.key;
    if (word.ends_with('s'))
      word.pop_back();
    for (const Json &element : value) {
      std::string title = word + " " + std::to_string(list.size());
      read(element, {field.key, {}, title}, list.emplace_back());
    }
  }

  template <typename T>
  void read(const Json &value, const Field &field, std::map<std::string, T> &map) const {
    if (!value.is_object())
      failValue(value, field);
    ManifestReader fields(value, this, field.key);
    for (auto &[key, element] : value.items())
      fields.read(element, {key.c_str(), field.range, key}, map[key]);
  }

  template <typename T> void read(const Json &value, const Field &field, ByName<T> &byName) const {
    if (!value.is_object())
      failValue(value, field);
    std::string word = field.key;
    word.pop_back();
    for (auto &[key, element] : value.items()) {
      T &record = byName.list.emplace_back();
      record.name = key;
      read(element, {field.key, {}, word + " '" + key + "'"}, record);
    }
  }

  template <typename T> void read(const Json &value, const Field &field, std::optional<T> &member) const {
    read(value, field, member.emplace());
  }

  const Json &json;
  const ManifestReader *parent;
  std::string title;
  std::vector<std::string_view> known;
};

/// Checks the targets of a manifest whose functions are known, finds what their kernels' arguments name, and
/// sets which slots must be aligned.
void checkTargets(Manifest &manifest);

} // namespace taylor::runtime

#endif
