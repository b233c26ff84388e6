// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ArtifactFile.h"
#include "runtime/Call.h"
#include "runtime/Cpu.h"
#include "runtime/DeviceCode.h"
#include "runtime/Error.h"
#include "runtime/File.h"
#include "runtime/Forms.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <iomanip>
#include <sys/mman.h>
#include <unistd.h>

namespace taylor::runtime {
namespace {

std::string hex(uint64_t value) {
  std::ostringstream text;
  text << "0x" << std::hex << std::setw(16) << std::setfill('0') << value;
  return text.str();
}

/// Checks everything that can be checked without loading: ELF header, trailer, checksum. Returns the last.
uint64_t checkBytes(const std::string &bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header) + sizeof(TaylorTrailer) ||
      std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    fail("expected an artifact of taylorc (an ELF shared object), but got a foreign or truncated file of ",
         bytes.size(), " bytes");
  std::memcpy(&header, bytes.data(), sizeof(header));
  TaylorTrailer trailer;
  std::memcpy(&trailer, bytes.data() + bytes.size() - sizeof(trailer), sizeof(trailer));
  if (trailer.magic != TAYLOR_ARTIFACT_MAGIC)
    fail("expected a trailer with magic ", hex(TAYLOR_ARTIFACT_MAGIC), ", but got ", hex(trailer.magic),
         ": the file is truncated or not an artifact of taylorc");
  if (trailer.abi != TAYLOR_ARTIFACT_ABI)
    fail("expected ABI ", TAYLOR_ARTIFACT_ABI, ", but got ABI ", trailer.abi,
         ": compile it again with the taylorc of this version");
  uint64_t size = bytes.size() - sizeof(trailer);
  if (trailer.size != size)
    fail("expected ", trailer.size, " bytes before the trailer, but got ", size, ": the file is damaged");
  uint64_t checksum = wordChecksum(bytes.data(), size);
  if (trailer.checksum != checksum)
    fail("expected checksum ", hex(trailer.checksum), ", but got ", hex(checksum), ": the file is damaged");
#if defined(__x86_64__)
  const Elf64_Half machine = EM_X86_64;
#elif defined(__aarch64__)
  const Elf64_Half machine = EM_AARCH64;
#endif
  if (header.e_machine != machine)
    fail("expected ELF machine ", machine, " as on this computer, but got ", header.e_machine,
         ": compile it again on this computer");
  return checksum;
}

/// A private copy of the bytes that the dynamic loader can open: neither a later write to the file nor its
/// truncation reaches a running kernel, and what is loaded is what was checked. The descriptor must stay open
/// while the library is loaded: the loader takes two files of one name (/proc/self/fd/N) for the same
/// library.
int privateCopy(const std::string &bytes, const std::string &name) {
  int descriptor = memfd_create(name.c_str(), MFD_CLOEXEC);
  if (descriptor < 0)
    fail("could not create a memory file: ", std::strerror(errno));
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      std::string reason = std::strerror(errno);
      close(descriptor);
      fail("could not copy it to memory: ", reason);
    }
    done += size_t(count);
  }
  return descriptor;
}

/// What the table points to; numbers and names are compared with the manifest later.
void checkPointers(const TaylorArtifact &table) {
  if (!table.manifest || table.manifest_size < 0 || table.function_count < 0 || table.image_count < 0 ||
      (table.function_count > 0 && !table.functions) || (table.image_count > 0 && !table.images))
    fail("requires a manifest, functions and images in '", TAYLOR_ARTIFACT_SYMBOL, "'");
  for (int64_t i = 0; i < table.function_count; ++i)
    if (!table.functions[i].target || !table.functions[i].name)
      fail("requires a target and a name of function ", i, " in '", TAYLOR_ARTIFACT_SYMBOL, "'");
  for (int64_t i = 0; i < table.image_count; ++i)
    if (!table.images[i].target)
      fail("requires a target of image ", i, " in '", TAYLOR_ARTIFACT_SYMBOL, "'");
}

