// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace taylor::run;
using taylor::reference::Comparison;

void ComparisonTable::add(const std::string &name, const Comparison &comparison) {
  rows.push_back({name, comparison});
}

bool ComparisonTable::passes() const {
  return llvm::all_of(rows, [](const Row &row) { return row.comparison.passes; });
}

bool ComparisonTable::print() const {
  llvm::outs() << llvm::format("%-24s %12s %12s %12s", "", "error", "allowed", "|reference|");
  llvm::outs() << (withEager ? "  eager error\n" : "\n");
  for (const Row &row : rows) {
    const Comparison &c = row.comparison;
    llvm::outs() << llvm::format("%-24s %12.3e %12.3e %12.3e", row.name.c_str(), static_cast<double>(c.error),
                                 static_cast<double>(c.allowed), static_cast<double>(c.norm));
    if (withEager)
      llvm::outs() << llvm::format(" %12.3e", static_cast<double>(c.eager));
    llvm::outs() << (c.passes ? "  ok" : "  FAILED");
    if (c.lost)
      llvm::outs() << ", " << c.lost << " not finite where the reference is";
    if (c.notFinite)
      llvm::outs() << ", " << c.notFinite << " of the reference not finite";
    llvm::outs() << "\n";
  }
  for (const Row &row : rows) {
    long double norm = row.comparison.norm, error = row.comparison.eager;
    if (!withEager || !(norm > 0) || !(error > norm / 10))
      continue;
    llvm::outs() << "note: '" << row.name << "' is judged by eager code whose own error is ";
    // Gradients of one visible key are 0 except for rounding: no share of them says anything.
    if (error > norm)
      llvm::outs() << "larger than it";
    else
      llvm::outs() << llvm::format("%.0f %% of it", 100 * static_cast<double>(error / norm));
    llvm::outs() << "; a wider --dtype compares more closely\n";
  }
  return passes();
}

void taylor::run::printSummary(llvm::StringRef name, const Array &array) {
  Real square = 0, largest = 0;
  size_t odd = 0;
  for (Real value : array.values) {
    if (!std::isfinite(value)) {
      ++odd;
      continue;
    }
    square += value * value;
    largest = std::max(largest, std::fabs(value));
  }
  llvm::outs() << name << " " << array.shape.str()
               << llvm::format(": norm %.9e, largest %.9e", static_cast<double>(std::sqrt(square)),
                               static_cast<double>(largest));
  if (odd)
    llvm::outs() << ", " << odd << " not finite";
  llvm::outs() << "\n";
}

void taylor::run::printElements(const Array &array) {
  size_t width = array.shape.rank() ? array.shape.sizes.back() : 1;
  for (size_t i = 0; i < array.values.size(); ++i)
    llvm::outs() << llvm::format("%s%.10g%s", i % width ? "" : "  ", static_cast<double>(array.values[i]),
                                 (i + 1) % width ? " " : "\n");
}
