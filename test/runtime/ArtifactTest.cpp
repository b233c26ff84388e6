// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are no artifact, or none for this machine: each is refused by a message, whole, before its code
// runs.
#include "runtime/ArtifactFile.h"
#include "runtime/Cpu.h"
#include "runtime/Error.h"
#include "test/runtime/Fixture.h"
#include <cstring>
#include <elf.h>

namespace taylor::test {
namespace {

class ArtifactFile : public testing::Test {
protected:
  TemporaryFolder folder;
  std::string path = folder.path + "/x.so";
  std::string bytes = readBytes(fixturePath("plain"));

  void expectError(const std::string &message) {
    auto *kernel = reinterpret_cast<TaylorKernel *>(1);
    EXPECT_EQ(taylor_load(path.c_str(), &kernel), 1);
    EXPECT_EQ(kernel, nullptr);
    EXPECT_EQ(taylor_last_error(), "'" + path + "': " + message);
  }
  void expectErrorBegins(const std::string &message) {
    TaylorKernel *kernel = nullptr;
    EXPECT_EQ(taylor_load(path.c_str(), &kernel), 1);
    EXPECT_TRUE(std::string(taylor_last_error()).starts_with("'" + path + "': " + message))
        << taylor_last_error();
  }

  /// Writes the bytes with a trailer that fits them, so that what comes after the trailer's checks is
  /// reached.
  void writeSealed(std::string contents) {
    contents.resize(contents.size() - sizeof(TaylorTrailer));
    TaylorTrailer trailer = {TAYLOR_ARTIFACT_MAGIC, TAYLOR_ARTIFACT_ABI, contents.size(),
                             runtime::wordChecksum(contents.data(), contents.size())};
    contents.append(reinterpret_cast<char *>(&trailer), sizeof(trailer));
    writeBytes(path, contents);
  }
  void replace(const std::string &from, const std::string &to) {
    ASSERT_EQ(from.size(), to.size());
    size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, from.size(), to);
  }
};

TEST_F(ArtifactFile, Missing) { expectError("No such file or directory"); }

TEST_F(ArtifactFile, Folder) {
  path = folder.path;
  expectError("expected a regular file");
}

TEST_F(ArtifactFile, Empty) {
  writeBytes(path, "");
  expectError("expected an artifact of taylorc (an ELF shared object), but got a foreign or truncated file "
              "of 0 bytes");
}

TEST_F(ArtifactFile, Text) {
  writeBytes(path, std::string(5000, 'x'));
  expectError("expected an artifact of taylorc (an ELF shared object), but got a foreign or truncated file "
              "of 5000 bytes");
}

TEST_F(ArtifactFile, AnotherSharedObject) {
  writeBytes(path, readBytes(variable("TAYLOR_BINARY_DIR") + "/lib/libtaylor.so"));
  expectErrorBegins("expected a trailer with magic 0x31524c5941540a7f, but got 0x");
}

TEST_F(ArtifactFile, TruncatedAnywhere) {
  for (size_t size :
       {bytes.size() - 1, bytes.size() - 8, bytes.size() - 32, bytes.size() / 2, size_t(100), size_t(5)}) {
    writeBytes(path, bytes.substr(0, size));
    TaylorKernel *kernel = nullptr;
    EXPECT_EQ(taylor_load(path.c_str(), &kernel), 1) << size;
    EXPECT_NE(std::string(taylor_last_error()).find("truncated"), std::string::npos) << taylor_last_error();
  }
}

TEST_F(ArtifactFile, ShortenedInTheMiddle) {
  writeBytes(path, bytes.substr(0, 1000) + bytes.substr(1008));
  expectError("expected " + std::to_string(bytes.size() - 32) + " bytes before the trailer, but got " +
              std::to_string(bytes.size() - 40) + ": the file is damaged");
}

TEST_F(ArtifactFile, AnyBitFlipped) {
  for (size_t at = 64; at + 32 < bytes.size(); at += bytes.size() / 23) {
    std::string damaged = bytes;
    damaged[at] = char(damaged[at] ^ 4);
    writeBytes(path, damaged);
    expectErrorBegins("expected checksum 0x");
  }
}

TEST_F(ArtifactFile, OtherAbi) {
  path = fixturePath("other-abi");
  expectError("expected ABI 2, but got ABI 1: compile it again with the taylorc of this version");
}

TEST_F(ArtifactFile, OtherProcessor) {
  path = fixturePath("other-cpu");
  expectError("expected a processor with 'avx9000f', but " + runtime::cpuName() +
              " lacks it: compile with --target=native here");
}

TEST_F(ArtifactFile, OtherMachine) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.e_machine = EM_RISCV;
  std::memcpy(bytes.data(), &header, sizeof(header));
  writeSealed(bytes);
  expectErrorBegins("expected ELF machine ");
}

