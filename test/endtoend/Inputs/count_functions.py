"""count_functions.py FILE: lines of PTX of sines in a row"""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from arrays import ARRAYS

path = pathlib.Path(sys.argv[1] + ".mlir")


def lines(count):
    maps = "".join(f"  %q{i + 1} = taylor.map sin(%q{i}) : !q\n" for i in range(count))
    path.write_text(ARRAYS + "taylor.spec @sines(%q: !q, %k: !k, %v: !v) {\n  %q0 = taylor.map 1.0 * %q : !q\n" + maps
                    + f"  %n, %z = taylor.recurrences [numerator, mass] %q{count}, %k, %v exponential causal : !q, !k, !v\n"
                    "  %o = taylor.map %n / %z : !o, !row\n  taylor.yield %o : !o\n}\n")
    return subprocess.run(["taylorc", str(path), "--quiet", "--target=sm_80", "--emit=ptx"], check=True,
                          capture_output=True, text=True).stdout.count("\n")


few, many, more = lines(8), lines(120), lines(240)
assert many < few + 120 * 400, (few, many)
assert more < 2 * many, (many, more)
