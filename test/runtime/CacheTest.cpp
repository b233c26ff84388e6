// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel cache, with fixture.py as the compiler.
#include "runtime/Cache.h"
#include "runtime/CacheFolder.h"
#include "test/runtime/Fixture.h"
#include <fcntl.h>
#include <linux/capability.h>
#include <regex>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
    for (const char *name : {"FIXTURE_FAIL", "FIXTURE_WARN", "FIXTURE_KILL", "FIXTURE_DELAY",
                             "TAYLOR_CACHE_DIR", "TAYLOR_LOCK_SECONDS"})
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
  /// What compile() says on stderr, besides the progress of a compilation that takes long, as on a busy
  /// machine.
  std::string compileAndListen(std::vector<const char *> options = {}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(compile(std::move(options)), 0) << taylor_last_error();
    static const std::regex progress("taylor: compil(ing|ed) [^\n]* (\\.\\.\\.|in [0-9.]+ s)\n");
    return std::regex_replace(testing::internal::GetCapturedStderr(), progress, "");
  }
  std::string folderOfEntries() const { return cache + "/taylor/v2"; }
  /// The name of the only entry, without its ending.
  std::string onlyKey() { return entries(".so").at(0).stem(); }
  void expectRefusal(const std::string &message) {
    int64_t before = compilations();
    EXPECT_EQ(compile(), 1);
    EXPECT_EQ(taylor_last_error(), message);
    EXPECT_EQ(compilations(), before);
  }
  const std::string wayOut = "set TAYLOR_CACHE_DIR to a folder of your own";
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
    std::string text = compileAndListen();
    EXPECT_TRUE(text.starts_with("taylor: compiling " + spec + " again: '" + entry + "': expected ")) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    EXPECT_EQ(compilations(), before + 1);
  }
  EXPECT_EQ(compile(), 0);
  EXPECT_EQ(compilations(), 4);
}

TEST_F(CacheTest, EntryOfAnotherKeyIsCompiledAgain) {
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  std::string key = onlyKey(), entry = entries(".so").at(0), own = readBytes(entry);
  EXPECT_EQ(compile({"--mask=bidirectional"}), 0) << taylor_last_error();
  std::string other;
  for (const fs::path &path : entries(".so"))
    if (path.stem() != key)
      other = path;
  // Both are whole artifacts with the same tensors: taken for each other, they would give wrong results.
  fs::copy_file(other, entry, fs::copy_options::overwrite_existing);
  EXPECT_EQ(compileAndListen(), "taylor: compiling " + spec + " again: '" + entry +
                                    "': expected the entry of key " + key + ", but got that of key " +
                                    fs::path(other).stem().string() + "\n");
  EXPECT_EQ(readBytes(entry), own);
  fs::copy_file(fixturePath("plain"), entry, fs::copy_options::overwrite_existing);
  EXPECT_EQ(compileAndListen(),
            "taylor: compiling " + spec + " again: '" + entry +
                "': expected an entry of the kernel cache, but got an artifact without a key\n");
  EXPECT_EQ(readBytes(entry), own);
}

TEST_F(CacheTest, FolderThatOthersMayWrite) {
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  chmod(folderOfEntries().c_str(), 0777);
  expectRefusal("expected '" + folderOfEntries() +
                "' in the kernel cache to be writable by its owner alone, but got mode 0777: run chmod go-w "
                "on it, or " +
                wayOut);
  chmod(folderOfEntries().c_str(), 0775); // a group is others, too
  EXPECT_EQ(compile(), 1);
  chmod(folderOfEntries().c_str(), 0755);
  chmod((cache + "/taylor").c_str(), 0777);
  expectRefusal(
      "expected '" + cache +
      "/taylor' in the kernel cache to be writable by its owner alone, but got mode 0777: run chmod go-w on "
      "it, or " +
      wayOut);
  chmod((cache + "/taylor").c_str(), 0755);
  chmod(cache.c_str(), 0777);
  expectRefusal("expected folders above the kernel cache that not everyone may write, but got '" + cache +
                "': run chmod o-w on it, or " + wayOut);
  chmod(cache.c_str(), 01777); // as /tmp: no one renames what is another's
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  EXPECT_EQ(compilations(), 1);
}

TEST_F(CacheTest, FoldersAreNotWritableByOthersWhateverTheUmask) {
  mode_t before = umask(0);
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  umask(before);
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  for (const auto &entry : fs::recursive_directory_iterator(cache))
    if (entry.path().extension() != ".json") // of taylorc, for readers
      EXPECT_EQ(entry.status().permissions() & (fs::perms::group_write | fs::perms::others_write),
                fs::perms::none)
          << entry.path();
}

