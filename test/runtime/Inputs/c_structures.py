# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TaylorTensor and TaylorRunOptions of runtime/taylor.h, for tests that call the C interface."""
import ctypes


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("device", ctypes.c_int32), ("rank", ctypes.c_int64),
                ("sizes", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64))]


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("offset", ctypes.c_void_p), ("threads", ctypes.c_int64), ("parallel_for", ctypes.c_void_p),
                ("parallel_context", ctypes.c_void_p), ("workspace", ctypes.c_void_p), ("workspace_size", ctypes.c_int64), ("device", ctypes.c_int32),
                ("stream", ctypes.c_void_p), ("ptx", ctypes.c_void_p), ("form", ctypes.c_char_p)]
