// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Sampler.h"
#include "Failure.h"
#include "trainer/support/Random.h"
#include "trainer/text/Validation.h"
#include <numeric>
#include <set>

using namespace taylor::trainer;

namespace {

void writeShard(const TemporaryFolder &folder, int64_t number, const std::vector<uint16_t> &tokens,
                const std::vector<uint64_t> &starts) {
  auto bytes = [](const auto &values) {
    return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof values[0]);
  };
  folder.write(shardName("t", number) + ".tokens", bytes(tokens));
  folder.write(shardName("t", number) + ".documents", bytes(starts));
}

constexpr int64_t beginning = 1, end = 2;

/// Documents <s> .. </s> of these many tokens between the two, in shards of `each` documents; token k of
/// document n is 100 n + k.
Tokens lengthTokens(const TemporaryFolder &folder, const std::vector<int64_t> &lengths, size_t each) {
  std::vector<uint16_t> tokens;
  std::vector<uint64_t> starts{0};
  int64_t shard = 0;
  for (size_t n = 0; n < lengths.size(); ++n) {
    tokens.push_back(beginning);
    for (int64_t k = 1; k <= lengths[n]; ++k)
      tokens.push_back(100 * (n + 1) + k);
    tokens.push_back(end);
    starts.push_back(tokens.size());
    if (starts.size() > each || n + 1 == lengths.size()) {
      writeShard(folder, shard++, tokens, starts);
      tokens.clear();
      starts = {0};
    }
  }
  return Tokens(folder.path, "t", shard);
}

/// Tokens 0, 1, 2, .. in documents of 10, in one shard.
Tokens countingTokens(const TemporaryFolder &folder, int64_t count) {
  std::vector<uint16_t> tokens(count);
  std::iota(tokens.begin(), tokens.end(), 0);
  std::vector<uint64_t> documents;
  for (int64_t i = 0; i < count; i += 10)
    documents.push_back(i);
  documents.push_back(count);
  writeShard(folder, 0, tokens, documents);
  return Tokens(folder.path, "t", 1);
}

TEST(Sampler, PermutationsArePermutations) {
  for (int64_t count : {1, 2, 3, 7, 64, 1000}) {
    std::set<int64_t> seen;
    for (int64_t i = 0; i < count; ++i)
      seen.insert(permute(i, count, 42));
    EXPECT_EQ(int64_t(seen.size()), count);
    EXPECT_EQ(*seen.begin(), 0);
    EXPECT_EQ(*seen.rbegin(), count - 1);
  }
  std::vector<int64_t> first, second;
  for (int64_t i = 0; i < 1000; ++i) {
    first.push_back(permute(i, 1000, 1));
    second.push_back(permute(i, 1000, 2));
  }
  EXPECT_NE(first, second);
  int64_t fixed = 0; // of a random permutation about 1 element stays
  for (int64_t i = 0; i < 1000; ++i)
    fixed += first[i] == i;
  EXPECT_LT(fixed, 10);
}

TEST(Sampler, APassVisitsEverySequenceOnce) {
  TemporaryFolder folder;
  Tokens tokens = countingTokens(folder, 1003);
  const int64_t context = 7, batch = 3;
  PackedSampler sampler(tokens, context, batch, 5);
  int64_t count = sampler.sequences();
  EXPECT_EQ(count, (1003 - 7) / 7);
  std::vector<int64_t> inputs(context), targets(context);
  for (int64_t pass = 0; pass < 3; ++pass) {
    std::set<int64_t> starts;
    for (int64_t n = pass * count; n < (pass + 1) * count; ++n) {
      sampler.sample(n / batch, n % batch, inputs.data(), targets.data());
      for (int64_t t = 0; t < context; ++t) {
        EXPECT_EQ(inputs[t], inputs[0] + t); // the tokens count up, so do the sequences
        EXPECT_EQ(targets[t], inputs[t] + 1);
      }
      starts.insert(inputs[0]);
    }
    EXPECT_EQ(int64_t(starts.size()), count);
    EXPECT_LE(*starts.rbegin() + context, 1002);
  }
}

