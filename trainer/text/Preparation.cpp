// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Preparation.h"
#include "runtime/Hash.h"
#include "trainer/config/Config.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Clock.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/support/Json.h"
#include "trainer/support/Main.h"
#include "trainer/support/Parallel.h"
#include "trainer/text/Corpus.h"
#include "trainer/text/Inputs.h"
#include "trainer/text/PreparedText.h"
#include "trainer/text/RecordPipeline.h"
#include <fnmatch.h>
#include <numeric>
#include <optional>
#include <thread>

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace taylor::trainer {

namespace {

constexpr int64_t kSampledFiles = 64;                  // at most
constexpr auto kCommitEvery = std::chrono::seconds(1); // what a kill costs
constexpr int64_t kShownDefects = 10;

/// Everything that the result depends on, by name; a preparation is gone on with only where all of it is the
/// same.
ordered_json describeRequest(const PreparationOptions &options, const std::vector<InputFile> &files) {
  int64_t bytes = 0;
  uint64_t fingerprint = fnv1a("taylor inputs 1");
  for (const InputFile &file : files) {
    bytes += file.size;
    fingerprint = fnv1a(
        text(fs::absolute(file.path).string(), '\0', file.size, '\0', timeOf(file.path), '\0'), fingerprint);
  }
  ordered_json request;
  request["files"] = files.size();
  request["bytes"] = bytes;
  request["fingerprint"] = fingerprint;
  request["--field"] = options.field;
  if (options.trainTokenizer)
    request["--train-tokenizer"] = options.trainTokenizer;
  else
    request["--tokenizer"] = runtime::sha256(readFile(options.tokenizer));
  if (!options.validationFiles.empty())
    request["--validation-files"] = options.validationFiles;
  else
    request["--validation-fraction"] = options.validationFraction;
  request["--max-document-tokens"] = options.maxDocumentTokens;
  request["--shard-tokens"] = options.shardTokens;
  return request;
}

bool isOurs(const std::string &name) {
  std::string_view visible = name;
  while (visible.starts_with("."))
    visible.remove_prefix(1);
  for (const char *prefix : {"training-", "validation-"})
    if (visible.starts_with(prefix) && (visible.ends_with(".tokens") || visible.ends_with(".documents")))
      return true;
  return name == "tokenizer.model" || name == ".lock" || visible.starts_with("description.json") ||
         visible.starts_with("progress.json") || visible == "tokenizer.model.new";
}

/// Makes the folder, or sees that it holds nothing but what is ours.
void claimFolder(const PreparationOptions &options) {
  fs::path folder = options.out;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    fail("cannot create the folder '", folder.string(), "': ", error.message(),
         "; name another with --out FOLDER");
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error))
    if (!isOurs(entry.path().filename().string()))
      fail("expected a folder of prepared text, or none, but '", folder.string(), "' holds '",
           entry.path().filename().string(), "'; name another with --out FOLDER");
  if (error)
    fail("cannot read the folder '", folder.string(), "': ", error.message());
}

void emptyFolder(const fs::path &folder) {
  removeFile(folder / kDescriptionFile); // first: what is left of a kill in here is not prepared text
  std::error_code error;
  std::vector<fs::path> files;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error))
    if (entry.path().filename() != ".lock")
      files.push_back(entry.path());
  if (error)
    fail("cannot read the folder '", folder.string(), "': ", error.message());
  for (const fs::path &file : files)
    removeFile(file);
}

// "a.jsonl:3: not JSON"
std::string describeBad(const InputFile &file, const std::string &field, int64_t number, Defect defect) {
  return text(file.path.string(), file.format == Format::Parquet ? " row " : ":", number, ": ",
              describeDefect(defect, field), wayOut(defect));
}

/// Text from the beginnings of files that are spread evenly over all of them.
std::string trainOnSample(const PreparationOptions &options, const std::vector<InputFile> &files,
                          const RecordOptions &recordOptions) {
  std::vector<std::string> sample;
  std::string bad; // the first
  int64_t count = std::min<int64_t>(files.size(), kSampledFiles), size = 0;
  for (int64_t i = 0; i < count; ++i) {
    const InputFile &file = files[i * files.size() / count];
    int64_t share = kTokenizerSample * (i + 1) / count; // what one file lacks the next may give
    std::unique_ptr<RecordSource> source = openRecords(file, recordOptions);
    for (RecordBlock block; size < share && source->next(block);)
      for (const RecordBlock::Record &record : block.records) {
        if (size >= share)
          break;
        RecordText text = readRecord(file.format, options.field, block, record);
        size += text.defect ? std::max<int64_t>(record.size, 1) : int64_t(text.text.size());
        if (text.defect && bad.empty())
          bad = describeBad(file, options.field, record.number, *text.defect);
        if (!text.text.empty())
          sample.push_back(std::move(text.text));
      }
  }
  if (sample.empty())
    fail("requires text to train a tokenizer on, but ",
         bad.empty() ? "there is none" : "the first of it is bad: " + bad);
  return trainTokenizer(std::vector<std::string_view>(sample.begin(), sample.end()), options.trainTokenizer,
                        "--train-tokenizer");
}

