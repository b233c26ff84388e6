# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: taylorc
# UNSUPPORTED: sanitizer
# RUN: rm -rf %t && mkdir %t && %python %s %bin_dir %lib_dir %t
"""What taylorc compiles, the runtime loads: its limits are said before the work is done."""
import ctypes
import pathlib
import subprocess
import sys

BIN, LIB, FOLDER = map(pathlib.Path, sys.argv[1:4])
HEAD = """!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
"""
runtime = ctypes.CDLL(str(LIB / "libtaylor.so"))
runtime.taylor_last_error.restype = ctypes.c_char_p


def gates(count):
    names = [f"%a{i}" for i in range(count)]
    arguments = ", ".join(f"{name}: !row from projection(bias)" for name in names)
    return (HEAD + f"taylor.spec @x(%q: !q, %k: !k, %v: !v, {arguments}) {{\n"
            "  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v\n"
            f"  %o = taylor.map %n / %z + {' + '.join(names)} : !o, !row{', !row' * count}\n"
            "  taylor.yield %o : !o\n}\n")


def axes(count):
    table = "[" + ", ".join(f"r{i} = 2" for i in range(count - 1)) + ", d]"
    summed = ", ".join(f"r{i}" for i in range(count - 1))
    return (HEAD + f"!w = !taylor.array<{table}>\n!c = !taylor.array<[d]>\n"
            "taylor.spec @x(%q: !q, %k: !k, %v: !v, %w: !w from parameter(ones)) {\n"
            f"  %x = taylor.reduce sum over({summed}) %w : !w\n"
            "  %y = taylor.map %q * %x : !q, !c\n"
            "  %n, %z = taylor.recurrences [numerator, mass] %y, %k, %v exponential causal : !q, !k, !v\n"
            "  %o = taylor.map %n / %z : !o, !row\n"
            "  taylor.yield %o : !o\n}\n")


def compile(name, text):
    """The message without its place, or "" where the artifact was made, and loads."""
    spec, artifact = FOLDER / f"{name}.mlir", FOLDER / f"{name}.so"
    spec.write_text(text)
    done = subprocess.run([BIN / "taylorc", spec, "-o", artifact, "--quiet"], capture_output=True, text=True)
    if done.returncode:
        assert not artifact.exists()
        return done.stderr.splitlines()[0].removeprefix(f"{spec}:")
    kernel = ctypes.c_void_p()
    assert runtime.taylor_load(str(artifact).encode(), ctypes.byref(kernel)) == 0, runtime.taylor_last_error()
    return ""


line = HEAD.count("\n") + 1
# The backward reads q, k, v, the output, its cotangent and two saved arrays, and writes 3 + n gradients.
for count in (118, 119):
    arrays = 10 + count
    expected = "" if arrays <= 128 else (f"{line}:1: error: unsupported backward of {arrays} arrays (inputs, results, and what the backward needs "
                                         "of each sum): kernels take at most 128; join inputs of one shape along a further axis, or write fewer sums")
    message = compile(f"gates{count}", gates(count))
    assert message == expected, (count, message)
for count in (8, 9):
    expected = "" if count <= 8 else f"{line + 2}:1: error: unsupported array 'w' of 9 axes: kernels take at most 8; join some of its axes"
    message = compile(f"axes{count}", axes(count))
    assert message == expected, (count, message)
