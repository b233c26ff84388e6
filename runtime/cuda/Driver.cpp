// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/Driver.h"
#include "runtime/Error.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace taylor::runtime;
using namespace taylor::runtime::cuda;

namespace {

// Attributes by their numbers in cuda.h
constexpr int kCapabilityMajor = 75, kCapabilityMinor = 76, kSharedPerBlockOptin = 97, kMultiprocessors = 16;
constexpr int kPointerContext = 1;
constexpr Result kNoDevice = 100, kInvalidValue = 1;

constexpr const char *kElsewhere =
    "; run on the processor instead (--device=cpu), or in the interpreter (--device=ptx)";

std::string libraryName() {
  const char *name = std::getenv("TAYLOR_CUDA_DRIVER");
  return name && *name ? name : "libcuda.so.1";
}

} // namespace

DriverApi::DriverApi() {
  std::string library = libraryName();
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    fail("requires an NVIDIA driver, but ", library, " could not be loaded (", dlerror(), ")", kElsewhere);
#define TAYLOR_CUDA_LOAD(member, name, arguments)                                                            \
  member = reinterpret_cast<decltype(member)>(dlsym(handle, name));                                          \
  if (!member)                                                                                               \
    fail("requires a newer NVIDIA driver: ", library, " has no ", name, kElsewhere);
  TAYLOR_CUDA_FUNCTIONS(TAYLOR_CUDA_LOAD)
#undef TAYLOR_CUDA_LOAD
#define TAYLOR_CUDA_LOAD(member, name, arguments)                                                            \
  member = reinterpret_cast<decltype(member)>(dlsym(handle, name));
  TAYLOR_CUDA_OPTIONAL_FUNCTIONS(TAYLOR_CUDA_LOAD)
#undef TAYLOR_CUDA_LOAD
  Result code = init(0);
  int count = 0;
  if (!code)
    code = deviceGetCount(&count);
  if (code == kNoDevice || (!code && count == 0)) {
    const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
    fail("requires an NVIDIA GPU, but the driver finds none",
         visible ? std::string(" (CUDA_VISIBLE_DEVICES='") + visible + "')" : "", kElsewhere);
  }
  check(code, "cuInit", "the driver's start");
}

const DriverApi &DriverApi::get() {
  // A function's static that throws is tried again at the next call; the outcome of one process does not
  // change.
  static const std::string *failure = nullptr;
  static const DriverApi *driver = []() -> const DriverApi * {
    try {
      return new DriverApi();
    } catch (const Error &error) {
      failure = new std::string(error.what());
      return nullptr;
    }
  }();
  if (!driver)
    throw Error(*failure);
  return *driver;
}

void DriverApi::check(Result code, const char *call, const std::string &subject) const {
  if (code == 0)
    return;
  const char *name = nullptr, *meaning = nullptr;
  if (getErrorName(code, &name) || !name)
    name = "unknown error";
  if (getErrorString(code, &meaning) || !meaning)
    meaning = "no description";
  fail(subject, ": ", call, " failed with ", name, " (", code, "): ", meaning);
}

DeviceInfo DriverApi::describe(int ordinal, DeviceNumber device) const {
  DeviceInfo info;
  info.ordinal = ordinal;
  std::string subject = "GPU " + std::to_string(ordinal);
  char name[256] = {};
  check(deviceGetName(name, sizeof name - 1, device), "cuDeviceGetName", subject);
  info.name = name;
  auto attribute = [&](int number) {
    int value = 0;
    check(deviceGetAttribute(&value, number, device), "cuDeviceGetAttribute", subject);
    return value;
  };
  info.capability = 10 * attribute(kCapabilityMajor) + attribute(kCapabilityMinor);
  info.multiprocessors = attribute(kMultiprocessors);
  info.sharedPerBlock = attribute(kSharedPerBlockOptin);
  return info;
}

std::vector<DeviceInfo> DriverApi::devices() const {
  int count = 0;
  check(deviceGetCount(&count), "cuDeviceGetCount", "the list of GPUs");
  std::vector<DeviceInfo> list;
  for (int i = 0; i < count; ++i) {
    DeviceNumber device = 0;
    check(deviceGet(&device, i), "cuDeviceGet", "GPU " + std::to_string(i));
    list.push_back(describe(i, device));
  }
  return list;
}

DeviceInfo DriverApi::currentDevice() const {
  DeviceNumber device = 0;
  check(contextGetDevice(&device), "cuCtxGetDevice", "the current GPU");
  return describe(device, device);
}

/// The context that owns an argument's memory.
static Context ownerOf(const void *pointer, const std::string &argument) {
  const DriverApi &driver = DriverApi::get();
  Context owner = nullptr;
  Result code = driver.pointerGetAttribute(&owner, kPointerContext, reinterpret_cast<uintptr_t>(pointer));
  if (code == kInvalidValue || (!code && !owner))
    fail("expected memory of a GPU in ", argument, ", but the driver does not know its pointer");
  driver.check(code, "cuPointerGetAttribute", argument);
  return owner;
}

ContextScope::ContextScope(const void *pointer, const std::string &argument)
    : owner(ownerOf(pointer, argument)), first(argument) {
  const DriverApi &driver = DriverApi::get();
  Context current = nullptr;
  driver.check(driver.contextGetCurrent(&current), "cuCtxGetCurrent", argument);
  if (current == owner)
    return;
  driver.check(driver.contextPush(owner), "cuCtxPushCurrent", argument);
  pushed = true;
}

void ContextScope::requireSame(const void *pointer, const std::string &argument) const {
  if (ownerOf(pointer, argument) != owner)
    fail("expected memory of one GPU, but ", argument, " is in another context than ", first);
}

ContextScope::~ContextScope() {
  Context ignored;
  if (pushed)
    DriverApi::get().contextPop(&ignored);
}
