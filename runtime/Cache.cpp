// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Cache.h"
#include "runtime/Cpu.h"
#include "runtime/Error.h"
#include "runtime/Hash.h"
#include "runtime/Process.h"
#include <cerrno>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace taylor::runtime {
namespace {

namespace fs = std::filesystem;

constexpr double slowSeconds = 2;    // a progress line after this
constexpr const char *layout = "v1"; // of the cache folder

std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    fail("could not read '", path, "': ", std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void writeText(const fs::path &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    fail("could not write '", path.string(), "': ", std::strerror(errno));
}

/// The compiler's identity: a hash of its file, remembered while the file stays as it is.
std::string compilerVersion(const std::string &path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    fail("could not read '", path, "': ", std::strerror(errno));
  std::ostringstream stamp;
  stamp << path << ':' << status.st_dev << ':' << status.st_ino << ':' << status.st_size << ':'
        << status.st_mtim.tv_sec << '.' << status.st_mtim.tv_nsec;
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  std::lock_guard<std::mutex> lock(mutex);
  std::string &version = known[stamp.str()];
  if (version.empty()) {
    std::string bytes = readText(path);
    version = std::to_string(wordChecksum(bytes.data(), bytes.size())) + "-" + std::to_string(bytes.size());
  }
  return version;
}

/// Name of the entry: everything that taylorc's result depends on, hashed. Each piece is led by its length,
/// so that two different lists never give the same text.
std::string entryKey(const Specification &spec, const std::vector<std::string> &options,
                     const std::string &compiler) {
  std::string text;
  auto add = [&](const std::string &piece) { text += std::to_string(piece.size()) + ":" + piece; };
  add(compilerVersion(compiler));
  add(cpuFlags()); // what --target=native means here: a home folder may be shared between machines
  add(spec.text);
  for (const std::string &option : options)
    add(option);
  return sha256(text).substr(0, 40);
}

/// An exclusive lock on a file, held until destruction or the end of the process, however it ends.
class FileLock {
public:
  FileLock(const fs::path &path, const std::string &what) {
    descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0)
      fail("could not create '", path.string(), "': ", std::strerror(errno));
    auto begin = std::chrono::steady_clock::now();
    bool told = false;
    while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR)
        fail("could not lock '", path.string(), "': ", std::strerror(errno));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
      if (!told && waited.count() > slowSeconds) {
        fprintf(stderr, "taylor: waiting for another process that compiles %s\n", what.c_str());
        told = true;
      }
    }
  }
  ~FileLock() {
    if (descriptor >= 0)
      close(descriptor);
  }
  FileLock(const FileLock &) = delete;

private:
  int descriptor = -1;
};

/// The folder of entries, created if need be; throws where it cannot be written.
fs::path entriesFolder() {
  fs::path folder = fs::path(cacheFolder()) / layout;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK | X_OK) != 0)
    fail("requires a cache folder that can be written, but got '", folder.string(),
         "': set TAYLOR_CACHE_DIR or XDG_CACHE_HOME to another");
  return folder;
}

/// `text` with the copy of a specification in the cache called by the specification's own name.
std::string renamed(std::string text, const std::string &copy, const std::string &name) {
  for (size_t at = 0; (at = text.find(copy, at)) != std::string::npos; at += name.size())
    text.replace(at, copy.size(), name);
  return text;
}

/// Runs taylorc on arguments[1]; throws with its messages. What it returns has the specification's own name.
ProcessResult runCompiler(const Specification &spec, const std::vector<std::string> &arguments,
                          const std::vector<std::string> &options) {
  std::string what = spec.name + (options.empty() ? "" : " (" + join(options, " ") + ")");
  auto begin = std::chrono::steady_clock::now();
  bool told = false;
  std::vector<std::string> quiet = arguments;
  quiet.push_back("--quiet");
  ProcessResult result = runProcess(quiet, slowSeconds, [&] {
    fprintf(stderr, "taylor: compiling %s ...\n", what.c_str());
    told = true;
  });
  result.errors = renamed(result.errors, arguments[1], spec.name);
  if (result.signal != 0)
    fail("taylorc was ended by signal ", result.signal, " (", strsignal(result.signal),
         ") while it compiled ", what, result.errors.empty() ? "" : "\n", result.errors);
  if (result.exitCode != 0)
    fail("taylorc could not compile ", what, "\n",
         result.errors.empty() ? renamed(result.output, arguments[1], spec.name) : result.errors);
  if (told) {
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    fprintf(stderr, "taylor: compiled %s in %.1f s\n", what.c_str(), seconds.count());
  }
  return result;
}

std::string pathOf(const fs::path &folder, const std::string &key, const char *suffix) {
  return (folder / (key + suffix)).string();
}

