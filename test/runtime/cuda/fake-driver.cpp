// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A CUDA driver without a GPU: it records calls, fails where a test told it to, and runs PTX images in the
// interpreter, on memory of the host. Two GPUs: sm_80 with context 1, sm_90 with context 2. Attributes and
// codes are numbers of cuda.h.
#include "test/runtime/cuda/fake-driver.h"
#include "runtime/Error.h"
#include "runtime/cuda/Driver.h"
#include "runtime/ptx/Interpreter.h"
#include "runtime/ptx/TensorMap.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>

using namespace taylor::runtime;

namespace {

struct FakeDevice {
  const char *name;
  int capability, sharedPerBlock, multiprocessors;
};
constexpr FakeDevice kDevices[] = {{"Fake A100", 80, 166912, 108}, {"Fake H100", 90, 232448, 132}};

FakeDriver state;
thread_local std::vector<uintptr_t> contexts; // pushed ones

/// Records the call; the code that the test injected for it, or success.
int called(const std::string &call, const std::string &detail = "") {
  std::lock_guard lock(state.mutex);
  state.calls.push_back(detail.empty() ? call : call + " " + detail);
  auto injected = state.failures.find(call);
  return injected == state.failures.end() ? 0 : injected->second;
}

/// Handles are numbers here.
uintptr_t numberOf(const void *handle) { return reinterpret_cast<uintptr_t>(handle); }
template <typename Handle> void assign(Handle *handle, uintptr_t number) {
  *handle = reinterpret_cast<Handle>(number);
}

uintptr_t current() { return contexts.empty() ? state.outerContext : contexts.back(); }

struct Allocation {
  size_t bytes;
  uintptr_t context;
};
std::map<uint64_t, Allocation> allocations; // by address; under the state's lock

int allocate(uint64_t *address, size_t bytes) {
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(memory, 0xff, bytes); // NaN, as good as any
  *address = reinterpret_cast<uintptr_t>(memory);
  std::lock_guard lock(state.mutex);
  allocations[*address] = {bytes, current()};
  return 0;
}

int release(uint64_t address) {
  std::lock_guard lock(state.mutex);
  if (!allocations.erase(address))
    return 1;
  std::free(reinterpret_cast<void *>(address));
  return 0;
}

/// An image that is PTX text; of others only the bytes are known. Handles point to these, which stay.
struct FakeModule {
  ptx::Module module;
};
struct FakeFunction {
  const FakeModule *module;
  ptx::KernelSignature kernel;
};
std::deque<FakeModule> modules;
std::deque<FakeFunction> functions;

template <typename T> const T *handleOf(const std::deque<T> &list, uintptr_t handle) {
  for (const T &entry : list)
    if (reinterpret_cast<uintptr_t>(&entry) == handle)
      return &entry;
  return nullptr;
}

int execute(const FakeFunction &function, const FakeLaunch &launch) {
  std::vector<ptx::MemoryRange> ranges;
  {
    std::lock_guard lock(state.mutex);
    for (auto &[address, allocation] : allocations)
      if (allocation.context == launch.context)
        ranges.push_back({reinterpret_cast<void *>(address), allocation.bytes, "memory"});
  }
  auto parameters = std::as_bytes(std::span(launch.parameters));
  ptx::RunReport report =
      ptx::launch(function.module->module, launch.kernel, {launch.grid[0], launch.grid[1], launch.grid[2]},
                  {launch.block[0], launch.block[1], launch.block[2]}, launch.shared, parameters, ranges);
  state.fault = report.fault ? report.fault->message : "";
  return report.fault ? 700 : 0;
}

} // namespace

