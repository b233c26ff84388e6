// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Cache.h"
#include "runtime/CacheFolder.h"
#include "runtime/Cpu.h"
#include "runtime/Error.h"
#include "runtime/File.h"
#include "runtime/Fork.h"
#include "runtime/Hash.h"
#include "runtime/Process.h"
#include "runtime/SlowWork.h"
#include <cerrno>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace taylor::runtime {
namespace {

namespace fs = std::filesystem;

std::string readText(const std::string &path) {
  try {
    return readFile(path);
  } catch (const Error &error) {
    fail("could not read '", path, "': ", error.what());
  }
}

BriefMutex versionsMutex;

/// The compiler's identity: a hash of its file, remembered while the file stays as it is.
std::string compilerVersion(const std::string &path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    fail("could not read '", path, "': ", std::strerror(errno));
  std::ostringstream stamp;
  stamp << path << ':' << status.st_dev << ':' << status.st_ino << ':' << status.st_size << ':'
        << status.st_mtim.tv_sec << '.' << status.st_mtim.tv_nsec;
  static auto *known =
      new std::map<std::string, std::string>; // a thread may still run while the process ends
  {
    std::lock_guard lock(versionsMutex);
    if (auto found = known->find(stamp.str()); found != known->end())
      return found->second;
  }
  std::string bytes = readText(path);
  std::string version =
      std::to_string(wordChecksum(bytes.data(), bytes.size())) + "-" + std::to_string(bytes.size());
  std::lock_guard lock(versionsMutex);
  return (*known)[stamp.str()] = version;
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

/// What stands in an entry before the artifact's trailer, which counts it among the bytes before it: for
/// which key it was compiled. So an entry that got another one's name is not taken for it.
struct KeySeal {
  char magic[8];
  char key[40];
};
constexpr char kSealMagic[8] = {'T', 'A', 'Y', 'L', 'K', 'E', 'Y', '1'};

/// An artifact of taylorc as an entry of a key.
std::string seal(const std::string &artifact, const std::string &key) {
  KeySeal seal;
  std::memcpy(seal.magic, kSealMagic, sizeof(seal.magic));
  std::memcpy(seal.key, key.data(), sizeof(seal.key));
  std::string bytes = artifact.substr(0, artifact.size() - sizeof(TaylorTrailer));
  bytes.append(reinterpret_cast<const char *>(&seal), sizeof(seal));
  TaylorTrailer trailer = {TAYLOR_ARTIFACT_MAGIC, TAYLOR_ARTIFACT_ABI, bytes.size(),
                           wordChecksum(bytes.data(), bytes.size())};
  bytes.append(reinterpret_cast<const char *>(&trailer), sizeof(trailer));
  return bytes;
}

/// Throws Error unless an intact entry is that of the key.
void checkSeal(const std::string &entry, const std::string &key, const std::string &path) {
  KeySeal seal = {};
  if (entry.size() >= sizeof(seal) + sizeof(TaylorTrailer))
    std::memcpy(&seal, entry.data() + entry.size() - sizeof(TaylorTrailer) - sizeof(seal), sizeof(seal));
  if (std::memcmp(seal.magic, kSealMagic, sizeof(seal.magic)) != 0)
    fail("'", path, "': expected an entry of the kernel cache, but got an artifact without a key");
  if (std::string found(seal.key, sizeof(seal.key)); found != key)
    fail("'", path, "': expected the entry of key ", key, ", but got that of key ", found);
}

/// A manifest as an entry: a line that says for which key and text it is, and the text.
std::string manifestEntry(const std::string &json, const std::string &key) {
  return sha256(key + "\n" + json) + "\n" + json;
}

Manifest readManifestEntry(const std::string &entry, const std::string &key, const std::string &path) {
  size_t line = entry.find('\n');
  std::string json = line == std::string::npos ? "" : entry.substr(line + 1);
  if (manifestEntry(json, key) != entry)
    fail("'", path, "': expected the entry of key ", key, ", but got another one or a damaged one");
  return Manifest::parse(json, /*partial=*/true);
}

void reportDamage(const Specification &spec, const Error &damage) {
  fprintf(stderr, "taylor: compiling %s again: %s\n", spec.name.c_str(), damage.what());
}

/// A folder for one run of the compiler, removed at the end.
class CompileFolder {
public:
  CompileFolder() {
    std::error_code error;
    path = (fs::temp_directory_path(error) / "taylor-XXXXXX").string();
    if (error || !mkdtemp(path.data()))
      fail("requires a folder for temporary files, but got '", path,
           "': ", error ? error.message() : std::strerror(errno), "; set TMPDIR to another");
  }
  CompileFolder(const CompileFolder &) = delete;
  ~CompileFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string path;
};

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
  ProcessResult result = runProcess(quiet, kPatience, [&] {
    fprintf(stderr, "taylor: compiling %s ...\n", what.c_str());
    told = true;
  });
  result.errors = renamed(result.errors, arguments[1], spec.name);
  if (result.signal != 0)
    fail("taylorc was ended by signal ", result.signal, " (", strsignal(result.signal),
         ") while it compiled ", what, result.errors.empty() ? "" : "\n", result.errors);
  if (result.exitCode != 0) {
    std::string message =
        "taylorc could not compile " + what + "\n" +
        (result.errors.empty() ? renamed(result.output, arguments[1], spec.name) : result.errors);
    if (result.exitCode == TAYLOR_REFUSED)
      throw Refused(message);
    throw Error(message);
  }
  if (told) {
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    fprintf(stderr, "taylor: compiled %s in %.1f s\n", what.c_str(), seconds.count());
  }
  return result;
}

bool executable(const fs::path &path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

/// Compiles under the lock into its own name, checks the result, and makes an entry of it: a killed
/// compiler leaves a name that the next one overwrites, and no reader ever sees half a file.
std::shared_ptr<const Artifact> build(const Specification &spec, const std::vector<std::string> &options,
                                      const std::string &compiler, const CacheFolder &folder,
                                      const std::string &key) {
  std::string source = key + ".mlir", partial = key + ".compiled.so", partialJson = key + ".compiled.json";
  folder.remove(partial);
  folder.write(source, spec.text);
  std::vector<std::string> arguments = {compiler, folder.pathOf(source), "-o", folder.pathOf(partial)};
  arguments.insert(arguments.end(), options.begin(), options.end());
  std::shared_ptr<const Artifact> artifact;
  try {
    std::string warnings = runCompiler(spec, arguments, options).errors;
    std::string bytes = folder.readOutput(partial);
    Artifact::fromBytes(folder.pathOf(partial), bytes); // throws where taylorc wrote something else
    std::string entry = key + ".so";
    bytes = seal(bytes, key);
    artifact = Artifact::fromBytes(folder.pathOf(entry), bytes);
    folder.write(entry, bytes);
    fputs(warnings.c_str(), stderr);
  } catch (const Error &) {
    for (const std::string &name : {partial, partialJson, source})
      folder.remove(name);
    throw;
  }
  folder.remove(partial);
  try {
    folder.rename(partialJson, key + ".json");
  } catch (const Error &) { // for readers only
  }
  return artifact;
}

/// Runs taylorc for its standard output, on a copy of the specification.
std::string printLevel(const Specification &spec, const std::string &level,
                       const std::vector<std::string> &options, const std::string &compiler) {
  CompileFolder folder;
  std::string source = folder.path + "/specification.mlir";
  std::ofstream file(source, std::ios::binary);
  file << spec.text;
  file.close();
  if (!file)
    fail("could not write '", source, "': ", std::strerror(errno), "; set TMPDIR to another folder");
  std::vector<std::string> arguments = {compiler, source, "--emit=" + level};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return runCompiler(spec, arguments, options).output;
}

} // namespace

Specification Specification::read(const std::string &spec) {
  if (spec.find("taylor.spec") != std::string::npos)
    return {spec, "specification text"};
  std::error_code error;
  if (fs::is_regular_file(spec, error))
    return {readText(spec), spec};
  if (spec.find('\n') != std::string::npos)
    return {spec, "specification text"};
  fail("expected the path of a specification or its text, but got '", spec, "', where there is ",
       fs::exists(spec, error) ? "something else than a file" : "no file");
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
  std::string key = entryKey(spec, options, compiler), entry = key + ".so";
  CacheFolder folder;
  bool isReported = false;
  auto tryEntry = [&]() -> std::shared_ptr<const Artifact> {
    std::optional<std::string> bytes = folder.read(entry);
    if (!bytes)
      return nullptr;
    try {
      std::string path = folder.pathOf(entry);
      Artifact::check(path, *bytes); // before its code runs
      checkSeal(*bytes, key, path);
      return Artifact::fromBytes(path, *bytes);
    } catch (const Error &damage) {
      if (!isReported)
        reportDamage(spec, damage);
      isReported = true;
      return nullptr;
    }
  };
  if (auto artifact = tryEntry())
    return artifact;
  folder.requireWritable();
  CompileLock lock(folder, key + ".lock", spec.name);
  if (auto artifact = tryEntry()) // another process was faster
    return artifact;
  return build(spec, options, compiler, folder, key);
}

Manifest compileManifest(const Specification &spec, const std::vector<std::string> &options) {
  std::vector<std::string> all = {"--emit=manifest"};
  all.insert(all.end(), options.begin(), options.end());
  std::string compiler = findCompiler();
  std::string key = entryKey(spec, all, compiler), entry = key + ".manifest";
  CacheFolder folder;
  if (std::optional<std::string> text = folder.read(entry))
    try {
      return readManifestEntry(*text, key, folder.pathOf(entry));
    } catch (const Error &damage) {
      reportDamage(spec, damage);
    }
  folder.requireWritable();
  CompileLock lock(folder, key + ".lock", spec.name);
  std::string json = printLevel(spec, "manifest", options, compiler);
  Manifest manifest = Manifest::parse(json, /*partial=*/true);
  folder.write(entry, manifestEntry(json, key));
  return manifest;
}

std::string compileText(const Specification &spec, const std::string &level,
                        const std::vector<std::string> &options) {
  return printLevel(spec, level, options, findCompiler());
}

} // namespace taylor::runtime
