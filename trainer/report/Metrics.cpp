// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/report/Metrics.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/support/Json.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace taylor::trainer {

namespace {

/// The lines of earlier steps, of evaluations up to that of the step `evaluated`; a last line that a kill cut
/// short is dropped like later ones.
std::string linesUpTo(const std::string &contents, int64_t step, int64_t evaluated) {
  std::istringstream stream(contents);
  std::string kept;
  for (std::string line; std::getline(stream, line);) {
    auto parsed = parseJson<ordered_json>(line);
    if (!parsed.is_object() || !parsed.contains("step") || !parsed["step"].is_number())
      continue;
    if (parsed["step"] <= (parsed.contains("validation_loss") ? std::min(step, evaluated) : step))
      kept += line + "\n";
  }
  return kept;
}

std::string tag(const std::string &name) {
  const std::string prefix = "validation_";
  return name.starts_with(prefix) ? "validation/" + name.substr(prefix.size()) : "train/" + name;
}

void removeEvents(const fs::path &folder) {
  std::error_code error;
  std::vector<fs::path> events;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().filename().string().starts_with("events.out.tfevents."))
      events.push_back(at->path());
  if (error)
    fail("cannot read '", folder.string(), "': ", error.message());
  for (const fs::path &path : events)
    removeFile(path);
}

} // namespace

std::string Metrics::tableRow(int64_t step, const Measurements &measurements) const {
  std::string row = std::to_string(step);
  for (const std::string &column : columns) {
    row += ',';
    for (const auto &[name, value] : measurements)
      if (name == column && std::isfinite(value))
        row += ordered_json(value).dump();
  }
  return row + "\n";
}

Metrics::Metrics(const fs::path &folder, int64_t step, int64_t evaluated, bool tensorboard,
                 std::vector<std::string> theColumns)
    : path(folder / "metrics.jsonl"), columns(std::move(theColumns)) {
  std::string kept = step >= 0 && fs::exists(path) ? linesUpTo(readFile(path), step, evaluated) : "";
  removeEvents(folder); // written again from the lines that stay, below
  replaceDurably(path, kept);
  lines.open(path, std::ios::app);
  if (!lines)
    fail("cannot write '", path.string(), "': ", std::strerror(errno));
  if (tensorboard)
    events = std::make_unique<EventFile>(folder);
  std::string rows = "step";
  for (const std::string &column : columns)
    rows += "," + column;
  rows += "\n";
  std::istringstream stream(kept);
  for (std::string line; std::getline(stream, line);) {
    ordered_json parsed = ordered_json::parse(line);
    Measurements measurements;
    for (const auto &[name, value] : parsed.items())
      if (name != "step" && value.is_number())
        measurements.push_back({name, value});
    rows += tableRow(parsed["step"], measurements);
    for (const auto &[name, value] : measurements)
      if (events)
        events->scalar(parsed["step"], tag(name), value);
  }
  fs::path tablePath = folder / "metrics.csv";
  if (columns.empty()) {
    removeFile(tablePath);
    return;
  }
  replaceDurably(tablePath, rows);
  table.open(tablePath, std::ios::app);
  if (!table)
    fail("cannot write '", tablePath.string(), "': ", std::strerror(errno));
}

void Metrics::write(int64_t step, const Measurements &measurements) {
  ordered_json line = {{"step", step}};
  for (const auto &[name, value] : measurements) {
    line[name] = value; // nlohmann writes what is not finite as null
    if (events)
      events->scalar(step, tag(name), value);
  }
  lines << line.dump() << "\n" << std::flush;
  if (table.is_open())
    table << tableRow(step, measurements) << std::flush;
  bool written = !events || events->flush();
  if (!lines || !table || !written)
    fail("cannot write '", path.string(), "': ", std::strerror(errno));
}

} // namespace taylor::trainer
