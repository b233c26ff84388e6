// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/figures/FigurePoints.h"
#include "trainer/config/Config.h"
#include "trainer/figures/Pictures.h"
#include "trainer/report/Gnuplot.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/support/Json.h"
#include <algorithm>
#include <numeric>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

nlohmann::json readSummary(const fs::path &folder) {
  fs::path path = folder / "summary.json";
  auto summary = parseJson(readFile(path));
  if (!summary.is_object() || !summary.contains("validation_accuracy") ||
      !summary["validation_accuracy"].is_number())
    fail("requires a number 'validation_accuracy' in '", path.string(), "'");
  return summary;
}

std::optional<double> numberOf(const nlohmann::json &summary, const std::string &name) {
  for (const nlohmann::json &place : {summary, summary.value("attention_parameters", nlohmann::json())})
    if (place.is_object() && place.contains(name) && place[name].is_number())
      return place[name];
  return std::nullopt;
}

/// A number that no run has may be one that others have, such as an order, and makes level lines; one that
/// nothing is called is a slip.
void requireKnown(const FigurePanel &panel, const std::vector<FigurePoint> &points,
                  const std::vector<std::vector<fs::path>> &folders) {
  if (std::any_of(points.begin(), points.end(), [](const FigurePoint &point) { return point.x.has_value(); }))
    return;
  std::vector<std::string> names = {"order", "state_bytes"};
  nlohmann::json summary = readSummary(folders[0][0]);
  for (const auto &[name, value] : summary.items())
    if (value.is_number())
      names.push_back(name);
  if (std::find(names.begin(), names.end(), panel.against) == names.end())
    fail("expected against to be a number of the runs' summaries, but none has '", panel.against,
         "'; did you mean '", nearestName(panel.against, names), "'?");
}

std::pair<double, double> range(const FigurePoint &point) {
  auto [least, largest] = std::minmax_element(point.accuracies.begin(), point.accuracies.end());
  return {*least, *largest};
}

/// Labels in the order in which they come.
std::vector<std::string> labels(const std::vector<FigurePoint> &points) {
  std::vector<std::string> found;
  for (const FigurePoint &point : points)
    if (std::find(found.begin(), found.end(), point.label) == found.end())
      found.push_back(point.label);
  return found;
}

/// Whether x spans so much that its logarithm is drawn.
bool isWide(const std::vector<FigurePoint> &points) {
  double least = INFINITY, largest = 0;
  for (const FigurePoint &point : points)
    if (point.x) {
      least = std::min(least, *point.x);
      largest = std::max(largest, *point.x);
    }
  return least > 0 && largest > 50 * least;
}

/// What a picture calls a number of a run's summary.
std::string axisLabel(const std::string &against) {
  return against == "order"         ? "highest Taylor order"
         : against == "state_bytes" ? "bytes that decoding keeps"
                                    : against;
}

std::string plotPanel(const FigurePanel &panel, const std::vector<FigurePoint> &points, size_t number) {
  std::vector<std::string> lines = labels(points);
  std::string blocks, plots;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string block = text("$points_", number, "_", i), rows;
    for (const FigurePoint &point : points)
      if (point.label == lines[i] && point.x) {
        auto [least, largest] = range(point);
        rows += text(*point.x, " ", point.mean(), " ", least, " ", largest, "\n");
      } else if (point.label == lines[i]) {
        plots += text(plots.empty() ? "" : ", \\\n  ", point.mean(), " with lines dashtype 2 linetype ",
                      i + 1, " title ", quotedForPlot(lines[i]), " noenhanced");
      }
    if (rows.empty())
      continue;
    blocks += block + " << END\n" + rows + "END\n";
    plots += text(plots.empty() ? "" : ", \\\n  ", block, " using 1:2:3:4 with yerrorlines linetype ", i + 1,
                  " linewidth 2 title ", quotedForPlot(lines[i]), " noenhanced");
  }
  return blocks + text("set title ", quotedForPlot(panel.title), " noenhanced\nset xlabel ",
                       quotedForPlot(axisLabel(panel.against)), " noenhanced\n",
                       isWide(points) ? "set logscale x\n" : "unset logscale x\n", "plot [*:*] [0:1.02] ",
                       plots, "\n");
}

} // namespace

double FigurePoint::mean() const {
  return std::accumulate(accuracies.begin(), accuracies.end(), 0.0) / double(accuracies.size());
}

std::vector<FigurePoint> readPoints(const FigurePanel &panel,
                                    const std::vector<std::vector<fs::path>> &folders) {
  std::vector<FigurePoint> points;
  for (size_t run = 0; run < panel.runs.size(); ++run) {
    FigurePoint point{panel.runs[run].label, {}, {}};
    for (const fs::path &folder : folders[run]) {
      nlohmann::json summary = readSummary(folder);
      point.accuracies.push_back(summary["validation_accuracy"]);
      point.x = numberOf(summary, panel.against);
    }
    points.push_back(std::move(point));
  }
  requireKnown(panel, points, folders);
  return points;
}

std::string printPoints(const Figure &figure, const std::vector<std::vector<FigurePoint>> &points) {
  std::string out = "panel,label,against,x,mean,least,largest\n";
  for (size_t panel = 0; panel < points.size(); ++panel)
    for (const FigurePoint &point : points[panel]) {
      auto [least, largest] = range(point);
      out += csvField(figure.panels[panel].title) + "," + csvField(point.label) + "," +
             csvField(figure.panels[panel].against) + "," + (point.x ? formatNumber("%.10g", *point.x) : "") +
             "," + formatNumber("%.6g", point.mean()) + "," + formatNumber("%.6g", least) + "," +
             formatNumber("%.6g", largest) + "\n";
    }
  return out;
}

std::string printPointResults(const Figure &figure, const std::vector<std::vector<FigurePoint>> &points) {
  std::string out;
  for (size_t panel = 0; panel < points.size(); ++panel) {
    out += text(panel ? "\n" : "", "**", figure.panels[panel].title, "**\n\n| run | ",
                figure.panels[panel].against, " | accuracy | over seeds |\n|---|---|---|---|\n");
    for (const FigurePoint &point : points[panel]) {
      auto [least, largest] = range(point);
      out += text("| ", point.label, " | ", point.x ? formatNumber("%.10g", *point.x) : "", " | ",
                  formatNumber("%.4f", point.mean()), " | ", formatNumber("%.4f", least), " to ",
                  formatNumber("%.4f", largest), " (", point.accuracies.size(), ") |\n");
    }
  }
  return out;
}

std::string printPointPlot(const Figure &figure, const std::vector<std::vector<FigurePoint>> &points) {
  std::string out =
      beginPicture(points.size(), /*rows=*/1) + text("set ylabel 'accuracy'\nset key outside bottom center "
                                                     "horizontal\nset multiplot layout 1, columns title ",
                                                     quotedForPlot(figure.title), " noenhanced\n");
  for (size_t panel = 0; panel < points.size(); ++panel)
    out += plotPanel(figure.panels[panel], points[panel], panel);
  return out + "unset multiplot\n";
}

} // namespace taylor::trainer
