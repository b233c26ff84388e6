// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/RecordPipeline.h"
#include "trainer/support/Error.h"
#include "trainer/text/Corpus.h"

namespace taylor::trainer {

/// The exception that is being handled; of memory that is short one that says what it was for.
static std::exception_ptr namingMemory(const std::string &work) {
  try {
    throw;
  } catch (const std::bad_alloc &) {
    return std::make_exception_ptr(Error("out of memory while " + work + "; a smaller --threads needs less"));
  } catch (...) {
    return std::current_exception();
  }
}

EncodedBlock encodeBlock(const RecordBlock &block, const InputFile &file, const Tokenizer &tokenizer,
                         const EncodeOptions &options) {
  EncodedBlock encoded;
  encoded.next = block.next;
  encoded.consumed = block.consumed;
  for (const RecordBlock::Record &record : block.records) {
    RecordText content = readRecord(file.format, options.records.field, block, record);
    if (content.defect) {
      encoded.bad.push_back({record.number, *content.defect});
      continue;
    }
    if (content.text.empty()) {
      ++encoded.empty;
      continue;
    }
    bool validates = file.validates || documentPosition(content.text) < options.validationFraction;
    std::vector<uint16_t> tokens;
    try {
      tokens = tokenizer.encodeDocument(content.text);
    } catch (const Error &error) {
      fail(file.path.string(), ":", record.number, ": ", error.what());
    }
    content.text = {};
    if (options.maxDocumentTokens)
      tokens.resize(std::min<size_t>(tokens.size(), options.maxDocumentTokens));
    encoded.tokens.insert(encoded.tokens.end(), tokens.begin(), tokens.end());
    encoded.documents.push_back({tokens.size(), validates});
  }
  return encoded;
}

RecordPipeline::RecordPipeline(const std::vector<InputFile> &files, const Tokenizer &tokenizer,
                               const EncodeOptions &options, int64_t count, size_t first, Cursor from)
    : files(files), tokenizer(tokenizer), options(options), ahead((2 * count + 2) * kBlockBytes) {
  threads.emplace_back([=, this] { read(first, from); });
  for (int64_t i = 0; i < count; ++i)
    threads.emplace_back([this] { encode(); });
}

RecordPipeline::~RecordPipeline() {
  {
    std::lock_guard lock(mutex);
    stopped = true;
  }
  changed.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

bool RecordPipeline::push(std::shared_ptr<Job> job) {
  std::unique_lock lock(mutex);
  job->bytes = int64_t(job->block.bytes.size());
  changed.wait(lock, [&] { return stopped || ordered.empty() || held + job->bytes <= ahead; });
  if (stopped)
    return false;
  held += job->bytes;
  ordered.push_back(job);
  if (!job->done)
    waiting.push_back(std::move(job));
  changed.notify_all();
  return true;
}

void RecordPipeline::read(size_t first, Cursor from) {
  size_t file = first;
  try {
    for (; file < files.size(); ++file, from = {}) {
      std::unique_ptr<RecordSource> source = openRecords(files[file], options.records, from);
      for (;;) {
        auto job = std::make_shared<Job>();
        job->file = file;
        if (!source->next(job->block))
          break;
        job->block.bytes.shrink_to_fit();
        if (!push(std::move(job)))
          return;
      }
    }
  } catch (...) {
    auto job = std::make_shared<Job>();
    job->file = file;
    job->failure = namingMemory("reading '" + files[file].path.string() + "'");
    job->done = true;
    push(std::move(job));
  }
  std::lock_guard lock(mutex);
  readAll = true;
  changed.notify_all();
}

void RecordPipeline::encode() {
  for (;;) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return stopped || readAll || !waiting.empty(); });
      if (stopped || waiting.empty())
        return;
      job = std::move(waiting.front());
      waiting.pop_front();
    }
    try {
      job->encoded = encodeBlock(job->block, files[job->file], tokenizer, options);
      job->encoded.file = job->file;
    } catch (...) {
      const std::vector<RecordBlock::Record> &records = job->block.records;
      job->failure = namingMemory(text("tokenizing '", files[job->file].path.string(), "' behind line ",
                                       records.empty() ? 0 : records[0].number - 1));
    }
    job->block = {};
    std::lock_guard lock(mutex);
    job->done = true;
    changed.notify_all();
  }
}

std::optional<EncodedBlock> RecordPipeline::next() {
  std::shared_ptr<Job> job;
  {
    std::unique_lock lock(mutex);
    changed.wait(lock,
                 [&] { return (readAll && ordered.empty()) || (!ordered.empty() && ordered.front()->done); });
    if (ordered.empty())
      return std::nullopt;
    job = std::move(ordered.front());
    ordered.pop_front();
    held -= job->bytes;
    changed.notify_all();
  }
  if (job->failure)
    std::rethrow_exception(job->failure);
  return std::move(job->encoded);
}

} // namespace taylor::trainer