TEST(Sampler, DependsOnSeedAndStepAlone) {
  TemporaryFolder folder;
  Tokens tokens = countingTokens(folder, 5000);
  PackedSampler a(tokens, 10, 4, 1), same(tokens, 10, 4, 1), other(tokens, 10, 4, 2);
  std::vector<int64_t> x(10), y(10), z(10), ignored(10);
  int64_t equal = 0;
  for (int64_t step : {300, 0, 17}) { // in any order
    a.sample(step, 3, x.data(), ignored.data());
    same.sample(step, 3, y.data(), ignored.data());
    other.sample(step, 3, z.data(), ignored.data());
    EXPECT_EQ(x, y);
    equal += x == z;
  }
  EXPECT_LT(equal, 3);
}

TEST(Sampler, RefusesTextShorterThanASequence) {
  TemporaryFolder folder;
  Tokens tokens = countingTokens(folder, 32);
  PackedSampler exact(tokens, 31, 1, 1);
  EXPECT_EQ(exact.sequences(), 1);
  EXPECT_EQ(failure([&] { PackedSampler(tokens, 32, 1, 1); }),
            "requires at least train.context + 1 = 33 tokens of training text, but there are 32; "
            "lower train.context or give more text");
  EXPECT_EQ(failure([&] { ValidationText(tokens, 32, 1, false, 2, "give more text"); }),
            "requires at least train.context + 1 = 33 tokens of validation text, but there are 32; "
            "lower train.context, or give more text");
}

TEST(Validation, SequencesAreSpreadOverTheText) {
  TemporaryFolder folder;
  Tokens tokens = countingTokens(folder, 101);
  std::vector<int64_t> inputs(10), targets(10);
  std::vector<int32_t> numbers(10);
  auto begins = [&](int64_t wanted) {
    ValidationText text(tokens, 10, wanted, false, 2, "");
    EXPECT_EQ(text.length(), 10);
    std::vector<int64_t> found;
    for (int64_t i = 0; i < text.count(); ++i) {
      text.get(i, inputs.data(), targets.data(), numbers.data());
      found.push_back(inputs[0]);
      EXPECT_EQ(targets[9], inputs[0] + 10);
    }
    return found;
  };
  EXPECT_EQ(begins(0).size(), 10u);
  EXPECT_EQ(begins(4), (std::vector<int64_t>{0, 20, 50, 70}));
  EXPECT_EQ(begins(99).size(), 10u);
}

TEST(Validation, DocumentsAreCutAndPaddedAsTheSamplerDoes) {
  TemporaryFolder folder;
  Tokens tokens = lengthTokens(folder, {3, 0, 7, 2, 1}, 100);
  ValidationText text(tokens, 5, 0, true, end, "");
  EXPECT_EQ(text.length(), 4);
  using Row = std::vector<int64_t>;
  // Without </s>, which is padding; the empty document has nothing to predict.
  std::vector<std::pair<Row, Row>> expected = {{{1, 101, 102, 103}, {101, 102, 103, -100}},
                                               {{1, 301, 302, 303}, {301, 302, 303, 304}},
                                               {{1, 401, 402, 2}, {401, 402, -100, -100}},
                                               {{1, 501, 2, 2}, {501, -100, -100, -100}}};
  ASSERT_EQ(text.count(), 4);
  for (int64_t i = 0; i < 4; ++i) {
    Row inputs(4), targets(4);
    text.get(i, inputs.data(), targets.data(), nullptr);
    EXPECT_EQ(inputs, expected[i].first);
    EXPECT_EQ(targets, expected[i].second);
  }
  Tokens empty = lengthTokens(folder, {0, 0}, 100);
  EXPECT_EQ(failure([&] { ValidationText(empty, 5, 0, true, end, "give more text"); }),
            "requires a validation document of two tokens or more, but there is none; give more text");
}