/// What a preparation has done, saved so that another process can go on.
struct State {
  size_t file = 0; // that is read
  Cursor cursor;
  int64_t empty = 0;                          // records without text
  std::array<int64_t, kDefectCount> bad = {}; // records left out, by Defect
  int64_t allBad() const { return std::accumulate(bad.begin(), bad.end(), int64_t(0)); }
};

class Preparation {
public:
  Preparation(const PreparationOptions &options);
  int run();

private:
  void checkSameResult() const;
  std::optional<ordered_json> readProgress();
  /// Whether the folder has the state of a preparation of the same.
  bool isUnfinished();
  void checkSameRequest(const ordered_json &earlier) const;
  /// A block that does not have too many bad records. What is wrong with the text comes out here: the blocks
  /// before it are whole, and stay.
  std::optional<EncodedBlock> nextBlock(RecordPipeline &pipeline);
  /// Where it fails, some of the block is in the splits and the state does not know: nothing may be committed
  /// after that.
  void append(const EncodedBlock &block, Progress &progress);
  void commit();
  void finish();

  /// Ends with an error, which nothing can be gone on from.
  template <typename... Parts> [[noreturn]] void failEmpty(const Parts &...parts) {
    emptyFolder(folder);
    if (std::error_code ignored; replaces)
      fs::remove_all(folder, ignored);
    fail(parts...);
  }

  const PreparationOptions &options;
  const fs::path target;
  /// The target; or, where prepared text is there that is to be replaced, a hidden folder next to it until
  /// all is done.
  const bool replaces;
  const fs::path folder;
  Inputs found; // its files are moved into the next member
  std::vector<InputFile> files;
  RecordOptions recordOptions;
  ordered_json request;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<SplitWriter> training, validation;
  State state;
  bool finished = false;   // by an earlier process
  int64_t bytesBefore = 0; // of files before the one that is read
};

RecordOptions recordOptionsFor(const PreparationOptions &options, const std::vector<InputFile> &files) {
  int64_t textBytes = 0;
  for (const InputFile &file : files)
    if (file.format == Format::Text)
      textBytes += file.size;
  return {options.field, documentPieceSize(textBytes)};
}

/// The tokenizer's model, trained or read.
std::string makeModel(const PreparationOptions &options, const std::vector<InputFile> &files,
                      const RecordOptions &recordOptions) {
  return options.trainTokenizer ? trainOnSample(options, files, recordOptions) : readFile(options.tokenizer);
}

/// Throws Error where a file's beginning is not what it should be.
void requireReadable(const std::vector<InputFile> &files, const RecordOptions &recordOptions) {
  for (const InputFile &file : files) {
    RecordBlock block;
    openRecords(file, recordOptions)->next(block);
  }
}

std::vector<InputFile> markValidation(std::vector<InputFile> files, const std::string &pattern) {
  if (pattern.empty())
    return files;
  size_t matches = 0;
  for (InputFile &file : files) {
    file.validates = ::fnmatch(pattern.c_str(), file.path.c_str(), 0) == 0 ||
                     ::fnmatch(pattern.c_str(), file.path.filename().c_str(), 0) == 0;
    matches += file.validates;
  }
  if (matches == 0 || matches == files.size())
    fail("expected --validation-files to match some of the ", files.size(), " files, but '", pattern,
         "' matches ", matches == 0 ? "none" : "all");
  return files;
}

bool replacesText(const PreparationOptions &options) {
  std::error_code error;
  return options.overwrite && fs::exists(fs::path(options.out) / kDescriptionFile, error);
}

fs::path besides(const fs::path &target) {
  fs::path whole = fs::absolute(target).lexically_normal();
  if (!whole.has_filename())
    whole = whole.parent_path();
  return whole.parent_path() / ("." + whole.filename().string() + ".new");
}

