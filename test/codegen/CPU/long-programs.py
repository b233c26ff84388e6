# The code generator takes the square of a basic block's size, so blocks are bounded: long formulas, long chains
# and wide axes make more of them, not longer ones.
#
# RUN: rm -rf %t && mkdir %t && %python %s %t
"""python3 long-programs.py FOLDER"""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from arrays import ARRAYS
from cases import REFUSED

out = pathlib.Path(sys.argv[1])
head = ARRAYS + "!head = !taylor.array<[h]>\n"
end = "  %o = taylor.map %n / %z : !o, !row\n  taylor.yield %o : !o\n}\n"


def sums(query="%q", key="%k", types="!q, !k", score="", more=""):
    return (f"  %n, %z = taylor.recurrences [numerator, mass] {query}, {key}, %v exponential {score}causal "
            f": {types}, !v{more}\n")


def terms(count, function):
    arguments = "".join(f", %a{i}: !head from parameter(zeros)" for i in range(count))
    formula = "".join(f" + %a{i} * {function(i)}" for i in range(count))
    return (head + f"taylor.spec @terms(%q: !q, %k: !k, %v: !v{arguments}) {{\n"
            + sums(score=f"score(s{formula}) ", more=", !head" * count) + end)


def chain(count):
    maps = "".join(f"  %q{i + 1} = taylor.map sin(%q{i}) : !q\n" for i in range(count))
    return (head + "taylor.spec @chain(%q: !q, %k: !k, %v: !v) {\n  %q0 = taylor.map 1.0 * %q : !q\n" + maps
            + sums(query=f"%q{count}") + end)


def axis(size):
    q, k = (f"!taylor.array<[b, {heads}, {tokens}, r = {size}]>" for heads, tokens in ("ht", "gu"))
    return (head + f"!w = !taylor.array<[d, r = {size}]>\n"
            "taylor.spec @axis(%q: !q, %k: !k, %v: !v, %w: !w from parameter(ones)) {\n"
            "  %x = taylor.reduce sum over(d) %q * %w : !q, !w\n  %y = taylor.reduce sum over(d) %k * %w : !k, !w\n"
            + sums("%x", "%y", f"{q}, {k}") + end)


def table(size):
    return (head + f"!t = !taylor.array<[h, r = {size}]>\n!l = !taylor.array<[h, lag]>\n"
            "taylor.spec @table(%q: !q, %k: !k, %v: !v, %t: !t from parameter(zeros)) {\n"
            "  %b = taylor.reduce sum over(r) select(r == min(max(lag, 0.0), size(r) - 1.0), %t, 0.0) : !t\n"
            + sums(score="score(s + %b) ", more=", !l") + end)


def write(name, text):
    path = out / (name + ".mlir")
    path.write_text(text)
    return str(path)


def blocks(name, text):
    """Instructions of each basic block of a specification's code."""
    code = subprocess.run(["taylorc", write(name, text), "--quiet", "--emit=llvm", "--target=x86-64-v4"], check=True,
                          capture_output=True, text=True).stdout
    sizes = [0]
    for line in code.splitlines():
        if re.match(r"\d+:|define ", line):
            sizes.append(0)
        elif line.startswith("  "):
            sizes[-1] += 1
    return sizes


def check(name, text):
    run = subprocess.run(["taylor-run", write(name, text), "--device=cpu", "--shape=1,2,37,16", "--grad", "--check"],
                         capture_output=True, text=True)
    assert run.returncode == 0, f"{name}: {run.stdout[-1000:]}{run.stderr[-1000:]}"


# Four times as many operations make at most four times as much code. A block holds one formula for one vector of lanes
# at least (240 sines in a row become one), and not for all vectors of a tile.
MOST = 12000
FAMILIES = {
    "positions": (lambda n: terms(n, lambda i: f"sin((t - u) / {i + 1}.0)"), 10, 40),
    "scores": (lambda n: terms(n, lambda i: f"sin(s / {i + 1}.0)"), 10, 40),
    "powers": (lambda n: terms(n, lambda i: f"pow((1.0 + t - u) / 100.0, {i}.5)"), 10, 40),
    "chain": (chain, 60, 240),
    "axis": (axis, 16384, 65536),
    "table": (table, 16384, 65536),
}
for name, (make, few, many) in FAMILIES.items():
    before, after = blocks(f"{name}{few}", make(few)), blocks(f"{name}{many}", make(many))
    print(f"{name}: {sum(before)} and {sum(after)} instructions, longest block {max(before)} and {max(after)}")
    assert max(after) <= MOST, f"{name}: a block of {max(after)} instructions"
    assert sum(after) <= 4.4 * sum(before), f"{name}: {sum(before)} became {sum(after)} instructions"

# Bounded blocks compute the same: maps in several sweeps, rows in a loop with what is left at their ends.
check("scores-values", terms(6, lambda i: f"sin(s / {i + 1}.0)"))
check("powers-values", terms(6, lambda i: f"pow((1.0 + t - u) / 100.0, {i}.5)"))
check("chain-values", chain(40))
check("axis-values", axis(609))
check("table-values", table(609))

# An axis that no memory holds is refused at once.
run = subprocess.run(["taylorc", write("endless", axis(2_000_000_000)), "-o", str(out / "endless.so")],
                     capture_output=True, text=True)
assert run.returncode == REFUSED and "unsupported on a processor: a kernel with 512000016512 bytes of tiles" in run.stderr, \
    run.stderr