TEST_F(ArtifactFile, LoaderRefuses) { // a program header table that points nowhere
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.e_phentsize = 1;
  std::memcpy(bytes.data(), &header, sizeof(header));
  writeSealed(bytes);
  expectErrorBegins("the dynamic loader refuses it: ");
}

TEST_F(ArtifactFile, NoManifest) {
  replace("{\"taylor\": {", "{\"taylor\": [");
  writeSealed(bytes);
  expectErrorBegins("expected a JSON object as manifest, but got ");
}

TEST_F(ArtifactFile, KernelsDifferFromManifest) {
  replace("\"kernels\": [\"rows\", \"keys\", \"sum\"]",
          "\"kernels\": [\"rows\", \"keys_and_su\"]"); // same length
  writeSealed(bytes);
  expectError("expected 2 kernels of function 'backward' as in the manifest, but got 3");
}

TEST_F(ArtifactFile, NoTable) {
  replace(std::string(TAYLOR_ARTIFACT_SYMBOL) + '\0',
          std::string(strlen(TAYLOR_ARTIFACT_SYMBOL), 'x') + '\0');
  writeSealed(bytes);
  expectError(std::string("requires the symbol '") + TAYLOR_ARTIFACT_SYMBOL + "'");
}

TEST_F(ArtifactFile, OtherMagic) {
  uint64_t magic = TAYLOR_ARTIFACT_MAGIC, other = 0x1234;
  replace({reinterpret_cast<char *>(&magic), sizeof(magic)},
          {reinterpret_cast<char *>(&other), sizeof(other)});
  writeSealed(bytes);
  expectError(std::string("expected magic 0x31524c5941540a7f in '") + TAYLOR_ARTIFACT_SYMBOL +
              "', but got 0x0000000000001234");
}

TEST_F(ArtifactFile, FunctionOfTheManifestIsMissing) {
  replace(std::string("backward") + '\0', std::string("sideward") + '\0');
  writeSealed(bytes);
  expectError("requires function 'backward' for target 'native', which the manifest names");
}

TEST_F(ArtifactFile, TargetWithoutFunction) {
  replace("\"backward\": {\"kernels\"", "\"sideward\": {\"kernels\"");
  writeSealed(bytes);
  expectError("expected functions of the manifest in target 'native', but got 'sideward'");
}

TEST_F(ArtifactFile, NullArguments) {
  TaylorKernel *kernel = nullptr;
  EXPECT_EQ(taylor_load(nullptr, &kernel), 1);
  EXPECT_STREQ(taylor_last_error(), "requires a path, but got a null pointer");
  EXPECT_EQ(taylor_load("x", nullptr), 1);
  EXPECT_STREQ(taylor_last_error(), "requires a place for the kernel, but got a null pointer");
}

