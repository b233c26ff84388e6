// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Figures of accuracy against a property of the runs.
#ifndef TAYLOR_TRAINER_FIGURES_FIGUREPOINTS_H
#define TAYLOR_TRAINER_FIGURES_FIGUREPOINTS_H
#include "trainer/figures/Figure.h"
#include <optional>
#include <string>
#include <vector>

namespace taylor::trainer {

/// What came of a run with all its seeds.
struct FigurePoint {
  std::string label;
  std::optional<double> x;        // nothing where its summaries have no such number: a level line
  std::vector<double> accuracies; // the last of each seed
  double mean() const;
};

/// The points of a panel from the runs' summary.json, in the order of `panel.runs`. `folders`: of each run's
/// seeds. `panel.against` is sought among the summary's numbers and then among its "attention_parameters".
/// Throws Error where a file lacks an accuracy.
std::vector<FigurePoint> readPoints(const FigurePanel &panel,
                                    const std::vector<std::vector<std::filesystem::path>> &folders);

// panel,label,against,x,mean,least,largest
std::string printPoints(const Figure &figure, const std::vector<std::vector<FigurePoint>> &points);

/// A table for people, in Markdown.
std::string printPointResults(const Figure &figure, const std::vector<std::vector<FigurePoint>> &points);

/// A gnuplot script: panels as columns, a line per label with bars over seeds, level lines dashed.
std::string printPointPlot(const Figure &figure, const std::vector<std::vector<FigurePoint>> &points);

} // namespace taylor::trainer
#endif
