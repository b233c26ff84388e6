#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times kernels of an older compiler next to those of today's, both loaded into one process and called in turn.

    git worktree add ../old COMMIT     # build taylorc there
    python runtime/lab/bench/commits.py --old ../old/build/bin/taylorc --json new.json          # 6 minutes
    python runtime/lab/bench/commits.py --table new.json

A row is a specification, a target, a dtype and a direction: the median over rounds of the old kernel's time over the
new one's, and the interval in which that ratio lies with 95 % confidence. One thread, by processor time, so that other
work on the machine disturbs little. A row whose interval lies below 1 - BOUND is measured once more with the two
kernels' places in the process exchanged: which of two equal kernels is faster may depend on where their memory lies.
Only what is slower in both places counts. Exit status: 0; 1 where a row is slower; 2 for bad arguments."""
import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from arguments import expression

ROOT = pathlib.Path(__file__).resolve().parents[3]
SPECS = ROOT / "examples" / "specs"
GROUPS = ["native:f32:parallel", "native:bf16:parallel", "x86-64-v3:f32:parallel", "x86-64-v3:bf16:parallel",
          "native:f32:chunked", "x86-64-v3:f32:chunked"]


def failed(message, status=2):
    print(f"commits.py: error: {message}", file=sys.stderr)
    sys.exit(status)


def compile_with(compiler, spec, group, head_dim, to):
    """Whether the compiler made the kernel: not each specification has each form."""
    target, dtype, form = group.split(":")
    command = [compiler, spec, "--quiet", f"--head-dim={head_dim}", f"--target={target}", f"--dtype={dtype}",
               f"--form={form}", "-o", to]
    done = subprocess.run([str(part) for part in command], stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode and form == "parallel":
        failed(f"'{' '.join(map(str, command))}' ended with {done.returncode}:\n{done.stderr.rstrip()}")
    return done.returncode == 0


def measure(options, one, other, dtype, length):
    """By direction, the ratio of the other kernel's time to the first one's, and its interval."""
    batch, heads, head_dim = options.shape
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [options.bin / "taylor-bench", "attention", "--spec", one, "--against", other, "--dtype", dtype,
                   "--direction=forward,backward", "--shape", f"{batch},{heads},{length},{head_dim}", "--threads=1",
                   "--clock=cpu", f"--rounds={options.rounds}", f"--seconds={options.seconds}", "--json", file.name]
        done = subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            failed(f"'{' '.join(map(str, command))}' ended with {done.returncode}")
        rows = json.loads(pathlib.Path(file.name).read_text())
    return {row["direction"]: [*row["ratio"].values(), *next(iter(row["interval"].values()))] for row in rows}


def measure_group(options, group, folder):
    target, dtype, form = group.split(":")
    new, old = folder / "new.so", folder / "old.so"
    for spec in sorted(SPECS.glob("*.mlir")) + sorted(SPECS.glob("beyond/*.mlir")):
        if not options.only.search(spec.stem):
            continue
        if not all(compile_with(compiler, spec, group, options.shape[2], to)
                   for compiler, to in ((options.bin / "taylorc", new), (options.old, old))):
            continue
        length = options.tokens * (4 if form == "chunked" else 1)
        rows = measure(options, new, old, dtype, length)
        exchanged = None
        for direction, (ratio, low, high) in rows.items():
            row = {"ratio": ratio, "interval": [low, high]}
            if high < 1 - options.bound:
                exchanged = exchanged or measure(options, old, new, dtype, length)
                row["exchanged"] = [1 / exchanged[direction][i] for i in (0, 2, 1)]
            yield f"{spec.stem}, {target}, {dtype}, {form}, {direction}", row


def is_slower(row, bound):
    """In both places, or in the one that was measured."""
    return row["interval"][1] < 1 - bound and ("exchanged" not in row or row["exchanged"][2] < 1 - bound)


def table(measured):
    """Markdown: a line for each target, dtype, form and direction."""
    groups = {}
    for name, row in measured["rows"].items():
        spec, group = name.split(", ", 1)
        groups.setdefault(group, []).append((row["ratio"], spec))
    lines = ["| | rows | geometric mean | least | largest |", "|---|---|---|---|---|"]
    for group, rows in groups.items():
        mean = math.exp(sum(math.log(ratio) for ratio, _ in rows) / len(rows))
        (least, of), (most, by) = min(rows), max(rows)
        lines.append(f"| {group} | {len(rows)} | {mean:.2f} | {least:.2f}, {of} | {most:.2f}, {by} |")
    return "\n".join(lines) + "\n"


def judge(measured):
    bound = measured["bound"]
    for name, row in measured["rows"].items():
        if "exchanged" in row and not is_slower(row, bound):
            print(f"{name}: {row['ratio']:.2f}, and {row['exchanged'][0]:.2f} with places exchanged: not slower")
    slower = [f"{name}: {row['ratio']:.3f} ({row['interval'][0]:.3f} to {row['interval'][1]:.3f})"
              for name, row in measured["rows"].items() if is_slower(row, bound)]
    if slower:
        failed(f"expected no row slower by more than {100 * bound:g} %, but got {len(slower)}:\n  " + "\n  ".join(slower), 1)


def sizes(text):
    if not re.fullmatch(r"\d+,\d+,\d+", text):
        raise argparse.ArgumentTypeError(f"expected B,H,D, but got '{text}'")
    return [int(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--old", type=pathlib.Path, help="the older taylorc")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "bin",
                        help="folder of today's taylorc and taylor-bench (default: build/bin)")
    parser.add_argument("--groups", default=",".join(GROUPS), help="TARGET:DTYPE:FORM, by comma (default: %(default)s)")
    parser.add_argument("--only", default=re.compile(""), type=expression, metavar="REGEX", help="specifications (default: all)")
    parser.add_argument("--shape", type=sizes, default=[1, 2, 64], metavar="B,H,D", help="sizes (default: 1,2,64)")
    parser.add_argument("--tokens", type=int, default=1024, help="tokens; chunked forms take four times as many (default: 1024)")
    parser.add_argument("--rounds", type=int, default=15, help="least rounds of a row (default: 15)")
    parser.add_argument("--seconds", type=float, default=0.4, help="time for a row (default: 0.4)")
    parser.add_argument("--bound", type=float, default=0.02, help="part by which a row may be slower (default: 0.02)")
    parser.add_argument("--json", type=pathlib.Path, help="file to write the rows to")
    parser.add_argument("--table", type=pathlib.Path, metavar="FILE.json", help="print that file's table; measures nothing")
    options = parser.parse_args()
    if options.table:
        try:
            measured = json.loads(options.table.read_text())
            print(table(measured), end="")
        except (OSError, ValueError, KeyError) as error:
            failed(f"expected rows that --json wrote in {options.table}: {error}")
        return judge(measured)
    if not options.old or not options.json:
        parser.error("requires --old=TAYLORC and --json=FILE, or --table=FILE.json")
    if wrong := [group for group in options.groups.split(",") if group.count(":") != 2]:
        parser.error(f"expected TARGET:DTYPE:FORM in --groups, but got '{wrong[0]}'")
    for program in (options.old, options.bin / "taylorc", options.bin / "taylor-bench"):
        if not os.access(program, os.X_OK):
            failed(f"expected a program at {program}, but got none")
    measured = {"bound": options.bound, "rows": {}}
    with tempfile.TemporaryDirectory() as folder:
        for group in options.groups.split(","):
            for name, row in measure_group(options, group, pathlib.Path(folder)):
                measured["rows"][name] = row
                print(f"{name}: {row['ratio']:.3f} ({row['interval'][0]:.3f} to {row['interval'][1]:.3f})", flush=True)
                temporary = options.json.with_name(options.json.name + ".part")
                temporary.write_text(json.dumps(measured, indent=1) + "\n")
                temporary.replace(options.json)
    if not measured["rows"]:
        failed(f"expected a specification that --only='{options.only.pattern}' matches, but got none")
    print(table(measured), end="")
    return judge(measured)


if __name__ == "__main__":
    main()