TEST_F(ArtifactFile, LaterChangesOfTheFileDoNotReachALoadedKernel) {
  writeBytes(path, bytes);
  TaylorKernel *first = nullptr, *second = nullptr;
  ASSERT_EQ(taylor_load(path.c_str(), &first), 0) << taylor_last_error();
  std::filesystem::resize_file(path, 10); // in place: a mapping of the file would now fault
  EXPECT_NE(std::string(taylor_manifest(first)).find("\"spec\": \"fixture\""), std::string::npos);
  Problem<float> problem;
  std::vector<TaylorTensor> tensors = {
      problem.q.tensor(), problem.k.tensor(), problem.v.tensor(), problem.o.tensor(), {}, {}};
  EXPECT_EQ(taylor_run(first, "forward", tensors.data(), 6, nullptr), 0) << taylor_last_error();
  // The same path with other contents is another kernel, even while the first is loaded.
  writeBytes(path, readBytes(fixturePath("gated")));
  ASSERT_EQ(taylor_load(path.c_str(), &second), 0) << taylor_last_error();
  EXPECT_EQ(taylor_tensor_count(first, "forward"), 6);
  EXPECT_EQ(taylor_tensor_count(second, "forward"), 8);
  taylor_unload(first);
  EXPECT_EQ(taylor_tensor_count(second, "forward"), 8);
  taylor_unload(second);
}

/// A table as no file can bring it without a compiler that wrote it so.
TEST(ArtifactTable, PointersAndNumbers) {
  auto message = [](const TaylorArtifact &table) -> std::string {
    try {
      runtime::Artifact::fromTable("x", table);
      return "none";
    } catch (const runtime::Error &error) {
      return error.what();
    }
  };
  const char manifest[] = "{}";
  const TaylorArtifact sound = {
      TAYLOR_ARTIFACT_MAGIC, TAYLOR_ARTIFACT_ABI, manifest, 2, nullptr, 0, nullptr, 0};
  EXPECT_EQ(message(sound), "'x': requires field 'taylor' in the top level of the manifest");
  const std::string missing = "'x': requires a manifest, functions and images in 'taylor_artifact'";
  TaylorArtifact table = sound;
  table.manifest = nullptr;
  EXPECT_EQ(message(table), missing);
  table = sound;
  table.manifest_size = -1;
  EXPECT_EQ(message(table), missing);
  table = sound;
  table.function_count = 1;
  EXPECT_EQ(message(table), missing);
  table = sound;
  table.image_count = -1;
  EXPECT_EQ(message(table), missing);
  TaylorFunction functions[2] = {};
  functions[0].target = functions[1].target = "native";
  functions[0].name = "forward";
  table = sound;
  table.functions = functions;
  table.function_count = 2;
  EXPECT_EQ(message(table), "'x': requires a target and a name of function 1 in 'taylor_artifact'");
  TaylorImage image = {};
  table = sound;
  table.images = &image;
  table.image_count = 1;
  EXPECT_EQ(message(table), "'x': requires a target of image 0 in 'taylor_artifact'");
  // A function of a sound manifest without an entry, or with a number that is not one.
  std::string text = runtime::Artifact::load(fixturePath("plain"))->manifest().text;
  const TaylorFunction whole = {"native",
                                "backward",
                                3,
                                0,
                                [](const int64_t *) { return int64_t(0); },
                                [](const int64_t *, int64_t) { return int64_t(0); },
                                [](const TaylorCall *, int64_t, int64_t, int64_t, void *) {}};
  table = {TAYLOR_ARTIFACT_MAGIC,
           TAYLOR_ARTIFACT_ABI,
           text.c_str(),
           int64_t(text.size()),
           functions,
           1,
           nullptr,
           0};
  functions[0] = whole;
  EXPECT_EQ(message(table), "'x': requires function 'forward' for target 'native', which the manifest names");
  for (int field = 0; field < 5; ++field) {
    functions[0] = whole;
    if (field == 0)
      functions[0].workspace = nullptr;
    else if (field == 1)
      functions[0].blocks = nullptr;
    else if (field == 2)
      functions[0].run = nullptr;
    else
      (field == 3 ? functions[0].kernels : functions[0].scratch) = -1;
    EXPECT_EQ(message(table), "'x': requires workspace, blocks and run of function 'backward'") << field;
  }
}

} // namespace
} // namespace taylor::test