Preparation::Preparation(const PreparationOptions &theOptions)
    : options(theOptions), target(options.out), replaces(replacesText(options)),
      folder(replaces ? besides(target) : target), found(findInputs(options.inputs)),
      files(markValidation(std::move(found.files), options.validationFiles)),
      recordOptions(recordOptionsFor(options, files)), request(describeRequest(options, files)) {
  std::string model, origin = options.tokenizer;
  if (replaces) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
      fail("cannot create the folder '", folder.string(), "': ", error.message());
  }
  if (options.overwrite && !(replaces && isUnfinished())) { // what may fail, before anything is lost
    requireReadable(files, recordOptions);
    model = makeModel(options, files, recordOptions);
    tokenizer = std::make_unique<Tokenizer>(model, origin);
    emptyFolder(folder);
  }
  if (fs::exists(folder / kDescriptionFile)) {
    checkSameResult();
    finished = true;
    return;
  }

  std::optional<ordered_json> earlier = readProgress();
  SplitState trainingState, validationState;
  if (earlier) {
    checkSameRequest(*earlier);
    std::string where = folder / kProgressFile;
    try {
      state = {earlier->at("file"), {earlier->at("offset"), earlier->at("number")}, earlier->at("empty"), {}};
      std::vector<int64_t> bad = earlier->at("bad"); // fewer kinds, where an older program began
      std::copy_n(bad.begin(), std::min<size_t>(bad.size(), state.bad.size()), state.bad.begin());
    } catch (const nlohmann::json::exception &error) {
      fail("expected the state of a preparation, but '", where, "' is damaged (", error.what(),
           "); begin anew with --overwrite");
    }
    if (int64_t bad = state.allBad(); bad > options.maxBad)
      fail("expected --max-bad of at least ", bad, ", since so many bad records were left out in '",
           folder.string(), "' before, but got ", options.maxBad, "; or pass --overwrite to begin anew");
    trainingState = readShards(earlier->at("training"), where);
    validationState = readShards(earlier->at("validation"), where);
    origin = folder / "tokenizer.model";
    model = readFile(origin);
  } else if (!tokenizer) {
    model = makeModel(options, files, recordOptions);
  }
  if (!tokenizer)
    tokenizer = std::make_unique<Tokenizer>(model, origin);
  if (!earlier)
    replaceDurably(folder / "tokenizer.model", model);
  training = std::make_unique<SplitWriter>(folder, "training", options.shardTokens, std::move(trainingState));
  validation =
      std::make_unique<SplitWriter>(folder, "validation", options.shardTokens, std::move(validationState));
  for (size_t i = 0; i < state.file && i < files.size(); ++i)
    bytesBefore += files[i].size;
}

void Preparation::checkSameResult() const {
  ordered_json description = parseJson<ordered_json>(readFile(folder / kDescriptionFile));
  if (!description.is_object() || !description.contains("prepared") || description["prepared"] != request)
    fail("expected a folder without prepared text, or with that of the same files and options, but '",
         folder.string(), "' has other; pass --overwrite to prepare anew, or --out FOLDER");
  try {
    readPreparedText(folder, /*verify=*/false, /*threads=*/1);
  } catch (const Error &error) {
    fail(error.what(), ", with --overwrite");
  }
}

std::optional<ordered_json> Preparation::readProgress() {
  fs::path path = folder / kProgressFile;
  if (!fs::exists(path))
    return std::nullopt;
  ordered_json progress = parseJson<ordered_json>(readFile(path));
  if (!progress.is_object() || !progress.contains("request") || !progress.contains("training") ||
      !progress.contains("validation"))
    fail("expected the state of a preparation, but '", path.string(),
         "' is damaged; begin anew with --overwrite");
  if (progress.contains("file") && progress["file"] == 0 && progress.contains("offset") &&
      progress["offset"] == 0)
    return std::nullopt; // nothing is lost: whatever failed may be asked for in another way
  return progress;
}

bool Preparation::isUnfinished() {
  try {
    std::optional<ordered_json> progress = readProgress();
    return progress && progress->at("request") == request;
  } catch (const Error &) { // damaged
    return false;
  }
}

void Preparation::checkSameRequest(const ordered_json &earlier) const {
  if (earlier.at("request") == request)
    return;
  for (const auto &[key, value] : request.items())
    if (!earlier.at("request").contains(key) || earlier.at("request").at(key) != value)
      fail("requires the ", key.starts_with("--") ? "same " + key : std::string("same files, unchanged,"),
           " to go on with the unfinished preparation in '", folder.string(),
           "'; pass --overwrite to begin anew, or ", "--out FOLDER");
  fail("requires the same options to go on with the unfinished preparation in '", folder.string(),
       "'; pass --overwrite to begin anew, or --out FOLDER");
}

