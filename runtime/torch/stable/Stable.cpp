// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/torch/stable/Stable.h"
#include "runtime/Error.h"
#include "runtime/Manifest.h"
#include <dlfcn.h>

namespace taylor {

using runtime::fail;

void checkTorch(AOTITorchError code, const char *what) {
  if (code != TORCH_SUCCESS)
    fail("libtorch could not ", what, "; it has said why on stderr");
}

/// Kinds of device as this libtorch numbers them: asked for once.
static const int32_t kCpuType = aoti_torch_device_type_cpu(), kCudaType = aoti_torch_device_type_cuda(),
                     kMetaType = aoti_torch_device_type_meta();

bool Stable::isCpu(const Device &device) { return device.type == kCpuType; }
bool Stable::isCuda(const Device &device) { return device.type == kCudaType; }

std::string Stable::name(const Device &device) {
  std::string kind = device.type == kCpuType    ? "cpu"
                     : device.type == kCudaType ? "cuda"
                     : device.type == kMetaType ? "meta"
                                                : "device of type " + std::to_string(device.type);
  return device.index < 0 ? kind : kind + ":" + std::to_string(device.index);
}

Stable::ScalarType Stable::dtype(const Tensor &tensor) {
  int32_t dtype;
  checkTorch(aoti_torch_get_dtype(tensor.get(), &dtype), "tell a tensor's dtype");
  // The numbers of scalar types are in files that torch writes: they stay.
  return static_cast<ScalarType>(dtype);
}

Stable::Device Stable::device(const Tensor &tensor) {
  Device device;
  checkTorch(aoti_torch_get_device_type(tensor.get(), &device.type), "tell a tensor's device");
  checkTorch(aoti_torch_get_device_index(tensor.get(), &device.index), "tell a tensor's device");
  return device;
}

TaylorTensor Stable::describe(const Tensor &tensor) {
  AtenTensorHandle handle = tensor.get();
  TaylorTensor view{};
  int32_t type;
  int64_t *sizes, *strides;
  checkTorch(aoti_torch_get_data_ptr(handle, &view.data), "tell where a tensor's data lie");
  checkTorch(aoti_torch_get_device_type(handle, &type), "tell a tensor's device");
  checkTorch(aoti_torch_get_dim(handle, &view.rank), "tell a tensor's rank");
  checkTorch(aoti_torch_get_sizes(handle, &sizes), "tell a tensor's sizes");
  checkTorch(aoti_torch_get_strides(handle, &strides), "tell a tensor's strides");
  view.dtype = dtypeOf(dtype(tensor));
  view.device = type == kCpuType ? TAYLOR_CPU : TAYLOR_CUDA;
  view.sizes = sizes;
  view.strides = strides;
  return view;
}

bool Stable::isFloating(ScalarType dtype) {
  switch (dtype) {
  case ScalarType::Float:
  case ScalarType::Double:
  case ScalarType::Half:
  case ScalarType::BFloat16:
  case ScalarType::Float8_e5m2:
  case ScalarType::Float8_e4m3fn:
  case ScalarType::Float8_e5m2fnuz:
  case ScalarType::Float8_e4m3fnuz:
  case ScalarType::Float8_e8m0fnu:
    return true;
  default:
    return false;
  }
}

Stable::Tensor Stable::copy(const Tensor &tensor) {
  return torch::stable::to(tensor, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                           /*non_blocking=*/false, /*copy=*/true,
                           torch::headeronly::MemoryFormat::Contiguous);
}

void Stable::assign(const Tensor &from, const Tensor &to) {
  Tensor target = to;
  torch::stable::copy_(target, from);
}

Stable::Tensor Stable::empty(const Extents<int64_t> &sizes, const Extents<int64_t> &strides, ScalarType dtype,
                             const Device &device) {
  AtenTensorHandle handle;
  if (aoti_torch_empty_strided(int64_t(sizes.size()), sizes.data(), strides.data(),
                               static_cast<int32_t>(dtype), device.type, device.index,
                               &handle) != TORCH_SUCCESS) {
    int64_t bytes = runtime::dtypeSize(dtypeOf(dtype));
    for (size_t i = 0; i < sizes.size(); ++i)
      bytes *= sizes[i];
    fail("can't allocate memory: you tried to allocate ", bytes, " bytes for a result on ", name(device));
  }
  return Tensor(handle);
}

Stable::Tensor Stable::workspace(int64_t bytes, const Device &device) {
  AtenTensorHandle handle;
  int64_t stride = 1;
  if (aoti_torch_empty_strided(1, &bytes, &stride, static_cast<int32_t>(ScalarType::Byte), device.type,
                               device.index, &handle) != TORCH_SUCCESS)
    fail("can't allocate memory: you tried to allocate ", bytes, " bytes of workspace on ", name(device));
  return Tensor(handle);
}

void *Stable::stream(const Device &device) {
  // By its name at run time: a libtorch for processors alone has no such function.
  using Current = AOTITorchError (*)(int32_t, void **);
  static const auto current = reinterpret_cast<Current>([]() -> void * {
    void *library = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
    return library ? dlsym(library, "aoti_torch_get_current_cuda_stream") : nullptr;
  }());
  if (!current)
    fail("requires aoti_torch_get_current_cuda_stream of libtorch_cuda.so, which this libtorch lacks");
  void *stream = nullptr;
  checkTorch(current(device.index, &stream), "tell the current stream of a GPU");
  return stream;
}

} // namespace taylor
