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

// A dataset's folder says what it is in README.md, LICENSE, dataset_infos.json.
bool isAboutRecords(const InputFile &file) {
  return file.format == Format::Text || file.path.extension() == ".json";
}

std::vector<InputFile> filesOf(const std::string &path) {
  std::vector<InputFile> files;
  for (const Corpus::File &file : findCorpus(path).files)
    files.push_back(describeInput(file.path, file.size));
  if (!std::all_of(files.begin(), files.end(), isAboutRecords))
    std::erase_if(files, isAboutRecords);
  return files;
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
  if (strip(".parquet"))
    return {path, Format::Parquet, Compression::None, size};
  Compression compression = strip(".gz")    ? Compression::Gzip
                            : strip(".zst") ? Compression::Zstd
                                            : Compression::None;
  bool lines = strip(".jsonl") || strip(".ndjson") || strip(".json");
  return {path, lines ? Format::JsonLines : Format::Text, compression, size};
}

std::vector<InputFile> findInputs(const std::vector<std::string> &names) {
  std::vector<InputFile> files;
  std::set<fs::path> seen;
  for (const std::string &name : names) {
    bool isGlob = name.find_first_of("*?[{~") != std::string::npos && !fs::exists(name);
    for (const std::string &path : isGlob ? matches(name) : std::vector{name})
      for (InputFile &file : filesOf(path))
        if (seen.insert(fs::absolute(file.path).lexically_normal()).second)
          files.push_back(std::move(file));
  }
  return files;
}

} // namespace taylor::trainer
