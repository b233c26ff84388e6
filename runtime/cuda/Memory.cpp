// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/Memory.h"

using namespace taylor::runtime;
using namespace taylor::runtime::cuda;

StreamMemory::StreamMemory(size_t bytes, Stream stream) : stream(stream) {
  const DriverApi &driver = DriverApi::get();
  driver.check(driver.memoryAllocateAsync(&address, bytes, stream), "cuMemAllocAsync",
               "a workspace of " + std::to_string(bytes) + " bytes");
}

StreamMemory::~StreamMemory() {
  if (address)
    DriverApi::get().memoryFreeAsync(address, stream);
}

PrimaryContext::PrimaryContext(int ordinal) {
  const DriverApi &driver = DriverApi::get();
  std::string subject = "GPU " + std::to_string(ordinal);
  driver.check(driver.deviceGet(&device, ordinal), "cuDeviceGet", subject);
  Context context = nullptr;
  driver.check(driver.primaryContextRetain(&context, device), "cuDevicePrimaryCtxRetain", subject);
  if (Result code = driver.contextPush(context)) {
    driver.primaryContextRelease(device);
    driver.check(code, "cuCtxPushCurrent", subject);
  }
}

PrimaryContext::~PrimaryContext() {
  Context ignored = nullptr;
  DriverApi::get().contextPop(&ignored);
  DriverApi::get().primaryContextRelease(device);
}

Buffer::Buffer(size_t bytes) : bytes(bytes) {
  const DriverApi &driver = DriverApi::get();
  if (bytes > 0)
    driver.check(driver.memoryAllocate(&address, bytes), "cuMemAlloc",
                 "an array of " + std::to_string(bytes) + " bytes");
}

Buffer::~Buffer() {
  if (address)
    DriverApi::get().memoryFree(address);
}

void Buffer::upload(const void *from) {
  const DriverApi &driver = DriverApi::get();
  if (bytes > 0)
    driver.check(driver.copyToDevice(address, from, bytes), "cuMemcpyHtoD", "an array's way to the GPU");
}

void Buffer::download(void *to) const {
  const DriverApi &driver = DriverApi::get();
  if (bytes > 0)
    driver.check(driver.copyToHost(to, address, bytes), "cuMemcpyDtoH", "an array's way from the GPU");
}
