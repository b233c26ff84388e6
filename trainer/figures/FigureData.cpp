// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/figures/FigureData.h"
#include "trainer/figures/Pictures.h"
#include "trainer/report/Gnuplot.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/support/Json.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <sstream>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

using Series = std::map<int64_t, double>; // loss by step; NaN where it was not finite

struct Losses {
  Series train, test;
};

Losses readLosses(const fs::path &folder) {
  fs::path path = folder / "metrics.jsonl";
  std::istringstream stream(readFile(path));
  Losses losses;
  for (std::string line; std::getline(stream, line);) {
    auto parsed = parseJson(line);
    if (!parsed.is_object() || !parsed.contains("step") || !parsed["step"].is_number_integer())
      fail("expected lines with a step in '", path.string(), "', but got '", line, "'");
    for (auto [name, series] : {std::pair{"loss", &losses.train}, {"validation_loss", &losses.test}})
      if (parsed.contains(name) && (parsed[name].is_number() || parsed[name].is_null()))
        (*series)[parsed["step"]] = parsed[name].is_null() ? NAN : parsed[name].get<double>();
  }
  if (losses.test.empty())
    fail("requires an evaluation in '", path.string(), "', but there is none");
  return losses;
}

/// Means over bins of `width` steps; a bin stands at its last step. Steps whose loss was not finite, and
/// whose update was left out therefore, are not counted: a bin is NaN where it has no other.
Series binned(const Series &series, int64_t width) {
  std::map<int64_t, std::pair<double, int64_t>> sums;
  for (auto [step, loss] : series) {
    auto &[sum, count] = sums[(step + width - 1) / width * width];
    sum += std::isnan(loss) ? 0 : loss;
    count += !std::isnan(loss);
  }
  Series means;
  for (auto [step, sum] : sums)
    means[step] = sum.second ? sum.first / double(sum.second) : NAN;
  return means;
}

/// Steps that all seeds have; NaN where it is one of them.
std::vector<CurvePoint> overSeeds(const std::vector<Series> &seeds) {
  std::vector<CurvePoint> points;
  for (auto [step, first] : seeds[0]) {
    CurvePoint point{step, 0, first, first, {}};
    bool all = true;
    for (const Series &series : seeds) {
      auto found = series.find(step);
      all &= found != series.end();
      if (!all)
        break;
      point.mean += found->second / double(seeds.size());
      point.least = std::min(point.least, found->second);
      point.largest = std::max(point.largest, found->second);
      point.seeds.push_back(found->second);
    }
    if (std::isnan(point.mean)) // which no comparison tells
      point.least = point.largest = NAN;
    if (all)
      points.push_back(point);
  }
  return points;
}

/// What a picture shows: all losses after the first tenth of the steps, whose fall would leave no room for
/// differences; of all steps where none after it is finite.
std::string printRange(const std::vector<const std::vector<CurvePoint> *> &curves) {
  int64_t last = 1;
  for (const std::vector<CurvePoint> *points : curves)
    for (const CurvePoint &point : *points)
      last = std::max(last, point.step);
  for (int64_t begin : {last / 10, int64_t(-1)}) {
    double least = INFINITY, largest = 0;
    for (const std::vector<CurvePoint> *points : curves)
      for (const CurvePoint &point : *points)
        if (point.step > begin && point.least > 0) {
          least = std::min(least, point.least);
          largest = std::max(largest, point.largest);
        }
    if (least <= largest)
      return text("set xrange [*:*]\nset yrange [", 0.98 * least, ":", 1.02 * largest, "]\n");
  }
  return text("set xrange [0:", last, "]\nset yrange [1:10]\n"); // gnuplot finds none here
}

/// Rows of numbers for a curve, which an empty row interrupts where losses are not finite.
std::string printBlock(const std::vector<CurvePoint> &points) {
  std::string out;
  bool gap = true;
  for (const CurvePoint &point : points) {
    if (!std::isnan(point.mean))
      out += text(point.step, " ", point.mean, " ", point.least, " ", point.largest, "\n");
    else if (!gap)
      out += "\n";
    gap = std::isnan(point.mean);
  }
  return out.empty() ? "0 NaN NaN NaN\n" : out; // gnuplot refuses a block without rows
}

constexpr const char *kNotFinite = "not finite";

/// In `format`.
std::string printLoss(const char *format, double loss) {
  return std::isnan(loss) ? kNotFinite : formatNumber(format, loss);
}

double mean(const std::vector<double> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

} // namespace