TEST(Tokens, RefusesTokensThatAreNoPieces) {
  TemporaryFolder folder;
  lengthTokens(folder, {3, 4, 200, 7}, 2); // two shards
  std::string shard = folder.path / "t-00001.tokens";
  std::string contents = readFile(shard);
  contents[2 * 150 + 1] = '\x40';
  folder.write("t-00001.tokens", contents);
  uint16_t damaged = reinterpret_cast<const uint16_t *>(contents.data())[150];
  Tokens tokens(folder.path, "t", 2, 16384);
  std::string expected =
      text("expected tokens below 16384, the number of the tokenizer's pieces, but '", shard,
           "' is damaged: token 150 is ", damaged, "; taylor-train prepare --verify '", folder.path.string(),
           "' checks all files");
  std::vector<int64_t> inputs(300), targets(300);
  EXPECT_EQ(failure([&] { tokens.copy(0, tokens.size(), inputs.data()); }), expected);
  PackedSampler packed(tokens, tokens.size() - 1, 1, 1);
  EXPECT_EQ(failure([&] { packed.sample(0, 0, inputs.data(), targets.data()); }), expected);
  ValidationText stream(tokens, 100, 0, false, end, ""), documents(tokens, 250, 0, true, end, "");
  EXPECT_EQ(failure([&] { stream.get(1, inputs.data(), targets.data(), nullptr); }), expected);
  EXPECT_EQ(failure([&] { documents.get(2, inputs.data(), targets.data(), nullptr); }), expected);
  DocumentSampler drawn(tokens, 250, 16, 1, 1, end);
  std::string first = "(no error)";
  for (int64_t i = 0; i < 16 && first == "(no error)"; ++i)
    first = failure([&] { drawn.sample(0, i, inputs.data(), targets.data()); });
  EXPECT_EQ(first, expected);
  DocumentSampler beginnings(tokens, 100, 16, 1, 1, end); // before what is damaged
  for (int64_t i = 0; i < 16; ++i)
    beginnings.sample(0, i, inputs.data(), targets.data());
}

TEST(Tokens, RefusesAnIndexThatDoesNotFit) {
  TemporaryFolder folder;
  Tokens tokens = countingTokens(folder, 25);
  EXPECT_EQ(tokens.documents(), 3);
  EXPECT_EQ(tokens.document(2).size(), 5u);
  EXPECT_EQ(tokens.document(1)[0], 10);
  EXPECT_EQ(tokens.size(), 25);
  folder.write("t-00000.tokens", std::string(20, 'x'));
  EXPECT_NE(failure([&] { Tokens(folder.path, "t", 1); }).find("expected tokens with an index that fits"),
            std::string::npos);
}

TEST(Tokens, ShardsAreOneStream) {
  TemporaryFolder folder;
  std::vector<int64_t> lengths{3, 0, 7, 2, 5, 1, 4};
  Tokens whole = lengthTokens(folder, lengths, 100);
  std::vector<int64_t> expected(whole.size());
  whole.copy(0, whole.size(), expected.data());
  for (size_t each : {1, 2, 3}) {
    Tokens tokens = lengthTokens(folder, lengths, each);
    ASSERT_EQ(tokens.size(), whole.size());
    ASSERT_EQ(tokens.documents(), 7);
    for (int64_t begin = 0; begin < tokens.size(); ++begin)
      for (int64_t count = 0; begin + count <= tokens.size(); ++count) {
        std::vector<int64_t> copied(count);
        tokens.copy(begin, count, copied.data());
        ASSERT_TRUE(std::equal(copied.begin(), copied.end(), expected.begin() + begin));
      }
    for (int64_t n = 0, position = 0; n < 7; ++n) {
      ASSERT_EQ(int64_t(tokens.document(n).size()), lengths[n] + 2);
      for (int64_t t = 0; t < lengths[n] + 2; ++t, ++position) {
        EXPECT_EQ(tokens.documentAt(position).document, n);
        EXPECT_EQ(tokens.documentAt(position).next - position, lengths[n] + 2 - t);
      }
    }
  }
}

