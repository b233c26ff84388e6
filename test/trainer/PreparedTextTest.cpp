// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/PreparedText.h"
#include "Failure.h"
#include "runtime/Hash.h"
#include <map>
#include <nlohmann/json.hpp>
#include <random>

using namespace taylor::trainer;
using nlohmann::ordered_json;
using taylor::runtime::sha256;

namespace {

TEST(Sha256, IsThatOfTheStandard) { // FIPS 180-4's examples, and each length around a block's
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  std::string all; // the hash of the hashes, from Python's hashlib
  for (int size = 0; size < 200; ++size)
    all += sha256(std::string(size, 'x'));
  EXPECT_EQ(sha256(all), "f61ffcc417e1f0e59eba2da7fa32fbe05b64e478b68c6bacf990455f00248b98");
}

std::vector<uint16_t> document(std::mt19937 &random) {
  std::vector<uint16_t> tokens(random() % 300);
  for (uint16_t &token : tokens)
    token = uint16_t(random());
  return tokens;
}

std::map<std::string, std::string> contentsOf(const std::filesystem::path &folder) {
  std::map<std::string, std::string> contents;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    contents[entry.path().filename()] = readFile(entry.path());
  return contents;
}

TEST(Shards, AKilledWriterLeavesNoTrace) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::vector<uint16_t>> documents;
    for (int i = 0; i < 300; ++i)
      documents.push_back(document(random));
    TemporaryFolder folder;
    auto write = [&](const char *name, bool kills) {
      std::filesystem::create_directory(folder.path / name);
      SplitState saved;
      size_t savedCount = 0, kill = 0;
      for (bool done = false; !done; ++kill) {
        SplitWriter writer(folder.path / name, "t", 5000, saved);
        size_t end = kills && kill < 20 ? savedCount + random() % 60 : documents.size();
        for (size_t i = savedCount; i < std::min(end, documents.size()); ++i) {
          writer.add(documents[i]);
          if (random() % 10 == 0) {
            writer.flush();
            saved = writer.state();
            savedCount = i + 1;
            if (random() % 3 || !kills) // killed in between, else
              writer.publish();
          }
        }
        done = end >= documents.size();
        if (done) {
          writer.finishShard();
          writer.publish();
          saved = writer.state();
        }
      } // what a destroyed writer has in memory is lost, as with a killed one
      EXPECT_EQ(saved.allDocuments(), 300);
      return saved;
    };
    SplitState whole = write("whole", false), killed = write("killed", true);
    EXPECT_EQ(contentsOf(folder.path / "whole"), contentsOf(folder.path / "killed"));
    EXPECT_EQ(describeShards(whole), describeShards(killed));
    ASSERT_GT(whole.shards.size(), 5u);
    Tokens tokens(folder.path / "killed", "t", int64_t(whole.shards.size()));
    ASSERT_EQ(tokens.documents(), 300);
    for (int64_t i = 0; i < 300; ++i)
      EXPECT_TRUE(std::ranges::equal(tokens.document(i), documents[i]));
    for (const ShardInfo &shard : whole.shards)
      EXPECT_LE(shard.tokens, 5000);
  }
}

TEST(Shards, ADocumentIsNeverDivided) {
  TemporaryFolder folder;
  SplitWriter writer(folder.path, "t", 10);
  for (size_t size : {12, 10, 5, 5, 1, 30})
    writer.add(std::vector<uint16_t>(size, 7));
  writer.finishShard();
  std::vector<int64_t> sizes;
  for (const ShardInfo &shard : writer.state().shards)
    sizes.push_back(shard.tokens);
  EXPECT_EQ(sizes, (std::vector<int64_t>{12, 10, 10, 1, 30}));
}

TEST(Shards, LostFilesAreNoticed) {
  TemporaryFolder folder;
  std::vector<uint16_t> tokens(10, 7);
  SplitState state;
  {
    SplitWriter writer(folder.path, "t", 25);
    for (int i = 0; i < 5; ++i)
      writer.add(tokens);
    writer.flush();
    state = writer.state();
    writer.publish();
  }
  std::string hidden = folder.path / ".t-00002.tokens", shard = folder.path / "t-00000.tokens";
  std::filesystem::resize_file(hidden, 18);
  EXPECT_EQ(failure([&] { SplitWriter(folder.path, "t", 25, state); }),
            "expected 20 bytes in '" + hidden +
                "', but it has 18: the unfinished preparation is damaged; begin anew with --overwrite");
  std::filesystem::remove(shard);
  EXPECT_EQ(failure([&] { SplitWriter(folder.path, "t", 25, state); }),
            "cannot create '" + shard + "': No such file or directory");
  EXPECT_EQ(failure([&] { SplitWriter(folder.path / "none", "t", 25).add(tokens); }),
            "cannot write '" + (folder.path / "none/.t-00000.tokens").string() +
                "': No such file or directory");
}

