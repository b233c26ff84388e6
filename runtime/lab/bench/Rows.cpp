// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/lab/bench/Rows.h"
#include "runtime/Cpu.h"
#include "runtime/Forms.h"
#include "runtime/lab/bench/Allocations.h"
#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

namespace taylor::bench {

using Json = nlohmann::json;

const runtime::FormCode &chosenForm(const Manifest &manifest, const std::string &function,
                                    const Shape &shape) {
  const runtime::TargetInfo &target = manifest.targets.front();
  const runtime::TargetFunction &code = target.functions[size_t(manifest.function(function))];
  return code.forms[size_t(runtime::chooseForm(code, manifest, shape.dims(), "", function, target.name))];
}

/// Floating-point operations of the kernels that run, as the compiler counts them; 0 where it did not.
static double executedOperations(const Manifest &manifest, const std::string &direction, const Shape &shape) {
  double sum = 0;
  for (const char *function : {"forward", "backward"})
    if (direction == function || direction == "both")
      sum += runtime::operationsOf(chosenForm(manifest, function, shape), manifest, shape.dims());
  return sum;
}

void addRatio(Json &row, const std::string &name, const std::vector<double> &other,
              const std::vector<double> &own) {
  row["ratio"][name] = round3(medianOfRatios(other, own));
  if (auto interval = intervalOfRatios(other, own))
    row["interval"][name] = {round3(interval->first), round3(interval->second)};
}

Json describeRow(const Request &request, const std::string &direction, const Manifest &manifest,
                 const Rounds &rounds, const std::vector<Contender> &contenders, size_t own) {
  const std::string &mask = manifest.mask;
  double ms = median(rounds.ms[own]), peak = median(rounds.peaks);
  double gflops =
      operations(request.shape, mask, direction != "backward", direction != "forward") / ms * 1e-6;
  double executed = executedOperations(manifest, direction, request.shape) / ms * 1e-6;
  auto megabytes = [&](size_t i) {
    return countsAllocations() ? Json(round3(double(rounds.memory[i]) / (1 << 20))) : Json();
  };
  Json row = {{"spec", request.spec},
              {"shape", request.shape.text()},
              {"dtype", request.dtype},
              {"direction", direction},
              {"mask", mask},
              {"ms", ms},
              {"gflops", round3(gflops)},
              {"peak_fraction", round3(gflops / peak)},
              {"peak_gflops", round3(peak)},
              {"memory_mb", megabytes(own)},
              {"threads", at::get_num_threads()},
              {"rounds", rounds.peaks.size()},
              {"clock", request.clock},
              {"cpu", runtime::cpuName()},
              {"ratio", Json::object()},
              {"opponents", Json::object()}};
  if (executed > 0) {
    row["executed_gflops"] = round3(executed);
    row["executed_fraction"] = round3(executed / peak);
  }
  for (size_t i = 0; i < contenders.size(); ++i)
    if (i != own) {
      addRatio(row, contenders[i].name, rounds.ms[i], rounds.ms[own]);
      row["opponents"][contenders[i].name] = {{"ms", median(rounds.ms[i])}, {"memory_mb", megabytes(i)}};
    }
  return row;
}

void printRatios(const Json &row) {
  for (auto &[name, ratio] : row["ratio"].items()) {
    if (!name.ends_with(".so")) {
      printf("   %s %.2fx", name.c_str(), ratio.get<double>());
      continue;
    }
    // Artifacts differ by little: what counts is which differences the rounds tell from none.
    printf("   %s %.3fx", name.c_str(), ratio.get<double>());
    if (row.contains("interval"))
      printf(" (%.3f to %.3f)", row["interval"][name][0].get<double>(),
             row["interval"][name][1].get<double>());
  }
}

void printRow(const Json &row) {
  if (row.contains("form"))
    printf("%-9s", row["form"].get<std::string>().c_str());
  printf("%-28s %-18s %-5s %-9s %10.3f ms %8.1f GFLOP/s %5.1f %% of peak",
         row["spec"].get<std::string>().c_str(), row["shape"].get<std::string>().c_str(),
         row["dtype"].get<std::string>().c_str(), row["direction"].get<std::string>().c_str(),
         row["ms"].get<double>(), row["gflops"].get<double>(), 100 * row["peak_fraction"].get<double>());
  if (row.contains("executed_fraction"))
    printf(" (%.1f %% executed)", 100 * row["executed_fraction"].get<double>());
  if (row["memory_mb"].is_number())
    printf(" %8.1f MB", row["memory_mb"].get<double>());
  printRatios(row);
  if (row.contains("chosen"))
    printf("   runs %s, %s backward", row["chosen"]["forward"].get<std::string>().c_str(),
           row["chosen"]["backward"].get<std::string>().c_str());
  printf("\n");
  fflush(stdout);
}

} // namespace taylor::bench
