// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/checkpoint/Safetensors.h"
#include "Failure.h"
#include <chrono>
#include <random>
#include <sys/stat.h>

using namespace taylor::trainer;

namespace {

std::string assemble(const std::string &header, size_t dataSize) {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<char *>(&length), 8) + header + std::string(dataSize, '\1');
}

/// The message without the path, which changes from run to run.
std::string message(const std::string &contents) {
  TemporaryFolder folder;
  std::string path = folder.write("x.safetensors", contents);
  std::string text = failure([&] { SafetensorsFile file(path); });
  size_t place = text.find(path);
  return place == std::string::npos ? text : text.replace(place, path.size(), "F");
}

std::string tensor(const std::string &shape, const std::string &offsets, const std::string &dtype = "F32") {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

TEST(Safetensors, WritesWhatItReads) {
  TemporaryFolder folder;
  float values[6] = {1, 2, 3, 4, 5, 6};
  char byte = 7;
  std::map<std::string, TensorView> tensors = {
      {"b.weight", {"F32", {2, 3}, reinterpret_cast<char *>(values), sizeof values}},
      {"a", {"U8", {}, &byte, 1}},
      {"empty", {"BF16", {0, 4}, nullptr, 0}}};
  writeSafetensors(folder.path / "x", tensors, {{"format", "pt"}});
  SafetensorsFile file(folder.path / "x");
  ASSERT_EQ(file.tensors().size(), 3u);
  const TensorView &weight = file.tensors().at("b.weight");
  EXPECT_EQ(weight.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::string(weight.data, weight.size),
            std::string(reinterpret_cast<char *>(values), sizeof values));
  EXPECT_EQ(*file.tensors().at("a").data, 7);
  EXPECT_EQ(file.tensors().at("empty").size, 0u);
  EXPECT_EQ(file.metadata().at("format"), "pt");
}

TEST(Safetensors, RefusesWhatIsNotSound) {
  EXPECT_EQ(message("short"), "expected safetensors, but 'F' has 5 bytes");
  EXPECT_EQ(message(assemble("{}", 0).substr(0, 9)),
            "expected safetensors, but 'F' has 9 bytes and a header of 2: truncated, or another format");
  EXPECT_EQ(message(std::string(16, '\xff')), "expected safetensors, but 'F' has 16 bytes and a header of "
                                              "18446744073709551615: truncated, or another format");
  EXPECT_EQ(message(assemble("{]", 0)),
            "expected safetensors, but the header of 'F' is not the JSON of that format");
  EXPECT_EQ(message(assemble("[]", 0)),
            "expected safetensors, but the header of 'F' is not the JSON of that format");
  std::string deep = R"({"a":)" + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_EQ(message(assemble(deep, 0)),
            "expected safetensors, but the header of 'F' is not the JSON of that format");
  // What other readers see otherwise, or not at all.
  std::string sound = R"({"a":)" + tensor("[1]", "[0,4]") + "}";
  EXPECT_EQ(message(assemble(sound + std::string(64, ' '), 4)), "(no error)");
  for (const std::string &header :
       {"\xEF\xBB\xBF" + sound, " " + sound, sound + "\n", sound + std::string(8, '\0'),
        sound + std::string(1, '\0') + R"({"more": 1})", sound + "xyz", sound + "}", std::string(),
        std::string(8, ' ')})
    EXPECT_EQ(message(assemble(header, 4)),
              "expected safetensors, but the header of 'F' is not the JSON of that format")
        << header;
  EXPECT_EQ(message(assemble(R"({"a":)" + tensor("[1]", "[4,0]") + "}", 4)),
            "expected safetensors, but in 'F' data_offsets go back, from 4 to 0, of tensor 'a'");
  std::string one = tensor("[2]", "[0,8]");
  EXPECT_EQ(message(assemble(R"({"a":)" + one + R"(,"a":)" + one + "}", 8)),
            "expected safetensors, but the header of 'F' is not the JSON of that format");
  EXPECT_EQ(message(assemble(R"({"a":3})", 0)),
            "expected safetensors, but in 'F' there is no dtype of tensor 'a'");
  EXPECT_EQ(message(assemble(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}})", 0)),
            "expected safetensors, but in 'F' there is no shape of tensor 'a'");
  EXPECT_EQ(message(assemble(R"({"a":{"dtype":"F32","shape":[1]}})", 4)),
            "expected safetensors, but in 'F' there are no data_offsets of tensor 'a'");
  EXPECT_EQ(message(assemble(R"({"a":)" + tensor("[2]", "[0,8]", "F99") + "}", 8)),
            "unsupported dtype 'F99' of tensor 'a' in 'F'");
  EXPECT_EQ(message(assemble(R"({"a":)" + tensor("[2]", "[0,8]") + "}", 7)),
            "expected 8 bytes of tensors in 'F' for tensor 'a', but got 7: the file is truncated");
  EXPECT_EQ(message(assemble(R"({"a":)" + tensor("[2]", "[0,4]") + "}", 4)),
            "expected safetensors, but in 'F' shape and data_offsets disagree of tensor 'a'");
  EXPECT_EQ(message(assemble(R"({"a":)" + tensor("[4294967296,4294967296]", "[0,4]") + "}", 4)),
            "expected safetensors, but in 'F' shape and data_offsets disagree of tensor 'a'");
  EXPECT_EQ(
      message(assemble(R"({"a":)" + tensor("[1]", "[0,4]") + R"(,"b":)" + tensor("[1]", "[2,6]") + "}", 6)),
      "expected safetensors, but tensors in 'F' overlap or leave a gap at byte 4");
  EXPECT_EQ(message(assemble(R"({"a":)" + tensor("[1]", "[4,8]") + "}", 8)),
            "expected safetensors, but tensors in 'F' overlap or leave a gap at byte 0");
  EXPECT_EQ(message(assemble(R"({"a":)" + tensor("[1]", "[0,4]") + "}", 5)),
            "expected 4 bytes of tensors in 'F', but got 5");
}

