// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records to tokens: one thread reads, others encode, and blocks come out in the order of the files.
#ifndef TAYLOR_TRAINER_TEXT_RECORDPIPELINE_H
#define TAYLOR_TRAINER_TEXT_RECORDPIPELINE_H
#include "trainer/text/Records.h"
#include "trainer/text/Tokenizer.h"
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace taylor::trainer {

struct EncodeOptions {
  RecordOptions records;
  double validationFraction = 0; // of documents, by their contents
  int64_t maxDocumentTokens = 0; // with <s>; 0: no limit
};

struct EncodedBlock {
  struct Document {
    size_t size; // tokens
    bool validates;
  };
  struct Bad {
    int64_t number; // line or row
    Defect defect;
  };
  size_t file = 0;
  Cursor next;
  int64_t consumed = 0;         // as RecordBlock says
  std::vector<uint16_t> tokens; // of all documents, one after another
  std::vector<Document> documents;
  std::vector<Bad> bad;
  int64_t empty = 0; // records without text, which are no documents
};

/// <s> and the tokens of each record's text and </s>; without </s> where that is cut to maxDocumentTokens.
EncodedBlock encodeBlock(const RecordBlock &block, const InputFile &file, const Tokenizer &tokenizer,
                         const EncodeOptions &options);

class RecordPipeline {
public:
  /// Reads `files` from file number `first` and, in that, from a cursor on. The references must outlive it.
  RecordPipeline(const std::vector<InputFile> &files, const Tokenizer &tokenizer,
                 const EncodeOptions &options, int64_t threads, size_t first, Cursor from);
  ~RecordPipeline(); // waits for what is being done, and drops it
  RecordPipeline(const RecordPipeline &) = delete;
  RecordPipeline &operator=(const RecordPipeline &) = delete;

  /// The next block; nothing at the end. Throws what reading or encoding that block threw.
  std::optional<EncodedBlock> next();

private:
  struct Job {
    size_t file;
    RecordBlock block;
    EncodedBlock encoded;
    int64_t bytes = 0; // of the block
    std::exception_ptr failure;
    bool done = false;
  };
  void read(size_t first, Cursor from);
  void encode();
  bool push(std::shared_ptr<Job> job); // false once no one wants more

  const std::vector<InputFile> &files;
  const Tokenizer &tokenizer;
  const EncodeOptions &options;
  const int64_t ahead; // bytes of text in memory at most, except for one block that is longer
  int64_t held = 0;    // bytes of what is in memory: text, and tokens of two bytes each

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Job>> ordered, waiting;
  bool readAll = false, stopped = false;
  std::vector<std::thread> threads;
};

} // namespace taylor::trainer
#endif
