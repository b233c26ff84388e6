// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Statistics.h"

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <mutex>
#include <string>

namespace {

/// A number's text, and where it is counted. A map keeps its entries where they are.
struct Entry {
  std::string description;
  std::atomic<uint64_t> count{0};
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::map<std::string, Entry>> passes; ///< by the pass's command-line name and its own
};

Registry &getRegistry() {
  static Registry registry;
  return registry;
}

} // namespace

taylor::PassStatistic::PassStatistic(mlir::Pass *pass, const char *name, const char *description) {
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  Entry &entry = registry.passes[pass->getArgument().str()][name];
  entry.description = description;
  count = &entry.count;
}

void taylor::printPassStatistics(llvm::raw_ostream &stream) {
  Registry &registry = getRegistry();
  std::lock_guard lock(registry.mutex);
  auto hasCounted = [](const auto &entry) { return entry.second.count != 0; };
  for (const auto &[pass, entries] : registry.passes) {
    if (llvm::none_of(entries, hasCounted))
      continue;
    stream << pass << "\n";
    for (const auto &[name, entry] : entries)
      stream << llvm::format("  (S) %6llu ", static_cast<unsigned long long>(entry.count)) << name << " - "
             << entry.description << "\n";
  }
}
