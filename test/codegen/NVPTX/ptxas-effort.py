# ptxas takes the square of a block's length above its first level of optimisation: long kernels get that level.
#
# RUN: rm -rf %t && mkdir %t && %python %s %t
"""python3 ptxas-effort.py FOLDER"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from arrays import ARRAYS

out = pathlib.Path(sys.argv[1])
# In place of ptxas: it writes down what it is asked, and an empty cubin.
fake = out / "ptxas"
fake.write_text(f'#!/bin/sh\necho "$@" > {out}/asked\nwhile [ "$1" != -o ]; do shift; done\n: > "$2"\n')
fake.chmod(0o755)


def asked(name, score):
    path = out / (name + ".mlir")
    path.write_text(ARRAYS + "taylor.spec @x(%q: !q, %k: !k, %v: !v) {\n  %n, %z = taylor.recurrences [numerator, mass] "
                    f"%q, %k, %v exponential score({score}) causal : !q, !k, !v\n"
                    "  %o = taylor.map %n / %z : !o, !row\n  taylor.yield %o : !o\n}\n")
    subprocess.run(["taylorc", str(path), "--quiet", "--target=sm_80", "--dtype=bf16", "-o", str(out / (name + ".so"))],
                   check=True, env=os.environ | {"TAYLOR_PTXAS": str(fake)})
    return (out / "asked").read_text().split()


assert "-O3" in asked("short", "s"), "a short kernel with less than all of ptxas"
# Sums and maxima, which are no functions and stay as they are: maps of many functions are loops, and short.
assert "-O1" in asked("long", "s" + "".join(f" + max({i}.5 * s, t - u)" for i in range(1, 101))), "a long one with all of it"
