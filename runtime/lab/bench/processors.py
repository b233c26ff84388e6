#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the rows by which processors are compared, and prints tables of them.

    python runtime/lab/bench/processors.py --json runtime/lab/bench/epyc.json                      # 6 minutes
    python runtime/lab/bench/processors.py --target=x86-64-v3 --json runtime/lab/bench/avx2.json   # 10; torch is held to AVX2 too
    python runtime/lab/bench/processors.py --table runtime/lab/bench/epyc.json runtime/lab/bench/avx2.json
    python runtime/lab/bench/processors.py --summary runtime/lab/bench/epyc.json                   # as examples/guide/speed.md has it

Nothing else may run on the machine meanwhile. A row is a call of taylor-bench or of flex.py; both take contenders in
turn, and a ratio is the median over rounds. The JSON has a date and a commit for each row. --only=REGEX measures
the rows whose name matches, and keeps the file's others. --table prints Markdown: a column for each file, under the
processor's name; --summary prints ratios of one file to SDPA and eager code; --check=PAGE fails where that page has
something else."""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from arguments import expression

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SPECS = ROOT / "examples" / "specs"
SHAPES = ["1,16,1024,64", "1,4,4096,64", "1,8,2048,128"]
MASKS = ["causal", "alibi", "window", "soft-cap"]


def attention(spec, *flags):
    return ["attention", "--spec", str(SPECS / f"{spec}.mlir"), "--seconds=3", "--rounds=15", *flags]


def forms(spec, *flags):
    return ["forms", "--spec", str(SPECS / f"{spec}.mlir"), "--seconds=5", "--forms=chunked", *flags]


def decode(spec, *flags):
    return ["decode", "--spec", str(SPECS / f"{spec}.mlir"), "--seconds=3", *flags]


def rows():
    """Each row's name, what its cell says, and the arguments of its program."""
    for dtype in ("f32", "bf16"):
        for shape in SHAPES:
            yield (f"softmax, {dtype}, {shape}", "sdpa",
                   attention("softmax", f"--dtype={dtype}", "--shape", shape, "--against=sdpa"))
        for spec in ("softmax-norm-l2", "softmax-gate", "softmax-taylor"):
            flags = ["--set", "order=10"] if spec == "softmax-taylor" else []
            yield (f"{spec}{' of order 10' if flags else ''}, {dtype}, {SHAPES[0]}", "both",
                   attention(spec, f"--dtype={dtype}", "--shape", SHAPES[0], "--direction=both",
                             "--against=sdpa,eager", *flags))
        yield (f"softmax-taylor of order 2 in chunks, {dtype}, 1,2,16384,64", "form",
               forms("softmax-taylor", "--orders=2", f"--dtype={dtype}", "--shape=1,2,16384,64", "--against=sdpa"))
        yield (f"linear-relu in chunks, {dtype}, {SHAPES[1]}", "form",
               forms("linear-relu", f"--dtype={dtype}", "--shape", SHAPES[1], "--against=sdpa,eager"))
    yield (f"softmax without a mask, f32, {SHAPES[1]}", "share",
           attention("softmax", "--mask=bidirectional", "--shape", SHAPES[1], "--direction=forward,backward"))
    yield (f"softmax-soft-cap next to softmax, forward, f32, {SHAPES[0]}", "over",
           attention("beyond/softmax-soft-cap", "--shape", SHAPES[0], "--direction=forward"))
    for heads in (8, 16, 32, 128):
        batch = 8 if heads == 128 else 1
        yield (f"a step over states of order 2, {heads} heads", "decode",
               decode("softmax-taylor", "--set", "order=2", f"--shape=b={batch},h={heads // batch},t=1,d=64"))
    for keys, heads in ((4096, 8), (4096, 16), (16384, 16)):
        yield (f"a step over {keys} keys, {heads} heads", "decode",
               decode("softmax", "--kind=cache", f"--shape=b=1,h={heads},t=1,u={keys},d=64"))
    for dtype in ("f32", "bf16"):
        for shape in SHAPES[:2]:
            yield (f"FlexAttention's forward ({', '.join(MASKS)}), {dtype}, {shape}", "flex",
                   [f"--dtype={dtype}", f"--shape={shape}", "--rounds=15"])


