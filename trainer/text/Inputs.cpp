// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Inputs.h"
#include "trainer/support/Error.h"
#include "trainer/text/Corpus.h"
#include <algorithm>
#include <glob.h>
#include <set>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

std::vector<std::string> matches(const std::string &pattern) {
  glob_t found{};
  ::glob(pattern.c_str(), GLOB_BRACE | GLOB_TILDE, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (paths.empty())
    fail("expected files, folders or globs of text, but '", pattern, "' matches nothing");
  return paths;
}

/// A dataset's folder says what it is in README.md, LICENSE, dataset_infos.json.
bool isAboutRecords(const InputFile &file) {
  return file.format == Format::Text || file.path.extension() == ".json";
}

Inputs inputsOf(const std::string &path) {
  Inputs inputs;
  for (const Corpus::File &file : findCorpus(path).files)
    inputs.files.push_back(describeInput(file.path, file.size));
  if (std::all_of(inputs.files.begin(), inputs.files.end(), isAboutRecords))
    return inputs;
  for (const InputFile &file : inputs.files)
    if (isAboutRecords(file))
      inputs.about.push_back(file.path);
  std::erase_if(inputs.files, isAboutRecords);
  return inputs;
}

} // namespace

InputFile describeInput(const fs::path &path, int64_t size) {
  std::string name = path.filename().string();
  auto strip = [&](std::string_view ending) {
    if (!name.ends_with(ending))
      return false;
    name.resize(name.size() - ending.size());
    return true;
  };
  for (std::string_view ending :
       {".bz2", ".xz", ".lzma", ".lz4", ".br", ".Z", ".snappy", ".zip", ".7z", ".rar", ".tar", ".tgz"})
    if (name.ends_with(ending) || name.ends_with(std::string(ending) + ".gz") ||
        name.ends_with(std::string(ending) + ".zst"))
      fail("unsupported compression or archive '", path.string(),
           "'; expected .gz, .zst, .parquet or what is not compressed: unpack it, or name the files beside "
           "it");
  if (strip(".parquet"))
    return {path, Format::Parquet, Compression::None, size};
  Compression compression = strip(".gz")    ? Compression::Gzip
                            : strip(".zst") ? Compression::Zstd
                                            : Compression::None;
  bool lines = strip(".jsonl") || strip(".ndjson") || strip(".json");
  return {path, lines ? Format::JsonLines : Format::Text, compression, size};
}

Inputs findInputs(const std::vector<std::string> &names) {
  Inputs inputs;
  std::set<fs::path> seen;
  auto isNew = [&](const fs::path &path) {
    return seen.insert(fs::absolute(path).lexically_normal()).second;
  };
  for (const std::string &name : names) {
    bool isGlob = name.find_first_of("*?[{~") != std::string::npos && !fs::exists(name);
    for (const std::string &path : isGlob ? matches(name) : std::vector{name}) {
      Inputs some = inputsOf(path);
      std::copy_if(some.files.begin(), some.files.end(), std::back_inserter(inputs.files),
                   [&](const InputFile &file) { return isNew(file.path); });
      inputs.about.insert(inputs.about.end(), some.about.begin(), some.about.end());
    }
  }
  std::erase_if(inputs.about, [&](const fs::path &path) { return !isNew(path); }); // taken by name, or twice
  return inputs;
}

void refuseRecords(const std::string &path, const std::string &tokenizer, const char *use) {
  for (const InputFile &file : findInputs({path}).files)
    if (file.format != Format::Text)
      fail("expected text, but '", path, "' has records, such as '", file.path.filename().string(),
           "'; make tokens of them with 'taylor-train prepare ", path, " ", tokenizer, " --out FOLDER' and ",
           use, " with --data FOLDER, or leave them out");
}

} // namespace taylor::trainer
