// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Corpus.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include <algorithm>
#include <set>

#ifndef TAYLOR_LLVM_INCLUDE_DIRS
#define TAYLOR_LLVM_INCLUDE_DIRS ""
#endif

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

// The include folders this was configured with, then where Debian puts them.
std::vector<fs::path> headerFolders() {
  std::vector<fs::path> folders;
  std::istringstream configured(TAYLOR_LLVM_INCLUDE_DIRS);
  for (std::string folder; std::getline(configured, folder, ':');)
    folders.push_back(folder);
  for (int version : {22, 23, 21, 20, 19})
    folders.push_back(text("/usr/lib/llvm-", version, "/include"));
  return folders;
}

void collect(const fs::path &folder, const std::string &prefix, const std::set<std::string> &extensions,
             std::vector<Corpus::File> &files) {
  std::error_code error;
  auto options =
      fs::directory_options::follow_directory_symlink | fs::directory_options::skip_permission_denied;
  fs::recursive_directory_iterator entry(folder, options, error), end;
  if (error)
    fail("cannot read the folder '", folder.string(), "': ", error.message());
  while (entry != end) {
    bool hidden = entry->path().filename().string().starts_with(".");
    if (hidden || entry.depth() > 64) // the depth ends a loop of links
      entry.disable_recursion_pending();
    std::error_code ignored;
    if (!hidden && entry->is_regular_file(ignored) && entry->file_size(ignored) > 0 &&
        (extensions.empty() || extensions.contains(entry->path().extension().string())))
      files.push_back({entry->path(), prefix + fs::relative(entry->path(), folder, ignored).string(),
                       int64_t(entry->file_size(ignored))});
    entry.increment(error);
    if (error)
      fail("cannot read the folder '", folder.string(), "': ", error.message());
  }
}

Corpus findHeaders() {
  Corpus corpus;
  corpus.title = kHeadersTitle;
  for (const fs::path &folder : headerFolders()) {
    if (!fs::is_directory(folder / "llvm") || !fs::is_directory(folder / "mlir"))
      continue;
    collect(folder / "llvm", "llvm/", {".h", ".td"}, corpus.files);
    collect(folder / "mlir", "mlir/", {".h", ".td"}, corpus.files);
    return corpus;
  }
  fail("requires text to train on: no LLVM and MLIR headers were found (Debian package libmlir-22-dev has "
       "them); "
       "or pass --data FILE_OR_FOLDER");
}

} // namespace

void requireCorpus(const std::string &path) {
  if (path.empty())
    return;
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status) || fs::is_regular_file(status))
    return;
  if (status.type() == fs::file_type::none)
    fail("cannot read '", path, "': ", error.message());
  if (fs::exists(status))
    fail("expected a file or folder of text, but '", path, "' is neither");
  fail("expected a file or folder of text, but '", path, "' does not exist");
}

Corpus findCorpus(const std::string &path) {
  requireCorpus(path);
  Corpus corpus;
  if (path.empty()) {
    corpus = findHeaders();
  } else if (fs::is_directory(path)) {
    corpus.title = path;
    collect(path, "", {}, corpus.files);
  } else {
    corpus.title = path;
    if (int64_t size = sizeOf(path))
      corpus.files.push_back({path, fs::path(path).filename().string(), size});
  }
  if (corpus.files.empty())
    fail("expected text, but '", corpus.title, "' has none");
  std::sort(corpus.files.begin(), corpus.files.end(),
            [](const auto &a, const auto &b) { return a.name < b.name; });

  corpus.fingerprint = fnv1a("taylor corpus 1");
  for (const Corpus::File &file : corpus.files) {
    corpus.size += file.size;
    std::string entry =
        text(fs::absolute(file.path).string(), '\0', file.size, '\0', timeOf(file.path), '\0');
    corpus.fingerprint = fnv1a(entry, corpus.fingerprint);
  }
  corpus.pieceSize = documentPieceSize(corpus.size);
  return corpus;
}

int64_t documentPieceSize(int64_t textBytes) {
  return std::clamp<int64_t>(textBytes / 200, 1 << 10, 1 << 20);
}

std::vector<std::string_view> cutDocuments(std::string_view text, int64_t pieceSize) {
  std::vector<std::string_view> documents;
  while (!text.empty()) {
    size_t end = text.size();
    if (int64_t(end) > pieceSize) {
      size_t newline = text.rfind('\n', pieceSize - 1);
      end = newline == std::string_view::npos ? text.find('\n', pieceSize) : newline;
      end = end == std::string_view::npos ? text.size() : end + 1;
    }
    documents.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return documents;
}

double documentPosition(std::string_view document) {
  uint64_t hash = fnv1a(document);
  hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93ULL; // FNV leaves the high bits of short texts uneven
  hash ^= hash >> 32;
  return double(hash >> 11) * 0x1p-53;
}

} // namespace taylor::trainer
