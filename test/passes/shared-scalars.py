# Scalars of a weight that several others read, and those of a floor: passes take the time of the text, not of its paths, which double with each line here.
#
# RUN: rm -rf %t && mkdir %t && %python %s %t
"""python3 shared-scalars.py FOLDER"""
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
HEADER = """!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
!row = !taylor.array<[b, h, t]>
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
"""
END = " -> rows(w, %v), rows(w) : !q, !k, !v -> !o, !row\n  %o = taylor.map %n / %z : !o, !row\n  taylor.yield %o : !o\n}\n"
LINES = 60
# The first scalar, the next of the one before, and the weight of the last.
CASES = {
    "sides": ("s * softplus(s)", "{0} * 0.5 + {0} * 0.4", "{0}"),
    "parts": ("1.0 + sigmoid(s)", "{0} * {0}", "{0} * sigmoid(s + 1.0)"),
    "held": ("min(s, 0.5)", "{0} * {0}", "exp(s) * log1p(exp({0}))"),
    "tails": ("sigmoid(s)", "{0} * 0.5 + {0} * 0.4", "{0}"),
}
for name, (first, following, weight) in CASES.items():
    scalars = [f"a0 = {first}"] + [f"a{i + 1} = {following.format(f'a{i}')}" for i in range(LINES)]
    path = folder / f"{name}.mlir"
    path.write_text(f"{HEADER}  %n, %z = taylor.pairwise {{ s = dot(%q, %k), {', '.join(scalars)}, w = {weight.format(f'a{LINES}')} }} "
                    f"visible(u <= t)" + END)
    done = subprocess.run(["taylorc", path, "--emit=pairwise"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (name, done.stderr)
    # Each line is a few scalars in the forward, and some more in the backward.
    assert done.stdout.count(" = ") < 40 * LINES, (name, done.stdout.count(" = "))

# A floor: the lowering to tiles asks whether it is the same for all keys.
scalars = ["a0 = %r * 0.5"] + [f"a{i + 1} = a{i} * 0.5 + a{i} * 0.4" for i in range(LINES)]
path = folder / "floor.mlir"
path.write_text(f"{HEADER.replace('%v: !v)', '%v: !v, %r: !row)')}  %n, %z, %m = taylor.pairwise {{ s = dot(%q, %k), {', '.join(scalars)}, "
                f"m = maximum(s, a{LINES}), w = exp(s - m) }} visible(u <= t) -> rows(w, %v), rows(w), maximum : !q, !k, !row, !v -> !o, !row, !row\n"
                "  %o = taylor.map %n / %z : !o, !row\n  taylor.yield %o : !o\n}\n")
done = subprocess.run(["taylorc", path, "--forward-only", "--emit=tile"], capture_output=True, text=True, timeout=60)
assert done.returncode == 0, done.stderr
