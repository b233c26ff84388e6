// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel cache, with fixture.py as the compiler.
#include "runtime/Cache.h"
#include "test/runtime/Fixture.h"
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

namespace taylor::test {
namespace {

namespace fs = std::filesystem;

class CacheTest : public testing::Test {
protected:
  TemporaryFolder folder;
  std::string cache = folder.path + "/cache", log = folder.path + "/log", spec = sourcePath("plain.mlir");

  void SetUp() override {
    for (const char *name :
         {"FIXTURE_FAIL", "FIXTURE_WARN", "FIXTURE_KILL", "FIXTURE_DELAY", "TAYLOR_CACHE_DIR"})
      unsetenv(name);
    setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    setenv("FIXTURE_LOG", log.c_str(), 1);
    setenv("TAYLORC", sourcePath("fixture.py").c_str(), 1);
  }
  int compile(std::vector<const char *> options = {}, const std::string &what = "") {
    TaylorKernel *kernel = nullptr;
    int status = taylor_compile((what.empty() ? spec : what).c_str(), options.data(), int64_t(options.size()),
                                &kernel);
    EXPECT_EQ(status == 0, kernel != nullptr);
    taylor_unload(kernel);
    return status;
  }
  /// Compilations so far.
  int64_t compilations() {
    std::string text = readBytes(log);
    return std::count(text.begin(), text.end(), '\n');
  }
  std::vector<fs::path> entries(const std::string &extension) {
    std::vector<fs::path> found;
    for (const auto &entry : fs::recursive_directory_iterator(cache))
      if (entry.path().extension() == extension)
        found.push_back(entry.path());
    return found;
  }
};

TEST_F(CacheTest, CompilesOnceForEachKey) {
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  EXPECT_EQ(compile(), 0);
  EXPECT_EQ(compilations(), 1);
  EXPECT_EQ(compile({"--dtype=f64"}), 0) << taylor_last_error();
  EXPECT_EQ(compilations(), 2);
  // The same text by another name is the same kernel; another text under the same name is not.
  std::string copy = folder.path + "/copy.mlir";
  writeBytes(copy, readBytes(spec));
  EXPECT_EQ(compile({}, copy), 0);
  EXPECT_EQ(compile({}, readBytes(spec)), 0);
  EXPECT_EQ(compilations(), 2);
  writeBytes(copy, readBytes(spec) + "// changed\n");
  EXPECT_EQ(compile({}, copy), 0);
  EXPECT_EQ(compilations(), 3);
  EXPECT_EQ(entries(".so").size(), 3u);
}

TEST_F(CacheTest, AnotherCompilerIsAnotherKey) {
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  fs::create_directories(folder.path + "/a/b/c"); // fixture.py finds artifact.h two folders above its own
  std::string script = folder.path + "/taylorc";
  writeBytes(script, "#!/bin/sh\nexec " + sourcePath("fixture.py") + " \"$@\"\n");
  chmod(script.c_str(), 0755);
  setenv("TAYLORC", script.c_str(), 1);
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  EXPECT_EQ(compilations(), 2);
}

TEST_F(CacheTest, DamagedEntryIsCompiledAgain) {
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  std::string entry = entries(".so").at(0);
  for (std::string damaged : {readBytes(entry).substr(0, 5000), std::string(), std::string("text")}) {
    int64_t before = compilations();
    writeBytes(entry, damaged);
    testing::internal::CaptureStderr();
    EXPECT_EQ(compile(), 0) << taylor_last_error();
    EXPECT_TRUE(testing::internal::GetCapturedStderr().starts_with("taylor: compiling " + spec + " again: '" +
                                                                   entry + "': expected "));
    EXPECT_EQ(compilations(), before + 1);
  }
  EXPECT_EQ(compile(), 0);
  EXPECT_EQ(compilations(), 4);
}

TEST_F(CacheTest, ManyProcessesCompileOnce) {
  setenv("FIXTURE_DELAY", "0.5", 1);
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    pid_t child = fork();
    if (child == 0)
      _exit(compile());
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(compilations(), 1);
}

TEST_F(CacheTest, ManyThreadsCompileOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] { EXPECT_EQ(compile(), 0) << taylor_last_error(); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(compilations(), 1);
}

TEST_F(CacheTest, KilledCompilerIsSurvived) {
  setenv("FIXTURE_KILL", "1", 1);
  EXPECT_EQ(compile(), 1);
  EXPECT_EQ(taylor_last_error(), "taylorc was ended by signal 9 (Killed) while it compiled " + spec);
  unsetenv("FIXTURE_KILL");
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  EXPECT_EQ(entries(".so").size(), 1u);
}

TEST_F(CacheTest, KilledProcessIsSurvived) { // its lock goes with it
  setenv("FIXTURE_DELAY", "30", 1);
  pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    _exit(compile());
  }
  for (int i = 0; i < 200 && compilations() == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kill(-child, SIGKILL); // with its compiler
  waitpid(child, nullptr, 0);
  unsetenv("FIXTURE_DELAY");
  EXPECT_EQ(compile(), 0) << taylor_last_error();
}

TEST_F(CacheTest, CompilersMessageIsPassedThrough) {
  setenv("FIXTURE_FAIL", "SPEC:3:7: error: expected a thing, but got another\n  %a = ...\n  ^", 1);
  EXPECT_EQ(compile({"--dtype=f32"}), 1);
  EXPECT_EQ(taylor_last_error(), "taylorc could not compile " + spec + " (--dtype=f32)\n" + spec +
                                     ":3:7: error: expected a thing, but got another\n  %a = ...\n  ^\n");
  EXPECT_TRUE(entries(".so").empty());
}

TEST_F(CacheTest, WarningsAreShownOnce) {
  setenv("FIXTURE_WARN", "SPEC:3:7: warning: a thing is odd", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(compile({"--dtype=f32"}), 0) << taylor_last_error();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), spec + ":3:7: warning: a thing is odd\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(compile({"--dtype=f32"}), 0) << taylor_last_error();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), ""); // from the cache
}

TEST_F(CacheTest, SlowCompilationSaysSo) {
  setenv("FIXTURE_DELAY", "2.2", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(compile({"--dtype=f32"}), 0) << taylor_last_error();
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(text.starts_with("taylor: compiling " + spec + " (--dtype=f32) ...\ntaylor: compiled " + spec +
                               " (--dtype=f32) in "))
      << text;
}

TEST_F(CacheTest, NoCompiler) {
  setenv("TAYLORC", "/nowhere/taylorc", 1);
  EXPECT_EQ(compile(), 1);
  EXPECT_STREQ(taylor_last_error(), "expected an executable file in TAYLORC, but got '/nowhere/taylorc'");
}

TEST_F(CacheTest, NoSpecification) {
  EXPECT_EQ(compile({}, "/nowhere/softmax.mlir"), 1);
  EXPECT_STREQ(taylor_last_error(),
               "expected the path of a specification or its text, but got '/nowhere/softmax.mlir', where "
               "there is no file");
}

TEST_F(CacheTest, FolderByEnvironment) {
  EXPECT_EQ(runtime::cacheFolder(), cache + "/taylor");
  setenv("TAYLOR_CACHE_DIR", "/chosen", 1);
  EXPECT_EQ(runtime::cacheFolder(), "/chosen");
  unsetenv("TAYLOR_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "relative", 1); // the XDG specification has it ignored
  setenv("HOME", "/home/x", 1);
  EXPECT_EQ(runtime::cacheFolder(), "/home/x/.cache/taylor");
}

TEST_F(CacheTest, NoFolderInTheEnvironment) {
  const char *home = std::getenv("HOME");
  std::string before = home ? home : "";
  setenv("XDG_CACHE_HOME", "relative", 1);
  unsetenv("HOME");
  EXPECT_EQ(compile(), 1);
  EXPECT_STREQ(taylor_last_error(), "requires a cache folder: set TAYLOR_CACHE_DIR, XDG_CACHE_HOME or HOME");
  if (home)
    setenv("HOME", before.c_str(), 1);
}

TEST_F(CacheTest, NullArguments) {
  TaylorKernel *kernel = nullptr;
  EXPECT_EQ(taylor_compile(nullptr, nullptr, 0, &kernel), 1);
  EXPECT_STREQ(taylor_last_error(), "requires a specification, but got a null pointer");
  EXPECT_EQ(taylor_compile(spec.c_str(), nullptr, 0, nullptr), 1);
  EXPECT_STREQ(taylor_last_error(), "requires a place for the kernel, but got a null pointer");
  EXPECT_EQ(taylor_compile(spec.c_str(), nullptr, 1, &kernel), 1);
  EXPECT_STREQ(taylor_last_error(), "requires a list of options, but got a null pointer");
  EXPECT_EQ(compile({"--dtype=f32", nullptr}), 1);
  EXPECT_STREQ(taylor_last_error(), "requires option 1, but got a null pointer");
}

TEST_F(CacheTest, FolderThatCannotBeWritten) {
  writeBytes(cache, "a file");
  EXPECT_EQ(compile(), 1);
  EXPECT_EQ(taylor_last_error(), "requires a cache folder that can be written, but got '" + cache +
                                     "/taylor/v1': set TAYLOR_CACHE_DIR or XDG_CACHE_HOME to another");
}

TEST_F(CacheTest, Manifest) {
  runtime::Specification source = runtime::Specification::read(sourcePath("gated.mlir"));
  runtime::Manifest manifest = runtime::compileManifest(source, {});
  EXPECT_EQ(manifest.inputs.size(), 5u);
  EXPECT_EQ(compilations(), 0);
  fs::path entry;
  for (const fs::path &path : entries(".json"))
    entry = path;
  writeBytes(entry, "{\"taylor\":"); // damaged: written again
  EXPECT_EQ(runtime::compileManifest(source, {}).inputs.size(), 5u);
  EXPECT_GT(readBytes(entry).size(), 100u);
}

} // namespace
} // namespace taylor::test
