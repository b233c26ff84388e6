// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Data.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include "trainer/text/Corpus.h"
#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

namespace fs = std::filesystem;
using nlohmann::json;

namespace taylor::trainer {

namespace {

constexpr int cacheFormat = 2;               // part of the key: raise when the files' meaning changes
constexpr int64_t tokenizerSample = 8 << 20; // bytes of text; 5 s of training
constexpr int64_t blockSize = 4 << 20;       // bytes of text tokenized at once

std::string_view readText(const Corpus::File &file, MappedFile &mapped) {
  mapped = MappedFile(file.path);
  size_t valid = validUtf8Prefix(mapped.view());
  if (valid != mapped.size())
    fail("expected UTF-8 text, but '", file.path.string(), "' has something else at byte ", valid);
  return mapped.view();
}

// Calls work(i) for i in [0, count) on some threads; the first exception is thrown again here.
template <typename Work> void parallelFor(int64_t count, int64_t threads, Work work) {
  std::atomic<int64_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  auto run = [&] {
    try {
      for (int64_t i; (i = next++) < count;)
        work(i);
    } catch (...) {
      std::lock_guard lock(mutex);
      failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> pool;
  for (int64_t i = 1; i < std::min(threads, count); ++i)
    pool.emplace_back(run);
  run();
  for (std::thread &thread : pool)
    thread.join();
  if (failure)
    std::rethrow_exception(failure);
}

// Documents from all over the corpus, in an order given by their hashes, up to the sample's size.
std::string trainOnSample(const Corpus &corpus, int64_t vocabulary) {
  std::vector<MappedFile> files(corpus.files.size());
  std::vector<std::pair<double, std::string_view>> documents;
  for (size_t i = 0; i < files.size(); ++i)
    for (std::string_view document : cutDocuments(readText(corpus.files[i], files[i]), corpus.pieceSize))
      documents.push_back({documentPosition(document), document});
  std::sort(documents.begin(), documents.end());
  std::vector<std::string_view> sample;
  int64_t size = 0;
  for (const auto &[position, document] : documents) {
    if (size >= tokenizerSample)
      break;
    sample.push_back(document);
    size += document.size();
  }
  Elapsed elapsed(text("training a tokenizer of ", vocabulary, " pieces on ", formatBytes(size)));
  return trainTokenizer(sample, vocabulary);
}

// Appends one split's documents to its two files.
class SplitWriter {
public:
  SplitWriter(const fs::path &folder, const std::string &name)
      : tokens(folder / (shardName(name, 0) + ".tokens"), std::ios::binary),
        documents(folder / (shardName(name, 0) + ".documents"), std::ios::binary) {
    write(documents, &position, 8);
  }
  void add(const std::vector<int> &document, int beginning, int end) {
    std::vector<uint16_t> narrow{uint16_t(beginning)};
    narrow.insert(narrow.end(), document.begin(), document.end());
    narrow.push_back(uint16_t(end));
    write(tokens, narrow.data(), 2 * narrow.size());
    position += narrow.size();
    write(documents, &position, 8);
    ++count;
  }
  void close() {
    tokens.close();
    documents.close();
    if (!tokens || !documents)
      fail("cannot write the token cache in '", cacheFolder().string(), "': ", std::strerror(errno));
  }
  uint64_t position = 0; // tokens so far
  int64_t count = 0;     // documents so far

private:
  void write(std::ofstream &file, const void *data, size_t size) {
    if (!file.write(static_cast<const char *>(data), size))
      fail("cannot write the token cache in '", cacheFolder().string(), "': ", std::strerror(errno));
  }
  std::ofstream tokens, documents;
};

// The largest document position that is kept for validation: the fraction, but never nothing and never
// everything.
double validationLimit(const Corpus &corpus, double fraction) {
  Elapsed elapsed("reading " + corpus.title);
  std::vector<double> positions;
  for (const Corpus::File &file : corpus.files) {
    MappedFile mapped;
    for (std::string_view document : cutDocuments(readText(file, mapped), corpus.pieceSize))
      positions.push_back(documentPosition(document));
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  if (positions.size() < 2)
    fail("requires at least two different documents, one to train on and one to validate with, but '",
         corpus.title, "' has ", corpus.size, " bytes of text; give more text");
  return std::clamp(fraction, std::nextafter(positions.front(), 1.0), positions.back());
}

void tokenize(const Corpus &corpus, const Tokenizer &tokenizer, double fraction, int64_t threads,
              const fs::path &folder, json &description) {
  double limit = validationLimit(corpus, fraction);
  SplitWriter training(folder, "training"), validation(folder, "validation");
  Progress progress("tokenizing " + corpus.title, corpus.size);
  int64_t done = 0;
  for (size_t next = 0; next < corpus.files.size();) {
    std::vector<MappedFile> files;
    std::vector<std::string_view> documents;
    for (int64_t block = 0; next < corpus.files.size() && block < blockSize; ++next) {
      files.emplace_back();
      for (std::string_view document :
           cutDocuments(readText(corpus.files[next], files.back()), corpus.pieceSize))
        documents.push_back(document);
      block += corpus.files[next].size;
    }
    std::vector<std::vector<int>> tokens(documents.size());
    parallelFor(documents.size(), threads, [&](int64_t i) { tokens[i] = tokenizer.encode(documents[i]); });
    for (size_t i = 0; i < documents.size(); ++i) {
      bool validates = documentPosition(documents[i]) < limit;
      (validates ? validation : training).add(tokens[i], tokenizer.beginning(), tokenizer.end());
      done += documents[i].size();
    }
    progress.update(done, text((training.position + validation.position) / 1000, "k tokens"));
  }
  progress.finish();
  training.close();
  validation.close();
  description["training_tokens"] = training.position;
  description["training_documents"] = training.count;
  description["validation_tokens"] = validation.position;
  description["validation_documents"] = validation.count;
}

// Reads a cache entry; nothing if it is missing or damaged.
std::optional<Data> readCache(const fs::path &folder) {
  try {
    json description = json::parse(readFile(folder / "description.json"));
    Data data;
    data.title = description.at("title");
    data.tokenizer =
        std::make_unique<Tokenizer>(readFile(folder / "tokenizer.model"), folder / "tokenizer.model");
    data.training = Tokens(folder, "training", 1);
    data.validation = Tokens(folder, "validation", 1);
    if (data.training.size() != description.at("training_tokens") ||
        data.validation.size() != description.at("validation_tokens") ||
        data.tokenizer->vocabulary() != description.at("vocabulary"))
      return std::nullopt;
    return data;
  } catch (const std::exception &) {
    return std::nullopt;
  }
}

} // namespace

Data prepareData(const DataConfig &config, int64_t threads) {
  Corpus corpus = findCorpus(config.path);
  std::string model = config.tokenizer.empty() ? "" : readFile(config.tokenizer);
  std::string key = text(cacheFormat, ' ', corpus.fingerprint, ' ', config.validationFraction, ' ',
                         config.tokenizer.empty() ? config.vocabulary : 0, ' ', fnv1a(model));
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", (unsigned long long)fnv1a(key));
  fs::path folder = cacheFolder() / "data" / hash;

  if (std::optional<Data> cached = readCache(folder))
    return std::move(*cached);
  FileLock lock(cacheFolder() / "data" / text(hash, ".lock"),
                [] { std::fprintf(stderr, "waiting for another process that prepares the same text\n"); });
  if (std::optional<Data> cached = readCache(folder))
    return std::move(*cached);

  AtomicFolder entry(folder);
  if (model.empty())
    model = trainOnSample(corpus, config.vocabulary);
  Tokenizer tokenizer(model, config.tokenizer);
  json description = {
      {"title", corpus.title}, {"vocabulary", tokenizer.vocabulary()}, {"bytes", corpus.size}};
  tokenize(corpus, tokenizer, config.validationFraction, threads, entry.path(), description);
  writeDurably(entry.path() / "tokenizer.model", model);
  writeDurably(entry.path() / "description.json", description.dump(2) + "\n");
  entry.commit();
  std::optional<Data> made = readCache(folder);
  if (!made)
    fail("cannot read the token cache just written to '", folder.string(), "'");
  return std::move(*made);
}

} // namespace taylor::trainer