TEST(Tokens, RefusesDocumentsThatGoBack) {
  TemporaryFolder folder;
  writeShard(folder, 0, {1, 5, 2, 1, 6, 2}, {0, 9, 6});
  Tokens tokens(folder.path, "t", 1);
  for (int64_t i : {0, 1})
    EXPECT_EQ(failure([&] { tokens.document(i); }),
              text("expected documents in ascending order, but '", (folder.path / "t-00000").string(),
                   ".documents' is damaged at entry ", i));
}

TEST(Sampler, PackedSequencesKnowTheirDocuments) {
  TemporaryFolder folder;
  Tokens tokens = lengthTokens(folder, {3, 0, 7, 2, 5, 1, 4, 30, 6, 2}, 3);
  PackedSampler sampler(tokens, 9, 2, 7);
  EXPECT_EQ(sampler.length(), 9);
  EXPECT_EQ(sampler.counted(5), 18);
  std::vector<int64_t> inputs(9), targets(9);
  std::vector<int32_t> numbers(9);
  for (int64_t step = 0; step < 10; ++step)
    for (int64_t i = 0; i < 2; ++i) {
      sampler.sample(step, i, inputs.data(), targets.data());
      sampler.documents(step, i, numbers.data());
      EXPECT_EQ(numbers[0], 0);
      for (int64_t t = 1; t < 9; ++t)
        EXPECT_EQ(numbers[t] - numbers[t - 1], inputs[t] == beginning);
    }
}

/// The batch of the paper's code (Trainer.prepare_data, then its masked labels), from the documents that were
/// drawn: rows of `positions` inputs and targets, fewer than context - 1 where the documents are short.
struct PaperBatch {
  std::vector<std::vector<int64_t>> inputs, targets;
};
PaperBatch paperBatch(const std::vector<std::vector<int64_t>> &documents) {
  size_t longest = 0;
  for (const auto &document : documents)
    longest = std::max(longest, document.size());
  std::vector<std::vector<bool>> mask;
  bool all = true;
  PaperBatch batch;
  for (std::vector<int64_t> row : documents) {
    std::vector<bool> real(longest, false);
    std::fill_n(real.begin(), row.size(), true);
    row.resize(longest, end);
    batch.inputs.emplace_back(row.begin(), row.end() - 1);
    batch.targets.emplace_back(row.begin() + 1, row.end());
    real.pop_back();
    for (bool one : real)
      all = all && one;
    mask.push_back(real);
  }
  if (all)
    mask[0].back() = false;
  for (size_t i = 0; i < documents.size(); ++i)
    for (size_t t = 0; t + 1 < longest; ++t)
      if (!mask[i][t])
        batch.targets[i][t] = -100;
  return batch;
}

TEST(Sampler, DocumentsAreThePapersBatches) {
  TemporaryFolder folder;
  std::vector<int64_t> lengths{3, 4, 9, 10, 11, 12, 30, 30, 5, 30};
  const int64_t context = 12, batch = 6;
  Tokens tokens = lengthTokens(folder, lengths, 4);
  std::vector<int64_t> drawn(lengths.size(), 0);
  int64_t full = 0;
  for (int64_t groups : {1, 2, 3, 6}) {
    DocumentSampler sampler(tokens, context, batch, groups, 3, end);
    ASSERT_EQ(sampler.length(), context - 1);
    for (int64_t step = 0; step < 300; ++step) {
      std::vector<std::vector<int64_t>> inputs(batch, std::vector<int64_t>(context - 1)), targets = inputs,
                                                                                          documents;
      int64_t learned = 0;
      for (int64_t i = 0; i < batch; ++i) {
        sampler.sample(step, i, inputs[i].data(), targets[i].data());
        ASSERT_EQ(inputs[i][0], beginning);
        int64_t n = inputs[i][1] / 100 - 1;
        ++drawn[n];
        documents.push_back({beginning});
        for (int64_t k = 1; k <= lengths[n] && k < context; ++k)
          documents.back().push_back(100 * (n + 1) + k);
      }
      for (int64_t group = 0, size = batch / groups; group < groups; ++group) {
        PaperBatch paper =
            paperBatch({documents.begin() + group * size, documents.begin() + (group + 1) * size});
        int64_t inGroup = 0;
        for (int64_t i = 0; i < size; ++i) {
          std::vector<int64_t> &input = paper.inputs[i], &target = paper.targets[i];
          full += i == 0 && target.back() == -100 && input.back() != end;
          inGroup += target.size() - std::count(target.begin(), target.end(), -100);
          // The paper's tensors end with the longest document, ours with the context.
          std::vector<int64_t> ours = inputs[group * size + i];
          ours.resize(input.size());
          EXPECT_EQ(ours, input);
          target.resize(context - 1, -100);
          EXPECT_EQ(targets[group * size + i], target);
        }
        EXPECT_EQ(sampler.counted(step, group * size, (group + 1) * size), inGroup);
        learned += inGroup;
      }
      EXPECT_EQ(sampler.counted(step), learned);
    }
  }
  EXPECT_GT(full, 100); // groups of full sequences did occur
  for (int64_t times : drawn)
    EXPECT_NEAR(times, 720, 120); // of 7200 draws: within 4.7 standard deviations
}

