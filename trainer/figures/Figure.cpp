// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/figures/Figure.h"
#include "trainer/support/Error.h"
#include <algorithm>
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

class Reader {
public:
  Reader(const fs::path &file, const std::string &scale) : file(file), scale(scale) {}

  Figure read(const toml::table &table) {
    Figure figure;
    known(table, {"title", "panel"});
    figure.title = word(table, "title");
    for (const toml::node &node : list(table, "panel")) {
      const toml::table &panel = asTable(node, "a panel");
      known(panel, {"title", "scales", "runs"});
      FigurePanel read{word(panel, "title"), {}, {}};
      if (panel.contains("scales"))
        for (const toml::node &name : list(panel, "scales"))
          read.scales.push_back(asWord(name, "scales"));
      for (const toml::node &run : list(panel, "runs"))
        read.runs.push_back(readRun(asTable(run, "a run")));
      if (read.scales.empty() ||
          std::find(read.scales.begin(), read.scales.end(), scale) != read.scales.end())
        figure.panels.push_back(std::move(read));
    }
    if (figure.panels.empty())
      fail(file.string(), ": expected a panel for the scale '", scale, "', but there is none");
    return figure;
  }

private:
  FigureRun readRun(const toml::table &table) {
    known(table, {"label", "config"});
    FigureRun run{word(table, "label"), file.parent_path() / word(table, "config")};
    run.config = run.config.lexically_normal();
    if (!fs::is_regular_file(run.config))
      fail(place(*table.get("config")), "expected a configuration file, but '", run.config.string(),
           "' does not exist");
    return run;
  }

  std::string place(const toml::source_region &source) {
    return text(file.string(), ":", source.begin.line, ":", source.begin.column, ": ");
  }
  std::string place(const toml::node &node) { return place(node.source()); }
  const toml::node &get(const toml::table &table, const char *key) {
    if (const toml::node *node = table.get(key))
      return *node;
    fail(place(table), "requires '", key, "'");
  }
  void known(const toml::table &table, const std::vector<std::string> &keys) {
    for (const auto &[key, node] : table)
      if (std::find(keys.begin(), keys.end(), std::string(key.str())) == keys.end())
        fail(place(key.source()), "unsupported key '", std::string(key.str()), "' in a figure");
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
};

} // namespace

Figure readFigure(const fs::path &file, const std::string &scale) {
  if (!fs::is_regular_file(file))
    fail("expected a figure's file, but '", file.string(), "' does not exist");
  try {
    return Reader(file, scale).read(toml::parse_file(file.string()));
  } catch (const toml::parse_error &error) {
    fail(file.string(), ":", error.source().begin.line, ":", error.source().begin.column,
         ": expected TOML, but got an error: ", error.description());
  }
}

} // namespace taylor::trainer
