// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configurations as text: TOML files, key=value overrides, the resolved file in the run's folder.
#include "trainer/config/Config.h"
#include "trainer/config/Preset.h"
#include "trainer/config/Toml.h"
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

namespace taylor::trainer {

namespace {

template <typename... Visitors> struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors> Overloaded(Visitors...) -> Overloaded<Visitors...>;

const std::string kParameterPrefix = "attention.parameters.";

std::string typeName(const Setting &setting) {
  return std::visit(Overloaded{[](int64_t *) { return "an integer"; }, [](double *) { return "a number"; },
                               [](bool *) { return "true or false"; },
                               [](std::string *) { return "a string"; },
                               [](Parameters *) { return "a table of numbers"; }},
                    setting.value);
}

std::string describe(const toml::node &node) {
  std::ostringstream stream;
  node.visit([&](const auto &value) { stream << value; });
  std::string shown = stream.str();
  return node.is_table() ? "a table" : shown.size() > 60 ? shown.substr(0, 57) + "..." : shown;
}

bool isSection(const std::string &key, const Settings &settings) {
  return std::any_of(settings.sections.begin(), settings.sections.end(),
                     [&](const auto &section) { return section.first == key; });
}

[[noreturn]] void failUnknown(const std::string &where, const std::string &key, const Settings &settings) {
  std::vector<std::string> names;
  if (key.find('.') == std::string::npos && !isSection(key, settings))
    for (const auto &[section, help] : settings.sections)
      names.push_back(section);
  else
    for (const Setting &setting : settings.entries)
      names.push_back(setting.key);
  fail(where, "unsupported key '", key, "'; did you mean '", nearestName(key, names),
       "'? taylor-train --help-settings lists all");
}

void readParameters(const toml::table &table, Parameters &parameters, const std::string &file) {
  for (const auto &[key, node] : table) {
    if (!node.is_number())
      fail(place(file, node.source()), "expected a number for ", kParameterPrefix, std::string(key.str()),
           ", but got ", describe(node));
    parameters[std::string(key.str())] = *node.value<double>();
  }
}

void readSetting(const Setting &setting, const toml::node &node, const std::string &file) {
  auto wrongType = [&] {
    fail(place(file, node.source()), "expected ", typeName(setting), " for ", setting.key, ", but got ",
         describe(node));
  };
  std::visit(
      Overloaded{
          [&](int64_t *value) { node.is_integer() ? void(*value = node.as_integer()->get()) : wrongType(); },
          [&](double *value) { node.is_number() ? void(*value = *node.value<double>()) : wrongType(); },
          [&](bool *value) { node.is_boolean() ? void(*value = node.as_boolean()->get()) : wrongType(); },
          [&](std::string *value) {
            if (!node.is_string())
              wrongType();
            *value = node.as_string()->get();
            std::filesystem::path path(*value);
            if (setting.path && !value->empty() && path.is_relative())
              *value = (std::filesystem::path(file).parent_path() / path).lexically_normal();
          },
          [&](Parameters *value) {
            node.is_table() ? readParameters(*node.as_table(), *value, file) : wrongType();
          }},
      setting.value);
}

void readTable(const toml::table &table, const std::string &prefix, const Settings &settings,
               const std::string &file, std::map<std::string, std::string> &places) {
  for (const auto &[name, node] : table) {
    std::string key = prefix + std::string(name.str());
    auto found = std::find_if(settings.entries.begin(), settings.entries.end(),
                              [&](const Setting &setting) { return setting.key == key; });
    if (found != settings.entries.end()) {
      readSetting(*found, node, file);
      places[key] = place(file, node.source());
    } else if (isSection(key, settings) && node.is_table())
      readTable(*node.as_table(), key + ".", settings, file, places);
    else if (isSection(key, settings))
      fail(place(file, node.source()), "expected a table [", key, "], but got ", describe(node));
    else
      failUnknown(place(file, name.source()), key, settings);
  }
}

template <typename T> bool parseNumber(std::string value, T &result) {
  std::erase(value, '_'); // as TOML writes 1_000_000
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  return error == std::errc() && end == value.data() + value.size() && !value.empty();
}

/// An override is text: what it means depends on the field, so that strings need no quotes on a command line.
/// A key without a section is a free parameter of the specification, as in the compiler's own --set order=10.
void readOverride(const std::string &assignment, const Settings &settings,
                  std::map<std::string, std::string> &places) {
  size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    fail("expected --set key=value, but got '", assignment, "'");
  std::string key = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  if (key.find('.') == std::string::npos && !isSection(key, settings))
    key = kParameterPrefix + key;
  std::string name = key.starts_with(kParameterPrefix) ? "attention.parameters" : key;
  auto found = std::find_if(settings.entries.begin(), settings.entries.end(),
                            [&](const Setting &setting) { return setting.key == name; });
  if (found == settings.entries.end())
    failUnknown("--set: ", key, settings);
  places.erase(name);
  auto wrongType = [&](const std::string &expected) {
    fail("--set: expected ", expected, " for ", key, ", but got '", value, "'");
  };
  std::visit(Overloaded{[&](int64_t *target) {
                          if (!parseNumber(value, *target))
                            wrongType(typeName(*found));
                        },
                        [&](double *target) {
                          if (!parseNumber(value, *target))
                            wrongType(typeName(*found));
                        },
                        [&](bool *target) {
                          if (value != "true" && value != "false")
                            wrongType(typeName(*found));
                          *target = value == "true";
                        },
                        [&](std::string *target) { *target = value; },
                        [&](Parameters *target) {
                          double number;
                          if (key == name || key.size() == kParameterPrefix.size())
                            fail("--set: expected ", kParameterPrefix, "NAME=NUMBER, but got '", assignment,
                                 "'");
                          if (!parseNumber(value, number))
                            wrongType("a number");
                          (*target)[key.substr(kParameterPrefix.size())] = number;
                        }},
             found->value);
}

/// A top-level string of a file, which is taken out of the table; nothing where the file has none.
std::optional<std::pair<std::string, std::string>> takeWord(toml::table &table, const char *key,
                                                            const std::string &file) {
  const toml::node *node = table.get(key);
  if (!node)
    return std::nullopt;
  std::string where = place(file, node->source());
  if (!node->is_string())
    fail(where, "expected a string for ", key, ", but got ", describe(*node));
  std::string word = node->as_string()->get();
  table.erase(key);
  return std::pair(word, where);
}

/// The file's base, its preset and its own settings over what `config` has. `readers`: the files that lead
/// here.
void readFileOver(const std::string &file, Config &config, std::vector<std::string> readers) {
  if (!std::filesystem::is_regular_file(file))
    fail("expected a configuration file, but '", file, "' ",
         std::filesystem::exists(file) ? "is none" : "does not exist");
  readers.push_back(std::filesystem::weakly_canonical(file));
  toml::table table = parseToml(file);
  if (auto base = takeWord(table, "base", file)) {
    std::string path = std::filesystem::path(file).parent_path() / base->first;
    if (!std::filesystem::is_regular_file(path))
      fail(base->second, "expected base to name a configuration file, but '", path, "' does not exist");
    if (std::find(readers.begin(), readers.end(), std::filesystem::weakly_canonical(path).string()) !=
        readers.end())
      fail(base->second, "expected base to name another file, but '", path, "' leads back to this one");
    readFileOver(path, config, readers);
  }
  if (auto preset = takeWord(table, "preset", file)) {
    std::vector<std::string> known = presets();
    if (std::find(known.begin(), known.end(), preset->first) == known.end())
      fail(preset->second, "unsupported preset '", preset->first, "'; expected '",
           nearestName(preset->first, known), "'");
    applyPreset(preset->first, config);
    config.places.clear(); // of the base's values, which the preset replaces
  }
  readTable(table, "", config.settings(), file, config.places);
}

std::string writeValue(const Setting &setting) {
  std::ostringstream stream;
  std::visit(
      Overloaded{[&](int64_t *value) { stream << *value; },
                 [&](double *value) { stream << formatExactly(*value); },
                 [&](bool *value) { stream << (*value ? "true" : "false"); },
                 [&](std::string *value) {
                   // Absolute, since the file may end up in another folder than this one was read from.
                   bool relative = setting.path && !value->empty();
                   std::string written =
                       relative ? std::filesystem::absolute(*value).lexically_normal().string() : *value;
                   stream << toml::value<std::string>(written);
                 },
                 [&](Parameters *value) {
                   const char *separator = "{ ";
                   for (const auto &[name, number] : *value) {
                     stream << separator << toml::value<std::string>(name) << " = " << formatExactly(number);
                     separator = ", ";
                   }
                   stream << (value->empty() ? "{}" : " }");
                 }},
      setting.value);
  return stream.str();
}

} // namespace

Config readConfig(const std::vector<std::string> &files, const std::vector<std::string> &overrides) {
  Config config;
  Settings settings = config.settings();
  for (const std::string &file : files)
    readFileOver(file, config, {});
  for (const std::string &assignment : overrides)
    readOverride(assignment, settings, config.places);
  return config;
}

std::string writeConfig(Config config) {
  Settings settings = config.settings();
  std::string out;
  for (const auto &[section, help] : settings.sections) {
    out += text(out.empty() ? "" : "\n", "[", section, "] # ", help, "\n");
    for (const Setting &setting : settings.entries)
      if (setting.key.starts_with(section + "."))
        out += text(setting.key.substr(section.size() + 1), " = ", writeValue(setting), " # ", setting.help,
                    "\n");
  }
  return out;
}

std::vector<WrittenSetting> writtenSettings(Config config) {
  std::vector<WrittenSetting> written;
  Settings settings = config.settings();
  for (const Setting &setting : settings.entries)
    written.push_back({setting.key, writeValue(setting), setting.path});
  return written;
}

std::string describeSettings() {
  Config config;
  Settings settings = config.settings();
  std::string out;
  for (const auto &[section, help] : settings.sections) {
    out += text(out.empty() ? "" : "\n", section, ": ", help, "\n");
    for (Setting &setting : settings.entries) {
      if (!setting.key.starts_with(section + "."))
        continue;
      setting.path = false; // shown as written in Config.h
      std::string head = text("  ", setting.key, " = ", writeValue(setting));
      head.resize(std::max<size_t>(head.size() + 2, 44), ' ');
      out += head + setting.help + "\n";
    }
  }
  return out;
}

std::vector<std::string> settingsLike(const std::string &option) {
  std::string name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  name.resize(std::min(name.find('='), name.size()));
  std::replace(name.begin(), name.end(), '-', '_');
  std::string singular = name.ends_with("s") ? name.substr(0, name.size() - 1) : name;
  std::vector<std::string> keys;
  if (singular.size() < 3)
    return keys;
  Config config;
  for (const Setting &setting : config.settings().entries) {
    std::string last = setting.key.substr(setting.key.rfind('.') + 1);
    if (last == name || last.starts_with(singular))
      keys.push_back(setting.key);
  }
  return keys;
}

std::string formatExactly(double value) {
  char buffer[32];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

std::string nearestName(const std::string &name, const std::vector<std::string> &candidates) {
  auto distance = [](const std::string &a, const std::string &b) {
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j)
      row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= b.size(); ++j) {
        size_t substitution = diagonal + (a[i - 1] != b[j - 1]);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
      }
    }
    return row[b.size()];
  };
  return *std::min_element(candidates.begin(), candidates.end(), [&](const auto &a, const auto &b) {
    return distance(name, a) < distance(name, b);
  });
}

} // namespace taylor::trainer
