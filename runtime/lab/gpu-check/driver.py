# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether there is a driver and a GPU, before torch is loaded."""
import ctypes
import os

from errors import Unavailable, Unusable

ELSEWHERE = "--device=ptx checks the kernels in the interpreter (slow; start with --quick), without times"


def load_driver():
    """The CUDA driver, or the library that TAYLOR_CUDA_DRIVER names."""
    name = os.environ.get("TAYLOR_CUDA_DRIVER") or "libcuda.so.1"
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise Unavailable(f"requires an NVIDIA driver, but {name} could not be loaded ({error})") from None


def require_gpu():
    """One message where there is no driver or no GPU."""
    try:
        driver = load_driver()
    except Unavailable as error:
        raise Unusable(f"{error}; {ELSEWHERE}") from None
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        shown = f" (CUDA_VISIBLE_DEVICES='{visible}')" if visible is not None else ""
        raise Unusable(f"requires an NVIDIA GPU, but the driver finds none{shown}; {ELSEWHERE}")
