// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Recall.h"
#include "Failure.h"
#include <map>
#include <set>

using namespace taylor::trainer;

namespace {

constexpr int64_t vocabulary = 400, symbols = 300, context = 40, pairs = 10, keys = 150;

struct Sequence {
  std::vector<int64_t> inputs = std::vector<int64_t>(context), targets = std::vector<int64_t>(context);
};

} // namespace

TEST(Recall, AsksForEachKeyOnceBehindAllPairs) {
  RecallSampler sampler(RecallTask(vocabulary, symbols, context, pairs), 4, 1);
  std::set<std::vector<int64_t>> places, keyLists;
  for (int64_t step = 0; step < 20; ++step) {
    Sequence s;
    sampler.sample(step, step % 4, s.inputs.data(), s.targets.data());
    std::map<int64_t, int64_t> values;
    for (int64_t i = 0; i < 2 * pairs; i += 2) {
      EXPECT_EQ(s.targets[i], -100);
      EXPECT_EQ(s.targets[i + 1], -100);
      EXPECT_TRUE(s.inputs[i] >= 3 && s.inputs[i] < 3 + keys);
      EXPECT_TRUE(s.inputs[i + 1] >= 3 + keys && s.inputs[i + 1] < 3 + symbols);
      EXPECT_TRUE(values.emplace(s.inputs[i], s.inputs[i + 1]).second) << "a key comes once";
    }
    std::set<int64_t> asked;
    std::vector<int64_t> where;
    for (int64_t t = 2 * pairs; t < context; ++t) {
      EXPECT_TRUE(s.inputs[t] >= 3 && s.inputs[t] < 3 + symbols);
      if (s.targets[t] == -100)
        continue;
      where.push_back(t);
      EXPECT_EQ(s.targets[t], values.at(s.inputs[t]));
      asked.insert(s.inputs[t]);
    }
    EXPECT_EQ(int64_t(asked.size()), pairs);
    EXPECT_EQ(int64_t(where.size()), pairs);
    places.insert(where);
    keyLists.insert({asked.begin(), asked.end()});
  }
  EXPECT_EQ(places.size(), 20u);
  EXPECT_EQ(keyLists.size(), 20u);
  EXPECT_EQ(sampler.counted(0), 4 * pairs);
}

TEST(Recall, DependsOnSeedStepAndSequenceAlone) {
  RecallTask task(vocabulary, symbols, context, pairs);
  RecallSampler sampler(task, 4, 1), same(task, 4, 1), other(task, 4, 2);
  RecallValidation validation(task, 3);
  EXPECT_EQ(validation.count(), 3);
  EXPECT_EQ(validation.length(), context);
  std::set<std::vector<int64_t>> all;
  Sequence s;
  std::vector<int32_t> numbers(context, -1);
  for (int64_t i = 0; i < 3; ++i) {
    for (RecallSampler *one : {&sampler, &same, &other}) {
      one->sample(7, i, s.inputs.data(), s.targets.data());
      all.insert(s.inputs);
    }
    validation.get(i, s.inputs.data(), s.targets.data(), numbers.data());
    all.insert(s.inputs);
  }
  EXPECT_EQ(all.size(), 9u); // `same` adds none
  EXPECT_EQ(numbers, std::vector<int32_t>(context, 0));
}

TEST(Recall, RefusesWhatHasNoRoom) {
  EXPECT_EQ(failure([] { RecallTask(400, 300, 29, 10); }),
            "requires train.context of at least 3 data.pairs = 30 tokens, keys with values and each key once "
            "more, but got 29");
  EXPECT_EQ(failure([] { RecallTask(400, 300, 4096, 151); }),
            "expected data.pairs from 1 to 150, half of data.symbols, but got 151");
  EXPECT_EQ(failure([] { RecallTask(400, 300, 40, 0); }),
            "expected data.pairs from 1 to 150, half of data.symbols, but got 0");
  EXPECT_EQ(failure([] { RecallTask(400, 398, 40, 10); }),
            "expected data.symbols from 2 to 397, as the vocabulary has, but got 398");
}
