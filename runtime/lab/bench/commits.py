#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times kernels of an older compiler next to those of today's, both loaded into one process and called in turn.

    git worktree add ../old COMMIT     # build taylorc there, and taylor-train
    python runtime/lab/bench/commits.py --old ../old/build/bin/taylorc --json new.json
    python runtime/lab/bench/commits.py --table new.json

A row is a specification, a target, a dtype, a form and a direction: the median over rounds of the old kernel's time
over the new one's, and the interval in which that ratio lies with 95 % confidence. Forms are those of attention
(parallel, chunked), a step of decoding (state, cache), `compile`: the time that the compilers themselves take, in turn,
and `train`: a step of the trainers beside the compilers, two processes that make steps in turn. One thread, by
processor time, so that other work on the machine disturbs little.

Where both artifacts have the same machine code, their times are taken to be the same: such a row is said to be so, and
not measured. (Their constants and their manifests, with grids and sizes of memory, are not compared.) A row whose
interval lies below 1 - BOUND is measured once more with the two kernels' places in the process exchanged, or the other
trainer started first: which of two equal kernels is faster may depend on where their memory lies. Only what is slower
in both places counts. Of compilers and trainers every second round begins with the other one. Exit status: 0; 1 where a
row is slower, or today's compiler lacks a kernel that the old one makes; 2 for bad arguments."""
import argparse
import json
import math
import os
import pathlib
import re
import resource
import statistics
import struct
import subprocess
import sys
import tempfile

from arguments import expression
from trainers import Trainer, TrainerError

ROOT = pathlib.Path(__file__).resolve().parents[3]
SPECS = ROOT / "examples" / "specs"
GROUPS = ["native:f32:parallel", "native:bf16:parallel", "x86-64-v3:f32:parallel", "x86-64-v3:bf16:parallel",
          "native:f32:chunked", "x86-64-v3:f32:chunked", "native:f32:state", "native:f32:cache", "native:bf16:cache",
          "native:f32:compile", "native:f32:train", "native:bf16:train"]
DECODE = ("state", "cache")
PRECISIONS = {"f32": "fp32", "bf16": "bf16"}  # of the trainer, by dtype


def failed(message, status=2):
    print(f"commits.py: error: {message}", file=sys.stderr)
    sys.exit(status)