/// A folder as taylor-train prepare leaves it, of tokens that mean nothing.
class PreparedText : public testing::Test {
protected:
  PreparedText() {
    std::string sample;
    for (int i = 0; i < 300; ++i)
      sample += text("  if (x", i, " == 0) {\n");
    Tokenizer tokenizer(trainTokenizer({sample}, 300), "");
    folder.write("tokenizer.model", tokenizer.model());
    SplitWriter training(folder.path, "training", 25), validation(folder.path, "validation", 25);
    for (int i = 0; i < 5; ++i)
      training.add(std::vector<uint16_t>(10, 7));
    validation.add(std::vector<uint16_t>(6, 8));
    for (SplitWriter *split : {&training, &validation}) {
      split->finishShard();
      split->publish();
    }
    writeDescription(folder.path, {{"title", "nothing"}}, tokenizer, training.state(), validation.state());
    original = readFile(folder.path / "description.json");
  }
  /// The message for a description in which one member is another.
  std::string messageWith(const char *pointer, const ordered_json &value) {
    ordered_json description = ordered_json::parse(original);
    ordered_json::json_pointer where(pointer);
    if (value.is_discarded())
      description[where.parent_pointer()].erase(where.back());
    else
      description[where] = value;
    return messageWithText(description.dump());
  }
  std::string messageWithText(const std::string &description) {
    folder.write("description.json", description);
    std::string message = failure([&] { readPreparedText(folder.path, true, 2); });
    folder.write("description.json", original);
    return message;
  }
  TemporaryFolder folder;
  std::string original;
};

TEST_F(PreparedText, IsReadAsWritten) {
  EXPECT_TRUE(isPreparedText(folder.path));
  taylor::trainer::PreparedText read = readPreparedText(folder.path, true, 2);
  EXPECT_EQ(read.title, "nothing");
  EXPECT_EQ(read.training.size(), 50);
  EXPECT_EQ(read.training.documents(), 5);
  EXPECT_EQ(read.validation.size(), 6);
  EXPECT_EQ(read.tokenizer->vocabulary(), 300);
  folder.write("description.json", "{\"description\": \"of another kind\"}");
  EXPECT_FALSE(isPreparedText(folder.path));
  EXPECT_FALSE(isPreparedText("/nowhere"));
}

TEST_F(PreparedText, DamagedDescriptionsAreRefused) {
  std::string where = "'" + (folder.path / "description.json").string() + "'";
  EXPECT_EQ(messageWithText("{"), "expected JSON, but " + where + " is damaged; prepare the text again");
  EXPECT_EQ(messageWithText("[]"),
            "expected \"format\" in " + where + ", but it has none; prepare the text again");
  EXPECT_EQ(messageWith("/format", "taylor tokens 2"),
            "expected the format \"taylor tokens 1\" in " + where +
                ", but got \"taylor tokens 2\"; prepare the text again with this taylor-train");
  ordered_json none(ordered_json::value_t::discarded);
  for (const char *path : {"/title", "/tokenizer", "/tokenizer/sha256", "/training", "/validation/tokens",
                           "/training/documents", "/training/shards", "/training/shards/1/documents",
                           "/training/shards/0/tokens", "/validation/shards/0/tokens_sha256"}) {
    std::string key = ordered_json::json_pointer(path).back();
    EXPECT_EQ(messageWith(path, none),
              "expected \"" + key + "\" in " + where + ", but it has none; prepare the text again");
  }
  EXPECT_EQ(messageWith("/title", 5),
            "expected a string as \"title\" in " + where + ", but got 5; prepare the text again");
  EXPECT_EQ(messageWith("/training/shards", 5),
            "expected a list as \"shards\" in " + where + ", but got 5; prepare the text again");
  for (ordered_json value :
       {ordered_json(-1), ordered_json(2.5), ordered_json("5"), ordered_json(uint64_t(1) << 61)})
    EXPECT_EQ(messageWith("/training/shards/0/tokens", value), "expected a count as \"tokens\" in " + where +
                                                                   ", but got " + value.dump() +
                                                                   "; prepare the text again");
  EXPECT_EQ(messageWith("/training/tokens", 49), "expected counts that are the sums over the shards in " +
                                                     where + ", but they are less; prepare the text again");
  EXPECT_EQ(messageWith("/training/documents", 6), "expected counts that are the sums over the shards in " +
                                                       where + ", but they are more; prepare the text again");
}

TEST_F(PreparedText, DamagedFilesAreRefused) {
  auto message = [&](bool verify) { return failure([&] { readPreparedText(folder.path, verify, 2); }); };
  std::string shard = folder.path / "training-00001.tokens", contents = readFile(shard),
              mend = "; copy it again, or prepare the text again";
  std::string flipped = contents;
  flipped[3] ^= 1;
  folder.write("training-00001.tokens", flipped);
  EXPECT_EQ(message(false), "(no error)"); // its size is as it was
  EXPECT_EQ(message(true), "expected the checksum " + sha256(contents) + " of '" + shard + "', but it is " +
                               sha256(flipped) + mend);
  folder.write("training-00001.tokens", contents + "x");
  EXPECT_EQ(message(false), "expected 40 bytes in '" + shard + "', but it has 41" + mend);
  std::filesystem::remove(shard);
  EXPECT_EQ(message(false), "cannot read '" + shard + "': No such file or directory" + mend);
  folder.write("training-00001.tokens", contents);
  folder.write("tokenizer.model", "another");
  EXPECT_EQ(message(false), "expected the tokenizer that the text was prepared with, of checksum " +
                                ordered_json::parse(original)["tokenizer"]["sha256"].get<std::string>() +
                                ", but '" + (folder.path / "tokenizer.model").string() + "' has " +
                                sha256("another") + mend);
}

TEST_F(PreparedText, UnfinishedPreparationsAreRefused) {
  std::filesystem::rename(folder.path / "description.json", folder.path / kProgressFile);
  EXPECT_TRUE(isPreparedText(folder.path));
  EXPECT_EQ(failure([&] { readPreparedText(folder.path, false, 1); }),
            "requires a finished preparation, but that of '" + folder.path.string() +
                "' was interrupted; run its taylor-train prepare again, which goes on where it was");
}

} // namespace
