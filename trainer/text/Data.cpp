// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Data.h"
#include "runtime/Hash.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include "trainer/support/Parallel.h"
#include "trainer/text/Corpus.h"
#include "trainer/text/Inputs.h"
#include "trainer/text/PreparedText.h"
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

constexpr int kCacheFormat = 4;         // part of the key: raise when the files' meaning changes
constexpr int64_t kBlockSize = 4 << 20; // bytes of text tokenized at once

std::string_view readText(const Corpus::File &file, MappedFile &mapped) {
  mapped = MappedFile(file.path);
  size_t valid = validUtf8Prefix(mapped.view());
  if (valid != mapped.size())
    fail("expected UTF-8 text, but '", file.path.string(), "' has something else at byte ", valid);
  return mapped.view();
}

/// Documents from all over the corpus, in an order given by their hashes, up to the sample's size.
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
    if (size >= kTokenizerSample)
      break;
    sample.push_back(document);
    size += document.size();
  }
  return trainTokenizer(sample, vocabulary);
}

/// The largest document position that is kept for validation: the fraction, but never nothing and never
/// everything.
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
              const fs::path &folder) {
  double limit = validationLimit(corpus, fraction);
  constexpr int64_t oneShard = std::numeric_limits<int64_t>::max();
  SplitWriter training(folder, "training", oneShard), validation(folder, "validation", oneShard);
  Progress progress("tokenizing " + corpus.title, corpus.size);
  int64_t done = 0;
  for (size_t next = 0; next < corpus.files.size();) {
    std::vector<MappedFile> files;
    std::vector<std::string_view> documents;
    for (int64_t block = 0; next < corpus.files.size() && block < kBlockSize; ++next) {
      files.emplace_back();
      for (std::string_view document :
           cutDocuments(readText(corpus.files[next], files.back()), corpus.pieceSize))
        documents.push_back(document);
      block += corpus.files[next].size;
    }
    std::vector<std::vector<uint16_t>> tokens(documents.size());
    parallelFor(documents.size(), threads,
                [&](int64_t i) { tokens[i] = tokenizer.encodeDocument(documents[i]); });
    for (size_t i = 0; i < documents.size(); ++i) {
      (documentPosition(documents[i]) < limit ? validation : training).add(tokens[i]);
      done += documents[i].size();
    }
    progress.update(done,
                    text((training.state().allTokens() + validation.state().allTokens()) / 1000, "k tokens"));
  }
  progress.finish();
  for (SplitWriter *split : {&training, &validation}) {
    split->finishShard();
    split->publish();
  }
  writeDescription(folder, {{"title", corpus.title}, {"bytes", corpus.size}}, tokenizer, training.state(),
                   validation.state());
}

Data dataOf(PreparedText text) {
  return {std::move(text.title), std::move(text.tokenizer), std::move(text.training),
          std::move(text.validation), "raise data.validation_fraction or give more text"};
}

/// Reads a cache entry; nothing if it is missing or damaged.
std::optional<Data> readCache(const fs::path &folder, bool verify, int64_t threads) {
  try {
    return dataOf(readPreparedText(folder, verify, threads));
  } catch (const Error &) {
    return std::nullopt;
  }
}

/// What taylor-train prepare made; its tokenizer is that of the tokens.
Data readPrepared(const DataConfig &config, int64_t threads) {
  PreparedText prepared = readPreparedText(config.path, config.verify, threads);
  if (!config.tokenizer.empty())
    if (std::string hash = runtime::sha256(readFile(config.tokenizer)); hash != prepared.tokenizerHash)
      fail("expected the tokenizer that '", config.path, "' was prepared with, but data.tokenizer = '",
           config.tokenizer, "' is another; leave it out, or prepare the text with it");
  prepared.title = config.path;
  Data data = dataOf(std::move(prepared));
  data.moreValidation =
      text("prepare '", config.path, "' again with more text to validate with (--overwrite ",
           "--validation-fraction or --validation-files)");
  return data;
}

} // namespace

std::string Data::fingerprint() const {
  constexpr int64_t samples = 256, length = 64;
  std::string bytes = tokenizer->model();
  for (const Tokens *tokens : {&training, &validation}) {
    bytes += text('\n', tokens->size(), ' ', tokens->documents(), '\n');
    for (int64_t i = 0; i < samples; ++i) {
      uint16_t some[length];
      int64_t count = std::min(length, tokens->size());
      tokens->copy((tokens->size() - count) * i / samples, count, some);
      bytes.append(reinterpret_cast<const char *>(some), sizeof(uint16_t) * count);
    }
  }
  return bytes;
}

Data prepareData(const DataConfig &config, int64_t threads) {
  if (!config.path.empty() && isPreparedText(config.path))
    return readPrepared(config, threads);
  Corpus corpus = findCorpus(config.path);
  if (!config.path.empty())
    refuseRecords(config.path, "--train-tokenizer 32000", "train");
  std::string model = config.tokenizer.empty() ? "" : readFile(config.tokenizer);
  std::string key = text(kCacheFormat, ' ', corpus.fingerprint, ' ', config.validationFraction, ' ',
                         config.tokenizer.empty() ? config.vocabulary : 0, ' ', fnv1a(model));
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", (unsigned long long)fnv1a(key));
  fs::path folder = cacheFolder() / "data" / hash;

  if (std::optional<Data> cached = readCache(folder, config.verify, threads))
    return std::move(*cached);
  FileLock lock(
      cacheFolder() / "data" / text(hash, ".lock"),
      [] { std::fprintf(stderr, "waiting for another process that prepares the same text\n"); },
      "; set XDG_CACHE_HOME to a folder that can be written");
  if (std::optional<Data> cached = readCache(folder, config.verify, threads))
    return std::move(*cached);

  AtomicFolder entry(folder);
  if (model.empty())
    model = trainOnSample(corpus, config.vocabulary);
  Tokenizer tokenizer(model, config.tokenizer);
  writeDurably(entry.path() / "tokenizer.model", model);
  tokenize(corpus, tokenizer, config.validationFraction, threads, entry.path());
  entry.commit();
  std::optional<Data> made = readCache(folder, /*verify=*/false, threads);
  if (!made)
    fail("cannot read the token cache just written to '", folder.string(), "'");
  return std::move(*made);
}

} // namespace taylor::trainer
