# The page of --explain: all levels with the text that --emit prints, and lines that lead from one to the next.
# REQUIRES: taylorc
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %spec_dir %full %t
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from specifications import select

full = sys.argv.pop(2)
specs, folder = map(pathlib.Path, sys.argv[1:])


def run(*arguments):
    return subprocess.run(["taylorc", *map(str, arguments)], check=True, capture_output=True, text=True).stdout


class Level:
    def __init__(self, data):
        self.name, self.headings = data["name"], data["headings"]
        self.text = [line[0] for line in data["lines"]]
        self.owner = [line[1] for line in data["lines"]]
        self.sources = [set(line[2:]) for line in data["lines"]]

    def find(self, pattern, after=1):
        """The first line from `after` on that matches, counted from 1."""
        return next(n for n in range(after, len(self.text) + 1) if re.search(pattern, self.text[n - 1]))

    def heading(self, name):
        return next(line for line, heading in self.headings if heading == name)


def explain(spec, *options):
    page = folder / (spec.stem + ".html")
    assert run(spec, f"--explain={page}", *options) == ""
    text = page.read_text()
    # One file that loads nothing: the only addresses are those of places in itself.
    assert not re.search(r"https?:|//[a-z]+\.|<link|<iframe|<img|\bsrc=|\bimport\b|url\(|fetch\(", re.sub(r'id="levels">.*?</script>', "", text)), spec
    assert text.count("<script") == text.count("</script>") == 2
    data = json.loads(re.search(r'id="levels">(.*?)</script>', text, re.S).group(1))
    return data["subtitle"], data["forms"], [Level(level) for level in data["levels"]]


def check_lines(spec, levels):
    assert [level.name for level in levels] == ["spec", "pairwise", "kernels", "tile", "simt", "assembly"], spec
    assert not any(levels[0].sources)
    for above, level in zip(levels, levels[1:]):
        for n, (owner, sources) in enumerate(zip(level.owner, level.sources), 1):
            assert 1 <= owner <= n and level.owner[owner - 1] == owner, (spec, level.name, n)
            # Places are lines that begin something.
            assert all(1 <= s <= len(above.text) and above.owner[s - 1] == s and above.text[s - 1].strip() for s in sources), (spec, level.name, n, sources)
    # Each line of the specification has a counterpart, in the forward function, the backward one or both.
    used = set().union(*levels[1].sources)
    begin = levels[0].find("^taylor.spec ")
    for n in range(begin, len(levels[0].text) + 1):
        text = levels[0].text[n - 1].split("//")[0].strip()
        assert not text or levels[0].owner[n - 1] in used, (spec, n, text)
    # Each op over pairs, in plans of kernels and in tile programs has a place; machine code but for what stands between functions.
    for level in levels[1:4]:
        for n, text in enumerate(level.text, 1):
            if level.owner[n - 1] == n and text.strip() and not re.match(r"!|module", text):
                assert level.sources[n - 1], (spec, level.name, n, text)
    # Each kernel's code leads back to the kernel.
    threads, assembly = levels[4:]
    for line, heading in assembly.headings:
        if heading.startswith(("forward_", "backward_")):
            kernel = threads.heading(heading.replace("_", " / ", 1))
            assert assembly.sources[line - 1] == {kernel}, (spec, heading)


gpu = ["--target=sm_80,native", "--dtype=bf16", "--head-dim=32"]
for spec in select(specs, full):
    check_lines(spec, explain(spec, *gpu)[2])

softmax = specs / "softmax.mlir"
subtitle, forms, (spec, pairs, kernels, tile, threads, assembly) = explain(softmax, *gpu)
assert subtitle == "--target=sm_80 --dtype=bf16 --head-dim=32 --value-dim=32 --spec=softmax", subtitle
assert spec.text == softmax.read_text().splitlines()
one = ["--target=sm_80", *gpu[1:]]
for level, emit in ((pairs, "pairwise"), (tile, "tile"), (assembly, "asm")):
    text = re.sub("form #tile.form<.* of (forward|backward), .*> {$", r"form #tile.form<parallel of \1> {", "\n".join(level.text), flags=re.M)
    assert text == run(softmax, f"--emit={emit}", *one).rstrip("\n"), emit

# Which form each function has and why, as the manifest says it; the levels show that form alone.
assert [line.split(": ")[0] for line in forms] == ["forward", "backward"] and all("unsupported chunked form: " in line for line in forms), forms
_, forms, levels = explain(specs / "linear-relu.mlir", *gpu)
manifest = json.loads(run(specs / "linear-relu.mlir", "--emit=manifest", *one))
functions = manifest["targets"][0]["functions"]
assert forms == [f"{name}: {functions[name]['reason']}" for name in ("forward", "backward")] and "chunked from about" in forms[0], (forms, functions)
assert not any("_chunked" in line for level in levels for line in level.text)

