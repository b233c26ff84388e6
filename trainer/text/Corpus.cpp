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

/// The include folders this was configured with, then where Debian puts them.
std::vector<fs::path> headerFolders() {
  std::vector<fs::path> folders;
  std::istringstream configured(TAYLOR_LLVM_INCLUDE_DIRS);
  for (std::string folder; std::getline(configured, folder, ':');)
    folders.push_back(folder);
  for (int version : {22, 23, 21, 20, 19})
    folders.push_back(text("/usr/lib/llvm-", version, "/include"));
  return folders;
}

/// Files of a folder and of its folders, hidden ones left out. What has several names, by links, is there
/// once: under the one that comes first, folder by folder, links after all else.
class Collector {
public:
  /// `extensions`: of the files that are meant; of all where there is none.
  Collector(std::set<std::string> extensions, std::vector<Corpus::File> &files)
      : extensions(std::move(extensions)), files(files) {}

  /// `prefix`: the folder's name in those of its files.
  void collect(const fs::path &folder, const std::string &prefix) {
    if (!isNew(folder))
      return;
    for (const fs::directory_entry &entry : entriesOf(folder)) {
      std::error_code ignored;
      std::string name = prefix + entry.path().filename().string();
      if (entry.is_directory(ignored))
        collect(entry.path(), name + "/");
      else if (entry.is_regular_file(ignored) && entry.file_size(ignored) > 0 &&
               (extensions.empty() || extensions.contains(entry.path().extension().string())) &&
               isNew(entry.path()))
        files.push_back({entry.path(), name, int64_t(entry.file_size(ignored))});
    }
  }

private:
  bool isNew(const fs::path &path) {
    std::error_code error;
    fs::path real = fs::canonical(path, error);
    return !error && seen.insert(real).second;
  }

  /// In an order that no file system gives, so that the same files are found everywhere.
  static std::vector<fs::directory_entry> entriesOf(const fs::path &folder) {
    std::vector<fs::directory_entry> entries;
    std::error_code error;
    fs::directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error), end;
    for (; !error && entry != end; entry.increment(error))
      if (!entry->path().filename().string().starts_with("."))
        entries.push_back(*entry);
    if (error)
      fail("cannot read the folder '", folder.string(), "': ", error.message());
    std::sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) {
      std::error_code ignored;
      return std::pair(a.is_symlink(ignored), a.path()) < std::pair(b.is_symlink(ignored), b.path());
    });
    return entries;
  }

  std::set<std::string> extensions;
  std::vector<Corpus::File> &files;
  std::set<fs::path> seen; // without links
};

Corpus findHeaders() {
  Corpus corpus;
  corpus.title = kHeadersTitle;
  for (const fs::path &folder : headerFolders()) {
    if (!fs::is_directory(folder / "llvm") || !fs::is_directory(folder / "mlir"))
      continue;
    Collector headers({".h", ".td"}, corpus.files);
    headers.collect(folder / "llvm", "llvm/");
    headers.collect(folder / "mlir", "mlir/");
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

void requireOutside(const std::string &path, const std::string &out, const char *option) {
  std::error_code error;
  fs::path folder = fs::canonical(path, error);
  if (error || !fs::is_directory(folder, error))
    return;
  fs::path inner = fs::weakly_canonical(out, error);
  if (error)
    return;
  auto [end, place] = std::mismatch(folder.begin(), folder.end(), inner.begin(), inner.end());
  if (end == folder.end())
    fail("expected ", option, " outside of the folder of text '", path, "', but got '", out,
         "', whose files would be text the next time; name another folder");
}

Corpus findCorpus(const std::string &path) {
  requireCorpus(path);
  Corpus corpus;
  if (path.empty()) {
    corpus = findHeaders();
  } else if (fs::is_directory(path)) {
    corpus.title = path;
    Collector({}, corpus.files).collect(path, "");
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
