// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Artifacts: the checks of a file before the dynamic loader sees it, and those of the table that it brings.
// The dynamic loader itself is never asked: it would run what the fuzzer wrote.
//
// An input that begins with "table" is a table in text, one line for each function and image, then the
// manifest:
//
//     table
//     function TARGET NAME KERNELS SCRATCH
//     image TARGET KIND TEXT
//     {"taylor": ..
//
// A "-" stands for a null pointer. Any other input is a file.
#include "runtime/ArtifactFile.h"
#include "runtime/Error.h"
#include "test/fuzz/MemoryFile.h"
#include <deque>
#include <sstream>

using namespace taylor::runtime;

namespace {

struct Table {
  std::deque<std::string> texts; ///< That the table points to.
  std::vector<TaylorFunction> functions;
  std::vector<TaylorImage> images;
  TaylorArtifact table = {};

  const char *keep(std::string text) {
    return text == "-" ? nullptr : texts.emplace_back(std::move(text)).c_str();
  }

  void addFunction(std::istream &line) {
    std::string target, name;
    TaylorFunction function = {};
    line >> target >> name >> function.kernels >> function.scratch;
    function.target = keep(target);
    function.name = keep(name);
    function.workspace = [](const int64_t *) -> int64_t { return 0; };
    function.blocks = [](const int64_t *, int64_t) -> int64_t { return 0; };
    function.run = [](const TaylorCall *, int64_t, int64_t, int64_t, void *) {};
    functions.push_back(function);
  }

  void addImage(std::istream &line) {
    std::string target, text;
    TaylorImage image = {};
    line >> target >> image.kind >> std::ws;
    std::getline(line, text);
    image.target = keep(target);
    image.size = int64_t(text.size());
    image.bytes = keep(text);
    images.push_back(image);
  }

  explicit Table(const std::string &input) {
    std::istringstream lines(input);
    std::string line;
    std::getline(lines, line); // "table"
    std::streampos manifest = lines.tellg();
    while (std::getline(lines, line)) {
      std::istringstream words(line);
      std::string word;
      words >> word;
      if (word == "function")
        addFunction(words);
      else if (word == "image")
        addImage(words);
      else
        break;
      manifest = lines.tellg();
    }
    const char *text = manifest < 0 ? nullptr : keep(input.substr(size_t(manifest)));
    table = {TAYLOR_ARTIFACT_MAGIC,
             TAYLOR_ARTIFACT_ABI,
             text,
             text ? int64_t(texts.back().size()) : 0,
             functions.data(),
             int64_t(functions.size()),
             images.data(),
             int64_t(images.size())};
  }
};

void readTable(const std::string &input) {
  Table made(input);
  try {
    auto artifact = Artifact::fromTable("fuzz", made.table);
    const Dims dims = {2, 4, 2, 33, 65, 32};
    for (size_t i = 0; i < artifact->manifest().functions.size(); ++i)
      try {
        artifact->function(int(i), dims, "");
      } catch (const Error &) { // no code for this processor
      }
  } catch (const Error &) {
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string input(reinterpret_cast<const char *>(data), size);
  if (input.starts_with("table\n"))
    readTable(input);
  else
    Artifact::intact(taylor::fuzz::MemoryFile(data, size).path());
  return 0;
}
