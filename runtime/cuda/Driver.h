// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA driver, loaded at run time by name: one binary serves machines with and without a GPU.
#ifndef TAYLOR_RUNTIME_CUDA_DRIVER_H
#define TAYLOR_RUNTIME_CUDA_DRIVER_H
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace taylor::runtime::cuda {

/// Types of the driver API (CUDA Driver API reference, "Data types used by CUDA driver"), declared here so
/// that no toolkit is needed to build.
using Result = int; // CUresult: 0 is success
using DeviceNumber = int;
using Context = struct CUctx_st *;
using Module = struct CUmod_st *;
using Function = struct CUfunc_st *;
using Stream = struct CUstream_st *; // the same as cudaStream_t; null: the default stream

/// CUlaunchAttribute of cuda.h: a number that says what the value is, and the value, here a truth.
struct LaunchAttribute {
  int id = 0;
  alignas(8) union {
    int isAllowed;
    char bytes[64];
  } value = {};
};

/// CUlaunchConfig of cuda.h.
struct LaunchConfiguration {
  unsigned grid[3], block[3], sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned count;
};

/// The functions that Taylor calls: member, name in the library (the version that cuda.h maps the plain name
/// to), arguments.
// clang-format off
#define TAYLOR_CUDA_FUNCTIONS(X)                                                                                                  \
  X(init, "cuInit", (unsigned flags))                                                                                             \
  X(getErrorName, "cuGetErrorName", (Result error, const char **text))                                                            \
  X(getErrorString, "cuGetErrorString", (Result error, const char **text))                                                        \
  X(deviceGetCount, "cuDeviceGetCount", (int *count))                                                                             \
  X(deviceGet, "cuDeviceGet", (DeviceNumber *device, int ordinal))                                                                \
  X(deviceGetName, "cuDeviceGetName", (char *name, int size, DeviceNumber device))                                                \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, DeviceNumber device))                                 \
  X(primaryContextRetain, "cuDevicePrimaryCtxRetain", (Context *context, DeviceNumber device))                                    \
  X(primaryContextRelease, "cuDevicePrimaryCtxRelease_v2", (DeviceNumber device))                                                 \
  X(contextGetCurrent, "cuCtxGetCurrent", (Context *context))                                                                     \
  X(contextGetDevice, "cuCtxGetDevice", (DeviceNumber *device))                                                                   \
  X(contextPush, "cuCtxPushCurrent_v2", (Context context))                                                                        \
  X(contextPop, "cuCtxPopCurrent_v2", (Context *context))                                                                         \
  X(pointerGetAttribute, "cuPointerGetAttribute", (void *value, int attribute, uint64_t pointer))                                 \
  X(memoryAllocate, "cuMemAlloc_v2", (uint64_t *address, size_t bytes))                                                           \
  X(memoryFree, "cuMemFree_v2", (uint64_t address))                                                                               \
  X(memoryAllocateAsync, "cuMemAllocAsync", (uint64_t *address, size_t bytes, Stream stream))                                     \
  X(memoryFreeAsync, "cuMemFreeAsync", (uint64_t address, Stream stream))                                                         \
  X(copyToDevice, "cuMemcpyHtoD_v2", (uint64_t to, const void *from, size_t bytes))                                               \
  X(copyToHost, "cuMemcpyDtoH_v2", (void *to, uint64_t from, size_t bytes))                                                       \
  X(streamIsCapturing, "cuStreamIsCapturing", (Stream stream, int *status))                                                       \
  X(moduleLoad, "cuModuleLoadDataEx", (Module *module, const void *image, unsigned count, int *options, void **values))           \
  X(moduleUnload, "cuModuleUnload", (Module module))                                                                              \
  X(moduleGetFunction, "cuModuleGetFunction", (Function *function, Module module, const char *name))                              \
  X(functionSetAttribute, "cuFuncSetAttribute", (Function function, int attribute, int value))                                    \
  X(launchKernel, "cuLaunchKernel",                                                                                               \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,        \
     unsigned sharedBytes, Stream stream, void **parameters, void **extra))
/// Those that older drivers do not have: null then. (CUDA 11.8, for dependent launches; 12.0, for tensor maps: sizes and boxes in
/// elements, strides in bytes.)
#define TAYLOR_CUDA_OPTIONAL_FUNCTIONS(X)                                                                                         \
  X(launchKernelEx, "cuLaunchKernelEx",                                                                                           \
    (const LaunchConfiguration *configuration, Function function, void **parameters, void **extra))                               \
  X(tensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                                               \
    (void *map, int type, unsigned rank, uint64_t address, const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,   \
     const uint32_t *steps, int interleave, int swizzle, int promotion, int fill))
// clang-format on

/// A GPU, as a message or a choice of code needs it.
struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  int capability = 0; // 10 * major + minor: 80 is sm_80
  int multiprocessors = 0;
  int64_t sharedPerBlock = 0; // bytes that a block may ask for (cudaDevAttrMaxSharedMemoryPerBlockOptin)
};

/// The driver's functions. Every failure is an Error that names what was being done, the call, the code and
/// its meaning.
class DriverApi {
public:
#define TAYLOR_CUDA_MEMBER(member, name, arguments) Result(*member) arguments = nullptr;
  TAYLOR_CUDA_FUNCTIONS(TAYLOR_CUDA_MEMBER)
  TAYLOR_CUDA_OPTIONAL_FUNCTIONS(TAYLOR_CUDA_MEMBER)
#undef TAYLOR_CUDA_MEMBER

  /// Loads libcuda.so.1 ($TAYLOR_CUDA_DRIVER names another library) and initialises it, once. Throws where
  /// there is no driver, it is too old or it finds no GPU: the message says which and what to do. A failure
  /// is remembered.
  static const DriverApi &get();

  /// Throws unless `code` is success. `subject` is what was being done: "kernel 'forward.attend'".
  void check(Result code, const char *call, const std::string &subject) const;

  /// All GPUs that the process sees, in the driver's order.
  std::vector<DeviceInfo> devices() const;
  /// The device of the calling thread's current context.
  DeviceInfo currentDevice() const;

private:
  DriverApi();
  DeviceInfo describe(int ordinal, DeviceNumber device) const;
};

/// Makes the context that owns `pointer` current for the scope's life, on this thread. The pointer must be
/// memory of a GPU; `argument` names it in the message.
class ContextScope {
public:
  ContextScope(const void *pointer, const std::string &argument);
  ~ContextScope();
  /// Throws unless this pointer is memory of the same context.
  void requireSame(const void *pointer, const std::string &argument) const;
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

private:
  Context owner = nullptr;
  std::string first; // the argument that chose it
  bool pushed = false;
};

} // namespace taylor::runtime::cuda

#endif
