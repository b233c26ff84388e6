// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/Program.h"
#include "runtime/Error.h"
#include <algorithm>
#include <cstdlib>
#include <tuple>

using namespace taylor::runtime;
using namespace taylor::runtime::cuda;

namespace {

/// Numbers of cuda.h: CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES and
/// CU_JIT_ERROR_LOG_BUFFER{,_SIZE_BYTES}.
constexpr int kMaxDynamicShared = 8, kErrorLog = 5, kErrorLogSize = 6;
// CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
constexpr int kProgrammaticSerialization = 6;
/// What every GPU gives a block without being asked (CUDA C++ Programming Guide, "Technical Specifications
/// per Compute Capability").
constexpr unsigned kSharedWithoutAsking = 48 << 10;
constexpr unsigned kGridLimit[3] = {2147483647u, 65535u, 65535u};

struct TargetNumber {
  int capability = 0;
  bool exact = false; // a suffix: this GPU only
};

TargetNumber numberOf(const std::string &target) {
  TargetNumber number;
  char *end = nullptr;
  number.capability = target.starts_with("sm_") ? int(std::strtol(target.c_str() + 3, &end, 10)) : 0;
  number.exact = end && *end && *end != '+'; // experiments need no other GPU
  return number;
}

} // namespace

const Image *cuda::chooseImage(const std::vector<Image> &images, int capability) {
  const Image *best = nullptr;
  // What was made for this GPU alone first, then what needs no compiler.
  auto rank = [](const Image &image) {
    auto [number, exact] = numberOf(image.target);
    return std::tuple(exact, !image.isPtx, number);
  };
  for (const Image &image : images) {
    auto [number, exact] = numberOf(image.target);
    bool sameMajor = number / 10 == capability / 10;
    bool fits = exact ? number == capability : number <= capability && (image.isPtx || sameMajor);
    if (fits && (!best || rank(image) > rank(*best)))
      best = &image;
  }
  return best;
}

/// The calling thread's context; `subject` is what needs it.
static Context currentContext(const DriverApi &driver, const std::string &subject) {
  Context context = nullptr;
  driver.check(driver.contextGetCurrent(&context), "cuCtxGetCurrent", subject);
  if (!context)
    fail("expected a current CUDA context for ", subject, ", but this thread has none");
  return context;
}

/// With the lock held.
const DeviceProgram::Loaded &DeviceProgram::load(const DriverApi &driver, Context context, Stream stream) {
  if (auto known = modules.find(context); known != modules.end())
    return known->second;
  int capturing = 0;
  if (stream)
    driver.check(driver.streamIsCapturing(stream, &capturing), "cuStreamIsCapturing", "'" + name + "'");
  if (capturing)
    fail("requires '", name,
         "' to have run on this GPU before a CUDA graph is captured: its first run loads "
         "code");
  DeviceInfo device = driver.currentDevice();
  const Image *image = chooseImage(images, device.capability);
  if (!image) {
    std::string targets;
    for (const Image &other : images)
      targets += (targets.empty() ? "" : ", ") + other.target;
    fail("expected code for ", device.name, " (sm_", device.capability, ") in '", name, "', but got ",
         targets.empty() ? "none" : targets, "; compile with --target=sm_", device.capability);
  }
  std::string log(4096, '\0');
  int options[] = {kErrorLog, kErrorLogSize};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  Module module = nullptr;
  Result code = driver.moduleLoad(&module, image->bytes.data(), 2, options, values);
  log.resize(std::char_traits<char>::length(log.c_str()));
  while (!log.empty() && (log.back() == '\n' || log.back() == ' '))
    log.pop_back();
  driver.check(code, "cuModuleLoadDataEx",
               "code for " + image->target + " in '" + name + "'" + (log.empty() ? "" : " (" + log + ")"));
  return modules.emplace(context, Loaded{module, image, unsigned(device.multiprocessors)}).first->second;
}

