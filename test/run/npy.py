# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# .npy files in and out: element types, column-major order, format versions, and every damage that has a message.
# REQUIRES: compiler
# RUN: %python %s %t
import os
import subprocess
import sys

import numpy as np

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
SPEC = f"{folder}/spec.mlir"
with open(SPEC, "w") as spec:
    spec.write(
        "!x = !taylor.array<[h, t]>\n!n = !taylor.array<[t], i32>\n"
        "taylor.spec @a(%x: !x, %n: !n from input) {\n"
        "  %y = taylor.map %x * 2.0 + %n : !x, !n\n  taylor.yield %y : !x\n}\n"
    )
x = np.arange(6, dtype=np.float64).reshape(2, 3) / 3
n = np.array([10, -20, 2**31 - 1], np.int32)


def run(*arguments):
    return subprocess.run(["taylor-run", SPEC, *arguments], capture_output=True, text=True)


def evaluate(x_file, *arguments):
    np.save(f"{folder}/n.npy", n)
    result = run("--input", f"x={x_file}", "--input", f"n={folder}/n.npy", "--output", f"{folder}/y.npy", *arguments)
    assert result.returncode == 0, result.stderr
    return np.load(f"{folder}/y.npy")


def saved(name, array, version=None):
    path = f"{folder}/{name}.npy"
    with open(path, "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    return path


for name, array, version in [
    ("f64", x, None),
    ("f32", x.astype(np.float32), None),
    ("fortran", np.asfortranarray(x), None),
    ("version2", x, (2, 0)),
    ("version3", x, (3, 0)),
]:
    y = evaluate(saved(name, array, version))
    assert y.dtype == np.float64 and y.shape == (2, 3), (name, y.dtype, y.shape)
    assert np.array_equal(y, array.astype(np.float64) * 2 + n), (name, y)

# --dtype rounds inputs, and writes in that type; bf16 is written as f32.
assert np.array_equal(evaluate(saved("f32in", x), "--dtype=f32"), (x.astype(np.float32) * np.float32(2) + n).astype(np.float32))
y = evaluate(saved("bf16", np.full((2, 3), 1.00390625)), "--dtype=bf16", "--device=eager")
assert y.dtype == np.float32 and y[0, 0] == 12.0 and y[1, 1] == -18.0, y

good = open(saved("good", x), "rb").read()


def refused(data, message):
    path = f"{folder}/bad.npy"
    with open(path, "wb") as file:
        file.write(data)
    result = run("--input", f"x={path}")
    assert result.returncode == 1 and result.stdout == "", result
    expected = "taylor-run: " + message.replace("FILE", f"'{path}'") + "\n"
    assert result.stderr == expected, f"expected {expected!r}, but got {result.stderr!r}"


def with_header(text):
    header = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + bytes([118, 0]) + header.encode() + bytes(48)


refused(b"", "expected a .npy file, but FILE does not start with NumPy's magic number")
refused(b"hello, world, this is text", "expected a .npy file, but FILE does not start with NumPy's magic number")
refused(good[:8], "expected a .npy file, but FILE is truncated in its header")
refused(good[:50], "expected a .npy file, but FILE is truncated in its header")
refused(good[:6] + b"\x07" + good[7:], "expected a .npy file, but FILE has format version 7, not 1, 2 or 3")
refused(good[:-1], "expected 6 elements of 8 bytes in FILE, but got 47 bytes")
refused(good + b"\0", "expected 6 elements of 8 bytes in FILE, but got 49 bytes")
refused(with_header("{'descr': '<f8', 'shape': (2, 3), }"), "expected a .npy file, but FILE has a header without descr, fortran_order or shape")
refused(with_header("{'descr': '<f8', 'fortran_order': False, 'shape': 6, }"), "expected a .npy file, but FILE has a header whose shape is no tuple")
refused(with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, -3), }"), "expected a .npy file, but FILE has the size '-3' in its header")
refused(with_header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (6,), }"), "unsupported record type in FILE; save a plain array with numpy.save")
refused(with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"),
        "expected 1099511627776 or more elements of 8 bytes in FILE, but got 48 bytes")
for dtype in (np.float16, np.int64, np.complex64, np.dtype(">f4")):
    data = open(saved("other", x.astype(dtype)), "rb").read()
    refused(data, f"unsupported element type '{np.dtype(dtype).newbyteorder('>').str if dtype == np.dtype('>f4') else np.dtype(dtype).str}' in FILE; "
            "save it as float32, float64 or int32 (bfloat16 as float32: --dtype=bf16 rounds it)")
result = run("--input", f"x={folder}/absent.npy")
assert result.stderr == f"taylor-run: cannot read '{folder}/absent.npy': No such file or directory\n", result.stderr