void Preparation::commit() {
  training->flush();
  validation->flush();
  ordered_json progress = {{"request", request},
                           {"file", state.file},
                           {"offset", state.cursor.offset},
                           {"number", state.cursor.number},
                           {"empty", state.empty},
                           {"bad", state.bad},
                           {"training", describeShards(training->state())},
                           {"validation", describeShards(validation->state())}};
  replaceDurably(folder / kProgressFile, progress.dump(1) + "\n");
  training->publish();
  validation->publish();
}

std::optional<EncodedBlock> Preparation::nextBlock(RecordPipeline &pipeline) {
  try {
    std::optional<EncodedBlock> block = pipeline.next();
    int64_t room = options.maxBad - state.allBad();
    if (block && int64_t(block->bad.size()) > room) {
      const EncodedBlock::Bad &record = block->bad[room];
      fail("expected at most ", options.maxBad, " bad records, but this is one more: ",
           describeBad(files[block->file], options.field, record.number, record.defect),
           "; what is done stays: mend the file and pass --overwrite, or pass a larger --max-bad to go on");
    }
    return block;
  } catch (const Error &) {
    commit();
    throw;
  }
}

void Preparation::append(const EncodedBlock &block, Progress &progress) {
  const InputFile &file = files[block.file];
  for (const EncodedBlock::Bad &record : block.bad) {
    if (state.allBad() < kShownDefects)
      progress.message("left out   " + describeBad(file, options.field, record.number, record.defect));
    else if (state.allBad() == kShownDefects)
      progress.message("left out   more, which are counted");
    ++state.bad[int(record.defect)];
  }
  const uint16_t *tokens = block.tokens.data();
  for (const EncodedBlock::Document &document : block.documents) {
    (document.validates ? validation : training)->add({tokens, document.size});
    tokens += document.size;
  }
  state.empty += block.empty;
  while (state.file < block.file)
    bytesBefore += files[state.file++].size;
  state.cursor = block.next;
}

int Preparation::run() {
  if (finished) {
    removeFile(folder / kProgressFile); // where it was killed in between
    std::fprintf(stderr, "done       '%s' was prepared before, from the same files with the same options\n",
                 folder.c_str());
    return 0;
  }
  for (size_t i = 0; i < found.about.size() && i < kShownDefects; ++i)
    std::fprintf(stderr, "left out   '%s', which is about the records beside it; name it to take it too\n",
                 found.about[i].c_str());
  if (found.about.size() > kShownDefects)
    std::fprintf(stderr, "left out   %zu more of these\n", found.about.size() - kShownDefects);
  if (options.validationFiles.empty() && options.validationFraction == 0)
    std::fprintf(stderr, "warning: nothing is kept to validate with, which taylor-train requires of text to "
                         "train on; --validation-fraction above 0 keeps some\n");
  int64_t total = 0;
  for (const InputFile &file : files)
    total += file.size;
  int64_t threads = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  EncodeOptions encode{recordOptions, options.validationFiles.empty() ? options.validationFraction : 0,
                       options.maxDocumentTokens};
  if (std::string warning = warnOfThreads("--threads", options.threads); !warning.empty())
    std::fprintf(stderr, "%s\n", warning.c_str());
  RecordPipeline pipeline(files, *tokenizer, encode, threads, state.file, state.cursor);
  int64_t tokensBefore = training->state().allTokens() + validation->state().allTokens();
  if (tokensBefore > 0)
    std::fprintf(stderr, "resuming   '%s'\n", folder.c_str());
  commit();
  int64_t done = bytesBefore;
  Progress progress("preparing", total, done);
  Clock::time_point start = Clock::now(), committed = start;
  while (std::optional<EncodedBlock> block = nextBlock(pipeline)) {
    append(*block, progress);
    done = bytesBefore + std::min(block->consumed, files[block->file].size);
    int64_t tokens = training->state().allTokens() + validation->state().allTokens();
    progress.update(done,
                    text(tokens / 1000, "k tokens  ", int64_t((tokens - tokensBefore) / secondsSince(start)),
                         " tokens/s", state.allBad() ? text("  ", state.allBad(), " bad") : ""));
    if (int signal = interrupted()) {
      commit();
      progress.message(text("stopped by signal ", signal, "; the same command goes on from here"));
      return 128 + signal;
    }
    if (Clock::now() - committed >= kCommitEvery) {
      commit();
      committed = Clock::now();
    }
  }
  progress.finish();
  finish();
  return 0;
}

