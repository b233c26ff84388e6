# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: taylorc
# RUN: rm -rf %t && mkdir %t && %python %s %bin_dir %spec_dir %t
"""The workspace that a manifest lists is what the artifact's own functions ask for, and grows with T, not with T x U; the manifest
says why each array has memory in the words of the tile program."""
import ctypes
import json
import math
import pathlib
import re
import subprocess
import sys

BIN, SPECS, FOLDER = map(pathlib.Path, sys.argv[1:4])
ROLES = "bhgtu"  # the order of TAYLOR_DIM_* in runtime/artifact.h
BYTES = {"f32": 4, "bf16": 2, "f16": 2, "f64": 8}


def size_of(text, sizes):
    quotient = re.fullmatch(r"ceildiv\((\w+), (\w+)(?: \* (\w+))?\)", text)
    factors = quotient.groups() if quotient else (text, "1", None)
    above, *below = (int(sizes.get(factor, factor)) if factor else 1 for factor in factors)
    return -(-above // math.prod(below))


def listed(workspace, sizes):
    total = 0
    for array in workspace:
        assert len(array["axes"]) == len(array["sizes"]), array
        assert not {"t", "u"} <= set(array["axes"]), f"expected O(T) memory, but got {array}"
        width = BYTES[array["dtype"]]
        counts = [size_of(x, sizes) for x in array["sizes"]]
        if len(counts) > 1 and array["sizes"][-2].isdigit() and not array["sizes"][-1].isdigit():
            # Rows of channels: an odd number of lines of 64 bytes apart (runtime/MANIFEST.md).
            counts[-1] = (-(-width * counts[-1] // 64) | 1) * 64 // width
        total += -(-width * math.prod(counts) // 64) * 64
    return total


def read_reasons(text):
    """Why each array has memory, by name, of each tile program."""
    name, *rest = re.split(r"^ *tile\.program @(\w+)", text, flags=re.MULTILINE)
    return {name: dict(re.findall(r'tile\.workspace "([^"]*)" : .* because "([^"]*)"$', program, re.MULTILINE))
            for name, program in zip(rest[::2], rest[1::2])}


for spec in ("softmax", "decay-gates", "softmax-count-layernorm"):
    for dtype in ("f32", "bf16", "f16"):
        file = FOLDER / f"{spec}-{dtype}.so"
        subprocess.run([BIN / "taylorc", SPECS / f"{spec}.mlir", f"--dtype={dtype}", "-o", file], check=True)
        library = ctypes.CDLL(str(file))
        manifest = json.loads(file.with_suffix(".json").read_text())
        said = read_reasons(subprocess.run([BIN / "taylorc", SPECS / f"{spec}.mlir", f"--dtype={dtype}", "--emit=tile"], check=True, capture_output=True, text=True).stdout)
        for function in ("forward", "backward"):
            arrays = manifest["targets"][0]["functions"][function]["workspace"]
            assert arrays and {array["name"]: array["because"] for array in arrays} == said[function], (spec, dtype, function, arrays, said[function])
            query = library[f"taylor_{function}_workspace"]
            query.restype = ctypes.c_int64
            for numbers in ((2, 4, 2, 65, 130), (1, 1, 1, 1, 1), (3, 6, 3, 1000, 1000)):
                dims = (ctypes.c_int64 * 8)(*numbers, numbers[4] - numbers[3])
                expected = query(dims)
                got = listed(manifest["targets"][0]["functions"][function]["workspace"], dict(zip(ROLES, numbers)))
                assert got == expected > 0, f"{spec} {dtype} {function} {numbers}: expected {expected} bytes, but the manifest lists {got}"
