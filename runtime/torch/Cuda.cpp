// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/Cuda.h"
#include "runtime/Error.h"
#include "runtime/cuda/Driver.h"
#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

namespace taylor {

using runtime::fail;

void requireCuda() {
  runtime::cuda::DriverApi::get();
  // A program that links libtorch_cpu alone has no CUDA until the library is there; it registers itself.
  if (!dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL))
    fail("requires a libtorch with CUDA, but libtorch_cuda.so could not be loaded (", dlerror(),
         "); install torch with CUDA, or run on the processor instead (--device=cpu)");
  if (!at::hasCUDA())
    fail("requires a GPU that libtorch can use, but it finds none; run on the processor instead "
         "(--device=cpu)");
}

void *currentStream(c10::Device device) {
  // c10/cuda/CUDAStream.h needs a CUDA toolkit to compile. The class holds a c10::Stream and nothing else.
  using Handle = void *(*)(const c10::Stream *);
  static const auto handle = reinterpret_cast<Handle>([]() -> void * {
    void *library = dlopen("libc10_cuda.so", RTLD_NOW | RTLD_NOLOAD);
    return library ? dlsym(library, "_ZNK3c104cuda10CUDAStream6streamEv") : nullptr;
  }());
  if (!handle)
    fail("requires c10::cuda::CUDAStream::stream of libc10_cuda.so, which this libtorch lacks");
  c10::Stream stream = c10::impl::VirtualGuardImpl(device.type()).getStream(device);
  return handle(&stream);
}

} // namespace taylor
