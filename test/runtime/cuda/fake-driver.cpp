// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A CUDA driver without a GPU: it records calls, and fails where a test told it to. Two GPUs: sm_80 with
// context 1, sm_90 with context 2. Attributes and codes are numbers of cuda.h.
#include "test/runtime/cuda/fake-driver.h"
#include <cstdio>
#include <cstring>

namespace {

struct FakeDevice {
  const char *name;
  int capability, sharedPerBlock;
};
constexpr FakeDevice kDevices[] = {{"Fake A100", 80, 166912}, {"Fake H100", 90, 232448}};

FakeDriver state;
thread_local std::vector<uintptr_t> contexts; // pushed ones

/// Records the call; the code that the test injected for it, or success.
int called(const std::string &call, const std::string &detail = "") {
  std::lock_guard lock(state.mutex);
  state.calls.push_back(detail.empty() ? call : call + " " + detail);
  auto injected = state.failures.find(call);
  return injected == state.failures.end() ? 0 : injected->second;
}

uintptr_t current() { return contexts.empty() ? state.outerContext : contexts.back(); }

} // namespace

extern "C" {

FakeDriver *fakeDriver() { return &state; }

int cuInit(unsigned) { return called("cuInit"); }

int cuGetErrorName(int code, const char **text) {
  *text = code == 701   ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
          : code == 218 ? "CUDA_ERROR_INVALID_PTX"
                        : "CUDA_ERROR_NOT_FOUND";
  return 0;
}

int cuGetErrorString(int code, const char **text) {
  *text = code == 701   ? "too many resources requested for launch"
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
  return called("cuDeviceGet");
}

int cuDeviceGetName(char *name, int size, int device) {
  std::snprintf(name, size, "%s", kDevices[device].name);
  return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  const FakeDevice &d = kDevices[device];
  *value = attribute == 75   ? d.capability / 10
           : attribute == 76 ? d.capability % 10
           : attribute == 97 ? d.sharedPerBlock
                             : -1;
  return *value < 0 ? 1 : 0;
}

int cuCtxGetCurrent(uintptr_t *context) {
  *context = current();
  return called("cuCtxGetCurrent");
}

int cuCtxGetDevice(int *device) {
  *device = int(current()) - 1;
  return current() ? 0 : 201;
}

int cuCtxPushCurrent_v2(uintptr_t context) {
  int code = called("cuCtxPushCurrent", std::to_string(context));
  if (!code)
    contexts.push_back(context);
  return code;
}

int cuCtxPopCurrent_v2(uintptr_t *context) {
  *context = current();
  contexts.pop_back();
  return called("cuCtxPopCurrent");
}

/// Memory of the GPU with context n is at [n << 40, (n + 1) << 40).
int cuPointerGetAttribute(void *value, int, uint64_t pointer) {
  uintptr_t context = pointer >> 40;
  if (context != 1 && context != 2)
    return 1;
  *static_cast<uintptr_t *>(value) = context;
  return called("cuPointerGetAttribute");
}

int cuModuleLoadDataEx(uintptr_t *module, const void *image, unsigned count, int *options, void **values) {
  int code = called("cuModuleLoadDataEx", static_cast<const char *>(image));
  for (unsigned i = 0; code && i < count; ++i)
    if (options[i] == 5)
      std::strcpy(static_cast<char *>(values[i]), "ptx input, line 3; error: unknown opcode\n");
  *module = 100 * current();
  return code;
}

int cuModuleUnload(uintptr_t module) { return called("cuModuleUnload", std::to_string(module)); }

int cuModuleGetFunction(uintptr_t *function, uintptr_t module, const char *name) {
  int code = called("cuModuleGetFunction", name);
  *function = module + 1;
  return std::strcmp(name, "missing") == 0 ? 500 : code;
}

int cuFuncSetAttribute(uintptr_t, int attribute, int value) {
  return called("cuFuncSetAttribute", std::to_string(attribute) + "=" + std::to_string(value));
}

int cuLaunchKernel(uintptr_t function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, uintptr_t stream, void **parameters, void **) {
  char text[160];
  std::snprintf(
      text, sizeof text, "function=%zu grid=%u,%u,%u block=%u,%u,%u shared=%u stream=%zu parameter=%d",
      size_t(function), x, y, z, bx, by, bz, shared, size_t(stream), *static_cast<int *>(parameters[0]));
  return called("cuLaunchKernel", text);
}

} // extern "C"