extern "C" {

FakeDriver *fakeDriver() { return &state; }

int cuInit(unsigned) { return called("cuInit"); }

int cuGetErrorName(int code, const char **text) {
  *text = code == 701   ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
          : code == 2   ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == 101 ? "CUDA_ERROR_INVALID_DEVICE"
          : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == 218 ? "CUDA_ERROR_INVALID_PTX"
                        : "CUDA_ERROR_NOT_FOUND";
  return 0;
}

int cuGetErrorString(int code, const char **text) {
  *text = code == 701   ? "too many resources requested for launch"
          : code == 2   ? "out of memory"
          : code == 101 ? "invalid device ordinal"
          : code == 700 ? "an illegal memory access was encountered"
          : code == 218 ? "a PTX JIT compilation failed"
                        : "named symbol not found";
  return 0;
}

int cuDeviceGetCount(int *count) {
  *count = state.deviceCount;
  return called("cuDeviceGetCount");
}

int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  int code = called("cuDeviceGet");
  return ordinal < state.deviceCount ? code : 101;
}

int cuDeviceGetName(char *name, int size, int device) {
  std::snprintf(name, size, "%s", kDevices[device].name);
  return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  const FakeDevice &d = kDevices[device];
  *value = attribute == 75   ? d.capability / 10
           : attribute == 76 ? d.capability % 10
           : attribute == 16 ? d.multiprocessors
           : attribute == 97 ? d.sharedPerBlock
                             : -1;
  return *value < 0 ? 1 : 0;
}

int cuCtxGetCurrent(cuda::Context *context) {
  assign(context, current());
  return called("cuCtxGetCurrent");
}

int cuCtxGetDevice(int *device) {
  *device = int(current()) - 1;
  return current() ? 0 : 201;
}

int cuCtxPushCurrent_v2(cuda::Context context) {
  int code = called("cuCtxPushCurrent", std::to_string(numberOf(context)));
  if (!code)
    contexts.push_back(numberOf(context));
  return code;
}

int cuCtxPopCurrent_v2(cuda::Context *context) {
  assign(context, current());
  contexts.pop_back();
  return called("cuCtxPopCurrent");
}

int cuDevicePrimaryCtxRetain(cuda::Context *context, int device) {
  assign(context, uintptr_t(device) + 1);
  return called("cuDevicePrimaryCtxRetain", std::to_string(device));
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  return called("cuDevicePrimaryCtxRelease", std::to_string(device));
}

/// Memory of the GPU with context n is what was allocated there, and [n << 40, (n + 1) << 40), which must not
/// be touched.
int cuPointerGetAttribute(void *value, int, uint64_t pointer) {
  uintptr_t context = pointer >> 40;
  {
    std::lock_guard lock(state.mutex);
    auto after = allocations.upper_bound(pointer);
    if (after != allocations.begin() && pointer - std::prev(after)->first < std::prev(after)->second.bytes)
      context = std::prev(after)->second.context;
  }
  if (context != 1 && context != 2)
    return 1;
  *static_cast<uintptr_t *>(value) = context;
  return called("cuPointerGetAttribute");
}

int cuModuleLoadDataEx(cuda::Module *module, const void *image, unsigned count, int *options, void **values) {
  int code = called("cuModuleLoadDataEx", static_cast<const char *>(image));
  for (unsigned i = 0; code && i < count; ++i)
    if (options[i] == 5)
      std::strcpy(static_cast<char *>(values[i]), "ptx input, line 3; error: unknown opcode\n");
  assign(module, 100 * current());
  if (!state.capturing.empty())
    return 900;
  auto *text = static_cast<const char *>(image);
  if (code || !std::strstr(text, ".version"))
    return code;
  std::lock_guard lock(state.mutex);
  assign(module, numberOf(&modules.emplace_back(FakeModule{ptx::parse(text)})));
  return 0;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  int code = called("cuMemAlloc", std::to_string(bytes));
  return code ? code : allocate(address, bytes);
}

int cuMemFree_v2(uint64_t address) {
  called("cuMemFree");
  return release(address);
}

int cuMemAllocAsync(uint64_t *address, size_t bytes, cuda::Stream stream) {
  int code = called("cuMemAllocAsync", std::to_string(bytes) + " stream=" + std::to_string(numberOf(stream)));
  return code ? code : allocate(address, bytes);
}

int cuMemFreeAsync(uint64_t address, cuda::Stream stream) {
  called("cuMemFreeAsync", "stream=" + std::to_string(numberOf(stream)));
  return release(address);
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  int code = called("cuMemcpyHtoD", std::to_string(bytes));
  if (!code)
    std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return code;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  int code = called("cuMemcpyDtoH", std::to_string(bytes));
  if (!code)
    std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return code;
}