// In time that grows with their number and not with its square: seconds would be minutes.
TEST(Safetensors, ManyNames) {
  TemporaryFolder folder;
  std::map<std::string, TensorView> tensors;
  for (int i = 0; i < 200000; ++i)
    tensors["x" + std::to_string(i)] = {"F32", {0}, nullptr, 0};
  writeSafetensors(folder.path / "x", tensors, {});
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(SafetensorsFile(folder.path / "x").tensors().size(), tensors.size());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30)); // 100,000 took more than 38
}

TEST(Safetensors, AFifoIsNotWaitedFor) {
  TemporaryFolder folder;
  std::string path = folder.path / "x";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(failure([&] { SafetensorsFile file(path); }),
            "expected a file, but '" + path + "' is something else");
}

// Random damage gives an Error or a file whose every view lies inside; the sanitizer build sees the rest.
TEST(Safetensors, SurvivesRandomDamage) {
  TemporaryFolder folder;
  float values[8] = {};
  writeSafetensors(folder.path / "x",
                   {{"a", {"F32", {2, 2}, reinterpret_cast<char *>(values), 16}},
                    {"b", {"F32", {4}, reinterpret_cast<char *>(values), 16}}},
                   {{"format", "pt"}});
  std::string sound = readFile(folder.path / "x");
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 600; ++round) {
    std::string damaged = sound;
    if (random() % 4 == 0)
      damaged.resize(random() % damaged.size());
    for (int i = random() % 4; i >= 0 && !damaged.empty(); --i)
      damaged[random() % damaged.size()] =
          char(random() % 2 ? random() : "0123456789[]{},:\""[random() % 17]);
    std::string path = folder.write("y", damaged);
    try {
      SafetensorsFile file(path);
      size_t sum = 0;
      for (const auto &[name, view] : file.tensors())
        for (size_t i = 0; i < view.size; ++i)
          sum += static_cast<unsigned char>(view.data[i]);
      EXPECT_LE(sum, 32u * 256u);
    } catch (const Error &) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
}

} // namespace