void checkFunction(const std::string &name, const FormCode &code, const TaylorFunction &entry) {
  if (!entry.workspace || !entry.blocks || !entry.run || entry.kernels < 0 || entry.scratch < 0)
    fail("requires workspace, blocks and run of function '", name, "'");
  if (int64_t(code.kernels.size()) != entry.kernels)
    fail("expected ", code.kernels.size(), " kernels of function '", name, "' as in the manifest, but got ",
         entry.kernels);
}

/// The table's entry of a function for a target of the manifest.
const TaylorFunction &findFunction(const TaylorArtifact &table, const TargetInfo &target,
                                   const std::string &name) {
  for (int64_t i = 0; i < table.function_count; ++i)
    if (target.name == table.functions[i].target && name == table.functions[i].name)
      return table.functions[i];
  fail("requires function '", name, "' for target '", target.name, "', which the manifest names");
}

/// The images, each of a target of the manifest that is a GPU, and one at least for each such target.
std::vector<cuda::Image> readImages(const TaylorArtifact &table, const Manifest &manifest) {
  std::vector<cuda::Image> images;
  for (int64_t i = 0; i < table.image_count; ++i) {
    const TaylorImage &image = table.images[i];
    const TargetInfo *target = manifest.target(image.target);
    if (!target || target->kind != TargetInfo::Kind::Ptx)
      fail("expected images of the manifest's GPUs, but got one for '", image.target, "'");
    if (image.kind != TAYLOR_IMAGE_PTX && image.kind != TAYLOR_IMAGE_CUBIN)
      fail("expected an image of kind 0 (PTX) or 1 (cubin) for target '", image.target, "', but got ",
           image.kind);
    bool isPtx = image.kind == TAYLOR_IMAGE_PTX;
    auto *bytes = static_cast<const char *>(image.bytes);
    if (!bytes || image.size <= 0 || (isPtx && bytes[image.size] != '\0'))
      fail("requires the bytes of the image for target '", image.target, "'",
           isPtx ? ", followed by a zero byte" : "");
    for (const cuda::Image &other : images)
      if (other.target == image.target && other.isPtx == isPtx)
        fail("expected one ", isPtx ? "PTX text" : "cubin", " for target '", image.target, "', but got two");
    images.push_back({image.target, isPtx, {bytes, size_t(image.size)}});
  }
  for (const TargetInfo &target : manifest.targets)
    if (target.kind == TargetInfo::Kind::Ptx &&
        std::ranges::find(images, target.name, &cuda::Image::target) == images.end())
      fail("requires an image for target '", target.name, "', which the manifest names");
  return images;
}

} // namespace

uint64_t wordChecksum(const void *data, size_t size) {
  const char *bytes = static_cast<const char *>(data);
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i, std::min<size_t>(8, size - i));
    hash = (hash ^ word) * 0x100000001b3ULL;
  }
  return hash;
}

bool Artifact::intact(const std::string &path) {
  try {
    checkBytes(readFile(path));
    return true;
  } catch (const Error &) {
    return false;
  }
}

/// What `body` returns; errors begin with the path.
template <typename Body> static auto naming(const std::string &path, Body body) {
  try {
    return body();
  } catch (const Error &error) {
    fail("'", path, "': ", error.what());
  }
}

void Artifact::check(const std::string &path, const std::string &bytes) {
  naming(path, [&] { return checkBytes(bytes); });
}

std::shared_ptr<const Artifact> Artifact::load(const std::string &path) {
  return fromBytes(path, naming(path, [&] { return readFile(path); }));
}

std::shared_ptr<const Artifact> Artifact::fromBytes(const std::string &path, const std::string &bytes) {
  std::shared_ptr<Artifact> artifact(new Artifact());
  artifact->file = path;
  naming(path, [&] {
    artifact->sum = checkBytes(bytes);
    artifact->descriptor = privateCopy(bytes, path.substr(path.rfind('/') + 1).substr(0, 200));
    std::string name = "/proc/self/fd/" + std::to_string(artifact->descriptor);
    artifact->library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!artifact->library)
      fail("the dynamic loader refuses it: ", dlerror());
    auto *table = static_cast<const TaylorArtifact *>(dlsym(artifact->library, TAYLOR_ARTIFACT_SYMBOL));
    if (!table)
      fail("requires the symbol '", TAYLOR_ARTIFACT_SYMBOL, "'");
    artifact->readTable(*table);
  });
  return artifact;
}