int cuStreamIsCapturing(cuda::Stream stream, int *status) {
  *status = int(state.capturing.count(numberOf(stream)));
  return called("cuStreamIsCapturing");
}

int cuModuleUnload(cuda::Module module) {
  uintptr_t number = numberOf(module);
  return called("cuModuleUnload", handleOf(modules, number) ? "ptx" : std::to_string(number));
}

int cuModuleGetFunction(cuda::Function *function, cuda::Module module, const char *name) {
  int code = called("cuModuleGetFunction", name);
  assign(function, numberOf(module) + 1);
  if (const FakeModule *known = handleOf(modules, numberOf(module))) {
    for (const ptx::KernelSignature &kernel : known->module.kernels())
      if (kernel.name == name) {
        std::lock_guard lock(state.mutex);
        assign(function, numberOf(&functions.emplace_back(FakeFunction{known, kernel})));
        return code;
      }
    return 500;
  }
  return std::strcmp(name, "missing") == 0 ? 500 : code;
}

int cuFuncSetAttribute(cuda::Function, int attribute, int value) {
  return called("cuFuncSetAttribute", std::to_string(attribute) + "=" + std::to_string(value));
}

/// A map in the interpreter's format; a driver may say no more than that it is refused.
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, uint64_t address, const uint64_t *sizes,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *, int, int swizzle,
                           int, int) {
  TensorMapArguments made{.type = TensorType(type), .rank = rank, .address = address};
  std::copy_n(sizes, rank, made.sizes.begin());
  std::copy_n(strides, rank - 1, made.strides.begin());
  std::copy_n(box, rank, made.box.begin());
  made.swizzle = swizzle ? 16u << swizzle : 0;
  try {
    ptx::TensorMap encoded = ptx::makeTensorMap(made);
    std::memcpy(map, &encoded, sizeof encoded);
  } catch (const Error &) {
    return 1;
  }
  return called("cuTensorMapEncodeTiled", std::to_string(rank));
}

/// Early starts are told from others; kernels run in order all the same.
static int launch(const char *call, cuda::Function handle, const cuda::LaunchConfiguration &to,
                  void **parameters) {
  uintptr_t function = numberOf(handle), stream = numberOf(to.stream);
  auto [x, y, z] = to.grid;
  auto [bx, by, bz] = to.block;
  if (const FakeFunction *known = handleOf(functions, function)) {
    FakeLaunch launch{known->kernel.name, {x, y, z}, {bx, by, bz}, to.sharedBytes, stream, current(), {}};
    launch.parameters.resize((known->kernel.parameterBytes + 7) / 8);
    for (size_t i = 0; const ptx::KernelParameter &parameter : known->kernel.parameters)
      std::memcpy(reinterpret_cast<char *>(launch.parameters.data()) + parameter.offset, parameters[i++],
                  parameter.bytes);
    int code = called(call, launch.kernel);
    {
      std::lock_guard lock(state.mutex);
      state.launches.push_back(launch);
    }
    return code || !state.execute || state.capturing.count(stream) ? code : execute(*known, launch);
  }
  char text[160];
  std::snprintf(
      text, sizeof text, "function=%zu grid=%u,%u,%u block=%u,%u,%u shared=%u stream=%zu parameter=%d%s",
      size_t(function), x, y, z, bx, by, bz, to.sharedBytes, size_t(stream),
      *static_cast<int *>(parameters[0]),
      to.count == 1 && to.attributes->id == 6 && to.attributes->value.isAllowed == 1 ? " early" : "");
  return called(call, text);
}

int cuLaunchKernel(cuda::Function function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, cuda::Stream stream, void **parameters, void **) {
  return launch("cuLaunchKernel", function, {{x, y, z}, {bx, by, bz}, shared, stream, nullptr, 0},
                parameters);
}

int cuLaunchKernelEx(const cuda::LaunchConfiguration *to, cuda::Function function, void **parameters,
                     void **) {
  return launch("cuLaunchKernelEx", function, *to, parameters);
}

} // extern "C"
