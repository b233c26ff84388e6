// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text files to documents: which files, where they are cut, which documents are kept for validation.
#ifndef TAYLOR_TRAINER_TEXT_CORPUS_H
#define TAYLOR_TRAINER_TEXT_CORPUS_H
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace taylor::trainer {

struct Corpus {
  struct File {
    std::filesystem::path path;
    std::string name; // relative to the folder it was found in
    int64_t size;     // bytes
  };
  std::string title;        // for messages and checkpoints
  std::vector<File> files;  // ordered by name, none empty
  int64_t size = 0;         // bytes of all files
  int64_t pieceSize = 0;    // longest document, bytes
  uint64_t fingerprint = 0; // changes with any file's path, size or time of change
};

/// What the corpus of the path "" is called.
inline constexpr const char *kHeadersTitle = "LLVM and MLIR headers";

/// Throws Error where the user names no file and no folder. "" is neither, and allowed.
void requireCorpus(const std::string &path);

/// Throws Error where `path` is a folder of text that holds the folder `out`, whose files would be read as
/// text the next time; `option` names it: "--out".
void requireOutside(const std::string &path, const std::string &out, const char *option);

/// The file or folder the user names; with "" the LLVM and MLIR headers and .td files of this machine. Hidden
/// files are left out of a folder. Throws Error if there is no text.
Corpus findCorpus(const std::string &path);

/// The longest document where there is so much text: short enough for about 200 documents at least, so that a
/// split by documents comes near the fraction asked for.
int64_t documentPieceSize(int64_t textBytes);

/// The documents of a file's text: the text, cut after a line end into pieces of at most pieceSize bytes
/// where it is longer. (A book in one file must not be one document: it would be all training or all
/// validation.)
std::vector<std::string_view> cutDocuments(std::string_view text, int64_t pieceSize);

/// A number in [0, 1) that depends on the document's text alone, so that copies of a document stay together.
/// Documents below validation_fraction are kept for validation.
double documentPosition(std::string_view document);

} // namespace taylor::trainer
#endif
