// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/figures/Pictures.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include <algorithm>

namespace fs = std::filesystem;

namespace taylor::trainer {

/// Where a run is, how it is computed, how often it is saved, and what is told of it. log.state is not among
/// these: a figure draws what it measures. The specification's path is not either: its text counts.
static bool changesResults(const std::string &key) {
  static const char *const others[] = {"run.folder",
                                       "run.threads",
                                       "run.device",
                                       "run.join_timeout",
                                       "attention.specification",
                                       "data.verify",
                                       "train.micro_batch",
                                       "train.activation_checkpointing",
                                       "optimizer.shard"};
  if (key.starts_with("checkpoint.") || (key.starts_with("log.") && key != "log.state"))
    return false;
  return std::find(std::begin(others), std::end(others), key) == std::end(others);
}

static std::string specificationOf(const Config &config) {
  const std::string &path = config.attention.specification;
  if (!fs::is_regular_file(path))
    fail("expected a specification, but '", path, "' does not exist");
  return readFile(path);
}

static std::optional<std::string> differenceOfSettings(const Config &other, const Config &config) {
  std::vector<WrittenSetting> theirs = writtenSettings(other), ours = writtenSettings(config);
  for (size_t i = 0; i < ours.size(); ++i)
    if (changesResults(ours[i].key) && ours[i].value != theirs[i].value)
      return text(ours[i].key, " = ", theirs[i].value, " instead of ", ours[i].value);
  return std::nullopt;
}

static std::string otherText(const fs::path &file, const Config &config) {
  return text("the specification '", file.string(), "', which is not the text of '",
              config.attention.specification, "'");
}

std::optional<std::string> differenceOf(const Config &other, const Config &config) {
  if (std::optional<std::string> difference = differenceOfSettings(other, config))
    return difference;
  if (specificationOf(other) != specificationOf(config))
    return otherText(other.attention.specification, config);
  return std::nullopt;
}

std::optional<std::string> differenceOf(const fs::path &folder, const Config &config) {
  if (!fs::exists(folder / "config.toml"))
    return std::nullopt;
  Config other = readConfig({(folder / "config.toml").string()}, {});
  if (std::optional<std::string> difference = differenceOfSettings(other, config))
    return difference;
  fs::path file = folder / ("attention" + fs::path(other.attention.specification).extension().string());
  // A run that was killed between the two has no specification, and no step either.
  if (fs::exists(file) && readFile(file) != specificationOf(config))
    return otherText(file, config);
  return std::nullopt;
}

void requireSameRun(const fs::path &folder, const Config &config) {
  if (std::optional<std::string> difference = differenceOf(folder, config))
    fail("expected the run in '", folder.string(), "' to be the one that is asked for, but it has ",
         *difference, "; name another folder with --out, or remove that run's");
}

} // namespace taylor::trainer