TEST_F(CacheTest, EntryThatOthersMayWrite) {
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  std::string entry = entries(".so").at(0);
  chmod(entry.c_str(), 0666);
  expectRefusal("expected '" + entry +
                "' in the kernel cache to be writable by its owner alone, but got mode 0666: remove it, or " +
                wayOut);
}

TEST_F(CacheTest, EntryOfAnotherUser) {
  if (geteuid() != 0)
    GTEST_SKIP() << "requires root, who can give a file to another user";
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  std::string entry = entries(".so").at(0);
  for (const std::string &path : {entry, folderOfEntries(), cache + "/taylor"}) {
    ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
    expectRefusal("expected '" + path +
                  "' in the kernel cache to belong to user 0 or root, but got user 65534: remove it, or " +
                  wayOut);
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
}

TEST_F(CacheTest, LinksAreNotFollowed) {
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  std::string entry = entries(".so").at(0), stem = folderOfEntries() + "/" + onlyKey();
  std::string victim = folder.path + "/victim", moved = folder.path + "/moved.so";
  writeBytes(victim, "precious");
  // A whole entry that a link leads to.
  fs::rename(entry, moved);
  fs::create_symlink(moved, entry);
  expectRefusal("expected a file that can be read as '" + entry +
                "', but got: it is a symbolic link: remove it, or " + wayOut);
  fs::remove(entry);
  // The specification and what taylorc writes replace links.
  for (const char *suffix : {".mlir", ".mlir.partial", ".so.partial", ".compiled.so"}) {
    fs::remove(stem + suffix);
    fs::create_symlink(victim, stem + suffix);
  }
  fs::remove(stem + ".lock");
  fs::create_symlink(folder.path + "/created", stem + ".lock");
  expectRefusal("expected a file that can be written as '" + stem +
                ".lock', but got: it is a symbolic link: remove it, or " + wayOut);
  EXPECT_FALSE(fs::exists(folder.path + "/created"));
  fs::remove(stem + ".lock");
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  EXPECT_EQ(readBytes(victim), "precious");
  // The folder itself.
  fs::rename(folderOfEntries(), folder.path + "/elsewhere");
  fs::create_directory_symlink(folder.path + "/elsewhere", folderOfEntries());
  expectRefusal("expected a folder that can be opened as '" + folderOfEntries() +
                "', but got: it is a symbolic link: remove it, or " + wayOut);
}

TEST_F(CacheTest, PipeInPlaceOfAnEntry) {
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  std::string entry = entries(".so").at(0);
  fs::remove(entry);
  ASSERT_EQ(mkfifo(entry.c_str(), 0600), 0);
  expectRefusal("expected a regular file as '" + entry + "', but got something else: remove it, or " +
                wayOut);
}

/// Another process that holds the lock of a key until it is killed.
static pid_t holdLock(const std::string &path) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    int lock = open(path.c_str(), O_RDWR | O_CREAT, 0644);
    _exit(flock(lock, LOCK_EX) == 0 && write(ready[1], "x", 1) == 1 ? pause() : 1);
  }
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  return child;
}

TEST_F(CacheTest, LockIsWaitedForWithALimit) {
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  std::string lock = folderOfEntries() + "/" + onlyKey() + ".lock";
  fs::remove(entries(".so").at(0));
  pid_t holder = holdLock(lock);
  setenv("TAYLOR_LOCK_SECONDS", "2.2", 1);
  testing::internal::CaptureStderr();
  expectRefusal(
      "requires the lock '" + lock + "' to compile " + spec + ", but process " + std::to_string(holder) +
      " has held it for 2.2 s: wait for that process or end it; TAYLOR_LOCK_SECONDS sets how long to wait");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "taylor: waiting for process " + std::to_string(holder) +
                                                        ", which compiles " + spec + "; at most 2.2 s\n");
  setenv("TAYLOR_LOCK_SECONDS", "soon", 1);
  expectRefusal("expected a number of seconds from 0 to 1000000 in TAYLOR_LOCK_SECONDS, but got 'soon'");
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  unsetenv("TAYLOR_LOCK_SECONDS");
  EXPECT_EQ(compile(), 0) << taylor_last_error();
}