bool executable(const fs::path &path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

/// Compiles under the lock into a name of its own, checks the result, and renames it: a killed compiler
/// leaves a name that the next one overwrites, and no reader ever sees half a file.
std::shared_ptr<const Artifact> build(const Specification &spec, const std::vector<std::string> &options,
                                      const std::string &compiler, const fs::path &folder,
                                      const std::string &key) {
  std::string source = pathOf(folder, key, ".mlir"), partial = pathOf(folder, key, ".partial.so");
  std::string partialJson = pathOf(folder, key, ".partial.json");
  std::error_code ignored;
  fs::remove(partial, ignored);
  writeText(source, spec.text);
  std::vector<std::string> arguments = {compiler, source, "-o", partial};
  arguments.insert(arguments.end(), options.begin(), options.end());
  try {
    std::string warnings = runCompiler(spec, arguments, options).errors;
    Artifact::load(partial); // throws where taylorc wrote something else
    fputs(warnings.c_str(), stderr);
  } catch (const Error &) {
    fs::remove(partial, ignored);
    fs::remove(partialJson, ignored);
    fs::remove(source, ignored);
    throw;
  }
  fs::rename(partialJson, pathOf(folder, key, ".json"), ignored); // for readers only
  std::error_code error;
  fs::rename(partial, pathOf(folder, key, ".so"), error);
  if (error)
    fail("could not rename '", partial, "': ", error.message());
  return Artifact::load(pathOf(folder, key, ".so"));
}

/// Runs taylorc for its standard output, on a copy of the specification that carries the key's name.
std::string printLevel(const Specification &spec, const std::string &level,
                       const std::vector<std::string> &options, const std::string &compiler,
                       const fs::path &folder, const std::string &key) {
  std::string source = pathOf(folder, key, ".mlir");
  writeText(source, spec.text);
  std::vector<std::string> arguments = {compiler, source, "--emit=" + level};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return runCompiler(spec, arguments, options).output;
}

} // namespace

Specification Specification::read(const std::string &spec) {
  if (spec.find('\n') != std::string::npos || spec.find("taylor.spec") != std::string::npos)
    return {spec, "specification text"};
  std::error_code error;
  if (!fs::is_regular_file(spec, error))
    fail("expected the path of a specification or its text, but got '", spec, "', where there is no file");
  return {readText(spec), spec};
}

std::string cacheFolder() {
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (std::string folder = variable("TAYLOR_CACHE_DIR"); !folder.empty())
    return folder;
  // The XDG specification says to ignore relative paths.
  if (std::string folder = variable("XDG_CACHE_HOME"); !folder.empty() && folder[0] == '/')
    return folder + "/taylor";
  if (std::string home = variable("HOME"); !home.empty())
    return home + "/.cache/taylor";
  fail("requires a cache folder: set TAYLOR_CACHE_DIR, XDG_CACHE_HOME or HOME");
}

std::string findCompiler() {
  if (const char *chosen = std::getenv("TAYLORC"); chosen && *chosen) {
    if (!executable(chosen))
      fail("expected an executable file in TAYLORC, but got '", chosen, "'");
    return chosen;
  }
  std::vector<fs::path> folders;
  std::error_code error;
  auto beside = [&](const fs::path &file) {
    folders.push_back(file.parent_path());
    folders.push_back(file.parent_path().parent_path() / "bin");
  };
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&findCompiler), &info) && info.dli_fname)
    beside(fs::absolute(info.dli_fname, error));
  beside(fs::read_symlink("/proc/self/exe", error));
  if (const char *path = std::getenv("PATH")) {
    std::istringstream list(path);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty())
        folders.push_back(folder);
  }
  for (const fs::path &folder : folders)
    if (executable(folder / "taylorc"))
      return (folder / "taylorc").string();
  fail("requires taylorc to compile a specification, but found it neither beside this program nor in PATH: "
       "set TAYLORC "
       "to its path");
}

std::shared_ptr<const Artifact> compile(const Specification &spec, const std::vector<std::string> &options) {
  std::string compiler = findCompiler();
  std::string key = entryKey(spec, options, compiler);
  fs::path folder = entriesFolder();
  std::string entry = pathOf(folder, key, ".so");
  auto tryEntry = [&]() -> std::shared_ptr<const Artifact> {
    std::error_code error;
    if (!fs::exists(entry, error))
      return nullptr;
    try {
      return Artifact::load(entry);
    } catch (const Error &damage) {
      fprintf(stderr, "taylor: compiling %s again: %s\n", spec.name.c_str(), damage.what());
      return nullptr;
    }
  };
  if (auto artifact = tryEntry())
    return artifact;
  FileLock lock(pathOf(folder, key, ".lock"), spec.name);
  if (auto artifact = tryEntry()) // another process was faster
    return artifact;
  return build(spec, options, compiler, folder, key);
}

Manifest compileManifest(const Specification &spec, const std::vector<std::string> &options) {
  std::vector<std::string> all = {"--emit=manifest"};
  all.insert(all.end(), options.begin(), options.end());
  std::string compiler = findCompiler();
  std::string key = entryKey(spec, all, compiler);
  fs::path folder = entriesFolder();
  std::string entry = pathOf(folder, key, ".manifest.json");
  std::error_code error;
  if (fs::exists(entry, error))
    try {
      return Manifest::parse(readText(entry), /*partial=*/true);
    } catch (const Error &) { // a damaged entry is written again
    }
  FileLock lock(pathOf(folder, key, ".lock"), spec.name);
  std::string partial = pathOf(folder, key, ".partial.json");
  std::string json = printLevel(spec, "manifest", options, compiler, folder, key);
  Manifest manifest = Manifest::parse(json, /*partial=*/true);
  writeText(partial, json);
  fs::rename(partial, entry, error);
  return manifest;
}

std::string compileText(const Specification &spec, const std::string &level,
                        const std::vector<std::string> &options) {
  std::vector<std::string> all = {"--emit=" + level};
  all.insert(all.end(), options.begin(), options.end());
  std::string compiler = findCompiler();
  std::string key = entryKey(spec, all, compiler);
  fs::path folder = entriesFolder();
  FileLock lock(pathOf(folder, key, ".lock"), spec.name);
  return printLevel(spec, level, options, compiler, folder, key);
}

} // namespace taylor::runtime