void Preparation::finish() {
  for (SplitWriter *split : {training.get(), validation.get()})
    split->finishShard();
  state.file = files.size();
  state.cursor = {};
  commit();
  if (training->state().allDocuments() + validation->state().allDocuments() == 0)
    failEmpty("requires a document, but of what was read ", state.allBad(), " records are bad and ",
              state.empty, " empty; give other text", state.allBad() ? ", or another --field" : "");
  bool wantsValidation = !options.validationFiles.empty() || options.validationFraction > 0;
  if (training->state().allDocuments() == 0 || (wantsValidation && validation->state().allDocuments() == 0))
    failEmpty("requires a document to ", training->state().allDocuments() == 0 ? "train on" : "validate with",
              ", but the split keeps none of ",
              training->state().allDocuments() + validation->state().allDocuments(), " for it; pass ",
              options.validationFiles.empty() ? "another --validation-fraction" : "other --validation-files",
              ", or more text");
  ordered_json leftOut = ordered_json::object();
  if (state.empty)
    leftOut["empty"] = state.empty;
  for (int defect = 0; defect < kDefectCount; ++defect)
    if (state.bad[defect])
      leftOut[describeDefect(Defect(defect), options.field)] = state.bad[defect];
  std::string title = options.inputs[0];
  if (options.inputs.size() > 1)
    title += text(" and ", options.inputs.size() - 1, " more");
  ordered_json about = {{"title", title}, {"prepared", request}, {"left_out", leftOut}};
  writeDescription(folder, about, *tokenizer, training->state(), validation->state());
  removeFile(folder / kProgressFile);
  if (replaces) {
    std::error_code ignored;
    fs::create_hard_link(target / ".lock", folder / ".lock", ignored); // which this process holds
    replaceFolder(folder, target);
    fs::remove_all(folder, ignored); // what was replaced
  }

  auto show = [](const char *label, const SplitState &split) {
    std::fprintf(stderr, "%s %lld tokens in %lld documents, %zu shard%s\n", label,
                 (long long)split.allTokens(), (long long)split.allDocuments(), split.shards.size(),
                 split.shards.size() == 1 ? "" : "s");
  };
  show("training  ", training->state());
  show("validation", validation->state());
  for (const auto &[what, count] : leftOut.items())
    std::fprintf(stderr, "left out   %lld: %s\n", (long long)count.get<int64_t>(), what.c_str());
  std::fprintf(stderr, "done       '%s': train with --data '%s'\n", target.c_str(), target.c_str());
}

int verify(const PreparationOptions &options) {
  int64_t threads = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  if (!isPreparedText(options.verify))
    fail("expected a folder of prepared text, but '", options.verify, "' is none");
  PreparedText text = readPreparedText(options.verify, /*verify=*/true, threads);
  std::fprintf(stderr, "sound      '%s': %lld tokens to train on, %lld to validate with\n",
               options.verify.c_str(), (long long)text.training.size(), (long long)text.validation.size());
  return 0;
}

} // namespace

void PreparationOptions::check() const {
  if (!verify.empty())
    return;
  if (inputs.empty())
    fail("requires files, folders or globs of text; taylor-train prepare --help tells more");
  if (out.empty())
    fail("requires --out FOLDER, where the tokens go");
  if (tokenizer.empty() == (trainTokenizer == 0))
    fail("requires either --tokenizer FILE, a SentencePiece model, or --train-tokenizer PIECES, such as "
         "32000");
  if (trainTokenizer != 0 && (trainTokenizer < kLeastPieces || trainTokenizer > 65536))
    fail("expected --train-tokenizer between ", kLeastPieces, " and 65536 pieces, but got ", trainTokenizer);
  if (!(validationFraction >= 0 && validationFraction < 1))
    fail("expected --validation-fraction in [0, 1), but got ", validationFraction);
  if (maxDocumentTokens != 0 && maxDocumentTokens < 2)
    fail("expected --max-document-tokens of at least 2, <s> and one more, or 0 for no limit, but got ",
         maxDocumentTokens);
  if (maxBad < 0)
    fail("expected --max-bad of at least 0, but got ", maxBad);
  if (threads < 0 || threads > kMostThreads)
    fail("expected --threads between 0 and ", kMostThreads, ", but got ", threads);
  if (shardTokens < 1)
    fail("expected --shard-tokens of at least 1, but got ", shardTokens);
}

int prepareText(const PreparationOptions &options) {
  options.check();
  if (!options.verify.empty())
    return verify(options);
  for (const std::string &input : options.inputs)
    requireOutside(input, options.out, "--out");
  claimFolder(options);
  FileLock lock(
      fs::path(options.out) / ".lock",
      [] { std::fprintf(stderr, "waiting for another process that prepares the same folder\n"); },
      "; name another folder with --out FOLDER");
  catchInterrupts();
  nowDoing("preparing '" + options.out + "'", "a smaller --threads needs less");
  return Preparation(options).run();
}

} // namespace taylor::trainer
