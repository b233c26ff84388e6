// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A figure of the paper as a list of runs.
#ifndef TAYLOR_TRAINER_FIGURES_FIGURE_H
#define TAYLOR_TRAINER_FIGURES_FIGURE_H
#include <filesystem>
#include <string>
#include <vector>

namespace taylor::trainer {

struct FigureRun {
  std::string label;            // of its line in the picture
  std::filesystem::path config; // a configuration file
  /// The run's name, by which panels and figures share it: the configuration's without ending.
  std::string name() const { return config.stem(); }
};

struct FigurePanel {
  std::string title;               // empty: the text that its runs read
  std::vector<std::string> scales; // at which the panel is drawn; empty: at all
  /// Empty: losses against steps, a line per run. Otherwise the last accuracy against this number of the
  /// runs' summaries, a line for all runs of a label.
  std::string against;
  /// A file of settings over those of its runs and of the scale; empty: none.
  std::filesystem::path settings;
  std::vector<FigureRun> runs; // its own, or those of the panel that `runs_of` names
};

struct Figure {
  std::string title;
  bool scaled = true; // whether a scale's settings are laid over those of the runs
  std::vector<FigurePanel> panels;
};

/// Reads a figure from a TOML file:
///
///   title = "Figure 4: ..."
///   [[panel]]
///   title = "ReLU"                                         # without one: the name of the runs' text
///   scales = ["paper"]                                     # where it is not for all
///   against = "state_bytes"                                # accuracy, where it is not losses against steps
///   runs = [ { label = "softmax", config = "../paper/fineweb-softmax.toml" } ]
///   runs_of = "softmax"                                    # instead: those of a panel above, by its title
///   settings = "../scales/tiny/wide.toml"                  # over those of the runs and of the scale
///
/// with paths from the file's folder. Panels that are not for `scale` are left out. Throws Error with file,
/// line and column.
Figure readFigure(const std::filesystem::path &file, const std::string &scale);

} // namespace taylor::trainer
#endif
