// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The levels of one compilation side by side, and which lines come from which.
#ifndef TAYLOR_CODEGEN_DRIVER_EXPLAIN_EXPLANATION_H
#define TAYLOR_CODEGEN_DRIVER_EXPLAIN_EXPLANATION_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include <set>
#include <string>
#include <vector>

namespace taylor {

/// A function of machine code, and the line (from 1) of the level above that it comes from; 0: none.
struct TracedFunction {
  std::string name;
  unsigned line = 0;
};

/// The lines (from 1) in `file` that a location names, be it fused, named or of a call.
std::set<unsigned> linesOf(mlir::Location location, llvm::StringRef file);

/// Makes the places in `file` the only ones of a module in the LLVM dialect, as debug info of which assembly
/// text shows `.loc` directives and nothing else. An op without such a place takes its function's. Gives the
/// functions that have a body.
mlir::FailureOr<std::vector<TracedFunction>> keepDebugLines(mlir::ModuleOp module, llvm::StringRef file);

/// Gathers the texts of a compilation from the specification down, in order; `printPage` makes one HTML file
/// of them. Between two calls the passes run that lead from one level to the next: they carry locations, and
/// these are the whole correspondence.
class Explanation {
public:
  /// Starts with the specification: its text, and the module parsed from it under the name `fileName`.
  Explanation(llvm::StringRef text, llvm::StringRef fileName, mlir::ModuleOp module);

  /// Adds the module's text. Each op's location then names its line in this text, after the places it had.
  void addModule(llvm::StringRef name, llvm::StringRef title, mlir::ModuleOp module);
  /// Prepares a module in the LLVM dialect, lowered from the last one added, for `addAssembly`.
  mlir::LogicalResult traceAssembly(mlir::ModuleOp module);
  /// Adds the assembly text, made from the module that `traceAssembly` was given. What debug info added to
  /// the text is read and left out.
  void addAssembly(llvm::StringRef name, llvm::StringRef title, llvm::StringRef text);

  /// A self-contained HTML page: texts, correspondence as JSON, styles and script. `subtitle` says what was
  /// compiled, in one line, `forms` which form each function has and why, a line each.
  std::string printPage(llvm::StringRef subtitle, llvm::ArrayRef<std::string> forms) const;

private:
  struct Line {
    std::string text;
    /// The line (from 1) that begins the op whose text this is: itself, except for what follows in a body or
    /// on further lines.
    unsigned owner = 0;
    /// Lines (from 1) of the level above; only of owners.
    std::set<unsigned> from;
  };
  struct Level {
    /// What locations call this text.
    std::string file;
    std::string name, title;
    std::vector<Line> lines;
    /// Where functions and kernels begin: line and name.
    std::vector<std::pair<unsigned, std::string>> headings;
  };
  Level &addLevel(llvm::StringRef name, llvm::StringRef title, llvm::StringRef file, llvm::StringRef text);
  static void chooseOwners(Level &level, const std::set<unsigned> &starts);

  std::vector<Level> levels;
  std::vector<TracedFunction> functions;
};

} // namespace taylor

#endif
