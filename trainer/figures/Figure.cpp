// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/figures/Figure.h"
#include "trainer/config/Toml.h"
#include <algorithm>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

class RunReader {
public:
  RunReader(const fs::path &file, const std::string &scale) : file(file), scale(scale) {}

  Figure read(const toml::table &table) {
    Figure figure;
    known(table, {"title", "scaled", "panel"});
    figure.title = word(table, "title");
    if (const toml::node *scaled = table.get("scaled")) {
      if (!scaled->is_boolean())
        fail(place(*scaled), "expected true or false for scaled");
      figure.scaled = scaled->as_boolean()->get();
    }
    for (const toml::node &node : list(table, "panel")) {
      FigurePanel panel = readPanel(asTable(node, "a panel"));
      above.push_back(panel);
      if (!panel.scales.empty() &&
          std::find(panel.scales.begin(), panel.scales.end(), scale) == panel.scales.end())
        continue;
      if (!figure.panels.empty() && figure.panels[0].against.empty() != panel.against.empty())
        fail(place(node), "expected `against` in all panels of a figure or in none");
      figure.panels.push_back(std::move(panel));
    }
    if (figure.panels.empty())
      fail(file.string(), ": expected a panel for the scale '", scale, "', but there is none");
    return figure;
  }

private:
  FigurePanel readPanel(const toml::table &table) {
    known(table, {"title", "scales", "against", "settings", "runs", "runs_of"});
    FigurePanel panel;
    if (table.contains("title"))
      panel.title = word(table, "title");
    if (table.contains("against"))
      panel.against = word(table, "against");
    if (table.contains("scales"))
      for (const toml::node &name : list(table, "scales"))
        panel.scales.push_back(asWord(name, "scales"));
    if (table.contains("settings"))
      panel.settings = configuration(table, "settings");
    if (const toml::node *other = table.get("runs_of")) {
      if (table.contains("runs"))
        fail(place(*other), "expected runs or runs_of in a panel, but got both");
      panel.runs = runsOf(*other);
    } else {
      for (const toml::node &run : list(table, "runs"))
        panel.runs.push_back(readRun(asTable(run, "a run")));
    }
    return panel;
  }
  const std::vector<FigureRun> &runsOf(const toml::node &node) {
    std::string title = asWord(node, "runs_of");
    auto found =
        std::find_if(above.begin(), above.end(), [&](const auto &panel) { return panel.title == title; });
    if (found == above.end())
      fail(place(node), "expected runs_of to be the title of a panel above, but there is no '", title, "'");
    return found->runs;
  }
  FigureRun readRun(const toml::table &table) {
    known(table, {"label", "config"});
    return {word(table, "label"), configuration(table, "config")};
  }

  fs::path configuration(const toml::table &table, const char *key) {
    fs::path path = (file.parent_path() / word(table, key)).lexically_normal();
    if (!fs::is_regular_file(path))
      fail(place(*table.get(key)), "expected a configuration file, but '", path.string(), "' does not exist");
    return path;
  }

  std::string place(const toml::node &node) { return trainer::place(file, node.source()); }
  const toml::node &get(const toml::table &table, const char *key) {
    if (const toml::node *node = table.get(key))
      return *node;
    fail(place(table), "requires '", key, "'");
  }
  void known(const toml::table &table, const std::vector<std::string> &keys) {
    for (const auto &[key, node] : table)
      if (std::find(keys.begin(), keys.end(), std::string(key.str())) == keys.end())
        fail(trainer::place(file, key.source()), "unsupported key '", std::string(key.str()),
             "' in a figure");
  }
  std::string asWord(const toml::node &node, const char *what) {
    if (!node.is_string())
      fail(place(node), "expected a string for ", what);
    return node.as_string()->get();
  }
  std::string word(const toml::table &table, const char *key) { return asWord(get(table, key), key); }
  const toml::table &asTable(const toml::node &node, const char *what) {
    if (!node.is_table())
      fail(place(node), "expected a table for ", what);
    return *node.as_table();
  }
  const toml::array &list(const toml::table &table, const char *key) {
    const toml::node &node = get(table, key);
    if (!node.is_array() || node.as_array()->empty())
      fail(place(node), "expected a list for ", key, " that is not empty");
    return *node.as_array();
  }

  fs::path file;
  std::string scale;
  std::vector<FigurePanel> above; // also those of other scales
};

} // namespace

Figure readFigure(const fs::path &file, const std::string &scale) {
  if (!fs::is_regular_file(file))
    fail("expected a figure's file, but '", file.string(), "' does not exist");
  return RunReader(file, scale).read(parseToml(file));
}

} // namespace taylor::trainer
