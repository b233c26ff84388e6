// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the kernels of every specification of a folder execute, counted by the interpreter of PTX. Their
// results are judged elsewhere (taylor-run --check): here inputs are drawn, and nothing is compared.
#include "runtime/Error.h"
#include "runtime/lab/bench/Commands.h"
#include "runtime/lab/bench/SpecKernels.h"
#include <ATen/ATen.h>
#include <algorithm>
#include <filesystem>
#include <string_view>

namespace taylor::bench {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

/// The specifications of a folder and those below it, by their paths there without the suffix, in order.
std::vector<std::string> listSpecifications(const std::string &folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(folder, error))
    if (entry.path().extension() == ".mlir")
      names.push_back(fs::relative(entry.path(), folder).replace_extension().string());
  if (error)
    runtime::fail("requires the folder of --catalogue, '", folder, "': ", error.message());
  if (names.empty())
    runtime::fail("expected specifications (.mlir) in the folder of --catalogue, but '", folder,
                  "' has none");
  std::sort(names.begin(), names.end());
  return names;
}

/// "13.7; 17.4": a count of each target in turn.
std::string cellOf(const std::vector<Json> &rows, const std::string &direction, const char *key, int digits) {
  std::string cell;
  for (const Json &row : rows)
    if (row["direction"] == direction) {
      char text[32];
      std::snprintf(text, sizeof text, "%.*f", digits, row["counts"][key].get<double>());
      cell += (cell.empty() ? "" : "; ") + std::string(text);
    }
  return cell;
}

void printHeader(const CountOptions &options, const std::string &shape) {
  std::string targets;
  for (const std::string &target : options.targets)
    targets += (targets.empty() ? "" : "; ") + target;
  printf("%s, %s, %s, per visible pair: %s\n\n| specification |", shape.c_str(),
         options.dtypes.front().c_str(), options.masks.front().c_str(), targets.c_str());
  for (const std::string &direction : options.directions)
    printf(" %s: instructions | bytes read | barriers |", direction.c_str());
  printf("\n|---|");
  for (size_t i = 0; i < 3 * options.directions.size(); ++i)
    printf("---|");
  printf("\n");
}

/// A row of each direction and target. Throws Refused where the specification has no code of these types.
std::vector<Json> countSpecification(const std::string &name, const std::string &shape,
                                     const CountOptions &options) {
  std::vector<Json> rows;
  for (const std::string &direction : options.directions)
    for (const std::string &target : options.targets) {
      at::manual_seed(1);
      Plan plan;
      plan.contender = plan.target = target;
      plan.variant = name, plan.direction = direction, plan.takesAnyInput = true;
      plan.mask = options.masks.front(), plan.dtype = options.dtypes.front();
      plan.shape = Shape::parse(shape);
      runtime::ptx::Profile profile =
          runCompiled((fs::path(options.catalogue) / (name + ".mlir")).string(), plan, options,
                      [](const std::string &) { return at::Tensor(); });
      rows.push_back({{"spec", name},
                      {"target", target},
                      {"direction", direction},
                      {"mask", plan.mask},
                      {"dtype", plan.dtype},
                      {"shape", plan.shape.text()},
                      {"counts", countsOf(plan, profile)}});
    }
  return rows;
}

void printRow(const std::string &name, const std::vector<Json> &rows, const CountOptions &options) {
  printf("| %s |", name.c_str());
  for (const std::string &direction : options.directions) {
    if (rows.empty())
      printf(" refused | | |");
    else
      printf(" %s | %s | %s |", cellOf(rows, direction, "instructions", 1).c_str(),
             cellOf(rows, direction, "global_read", 1).c_str(),
             cellOf(rows, direction, "barriers", 3).c_str());
  }
  printf("\n");
  std::fflush(stdout);
}

} // namespace

Json benchCatalogue(const CountOptions &options) {
  Json all = Json::array();
  std::vector<std::string> names = listSpecifications(options.catalogue);
  for (const std::string &shape : options.shapes) {
    Shape::parse(shape); // what is wrong with it is no refusal of each specification
    printHeader(options, shape);
    for (const std::string &name : names) {
      std::vector<Json> rows;
      try {
        rows = countSpecification(name, shape, options);
      } catch (const runtime::Refused &refused) {
        fprintf(stderr, "taylor-bench: refused: %s\n", refused.what());
      }
      printRow(name, rows, options);
      for (Json &row : rows)
        all.push_back(std::move(row));
    }
  }
  if (all.empty())
    runtime::fail("requires a specification that can be counted in the folder of --catalogue, but all of '",
                  options.catalogue, "' were refused");
  return all;
}

} // namespace taylor::bench