# Forward: both products of the kernel come from the pairwise op, that from the recurrences; the quotient from its map.
recurrences, quotient = spec.find("taylor.recurrences"), spec.find(r"taylor.map %n / %z")
forward = pairs.find("taylor.pairwise")
assert pairs.sources[forward - 1] == {recurrences}
attend = tile.heading("forward / attend")
planned, divided = kernels.find("taylor.pairwise"), kernels.find("taylor.map %3#0 / %3#1")
assert kernels.sources[planned - 1] == {forward}
assert kernels.sources[divided - 1] == {pairs.find("taylor.map %3#0 / %3#1")}
for pattern, origin in (("tile.dot .*over.d", planned), ("tile.dot .*over.u", planned), ("math.exp", planned), ("arith.divf", divided)):
    assert tile.sources[tile.find(pattern, attend) - 1] == {origin}, pattern
# What has memory and because of what: the rotated keys. A kernel leads to the plan of it.
because = kernels.find('fusion.keep %1 because "every block of queries reads it"')
assert kernels.sources[because - 1] == {pairs.find("taylor.rope %k")}
assert kernels.find("fusion.kernel @attend") in tile.sources[attend - 1]
home = tile.find('tile.workspace "columns.0" : .* because "every block of queries reads it"')
assert kernels.find("taylor.rope %k") in tile.sources[home - 1]
# Tables of angles are there for both rotations.
rotations = {kernels.find(f"taylor.rope %{array}") for array in "qk"}
assert tile.sources[tile.heading("forward / angles_t_and_u") - 1] >= rotations
assert quotient in pairs.sources[pairs.find("taylor.map %3#0 / %3#1") - 1]
# Backward: derived from the same lines.
backward = pairs.find("taylor.pairwise", forward + 1)
assert pairs.sources[backward - 1] == {recurrences}
assert pairs.sources[pairs.find("taylor.reduce sum", forward) - 1] == {quotient}
# Machine code: products of the tensor cores are dots, over threads and over tiles.
products = {source for text, sources in zip(assembly.text, assembly.sources) if "mma.sync" in text for source in sources}
assert products and all("simt.dot" in threads.text[n - 1] for n in products), products
dots = set().union(*(threads.sources[n - 1] for n in products))
assert dots and all("tile.dot" in tile.text[n - 1] for n in dots), dots
# A GPU whose products run beside its threads: starts, waits and fences.
hopper = explain(softmax, "--target=sm_90a", "--dtype=bf16")[2]
for pattern in ("simt.start wgmma", "simt.await 0", "simt.proxy_fence"):
    hopper[4].find(pattern)
started = {source for text, sources in zip(hopper[5].text, hopper[5].sources) if "wgmma.mma_async" in text for source in sources}
assert started and all("simt.start" in hopper[4].text[n - 1] for n in started), started
# With roles: a producer, rings, and members. Waits and arrivals of signals lead back to what the roles do with their rings; a copy of a cut tile has both, too.
roles = explain(softmax, "--target=sm_90a+roles", "--dtype=bf16", "--forward-only")[2]
roles[4].find("= simt.ring ")
for instruction, places in (("setmaxnreg", {"roles"}), ("cp.async.bulk.tensor", {"copy"}), ("mbarrier.try_wait", {"acquire", "wait_full", "copy"}),
                            ("mbarrier.arrive", {"release", "copy"})):
    origins = {source for text, sources in zip(roles[5].text, roles[5].sources) if instruction in text for source in sources}
    found = {re.search(r"simt\.(\w+)", roles[4].text[n - 1])[1] for n in origins}
    assert found == places, (instruction, found)

# A processor: its assembly.
levels = explain(softmax, "--target=x86-64-v3", "--head-dim=32")[2]
assert [level.name for level in levels] == ["spec", "pairwise", "kernels", "tile", "assembly"]
fused = [sources for text, sources in zip(levels[4].text, levels[4].sources) if "vfmadd" in text]
assert fused and any(fused)
asm = run(softmax, "--emit=asm", "--target=x86-64-v3", "--head-dim=32").rstrip("\n").split("\n")
assert levels[4].text == [line for line in asm if not line.startswith("\t.file")]

# A name with everything in it ends no element.
odd = folder / "odd.mlir"
odd.write_text("// </script><b>\u00e9\n" + softmax.read_text())
assert explain(odd, "--target=x86-64-v3", "--head-dim=32")[2][0].text[0] == "// </script><b>\u00e9"