std::vector<Curve> readCurves(const FigurePanel &panel, const std::vector<std::vector<fs::path>> &folders,
                              int64_t bins) {
  std::vector<Curve> curves;
  for (size_t run = 0; run < panel.runs.size(); ++run) {
    std::vector<Series> train, test;
    Curve curve{panel.runs[run].label, {}, {}, {}};
    for (const fs::path &folder : folders[run]) {
      Losses losses = readLosses(folder);
      int64_t steps = losses.train.empty() ? 1 : losses.train.rbegin()->first;
      train.push_back(binned(losses.train, std::max<int64_t>(steps / bins, 1)));
      curve.finalTest.push_back(losses.test.rbegin()->second);
      test.push_back(std::move(losses.test));
    }
    curve.train = overSeeds(train);
    curve.test = overSeeds(test);
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::string printCurves(const Figure &figure, const std::vector<std::vector<Curve>> &curves) {
  std::string out = "panel,label,kind,step,mean,least,largest";
  for (size_t seed = 1; seed <= curves[0][0].finalTest.size(); ++seed)
    out += text(",seed", seed);
  auto append = [&](double loss) { out += "," + (std::isnan(loss) ? "" : formatNumber("%.6g", loss)); };
  for (size_t panel = 0; panel < curves.size(); ++panel)
    for (const Curve &curve : curves[panel])
      for (auto [kind, points] : {std::pair{"train", &curve.train}, {"test", &curve.test}})
        for (const CurvePoint &point : *points) {
          out += text("\n", csvField(figure.panels[panel].title), ",", csvField(curve.label), ",", kind, ",",
                      point.step);
          for (double loss : {point.mean, point.least, point.largest})
            append(loss);
          for (double loss : point.seeds)
            append(loss);
        }
  return out + "\n";
}

/// "MEAN | LEAST to LARGEST", each in `format`; what is not finite lies above all numbers.
static std::string printSpread(const char *format, const std::vector<double> &values) {
  auto isBelow = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
  auto [least, largest] = std::minmax_element(values.begin(), values.end(), isBelow);
  return text(printLoss(format, mean(values)), " | ",
              std::isnan(*least) ? "" : formatNumber(format, *least) + " to ", printLoss(format, *largest));
}

std::string printResults(const Figure &figure, const std::vector<std::vector<Curve>> &curves) {
  std::string out;
  for (size_t panel = 0; panel < curves.size(); ++panel) {
    const std::vector<double> &first = curves[panel][0].finalTest;
    out += text(panel ? "\n" : "", "**", figure.panels[panel].title, "** (seeds: ", first.size(),
                ")\n\n| run | test loss | over seeds | above ", curves[panel][0].label,
                " | over seeds | train loss |\n|---|---|---|---|---|---|\n");
    for (const Curve &curve : curves[panel]) {
      std::vector<double> above(first.size());
      std::transform(curve.finalTest.begin(), curve.finalTest.end(), first.begin(), above.begin(),
                     std::minus<>());
      out += text("| ", curve.label, " | ", printSpread("%.4f", curve.finalTest), " | ",
                  printSpread("%+.4f", above), " | ",
                  curve.train.empty() ? "" : printLoss("%.4f", curve.train.back().mean), " |\n");
    }
  }
  return out;
}

/// Each curve is a block of numbers in the script, so that a picture needs no other file; a band shows the
/// range over seeds.
std::string printFigurePlot(const Figure &figure, const std::vector<std::vector<Curve>> &curves) {
  std::string out = beginPicture(curves.size(), /*rows=*/2) + R"(set logscale y
set format y "%.4g"
do for [decade = -3:2] { do for [step in "1 1.2 1.4 1.6 1.8 2 2.2 2.5 3 3.5 4 5 6 7 8"] { set ytics add (real(step) * 10.0**decade) } }
set xlabel "step"
set key top right opaque
)";
  auto block = [](size_t panel, size_t curve, const char *kind) {
    return text("$", kind, "_", panel, "_", curve);
  };
  for (size_t panel = 0; panel < curves.size(); ++panel)
    for (size_t i = 0; i < curves[panel].size(); ++i)
      for (auto [kind, points] :
           {std::pair{"train", &curves[panel][i].train}, {"test", &curves[panel][i].test}}) {
        out += block(panel, i, kind) + " << END\n" + printBlock(*points) + "END\n";
      }
  out += text("set multiplot layout 2, columns title ", quotedForPlot(figure.title), " noenhanced\n");
  for (auto [kind, points] : {std::pair{"train", &Curve::train}, {"test", &Curve::test}})
    for (size_t panel = 0; panel < curves.size(); ++panel) {
      std::vector<const std::vector<CurvePoint> *> shown;
      for (const Curve &curve : curves[panel])
        shown.push_back(&(curve.*points));
      out += printRange(shown);
      out += text("set title ", quotedForPlot(figure.panels[panel].title), " noenhanced\nset ylabel '", kind,
                  " loss'\nplot ");
      const char *separator = "";
      for (size_t i = 0; i < curves[panel].size(); ++i) {
        std::string data = block(panel, i, kind);
        if (curves[panel][i].finalTest.size() > 1)
          out += text(separator, data, " using 1:3:4 with filledcurves linetype ", i + 1,
                      " fillstyle transparent solid 0.15 noborder notitle"),
              separator = ", \\\n  ";
        out += text(separator, data, " using 1:2 with lines linetype ", i + 1, " linewidth 2 title ",
                    quotedForPlot(curves[panel][i].label), " noenhanced");
        separator = ", \\\n  ";
      }
      out += "\n";
    }
  return out + "unset multiplot\n";
}

} // namespace taylor::trainer
