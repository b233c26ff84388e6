// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/bench/Rows.h"
#include "runtime/Cpu.h"
#include "runtime/bench/Allocations.h"
#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

namespace taylor::bench {

using Json = nlohmann::json;

/// The row of one contender: its own time, beside those of others.
Json describeRow(const Request &request, const std::string &direction, const std::string &mask,
                 const Rounds &rounds, const std::vector<Contender> &contenders, size_t own) {
  double ms = median(rounds.ms[own]), peak = median(rounds.peaks);
  double gflops =
      operations(request.shape, mask, direction != "backward", direction != "forward") / ms * 1e-6;
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
  for (size_t i = 0; i < contenders.size(); ++i)
    if (i != own) {
      row["ratio"][contenders[i].name] = round3(rounds.ratio(i, own));
      row["opponents"][contenders[i].name] = {{"ms", median(rounds.ms[i])}, {"memory_mb", megabytes(i)}};
    }
  return row;
}

void printRow(const Json &row) {
  if (row.contains("form"))
    printf("%-9s", row["form"].get<std::string>().c_str());
  printf("%-28s %-18s %-5s %-9s %10.3f ms %8.1f GFLOP/s %5.1f %% of peak",
         row["spec"].get<std::string>().c_str(), row["shape"].get<std::string>().c_str(),
         row["dtype"].get<std::string>().c_str(), row["direction"].get<std::string>().c_str(),
         row["ms"].get<double>(), row["gflops"].get<double>(), 100 * row["peak_fraction"].get<double>());
  if (row["memory_mb"].is_number())
    printf(" %8.1f MB", row["memory_mb"].get<double>());
  for (auto &[name, ratio] : row["ratio"].items())
    printf("   %s %.2fx", name.c_str(), ratio.get<double>());
  if (row.contains("chosen"))
    printf("   runs %s, %s backward", row["chosen"]["forward"].get<std::string>().c_str(),
           row["chosen"]["backward"].get<std::string>().c_str());
  printf("\n");
  fflush(stdout);
}

} // namespace taylor::bench
