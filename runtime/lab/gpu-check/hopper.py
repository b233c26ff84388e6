# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PTX text on a GPU of compute capability 9.0, by the driver alone: its just-in-time compiler reads the text."""
import ctypes as c

from driver import load_driver
from errors import Unavailable

THREADS = 128  # of the one block of a launch: a warpgroup
UNKNOWN_PTX = 222  # CUDA_ERROR_UNSUPPORTED_PTX_VERSION


class Hopper:
    """The first such GPU. A context manager: its memory is freed at the end."""

    def __init__(self):
        self.driver, device, count = load_driver(), c.c_int(), c.c_int()
        self.call("cuInit", 0)
        self.call("cuDeviceGetCount", c.byref(count))
        found = []
        for ordinal in range(count.value):
            self.call("cuDeviceGet", c.byref(device), ordinal)
            found.append(".".join(str(self.attribute(number, device)) for number in (75, 76)))  # compute capability
            if found[-1] == "9.0":
                break
        else:
            seen = ", ".join(found) or "none"
            raise Unavailable(f"wgmma needs a GPU of compute capability 9.0, and the driver finds {seen}")
        self.device, self.context, self.memory = device, c.c_void_p(), []
        name = c.create_string_buffer(256)
        self.call("cuDeviceGetName", name, 256, device)
        self.name = name.value.decode()

    def __enter__(self):
        self.call("cuDevicePrimaryCtxRetain", c.byref(self.context), self.device)
        self.call("cuCtxPushCurrent_v2", self.context)
        return self

    def __exit__(self, *_):
        """What a broken context refuses to free is gone with it."""
        for address in self.memory:
            self.driver.cuMemFree_v2(address)
        self.driver.cuCtxPopCurrent_v2(c.byref(c.c_void_p()))
        self.driver.cuDevicePrimaryCtxRelease_v2(self.device)

    def call(self, name, *arguments):
        code = getattr(self.driver, name)(*arguments)
        if code == UNKNOWN_PTX:
            raise Unavailable("this driver does not know PTX 8.0")
        if code != 0:
            text = c.c_char_p()
            self.driver.cuGetErrorName(code, c.byref(text))
            raise RuntimeError(f"{name}: {text.value.decode() if text.value else code}")

    def attribute(self, number, device):
        value = c.c_int()
        self.call("cuDeviceGetAttribute", c.byref(value), number, device)
        return value.value

    def allocate(self, size):
        address = c.c_uint64()
        self.call("cuMemAlloc_v2", c.byref(address), c.c_size_t(size))
        self.memory.append(address)
        return address

    def load(self, text):
        module = c.c_void_p()
        self.call("cuModuleLoadDataEx", c.byref(module), text.encode(), 0, None, None)
        return module

    def function(self, module, name, shared):
        function = c.c_void_p()
        self.call("cuModuleGetFunction", c.byref(function), module, name.encode())
        self.call("cuFuncSetAttribute", function, 8, shared)  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        return function

    def launch(self, function, shared, parameters):
        values = [x if isinstance(x, c.c_uint64) else c.c_uint64(x) for x in parameters]
        pointers = (c.c_void_p * len(values))(*map(c.addressof, values))
        self.call("cuLaunchKernel", function, 1, 1, 1, THREADS, 1, 1, shared, None, pointers, None)

    def write(self, address, data):
        self.call("cuMemcpyHtoD_v2", address, c.c_void_p(data.data_ptr()), c.c_size_t(data.nbytes))

    def read(self, data, address):
        """Waits for what was launched."""
        self.call("cuMemcpyDtoH_v2", c.c_void_p(data.data_ptr()), address, c.c_size_t(data.nbytes))