def compile_with(compiler, spec, group, head_dim, to):
    """Whether the compiler made the kernel: not each specification has each form."""
    target, dtype, form = group.split(":")
    options = [f"--decode={form}"] if form in DECODE else [f"--form={'auto' if form == 'compile' else form}"]
    command = [compiler, spec, "--quiet", f"--head-dim={head_dim}", f"--target={target}", f"--dtype={dtype}",
               *options, "-o", to]
    done = subprocess.run([str(part) for part in command], stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode and form == "parallel":
        failed(f"'{' '.join(map(str, command))}' ended with {done.returncode}:\n{done.stderr.rstrip()}")
    return done.returncode == 0


def code_of(path):
    """Machine code of a shared object: its section .text (ELF, 64 bits). Its constants stand beside the manifest, which
    names the compiler's commit."""
    file = path.read_bytes()
    (table,), (size, count, names) = struct.unpack_from("<Q", file, 40), struct.unpack_from("<3H", file, 58)
    # Of each section: its name's place, and where its bytes are.
    sections = [struct.unpack_from("<I20xQQ", file, table + i * size) for i in range(count)]
    first = sections[names][1]
    for at, begin, length in sections:
        if file[first + at:].startswith(b".text\0"):
            return file[begin:begin + length]
    return failed(f"expected machine code in {path}, but got no section .text")


def measure(options, one, other, dtype, form):
    """By direction, the ratio of the other kernel's time to the first one's, and its interval."""
    batch, heads, head_dim = options.shape
    length = options.tokens * (1 if form == "parallel" else 4)
    if form in DECODE:
        command = ["decode", "--shape", f"b={batch},h={heads},t=1,u={1 if form == 'state' else length},d={head_dim}"]
    else:
        command = ["attention", "--direction=forward,backward", "--shape", f"{batch},{heads},{length},{head_dim}"]
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [options.bin / "taylor-bench", *command, "--spec", one, "--against", other, "--dtype", dtype, "--threads=1",
                   "--clock=cpu", f"--rounds={options.rounds}", f"--seconds={options.seconds}", "--json", file.name]
        done = subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            failed(f"'{' '.join(map(str, command))}' ended with {done.returncode}")
        rows = json.loads(pathlib.Path(file.name).read_text())
    return {row.get("direction", "step"): [*row["ratio"].values(), *next(iter(row["interval"].values()))] for row in rows}


def interval_of_median(values):
    """Between which two of the values the median of what they are drawn from lies with 95 % confidence."""
    count, below = len(values), 0
    while 40 * sum(math.comb(count, i) for i in range(below + 2)) <= 2 ** count:
        below += 1
    values = sorted(values)
    return values[below], values[-1 - below]


def measure_in_turn(rounds, one, other):
    """The median over rounds of the first one's seconds over the other's, and its interval; every second round begins
    with the other one."""
    ratios = []
    for number in range(rounds):
        times = [0.0, 0.0]
        for which in (0, 1) if number % 2 else (1, 0):
            times[which] = (one, other)[which]()
        ratios.append(times[0] / times[1])
    return statistics.median(ratios), *interval_of_median(ratios)


def time_compilers(options, spec, group, folder):
    """The ratio of the old compiler's processor time to today's, each of which runs in turn, and its interval."""
    def seconds(compiler):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        compile_with(compiler, spec, group, options.shape[2], folder / "timed.so")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return measure_in_turn(options.rounds, lambda: seconds(options.old), lambda: seconds(options.bin / "taylorc"))


def measure_trainers(options, spec, precision, folder):
    """A row; none where the old trainer refuses the specification."""
    trainers = [options.old.with_name("taylor-train"), options.bin / "taylor-train"]

    def start(program, place):
        return Trainer(program, spec, precision, options.shape, options.tokens, place / "run", place / "cache")

    def measure_in_order(programs):
        with start(programs[0], folder / "first") as one, start(programs[1], folder / "second") as other:
            one.begin()
            other.begin()
            return measure_in_turn(options.rounds, one.step, other.step)
    try:
        ratio, low, high = measure_in_order(trainers)
        row = {"ratio": ratio, "interval": [low, high]}
        if high < 1 - options.bound:
            ratio, low, high = measure_in_order(trainers[::-1])
            row["exchanged"] = [1 / ratio, 1 / high, 1 / low]
    except TrainerError as error:
        if error.program != trainers[0] or error.has_begun:
            failed(str(error), 1)
        print(f"{spec.stem}: the old trainer refuses it: {error.said.splitlines()[-1]}", file=sys.stderr)
        return None
    return row


def measure_spec(options, group, spec, folder):
    """Rows by direction; none where the old compiler makes no such kernel, or the old trainer refuses it."""
    _, dtype, form = group.split(":")
    if form == "train":
        if row := measure_trainers(options, spec, PRECISIONS[dtype], folder):
            yield "step", row
        return
    new, old = folder / "new.so", folder / "old.so"
    if not compile_with(options.old, spec, group, options.shape[2], old):
        return
    if not compile_with(options.bin / "taylorc", spec, group, options.shape[2], new):
        failed(f"expected a kernel of {spec.stem} in {group}, as of the old compiler, but got none", 1)
    if form == "compile":
        ratio, low, high = time_compilers(options, spec, group, folder)
        yield "compiler", {"ratio": ratio, "interval": [low, high]}
        return
    if code_of(new) == code_of(old) and not options.measure_same:
        for direction in ["step"] if form in DECODE else ["forward", "backward"]:
            yield direction, {"ratio": 1, "interval": [1, 1], "same": True}
        return
    exchanged = None
    for direction, (ratio, low, high) in measure(options, new, old, dtype, form).items():
        row = {"ratio": ratio, "interval": [low, high]}
        if high < 1 - options.bound:
            exchanged = exchanged or measure(options, old, new, dtype, form)
            row["exchanged"] = [1 / exchanged[direction][i] for i in (0, 2, 1)]
        yield direction, row


def measure_group(options, group, folder):
    for spec in sorted(SPECS.glob("*.mlir")) + sorted(SPECS.glob("beyond/*.mlir")):
        if options.only.search(spec.stem):
            for direction, row in measure_spec(options, group, spec, folder):
                yield f"{spec.stem}, {group.replace(':', ', ')}, {direction}", row


def is_slower(row, bound):
    """In both places, or in the one that was measured."""
    return row["interval"][1] < 1 - bound and ("exchanged" not in row or row["exchanged"][2] < 1 - bound)


def table(measured):
    """Markdown: a line for each target, dtype, form and direction."""
    groups = {}
    for name, row in measured["rows"].items():
        spec, group = name.split(", ", 1)
        groups.setdefault(group, []).append((row["ratio"], spec, row.get("same", False)))
    lines = ["| | rows | of the same code | geometric mean of the others | least | largest |", "|---|---|---|---|---|---|"]
    for group, rows in groups.items():
        others = [(ratio, spec) for ratio, spec, same in rows if not same]
        cells = ["", "", ""]
        if others:
            mean = math.exp(sum(math.log(ratio) for ratio, _ in others) / len(others))
            cells = [f"{mean:.2f}", *(f"{ratio:.2f}, {spec}" for ratio, spec in (min(others), max(others)))]
        lines.append(f"| {group} | {len(rows)} | {len(rows) - len(others)} | {' | '.join(cells)} |")
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


def rounds(text):
    if not text.isdigit() or int(text) < 6:
        raise argparse.ArgumentTypeError(f"expected at least 6 rounds, fewer have no interval, but got '{text}'")
    return int(text)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--old", type=pathlib.Path, help="the older taylorc")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "bin",
                        help="folder of today's taylorc, taylor-bench and taylor-train (default: build/bin)")
    parser.add_argument("--groups", default=",".join(GROUPS), help="TARGET:DTYPE:FORM, by comma (default: %(default)s)")
    parser.add_argument("--only", default=re.compile(""), type=expression, metavar="REGEX",
                        help="specifications (default: all)")
    parser.add_argument("--shape", type=sizes, default=[1, 2, 64], metavar="B,H,D", help="sizes (default: 1,2,64)")
    parser.add_argument("--tokens", type=int, default=1024,
                        help="tokens; forms with states or a cache take four times as many (default: 1024)")
    parser.add_argument("--measure-same", action="store_true", help="measure rows of the same code too")
    parser.add_argument("--rounds", type=rounds, default=15, help="least rounds of a row (default: 15)")
    parser.add_argument("--seconds", type=float, default=0.4, help="time for a row (default: 0.4)")
    parser.add_argument("--bound", type=float, default=0.02, help="part by which a row may be slower (default: 0.02)")
    parser.add_argument("--json", type=pathlib.Path, help="file to write the rows to")
    parser.add_argument("--table", type=pathlib.Path, metavar="FILE.json",
                        help="print that file's table; measures nothing")
    options = parser.parse_args()
    if options.table:
        return options
    if not options.old or not options.json:
        parser.error("requires --old=TAYLORC and --json=FILE, or --table=FILE.json")
    options.groups = options.groups.split(",")
    if wrong := [group for group in options.groups if group.count(":") != 2]:
        parser.error(f"expected TARGET:DTYPE:FORM in --groups, but got '{wrong[0]}'")
    trained = [group for group in options.groups if group.endswith(":train")]
    known = [f"native:{dtype}:train" for dtype in PRECISIONS]
    if wrong := [group for group in trained if group not in known]:
        parser.error(f"expected {' or '.join(known)} in --groups, but got '{wrong[0]}'")
    programs = [options.old, options.bin / "taylorc", options.bin / "taylor-bench"]
    if trained:
        programs += [options.old.with_name("taylor-train"), options.bin / "taylor-train"]
    for program in programs:
        if not os.access(program, os.X_OK):
            failed(f"expected a program at {program}, but got none")
    return options


def measure_groups(options):
    """Rows by name, and a file of them that grows."""
    measured = {"bound": options.bound, "rows": {}}
    with tempfile.TemporaryDirectory() as folder:
        for group in options.groups:
            for name, row in measure_group(options, group, pathlib.Path(folder)):
                measured["rows"][name] = row
                low, high = row["interval"]
                found = "the same code" if row.get("same") else f"{row['ratio']:.3f} ({low:.3f} to {high:.3f})"
                print(f"{name}: {found}", flush=True)
                temporary = options.json.with_name(options.json.name + ".part")
                temporary.write_text(json.dumps(measured, indent=1) + "\n")
                temporary.replace(options.json)
    if not measured["rows"]:
        failed(f"expected a specification that --only='{options.only.pattern}' matches, but got none")
    return measured


def main():
    options = arguments()
    if options.table:
        try:
            measured = json.loads(options.table.read_text())
            print(table(measured), end="")
        except (OSError, ValueError, KeyError) as error:
            failed(f"expected rows that --json wrote in {options.table}: {error}")
    else:
        measured = measure_groups(options)
        print(table(measured), end="")
    judge(measured)


if __name__ == "__main__":
    main()
