# REQUIRES: full
# UNSUPPORTED: sanitizer
# RUN: rm -rf %t && %python %s %source_dir %build_dir %cc %t
"""The runtime without its interpreter of PTX (-DTAYLOR_BUILD_INTERPRETER=OFF): the library has none of its code, loads an artifact for GPUs, and says what is
missing where a call asks for it; tests and taylor-bench are not built so."""
import ctypes
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "Inputs"))
from c_structures import Options, Tensor

source, build = map(pathlib.Path, sys.argv[1:3])
compiler, folder = sys.argv[3], pathlib.Path(sys.argv[4])


def configure(*options):
    command = ["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DTAYLOR_BUILD_COMPILER=OFF", "-DTAYLOR_BUILD_TORCH=OFF", "-DTAYLOR_BUILD_INTERPRETER=OFF",
               f"-DCMAKE_C_COMPILER={compiler}", f"-DCMAKE_CXX_COMPILER={compiler.replace('clang', 'clang++')}", *options]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


refused = configure()
assert refused.returncode != 0 and "expected -DTAYLOR_BUILD_TESTS=OFF with -DTAYLOR_BUILD_INTERPRETER=OFF" in " ".join(refused.stderr.split()), refused.stderr
made = configure("-DTAYLOR_BUILD_TESTS=OFF")
assert made.returncode == 0, made.stderr
made = subprocess.run(["ninja", "-C", folder, "-j", "2", "taylor"], capture_output=True, text=True)
assert made.returncode == 0, made.stdout
library = folder / "lib" / "libtaylor.so"
commands = (folder / "build.ninja").read_text()
assert "Interpret.cpp" not in commands.replace("WithoutInterpreter.cpp", "") and "runtime/ptx/Warpgroup.cpp" not in commands
assert library.stat().st_size < (build / "lib" / "libtaylor.so").stat().st_size


def tensor(*sizes):
    count, strides = 1, []
    for size in reversed(sizes):
        strides.insert(0, count)
        count *= size
    array = lambda numbers: (ctypes.c_int64 * len(numbers))(*numbers)
    memory.append((ctypes.c_float * (count + 4))())
    aligned = (ctypes.addressof(memory[-1]) + 15) // 16 * 16
    return Tensor(aligned, 0, 0, len(sizes), array(sizes), array(strides))


memory = []
runtime = ctypes.CDLL(str(library))
runtime.taylor_last_error.restype = ctypes.c_char_p
kernel = ctypes.c_void_p()
fixture = build / "test/runtime/fixtures/device.so"
assert runtime.taylor_load(str(fixture).encode(), ctypes.byref(kernel)) == 0, runtime.taylor_last_error()
tensors = (Tensor * 3)(tensor(1, 1, 4, 8), tensor(1, 1, 4, 8), tensor(1, 1, 4))
options = Options(struct_size=ctypes.sizeof(Options), device=2)
assert runtime.taylor_run(kernel, b"forward", tensors, ctypes.c_int64(3), ctypes.byref(options)) == 1
wanted = b"unsupported device 'ptx': this runtime was built without the interpreter of PTX; build it with -DTAYLOR_BUILD_INTERPRETER=ON"
assert runtime.taylor_last_error() == wanted, runtime.taylor_last_error()
