// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which files a name stands for, and what each holds by its ending: text or records.
#ifndef TAYLOR_TRAINER_TEXT_INPUTS_H
#define TAYLOR_TRAINER_TEXT_INPUTS_H
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace taylor::trainer {

enum class Compression { None, Gzip, Zstd };
enum class Format { Text, JsonLines, Parquet };

struct InputFile {
  std::filesystem::path path;
  Format format;
  Compression compression;
  int64_t size;           // bytes
  bool validates = false; // all of its documents, whatever their contents
};

/// By the ending: .jsonl (.ndjson, .json) and .parquet, text otherwise; each but Parquet with .gz or .zst
/// after it. Throws Error for the endings of other compressions and of archives.
InputFile describeInput(const std::filesystem::path &path, int64_t size);

struct Inputs {
  std::vector<InputFile> files;
  std::vector<std::filesystem::path> about; // next to a folder's records, text and .json that are about them
};

/// What the names stand for: a file, the files of a folder and its folders (without hidden ones), what a glob
/// matches; each once, empty ones left out, in the order of the names and then by path. Throws Error for a
/// name that gives none.
Inputs findInputs(const std::vector<std::string> &names);

/// Throws Error where the file or folder has records, whose braces and keys would be taken for text: the way
/// out is taylor-train prepare with `tokenizer`, such as "--train-tokenizer 32000", and then to `use` its
/// folder.
void refuseRecords(const std::string &path, const std::string &tokenizer, const char *use);

} // namespace taylor::trainer
#endif