def write(path, value):
    """All of it or nothing."""
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(json.dumps(value, indent=1) + "\n")
    temporary.replace(path)


class Machine:
    """Runs rows here: kernels for a target, two threads bound to cores, opponents with no more than the target has."""

    def __init__(self, options, folder):
        self.programs = pathlib.Path(options.bin).resolve()
        self.folder = pathlib.Path(folder)
        self.python = options.python
        self.environment = {**os.environ, "OMP_PROC_BIND": "true", "TAYLOR_CACHE_DIR": str(self.folder / "cache")}
        compiler = self.folder / "taylorc"
        compiler.write_text(f'#!/bin/sh\nexec "{self.programs}/taylorc" "$@" --target={options.target}\n')
        compiler.chmod(0o755)
        self.environment["TAYLORC"] = str(compiler)
        if options.target == "x86-64-v3":
            self.environment |= {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
                                 "ONEDNN_MAX_CPU_ISA": "AVX2"}

    def run(self, command):
        done = subprocess.run([str(part) for part in command], env=self.environment, stdout=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode:
            sys.exit(f"processors.py: error: '{' '.join(map(str, command))}' ended with {done.returncode}")
        return done.stdout

    def measure(self, kind, arguments):
        if kind == "flex":
            text = self.run([self.python, HERE / "flex.py", *arguments, "--threads=2"])
            ratios = re.findall(r"^(\S+) .* ratio +([0-9.]+) \(", text, re.M)
            return {mask: float(ratio) for mask, ratio in ratios}
        file = self.folder / "rows.json"
        if kind == "over":
            softmax = self.folder / "softmax.so"
            self.run([self.environment["TAYLORC"], SPECS / "softmax.mlir", "-o", softmax, "--quiet"])
            arguments = [*arguments, "--against", softmax]
        self.run([self.programs / "taylor-bench", *arguments, "--threads=2", "--json", file])
        measured = json.loads(file.read_text())
        if kind == "over":
            (ratio,) = measured[0]["ratio"].values()
            return {"over": round(1 / ratio, 3)}
        if kind == "decode":
            return {"share": measured[0]["bandwidth_fraction"]}
        result = {}
        for row in measured:
            result[row["direction"]] = {"ms": round(row["ms"], 3), "share": row["executed_fraction"], **row["ratio"]}
        return result


def cell(kind, row):
    """What stands in a table."""
    if kind == "flex":
        return ", ".join(f"{row[mask]:.2f}" for mask in MASKS)
    if kind == "over":
        return f"{row['over']:.2f} times its time"
    if kind == "decode":
        return f"{100 * row['share']:.0f} % of the loop"
    if kind == "share":
        return f"{100 * row['forward']['share']:.0f}, {100 * row['backward']['share']:.0f} % of the peak"
    if kind == "sdpa":
        return ", ".join(f"{row[direction]['sdpa']:.2f}" for direction in ("forward", "backward", "both"))
    text = f"{row['both']['sdpa']:.2f}"
    if "eager" in row["both"]:
        text += f"; eager {row['both']['eager']:.1f}"
    if kind == "form":
        text += f"; {100 * row['both']['share']:.0f} % of the peak"
    return text


def read(path):
    """The rows of a file, as --json wrote it."""
    try:
        machine = json.loads(pathlib.Path(path).read_text())
        if not {"kind", "rows"} <= machine.keys():
            raise ValueError("no 'kind' or 'rows' in it")
        return machine
    except (OSError, ValueError, AttributeError) as error:
        sys.exit(f"processors.py: error: expected rows that --json wrote in {path}: {error}")


def head(machine):
    made = sorted({(row["date"], row["commit"]) for row in machine["rows"].values()})
    days = "; ".join(f"{date}, {commit}" for date, commit in made)
    return f"{machine['kind']}<br>{days or 'not at hand'}"


def table(files):
    machines = [read(file) for file in files]
    lines = ["| | " + " | ".join(map(head, machines)) + " |", "|---|" + "---|" * len(machines)]
    for name, kind, _ in rows():
        cells = [cell(kind, machine["rows"][name]) if name in machine["rows"] else "" for machine in machines]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def summary(file):
    """Ratios of forward and backward together, f32 next to bf16, and the share of the peak."""
    measured = read(file)["rows"]
    lines = ["| specification | B,H,T,D | SDPA, f32 | eager, f32 | SDPA, bf16 | eager, bf16 |", "|---|---|---|---|---|---|"]
    for name, kind, _ in rows():
        if kind not in ("sdpa", "both", "form") or ", f32, " not in name:
            continue
        spec, shape = name.split(", f32, ")
        cells = []
        for dtype in ("f32", "bf16"):
            row = measured[f"{spec}, {dtype}, {shape}"]["both"]
            cells += [f"{row['sdpa']:.2f}", f"{row['eager']:.1f}" if "eager" in row else ""]
        lines.append(f"| {spec} | {shape} | " + " | ".join(cells) + " |")
    share = measured[f"softmax without a mask, f32, {SHAPES[1]}"]
    forward, backward = (f"{100 * share[direction]['share']:.0f} %" for direction in ("forward", "backward"))
    return "\n".join(lines) + f"\n\n(f32, no mask, {SHAPES[1]}): forward {forward} and backward {backward}.\n"


def check_page(text, files, page, option):
    """Each paragraph of the text stands in the page, however its lines end."""
    words = " ".join(page.read_text().split())
    for part in text.split("\n\n"):
        if " ".join(part.split()) not in words:
            sys.exit(f"processors.py: error: expected the {option[2:]} of {', '.join(files)} in {page}, but it is not there; "
                     f"{option} without --check prints it")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--json", type=pathlib.Path, help="file to write the rows to")
    parser.add_argument("--kind", help="the machine in words, as the table names it")
    parser.add_argument("--target", default="native",
                        help="target of our kernels (default: native); x86-64-v3 holds opponents to AVX2 too")
    parser.add_argument("--only", default=re.compile(""), type=expression, metavar="REGEX", help="rows to measure (default: all)")
    parser.add_argument("--list", action="store_true", help="print the names of the rows; measures nothing")
    parser.add_argument("--bin", default=str(ROOT / "build" / "bin"),
                        help="folder of taylor-bench and taylorc (default: build/bin)")
    parser.add_argument("--python", default=sys.executable, help="Python with torch, for flex.py (default: this one)")
    parser.add_argument("--table", nargs="+", metavar="FILE.json",
                        help="print the table of these files; measures nothing")
    parser.add_argument("--summary", metavar="FILE.json",
                        help="print this file's ratios to SDPA and eager code; measures nothing")
    parser.add_argument("--check", type=pathlib.Path, metavar="PAGE",
                        help="with --table or --summary: fail unless the page has it")
    options = parser.parse_args()
    if not any(options.only.search(name) for name, _, _ in rows()):
        parser.error(f"expected a row that --only='{options.only.pattern}' matches, but got none; --list prints all")
    if options.list:
        print(*(name for name, _, _ in rows() if options.only.search(name)), sep="\n")
        return
    if options.table or options.summary:
        option, files = ("--table", options.table) if options.table else ("--summary", [options.summary])
        try:
            text = table(files) if options.table else summary(options.summary)
        except KeyError as missing:
            sys.exit(f"processors.py: error: expected the row {missing} in {', '.join(files)}, but it is not there")
        if options.check:
            check_page(text, files, options.check, option)
        print(text, end="")
        return
    if not options.json:
        parser.error("requires --json=FILE for what is measured, or --table FILE.json .., or --summary FILE.json")
    previous = read(options.json) if options.json.exists() else {"rows": {}}
    kind = options.kind or previous.get("kind")
    if not kind:
        parser.error("requires --kind=TEXT for a new file: the machine in words, such as 'EPYC, AVX-512 (Zen 5)'")
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=7", "HEAD"], stdout=subprocess.PIPE,
                            text=True, check=True)
    machine = {"kind": kind, "target": options.target, "rows": previous["rows"]}
    with tempfile.TemporaryDirectory() as folder:
        here = Machine(options, folder)
        for name, cells, arguments in rows():
            if not options.only.search(name):
                continue
            print(name, end=": ", flush=True)
            made = {"date": datetime.date.today().isoformat(), "commit": commit.stdout.strip()}
            machine["rows"][name] = {**made, **here.measure(cells, arguments)}
            print(cell(cells, machine["rows"][name]), flush=True)
            write(options.json, machine)


if __name__ == "__main__":
    main()
