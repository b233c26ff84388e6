// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_FIGURES_FIGUREDATA_H
#define TAYLOR_TRAINER_FIGURES_FIGUREDATA_H
#include "trainer/figures/Figure.h"
#include <cstdint>
#include <map>

namespace taylor::trainer {

/// One point of a curve: a mean over seeds, and the least and the largest of them, NaN where a seed's loss
/// was not finite; and each seed's, in their order.
struct CurvePoint {
  int64_t step = 0;
  double mean = 0, least = 0, largest = 0;
  std::vector<double> seeds;
};

struct Curve {
  std::string label;
  std::vector<CurvePoint> train, test;
  /// Of the last evaluation of each seed, in the order of seeds; NaN where it was not finite.
  std::vector<double> finalTest;
};

/// The curves of a panel from the runs' metrics.jsonl. `folders`: of each run's seeds, in the order of
/// `panel.runs`. Losses of training are means over bins of steps, about `bins` of them, so that a line can be
/// seen. Throws Error where a file lacks what it needs.
std::vector<Curve> readCurves(const FigurePanel &panel,
                              const std::vector<std::vector<std::filesystem::path>> &folders, int64_t bins);

/// panel,label,kind,step,mean,least,largest,seed1,seed2 and so on; kind is train or test. A loss that was not
/// finite is empty, and so are the mean, the least and the largest then.
std::string printCurves(const Figure &figure, const std::vector<std::vector<Curve>> &curves);

/// A table for people, in Markdown: per panel and run the last test loss, and how much it lies above that of
/// the panel's first run with the same seed, which sees the same text and starts from the same values; each a
/// mean and its range over seeds.
std::string printResults(const Figure &figure, const std::vector<std::vector<Curve>> &curves);

/// A gnuplot script that draws the curves next to it: panels as columns, train losses above test losses.
std::string printFigurePlot(const Figure &figure, const std::vector<std::vector<Curve>> &curves);

} // namespace taylor::trainer
#endif