std::shared_ptr<const Artifact> Artifact::fromTable(const std::string &path, const TaylorArtifact &table) {
  std::shared_ptr<Artifact> artifact(new Artifact());
  artifact->file = path;
  naming(path, [&] { artifact->readTable(table); });
  return artifact;
}

void Artifact::readTable(const TaylorArtifact &table) {
  if (table.magic != TAYLOR_ARTIFACT_MAGIC)
    fail("expected magic ", hex(TAYLOR_ARTIFACT_MAGIC), " in '", TAYLOR_ARTIFACT_SYMBOL, "', but got ",
         hex(table.magic));
  if (table.abi != TAYLOR_ARTIFACT_ABI)
    fail("expected ABI ", TAYLOR_ARTIFACT_ABI, ", but got ABI ", table.abi,
         ": compile it again with the taylorc of this version");
  checkPointers(table);
  contents = Manifest::parse({table.manifest, size_t(table.manifest_size)});

  for (const FunctionInfo &info : contents.functions)
    if (info.slots.size() > kMaxTensors)
      fail("expected at most ", kMaxTensors, " tensors of function '", info.name, "', but got ",
           info.slots.size());
  if (std::vector<cuda::Image> images = readImages(table, contents); !images.empty())
    code = std::make_unique<DeviceCode>(file, contents, std::move(images));
  chooseProcessor(table);
}

/// Looks at the functions of every processor, so that a damaged artifact is refused on all machines alike.
void Artifact::chooseProcessor(const TaylorArtifact &table) {
  std::string missing, denied;
  size_t best = 0;
  for (const TargetInfo &target : contents.targets) {
    if (target.kind != TargetInfo::Kind::Cpu)
      continue;
    std::vector<std::vector<const TaylorFunction *>> functions(contents.functions.size());
    for (size_t i = 0; i < functions.size(); ++i)
      for (const FormCode &code : target.functions[i].forms) {
        // The first form has the function's name, others their own after it.
        std::string name = contents.functions[i].name + (functions[i].empty() ? "" : "_" + code.name);
        functions[i].push_back(&findFunction(table, target, name));
        checkFunction(name, code, *functions[i].back());
      }
    std::string feature = missingFeature(target.features);
    std::string reason = feature.empty() ? deniedFeature(target.features) : "";
    if (denied.empty())
      denied = reason;
    if (feature.empty() && reason.empty() && (!processor || target.features.size() > best)) {
      processor = &target;
      entries = functions;
      best = target.features.size();
    }
    if (missing.empty())
      missing = feature;
  }
  if (!processor && !denied.empty() && !code)
    fail("requires the features that '", file, "' was compiled for, but ", denied,
         ": compile with --target=x86-64-v4 here");
  if (!processor && !missing.empty() && !code)
    fail("expected a processor with '", missing, "', but ", cpuName(),
         " lacks it: compile with --target=native here");
}

Artifact::HostForm Artifact::function(int i, const Dims &dims, std::string_view form) const {
  if (!processor) {
    std::vector<std::string> names;
    for (const TargetInfo &target : contents.targets)
      names.push_back(target.name);
    fail("expected code for this processor in '", file, "', but got code for ", join(names, ", "),
         ": compile with --target=native, or run it in the interpreter (--device=ptx)");
  }
  auto index = size_t(i);
  const TargetFunction &code = processor->functions[index];
  auto number =
      size_t(chooseForm(code, contents, dims, form, contents.functions[index].name, processor->name));
  return {&code.forms[number], entries[index][number]};
}

DeviceCode &Artifact::device() const {
  if (!code) {
    std::vector<std::string> names;
    for (const TargetInfo &target : contents.targets)
      names.push_back(target.name);
    fail("expected code for a GPU in '", file, "', but got code for ", join(names, ", "),
         ": compile with --target=sm_80 or another GPU's name");
  }
  return *code;
}

Artifact::~Artifact() {
  code.reset(); // its images lie in the library
  if (library)
    dlclose(library);
  if (descriptor >= 0)
    close(descriptor);
}

} // namespace taylor::runtime
