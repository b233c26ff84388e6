// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/PreparedText.h"
#include "runtime/Hash.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include "trainer/support/Json.h"
#include "trainer/support/Parallel.h"
#include <map>
#include <mutex>

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace taylor::trainer {

namespace {

constexpr const char *kFormatName = "taylor tokens 1";

/// A member of an object, or an Error.
const ordered_json &member(const ordered_json &object, const char *key, const std::string &origin) {
  if (!object.is_object() || !object.contains(key))
    fail("expected \"", key, "\" in '", origin, "', but it has none; prepare the text again");
  return object.at(key);
}

std::string stringOf(const ordered_json &object, const char *key, const std::string &origin) {
  const ordered_json &value = member(object, key, origin);
  if (!value.is_string())
    fail("expected a string as \"", key, "\" in '", origin, "', but got ", value.dump(),
         "; prepare the text again");
  return value;
}

int64_t countOf(const ordered_json &object, const char *key, const std::string &origin) {
  const ordered_json &value = member(object, key, origin);
  if (!value.is_number_unsigned() || value.get<uint64_t>() > uint64_t(1) << 60)
    fail("expected a count as \"", key, "\" in '", origin, "', but got ", value.dump(),
         "; prepare the text again");
  return value;
}

ordered_json readJson(const fs::path &path) {
  ordered_json value = parseJson<ordered_json>(readFile(path));
  if (value.is_discarded())
    fail("expected JSON, but '", path.string(), "' is damaged; prepare the text again");
  return value;
}

struct PreparedFile {
  fs::path path;
  int64_t size;
  std::string hash;
};

void checkSizes(const std::vector<PreparedFile> &files) {
  for (const PreparedFile &file : files) {
    std::error_code error;
    int64_t size = fs::file_size(file.path, error);
    if (error)
      fail("cannot read '", file.path.string(), "': ", error.message(),
           "; copy it again, or prepare the text again");
    if (size != file.size)
      fail("expected ", file.size, " bytes in '", file.path.string(), "', but it has ", size,
           "; copy it again, or prepare the text again");
  }
}

void checkHashes(const std::vector<PreparedFile> &files, int64_t threads) {
  int64_t total = 0, done = 0;
  for (const PreparedFile &file : files)
    total += file.size;
  Progress progress("verifying", total);
  std::mutex mutex;
  parallelFor(files.size(), threads, [&](int64_t i) {
    std::string hash = runtime::sha256(MappedFile(files[i].path).view());
    if (hash != files[i].hash)
      fail("expected the checksum ", files[i].hash, " of '", files[i].path.string(), "', but it is ", hash,
           "; copy it again, or prepare the text again");
    std::lock_guard lock(mutex);
    progress.update(done += files[i].size, "");
  });
  progress.finish();
}

} // namespace

bool isPreparedText(const fs::path &folder) {
  std::error_code ignored;
  if (fs::is_regular_file(folder / kProgressFile, ignored))
    return true;
  if (!fs::is_regular_file(folder / kDescriptionFile, ignored))
    return false;
  // Not every description.json is one of ours.
  return readFile(folder / kDescriptionFile).find("\"taylor tokens ") != std::string::npos;
}

ordered_json describeShards(const SplitState &state) {
  ordered_json shards = ordered_json::array();
  for (const ShardInfo &shard : state.shards)
    shards.push_back({{"tokens", shard.tokens},
                      {"documents", shard.documents},
                      {"tokens_sha256", shard.tokensHash},
                      {"documents_sha256", shard.documentsHash}});
  return {{"tokens", state.allTokens()}, {"documents", state.allDocuments()}, {"shards", shards}};
}

SplitState readShards(const ordered_json &split, const std::string &origin) {
  SplitState state;
  state.tokens = countOf(split, "tokens", origin);
  state.documents = countOf(split, "documents", origin);
  const ordered_json &shards = member(split, "shards", origin);
  if (!shards.is_array())
    fail("expected a list as \"shards\" in '", origin, "', but got ", shards.dump(),
         "; prepare the text again");
  for (const ordered_json &shard : shards) {
    state.shards.push_back({countOf(shard, "tokens", origin), countOf(shard, "documents", origin),
                            stringOf(shard, "tokens_sha256", origin),
                            stringOf(shard, "documents_sha256", origin)});
    state.tokens -= state.shards.back().tokens;
    state.documents -= state.shards.back().documents;
  }
  if (state.tokens < 0 || state.documents < 0)
    fail("expected counts that are the sums over the shards in '", origin,
         "', but they are less; prepare the text again");
  return state;
}

void writeDescription(const fs::path &folder, const ordered_json &about, const Tokenizer &tokenizer,
                      const SplitState &training, const SplitState &validation) {
  ordered_json description = {{"format", kFormatName}};
  description.update(about);
  description["tokenizer"] = {{"sha256", runtime::sha256(tokenizer.model())},
                              {"vocabulary", tokenizer.vocabulary()}};
  description["training"] = describeShards(training);
  description["validation"] = describeShards(validation);
  replaceDurably(folder / kDescriptionFile, description.dump(2) + "\n");
}

PreparedText readPreparedText(const fs::path &folder, bool verify, int64_t threads) {
  fs::path path = folder / kDescriptionFile;
  if (!fs::exists(path) && fs::exists(folder / kProgressFile))
    fail("requires a finished preparation, but that of '", folder.string(),
         "' was interrupted; run its taylor-train prepare again, which goes on where it was");
  ordered_json description = readJson(path);
  std::string origin = path.string();
  if (std::string format = stringOf(description, "format", origin); format != kFormatName)
    fail("expected the format \"", kFormatName, "\" in '", origin, "', but got \"", format,
         "\"; prepare the text again with this taylor-train");
  PreparedText text;
  text.title = stringOf(description, "title", origin);
  text.tokenizerHash = stringOf(member(description, "tokenizer", origin), "sha256", origin);
  std::string model = readFile(folder / "tokenizer.model");
  if (std::string hash = runtime::sha256(model); hash != text.tokenizerHash)
    fail("expected the tokenizer that the text was prepared with, of checksum ", text.tokenizerHash,
         ", but '", (folder / "tokenizer.model").string(), "' has ", hash,
         "; copy it again, or prepare the text again");
  text.tokenizer = std::make_unique<Tokenizer>(std::move(model), folder / "tokenizer.model");

  std::vector<PreparedFile> files;
  std::map<std::string, Tokens *> splits = {{"training", &text.training}, {"validation", &text.validation}};
  std::map<std::string, int64_t> counts;
  for (const auto &[name, tokens] : splits) {
    SplitState state = readShards(member(description, name.c_str(), origin), origin);
    if (state.tokens != 0 || state.documents != 0)
      fail("expected counts that are the sums over the shards in '", origin,
           "', but they are more; prepare the text again");
    for (size_t s = 0; s < state.shards.size(); ++s) {
      std::string shard = folder / shardName(name, s);
      files.push_back({shard + ".tokens", 2 * state.shards[s].tokens, state.shards[s].tokensHash});
      files.push_back(
          {shard + ".documents", 8 * (state.shards[s].documents + 1), state.shards[s].documentsHash});
    }
    counts[name] = state.shards.size();
  }
  checkSizes(files);
  if (verify)
    checkHashes(files, threads);
  for (const auto &[name, tokens] : splits)
    *tokens = Tokens(folder, name, counts[name], text.tokenizer->vocabulary());
  return text;
}

} // namespace taylor::trainer
