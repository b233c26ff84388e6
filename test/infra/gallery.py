# RUN: %python %s %source_dir %build_dir %t
# REQUIRES: compiler, torch
# UNSUPPORTED: sanitizer
"""The gallery has a whole page for each specification, its plots are the weights that the formulas name, and what is missing is said."""
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

source, build, folder = map(pathlib.Path, sys.argv[1:4])
os.environ["TAYLOR_LIB"], os.environ["TAYLORC"] = str(build / "lib"), str(build / "bin" / "taylorc")
sys.path.insert(0, str(source / "examples"))
import gallery

shutil.rmtree(folder, ignore_errors=True)
entries = gallery.write(folder)
files = {path.relative_to(source / "examples" / "specs").with_suffix("").as_posix() for path in (source / "examples" / "specs").rglob("*.mlir")}
assert {entry.name for entry in entries} == files and len(files) >= 57, files
assert gallery.faults(folder, entries) == []


def plots(page):
    return json.loads((folder / "plots" / f"{page}.json").read_text())


def series(s):
    return sum(s**n / math.factorial(n) for n in range(11))


# At one place a rotation is none; q = (2 s, 6, 0, ..) and k = (2, 0, ..), of 16 channels.
WEIGHTS = {
    "softmax": math.exp, "softmax-count": lambda s: math.exp(min(s, 5.0)), "softmax-taylor": series, "beyond-softplus": lambda s: math.log1p(math.exp(s)),
    "beyond-relu-squared": lambda s: max(s, 0.0)**2, "beyond-sigmoid": lambda s: 1.0 / (1.0 + math.exp(-s)),
    "beyond-softmax-soft-cap": lambda s: math.exp(20.0 * math.tanh(s / 20.0)), "linear-relu": lambda s: max(2.0 * s, 0.0) * 2.0,
    "linear-cosine": lambda s: 2.0 * s / math.hypot(2.0 * s, 6.0),
    "linear-elu": lambda s: 3.0 * (2.0 * s + 1.0 if s > 0 else math.exp(2.0 * s)) + 7.0 + 14.0,
}
for page, weight in WEIGHTS.items():
    for s, w in next(iter(plots(page)["weight"].values())):
        assert abs(w - weight(s)) <= 2e-5 * max(1.0, abs(weight(s))), (page, s, w, weight(s))
# The keys that a query sees: up to it, in a window, up to a prefix; and decays, of keys that are alike.
for page, seen in {"softmax": range(96), "beyond-sliding-window": range(64, 96), "beyond-prefix": range(112)}.items():
    for row in plots(page)["row"]["n"]:
        assert [u for u, w in enumerate(row) if w] == list(seen), page
for page, rate in {"beyond-alibi": 0.25, "decay-gates": 64.0 / 1024.0}.items():
    alike = plots(page)["row"]["n"][1]
    assert all(abs(alike[95 - i] / alike[95] - math.exp(-rate * i)) < 1e-4 for i in range(60)), page

# Curves are those of the results: the last number of a figure's table stands in the picture.
assert ">softmax-norm-l2: 1.987<" in (folder / "plots" / "softmax-norm-l2-loss.svg").read_text()
assert ">order 10: 2.103<" in (folder / "plots" / "elu-taylor-loss.svg").read_text()
trained = {entry.name for entry in entries if entry.curves}
assert len(trained) == 28 and {"softmax-count-norm-scaled", "relu-gate", "linear-cosine"} <= trained, trained


def page(name):
    return folder / f"{name}.md"


assert "A head's state has 2145 rows and 65 columns of f32 at 64 channels (`--set order=2`)" in page("softmax-taylor").read_text()
assert "1.00 ms; SDPA flash 0.98 ms, eager 16.61 ms" in page("softmax").read_text()
# Of a series with rounded operands, the default, and not with two numbers; of which kernels.
assert "1.24 ms; SDPA flash 0.98 ms, eager 102.35 ms" in page("softmax-taylor").read_text()
assert "NVIDIA H200, sm_90, 2026-11-27" in page("softmax-taylor").read_text() and "#sm_90a-on-an-h200), are faster" in page("softmax-taylor").read_text()
positions = page("filter-positions").read_text()
assert 'href="beyond-alibi.' in positions and 'href="softmax-count.' not in positions

# What is missing is said.
(folder / "plots" / "softmax-row.svg").unlink()
page("beyond-alibi").unlink()
page("linear-relu").write_text(page("linear-relu").read_text().replace("## Times", "Times"))
found = gallery.faults(folder, entries)
for wanted in (f"{page('softmax').name}: no plots/softmax-row.svg", "beyond/alibi: no page", f"{gallery.INDEX}: no {page('beyond-alibi').name}",
               "linear-relu: its page lacks '## Times'"):
    assert wanted in found, (wanted, found)
for options, message in ((["--chek"], "unsupported option '--chek'"), ([], "expected --output FOLDER or --check")):
    done = subprocess.run([sys.executable, source / "examples" / "gallery.py", *options], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.rstrip().endswith(f"error: {message}"), done
done = subprocess.run([sys.executable, source / "examples" / "gallery.py", "--check", "--only=^softmax$"], capture_output=True, text=True)
assert done.returncode == 0 and done.stdout == "1 attention\n", done
