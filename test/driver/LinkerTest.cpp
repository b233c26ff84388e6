// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiler without lld inside links by the machine's linkers: this program has codegen/Artifact/Linker.cpp
// without TAYLOR_LLD.
#include "codegen/Artifact/Linker.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <dlfcn.h>
#include <filesystem>
#include <fstream>

using namespace taylor;
namespace fs = std::filesystem;

namespace {
/// A folder for one test, and PATH with that folder alone.
class LinkerTest : public testing::Test {
protected:
  void SetUp() override {
    for (const char *name : {"ld.bfd", "ld.lld-22", "ld.lld"})
      if (auto path = llvm::sys::findProgramByName(name, {}); path && real.empty())
        real = *path;
    if (real.empty())
      real = *llvm::sys::findProgramByName("ld.lld", {TAYLOR_LLVM_TOOLS});
    llvm::SmallString<128> made;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("taylor-linker", made));
    folder = made.str().str();
    path = getenv("PATH");
    setenv("PATH", folder.c_str(), 1);
  }
  void TearDown() override {
    setenv("PATH", path.c_str(), 1);
    fs::remove_all(folder);
  }

  void addProgram(const std::string &name, const std::string &script) {
    std::ofstream(folder / name) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(folder / name, fs::perms::owner_all);
  }
  void addLinker(const std::string &name) { fs::create_symlink(real, folder / name); }

  /// The error's words; empty where the object was linked.
  std::string link(const std::string &name) {
    return llvm::toString(
        linkSharedObject({TAYLOR_LINKED_OBJECT}, (folder / name).string(), (folder / "messages").string()));
  }
  int call(const std::string &name) {
    void *library = dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return -1;
    int result = reinterpret_cast<int (*)()>(dlsym(library, "taylor_linked"))();
    dlclose(library);
    return result;
  }

  fs::path folder;
  std::string path, real;
};
} // namespace

TEST_F(LinkerTest, MakesASharedObject) {
  addLinker("ld");
  EXPECT_EQ(link("a.so"), "");
  EXPECT_EQ(call("a.so"), 22);
}

TEST_F(LinkerTest, TriesTheNextWhereOneFails) {
  addProgram("ld", "echo foreign linker >&2; exit 1");
  addLinker("ld.lld");
  EXPECT_EQ(link("a.so"), "");
  EXPECT_EQ(call("a.so"), 22);
}

TEST_F(LinkerTest, SaysWhatAllSaidWhereAllFail) {
  addProgram("ld", "echo foreign linker >&2; exit 1");
  EXPECT_EQ(link("a.so"), "the linker " + (folder / "ld").string() + " failed (1): foreign linker\n");
}

TEST_F(LinkerTest, SaysWhatToInstallWhereThereIsNone) {
  EXPECT_EQ(
      link("a.so"),
      "requires a linker, but found neither ld nor ld.lld in PATH; install the package binutils or lld");
}

TEST_F(LinkerTest, PassesOverWhatTheEnvironmentTellsGnusLinker) {
  addLinker("ld");
  EXPECT_EQ(link("a.so"), "");
  for (const char *name : {"LD_RUN_PATH", "LDEMULATION"})
    setenv(name, "elf_i386", 1);
  EXPECT_EQ(link("b.so"), "");
  for (const char *name : {"LD_RUN_PATH", "LDEMULATION"})
    unsetenv(name);
  auto bytes = [&](const char *name) {
    return (*llvm::MemoryBuffer::getFile((folder / name).string()))->getBuffer().str();
  };
  EXPECT_EQ(bytes("a.so"), bytes("b.so"));
}

#ifdef TAYLOR_LLD
TEST_F(LinkerTest, LinksInProcessTimeAndAgain) {
  for (const char *name : {"a.so", "b.so"}) {
    EXPECT_EQ(llvm::toString(linkInProcess({TAYLOR_LINKED_OBJECT}, (folder / name).string())), "");
    EXPECT_EQ(call(name), 22);
  }
}

TEST_F(LinkerTest, LeavesOptionsAsTheyWereSet) {
  static llvm::cl::opt<int> option("linker-test-option", llvm::cl::init(1));
  const char *arguments[] = {"LinkerTest", "--linker-test-option=7"};
  llvm::cl::ParseCommandLineOptions(2, arguments);
  EXPECT_EQ(llvm::toString(linkInProcess({TAYLOR_LINKED_OBJECT}, (folder / "a.so").string())), "");
  EXPECT_EQ(option, 7);
  EXPECT_EQ(option.getNumOccurrences(), 1);
}

TEST_F(LinkerTest, HasLldsWordsInProcess) {
  std::string text = (folder / "text.o").string(), output = (folder / "no" / "a.so").string();
  std::ofstream(text) << "no object";
  EXPECT_THAT(llvm::toString(linkInProcess({text}, (folder / "a.so").string())),
              testing::MatchesRegex("lld failed: .*text.o.*\n"));
  EXPECT_THAT(
      llvm::toString(linkInProcess({TAYLOR_LINKED_OBJECT}, output)),
      testing::MatchesRegex("lld failed: .*cannot open output file .*/no/a.so: No such file or directory\n"));
  EXPECT_FALSE(fs::exists(folder / "a.so"));
}
#endif