TEST_F(CacheTest, ReadOnlyFolderWithTheEntry) {
  // The compiler where any user finds it: the entry is there, so it does not run.
  chmod(folder.path.c_str(), 0755);
  std::string script = folder.path + "/taylorc";
  writeBytes(script, "#!/bin/sh\nexec " + sourcePath("fixture.py") + " \"$@\"\n");
  chmod(script.c_str(), 0755);
  setenv("TAYLORC", script.c_str(), 1);
  std::string text = readBytes(spec);
  EXPECT_EQ(compile({}, text), 0) << taylor_last_error();
  runtime::Specification source = runtime::Specification::read(text);
  runtime::compileManifest(source, {});
  chmod(folderOfEntries().c_str(), 0555);
  pid_t child = fork();
  if (child == 0) {
    // Root may write everywhere until it gives its capabilities up. It stays root: another user may not be
    // let into the folder that holds this one.
    __user_cap_header_struct version = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
    if (syscall(SYS_capset, &version, none) != 0)
      _exit(2);
    bool works = compile({}, text) == 0 && runtime::compileManifest(source, {}).inputs.size() == 3;
    bool refuses = compile({"--dtype=f64"}, text) == 1 &&
                   taylor_last_error() == "requires a cache folder that can be written, but got '" +
                                              folderOfEntries() +
                                              "': set TAYLOR_CACHE_DIR or XDG_CACHE_HOME to another";
    if (!works || !refuses)
      fprintf(stderr, "%s\n", taylor_last_error());
    _exit(works && refuses ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  chmod(folderOfEntries().c_str(), 0755);
}

TEST_F(CacheTest, ForkWhileAThreadCompiles) {
  setenv("FIXTURE_DELAY", "1", 1);
  std::thread compiling([&] { EXPECT_EQ(compile(), 0) << taylor_last_error(); });
  for (int i = 0; i < 500 && compilations() == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  pid_t same = fork();
  if (same == 0) {
    alarm(60);
    _exit(compile());
  }
  pid_t idle = fork();
  if (idle == 0)
    _exit(pause());
  compiling.join();
  int status = -1;
  waitpid(same, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(compilations(), 1);
  // A child that lives on holds no lock of its parent.
  unsetenv("FIXTURE_DELAY");
  setenv("TAYLOR_LOCK_SECONDS", "0", 1);
  fs::remove(entries(".so").at(0));
  EXPECT_EQ(compile(), 0) << taylor_last_error();
  kill(idle, SIGKILL);
  waitpid(idle, nullptr, 0);
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
                                     "/taylor/v2': set TAYLOR_CACHE_DIR or XDG_CACHE_HOME to another");
}

TEST_F(CacheTest, Manifest) {
  runtime::Specification source = runtime::Specification::read(sourcePath("gated.mlir"));
  runtime::Manifest manifest = runtime::compileManifest(source, {});
  EXPECT_EQ(manifest.inputs.size(), 5u);
  EXPECT_EQ(compilations(), 0);
  std::string entry = entries(".manifest").at(0), whole = readBytes(entry);
  std::string key = fs::path(entry).stem();
  runtime::compileManifest(runtime::Specification::read(spec), {});
  std::string other;
  for (const fs::path &path : entries(".manifest"))
    if (path != entry)
      other = path;
  std::string changed = whole;
  changed[changed.find("fixture")] = 'F';
  for (std::string damaged : {std::string("{\"taylor\":"), std::string(), changed, readBytes(other)}) {
    writeBytes(entry, damaged);
    testing::internal::CaptureStderr();
    EXPECT_EQ(runtime::compileManifest(source, {}).inputs.size(), 5u);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "taylor: compiling " + source.name + " again: '" +
                                                          entry + "': expected the entry of key " + key +
                                                          ", but got another one or a damaged one\n");
    EXPECT_EQ(readBytes(entry), whole);
  }
}

TEST_F(CacheTest, SpecificationByAPathWithALineBreak) {
  std::string odd = folder.path + "/two\nlines.mlir";
  writeBytes(odd, readBytes(spec));
  EXPECT_EQ(compile({}, odd), 0) << taylor_last_error();
  EXPECT_EQ(compile({}, folder.path), 1);
  EXPECT_EQ(taylor_last_error(), "expected the path of a specification or its text, but got '" + folder.path +
                                     "', where there is something else than a file");
  std::string pipe = folder.path + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(compile({}, pipe), 1);
  EXPECT_EQ(taylor_last_error(), "expected the path of a specification or its text, but got '" + pipe +
                                     "', where there is something else than a file");
}

} // namespace
} // namespace taylor::test
