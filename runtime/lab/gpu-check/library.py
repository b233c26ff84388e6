# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libtaylor.so by ctypes, on torch tensors' memory: no libtorch of any version takes part. Mirrors runtime/taylor.h."""
import ctypes
import json

import torch

from errors import Unusable

c = ctypes
DTYPES = {"f32": (0, torch.float32), "bf16": (1, torch.bfloat16), "f64": (2, torch.float64), "i32": (3, torch.int32), "f16": (4, torch.float16)}
CODES = {dtype: code for code, dtype in DTYPES.values()}
PLACES = {"cpu": 0, "cuda": 1, "ptx": 2}  # TaylorDevice


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("dtype", c.c_int32), ("device", c.c_int32), ("rank", c.c_int64),
                ("sizes", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64))]


class RunOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("offset", c.POINTER(c.c_int64)), ("threads", c.c_int64), ("parallel_for", c.c_void_p),
                ("parallel_context", c.c_void_p), ("workspace", c.c_void_p), ("workspace_size", c.c_int64), ("device", c.c_int32),
                ("stream", c.c_void_p), ("ptx", c.c_void_p)]


class Library:
    def __init__(self, path):
        try:
            self.c = c.CDLL(str(path))
        except OSError as error:
            raise Unusable(f"cannot load {path}: {error}; the folder is made for Linux on x86-64 with glibc 2.36 or newer") from error
        for name, result, arguments in (
            ("taylor_load", c.c_int, [c.c_char_p, c.POINTER(c.c_void_p)]),
            ("taylor_unload", None, [c.c_void_p]),
            ("taylor_manifest", c.c_char_p, [c.c_void_p]),
            ("taylor_tensor_count", c.c_int64, [c.c_void_p, c.c_char_p]),
            ("taylor_tensor_name", c.c_char_p, [c.c_void_p, c.c_char_p, c.c_int64]),
            ("taylor_workspace", c.c_int, [c.c_void_p, c.c_char_p, c.c_void_p, c.c_int64, c.c_void_p, c.POINTER(c.c_int64)]),
            ("taylor_run", c.c_int, [c.c_void_p, c.c_char_p, c.c_void_p, c.c_int64, c.c_void_p]),
            ("taylor_last_error", c.c_char_p, []),
            ("taylor_version", c.c_char_p, []),
        ):
            function = getattr(self.c, name)
            function.restype, function.argtypes = result, arguments

    def version(self):
        return self.c.taylor_version().decode()

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.c.taylor_last_error().decode())

    def load(self, path):
        handle = c.c_void_p()
        self.check(self.c.taylor_load(str(path).encode(), c.byref(handle)))
        return Kernel(self, handle)


class Kernel:
    """A loaded artifact; stays loaded until the process ends, as torch's kernels do."""

    def __init__(self, library, handle):
        self.library, self.handle = library, handle
        self.manifest = json.loads(library.c.taylor_manifest(handle).decode())
        self.entries = {}  # slot -> its entry in the manifest
        tensors = self.manifest["tensors"]
        for entry in tensors["inputs"]:
            self.entries["input:" + entry["name"]] = self.entries["gradient:" + entry["name"]] = entry
        for entry in tensors["outputs"]:
            self.entries["output:" + entry["name"]] = self.entries["cotangent:" + entry["name"]] = entry
        for entry in tensors["saved"]:
            self.entries["saved:" + entry["name"]] = entry
        for entry in tensors.get("cache", []):  # prepared keys, as read and as made
            self.entries["cache:" + entry["name"]] = self.entries["append:" + entry["name"]] = entry

    def slots(self, function):
        """Names of the function's tensors, in the order of a call: input:q, output:o, saved:m, cotangent:o, gradient:q."""
        count = self.library.c.taylor_tensor_count(self.handle, function.encode())
        if count < 0:
            self.library.check(1)
        return [self.library.c.taylor_tensor_name(self.handle, function.encode(), i).decode() for i in range(count)]

    def axes(self, slot):
        return self.entries[slot]["axes"]

    def dtype(self, slot):
        return DTYPES[self.entries[slot]["dtype"]][1]

    def shape(self, slot, sizes):
        """Sizes of a slot; `sizes` has b, h, g, t and u, the manifest the rest."""
        return [self.manifest["sizes"].get(axis, sizes.get(axis)) for axis in self.axes(slot)]

    def prepare(self, function, tensors, device, workspace=None):
        """A call that can be made again and again: all structures stand ready. `tensors` by slot; those that are not there are absent."""
        return Call(self, function, tensors, device, workspace)


class Call:
    def __init__(self, kernel, function, tensors, device, workspace):
        slots = kernel.slots(function)
        self.kernel, self.function, self.count = kernel, function.encode(), len(slots)
        self.keep = [tensors, workspace]  # whatever the structures point to
        self.tensors = (Tensor * len(slots))()
        for target, slot in zip(self.tensors, slots):
            x = tensors.get(slot)
            if x is None:
                continue
            sizes, strides = (c.c_int64 * x.dim())(*x.shape), (c.c_int64 * x.dim())(*x.stride())
            self.keep += [sizes, strides]
            target.data, target.dtype, target.device, target.rank = x.data_ptr(), CODES[x.dtype], PLACES[x.device.type], x.dim()
            target.sizes, target.strides = c.cast(sizes, c.POINTER(c.c_int64)), c.cast(strides, c.POINTER(c.c_int64))
        self.options = RunOptions(struct_size=c.sizeof(RunOptions), device=PLACES[device.name])
        if workspace == "own":  # torch's caching allocator brings it, as CUDA graphs need
            size = c.c_int64()
            kernel.library.check(kernel.library.c.taylor_workspace(kernel.handle, self.function, self.tensors, self.count, c.byref(self.options), c.byref(size)))
            # Whatever lies in it must not matter.
            self.keep.append(memory := torch.full((max(size.value, 64),), 0xFF, dtype=torch.uint8, device=device.torch))
            self.options.workspace, self.options.workspace_size = memory.data_ptr(), memory.numel()

    def __call__(self, stream=None):
        self.options.stream = stream
        library = self.kernel.library
        library.check(library.c.taylor_run(self.kernel.handle, self.function, self.tensors, self.count, c.byref(self.options)))