TEST(Sampler, DocumentsDependOnSeedAndStepAlone) {
  TemporaryFolder folder;
  Tokens tokens = lengthTokens(folder, std::vector<int64_t>(50, 5), 10);
  auto draws = [&](int64_t seed, int64_t batch) {
    DocumentSampler sampler(tokens, 8, batch, 1, seed, end);
    std::vector<int64_t> seen, inputs(7), ignored(7);
    for (int64_t step : {7, 0, 100000})
      for (int64_t i = 0; i < 4; ++i) {
        sampler.sample(step, i, inputs.data(), ignored.data());
        seen.push_back(inputs[1]);
      }
    return seen;
  };
  EXPECT_EQ(draws(1, 4), draws(1, 4));
  EXPECT_NE(draws(1, 4), draws(2, 4));
  std::vector<int32_t> numbers(7, 5);
  DocumentSampler(tokens, 8, 4, 1, 1, end).documents(0, 0, numbers.data());
  EXPECT_EQ(numbers, std::vector<int32_t>(7, 0));
}

TEST(Sampler, DocumentsWithoutText) { // what is empty or cut short is a sequence too
  TemporaryFolder folder;
  writeShard(folder, 0, {1, 2, 1, 2}, {0, 2, 4});
  Tokens empty(folder.path, "t", 1);
  DocumentSampler none(empty, 4, 2, 1, 1, end);
  std::vector<int64_t> inputs(3), targets(3);
  none.sample(0, 0, inputs.data(), targets.data());
  EXPECT_EQ(inputs, (std::vector<int64_t>{1, 2, 2}));
  EXPECT_EQ(targets, std::vector<int64_t>(3, -100));
  EXPECT_EQ(none.counted(0), 0);

  writeShard(folder, 0, {1, 7, 8}, {0, 3}); // no </s>
  Tokens cut(folder.path, "t", 1);
  DocumentSampler(cut, 4, 2, 1, 1, end).sample(0, 1, inputs.data(), targets.data());
  EXPECT_EQ(inputs, (std::vector<int64_t>{1, 7, 8}));
  EXPECT_EQ(targets, (std::vector<int64_t>{7, 8, -100}));
}

TEST(Sampler, DocumentsAreRefused) {
  TemporaryFolder folder;
  Tokens tokens = lengthTokens(folder, {5, 5}, 2);
  EXPECT_EQ(failure([&] { DocumentSampler(tokens, 8, 35, 2, 1, end); }),
            "requires groups of equal size, but a batch of 35 cannot be cut into 2");
  EXPECT_EQ(failure([&] { DocumentSampler(tokens, 8, 4, 0, 1, end); }),
            "requires groups of equal size, but a batch of 4 cannot be cut into 0");
  EXPECT_EQ(failure([&] { DocumentSampler(tokens, 1, 4, 2, 1, end); }),
            "requires train.context of at least 2, an input and a target, but got 1");
  EXPECT_EQ(failure([&] { DocumentSampler(Tokens(), 8, 4, 2, 1, end); }),
            "requires at least one document to train on, but there is none");
}

} // namespace