const DeviceProgram::Loaded &DeviceProgram::loaded(Stream stream) {
  const DriverApi &driver = DriverApi::get();
  Context context = currentContext(driver, "'" + name + "'");
  {
    std::shared_lock lock(mutex);
    if (auto known = modules.find(context); known != modules.end())
      return known->second;
  }
  std::unique_lock lock(mutex);
  return load(driver, context, stream);
}

const Image &DeviceProgram::image(Stream stream) { return *loaded(stream).image; }

Function DeviceProgram::find(const std::string &kernel, unsigned sharedBytes, Stream stream) {
  const DriverApi &driver = DriverApi::get();
  std::string subject = "kernel '" + kernel + "'";
  Context context = currentContext(driver, subject);
  std::pair key(context, kernel);
  {
    std::shared_lock lock(mutex);
    if (auto known = kernels.find(key); known != kernels.end() && sharedBytes <= known->second.sharedBytes)
      return known->second.function;
  }
  std::unique_lock lock(mutex);
  Kernel entry{nullptr, kSharedWithoutAsking};
  if (auto known = kernels.find(key); known != kernels.end())
    entry = known->second;
  else
    driver.check(
        driver.moduleGetFunction(&entry.function, load(driver, context, stream).module, kernel.c_str()),
        "cuModuleGetFunction", subject);
  if (sharedBytes > entry.sharedBytes) {
    DeviceInfo device = driver.currentDevice();
    if (sharedBytes > device.sharedPerBlock)
      fail(subject, " requires ", sharedBytes, " bytes of shared memory, but a block of ", device.name,
           " has ", device.sharedPerBlock, "; compile with --target=sm_", device.capability);
    driver.check(driver.functionSetAttribute(entry.function, kMaxDynamicShared, int(sharedBytes)),
                 "cuFuncSetAttribute", subject);
    entry.sharedBytes = sharedBytes;
  }
  kernels[key] = entry;
  return entry.function;
}

void DeviceProgram::launch(const std::string &kernel, const LaunchShape &shape, Stream stream,
                           void **parameters) {
  if (std::ranges::count(shape.grid, 0u))
    return;
  for (int i = 0; i < 3; ++i)
    if (shape.grid[i] > kGridLimit[i])
      fail("kernel '", kernel, "' requires ", shape.grid[i], " blocks along axis ", "xyz"[i],
           " of its grid, but a GPU takes at most ", kGridLimit[i], "; use smaller batches");
  Function function = find(kernel, shape.sharedBytes, stream);
  const DriverApi &driver = DriverApi::get();
  unsigned blocks = shape.grid[0];
  if (shape.isPersistent)
    blocks = std::min(blocks, std::max(loaded(stream).multiprocessors, 1u));
  if (shape.startsEarly && driver.launchKernelEx) {
    LaunchAttribute early{kProgrammaticSerialization, {.isAllowed = 1}};
    LaunchConfiguration configuration{{blocks, shape.grid[1], shape.grid[2]},
                                      {shape.block[0], shape.block[1], shape.block[2]},
                                      shape.sharedBytes,
                                      stream,
                                      &early,
                                      1};
    driver.check(driver.launchKernelEx(&configuration, function, parameters, /*extra=*/nullptr),
                 "cuLaunchKernelEx", "kernel '" + kernel + "'");
    return;
  }
  driver.check(driver.launchKernel(function, blocks, shape.grid[1], shape.grid[2], shape.block[0],
                                   shape.block[1], shape.block[2], shape.sharedBytes, stream, parameters,
                                   /*extra=*/nullptr),
               "cuLaunchKernel", "kernel '" + kernel + "'");
}

DeviceProgram::~DeviceProgram() {
  if (modules.empty())
    return;
  const DriverApi &driver = DriverApi::get();
  for (auto &[context, loaded] : modules) {
    Context ignored;
    if (driver.contextPush(context))
      continue; // the context is gone, and its modules with it
    driver.moduleUnload(loaded.module);
    driver.contextPop(&ignored);
  }
}
