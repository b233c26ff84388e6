#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The prepared run of issue 39 on a GPU that can be had for minutes: sm_90a, the experiments of
codegen/Targets/NVPTX/HOPPER.md next to it, and what a model would run instead, the most important figures first.

    python runtime/lab/gpu-check/experiments.py pack                  # in the repository after a build: build/experiments
    python3 build/experiments/experiments.py plan --budget 540        # what a run would do, in which order
    python3 build/experiments/experiments.py run --out OUT --budget 540    # on the GPU's machine
    python3 build/experiments/experiments.py report OUT/results.jsonl # also of a run that was cut off

Every case is a process of its own with a time limit. OUT gets results.jsonl, which grows by a line with each finding,
log.txt and report.txt. Exit status of `run`: 0; 1 where a result was wrong, or a case failed or did not end, or lost a contender; 2 where
nothing could be run."""
import argparse
import json
import multiprocessing
import os
import pathlib
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import aims
import aims_report
import case_process
from driver import require_gpu
from errors import Unusable

MARGIN = 8.0  # seconds of the budget for what ends a run: a process to be killed, the report
TRIES = 3  # of a case whose process is lost in one contender: then without it


def failed(message):
    print(f"experiments.py: error: {message}", file=sys.stderr)
    sys.exit(2)


def read_index():
    try:
        index = json.loads((HERE / "pack.json").read_text(encoding="utf-8"))
        index["variants"]
    except (OSError, ValueError, KeyError):
        failed(f"expected a folder that 'experiments.py pack' made, but {HERE} has no pack.json with variants")
    return index


class Run:
    def __init__(self, options):
        self.options, self.begin = options, time.monotonic()
        self.out = options.out.resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.results, self.log = self.out / "results.jsonl", self.out / "log.txt"
        if self.results.exists():
            failed(f"expected no results in {self.out}, but results.jsonl is there; --after FILE goes on where a run was cut off")
        self.state = aims.State()
        self.outcomes = []
        # Processes are forked from one that has torch loaded, and has not touched the GPU.
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # else it starts a pool of processes for each case
        self.processes = multiprocessing.get_context("forkserver")
        self.processes.set_forkserver_preload(["torch", "row_cases"])

    def left(self):
        return self.options.budget - (time.monotonic() - self.begin) - MARGIN

    def write(self, **line):
        case_process.append(self.results, line)
        self.state.take(line)

    def take_earlier(self, file):
        """Lines of an earlier run: its cases are not run again, its faults are known."""
        for line in aims_report.read(file):
            self.write(**line)

    def attempt(self, case, limit):
        """Runs the case in a process; its lines, and how it ended."""
        start = self.results.stat().st_size if self.results.exists() else 0
        process = self.processes.Process(target=case_process.main, args=(case, self.options.device, str(self.results), str(self.log)))
        process.start()
        process.join(limit)
        if process.exitcode is None:
            why = f"no end after {limit:.0f} s"
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                process.kill()
            process.join(MARGIN / 2)
        else:
            why = f"ended with {process.exitcode}"
        return aims_report.read(self.results, start), why

    def run(self, case):
        """Runs the case, and again without a contender in which its process was lost."""
        begin, lost = time.monotonic(), []
        for _ in range(TRIES):
            lines, why = self.attempt(case, max(1.0, min(case["limit"], self.left())))
            for line in lines:
                self.state.take(line)
            end = next((line for line in reversed(lines) if line["kind"] == "end"), None)
            if end and end["status"] != "failed":
                status, why = ("incomplete", f"without {'; '.join(lost)}") if lost else (end["status"], None)
                break
            status = "failed" if end or not why.startswith("no end") else "hung"
            why = end["why"] if end else why
            last = next((line for line in reversed(lines) if line["kind"] == "begin"), None)
            lost.append(last["title"] if last else "its process")
            faulty = last["faulty_if_last"] if last else [[case["variant"], case["artifact"]]] if case["kind"] == "check" else []
            self.write(kind="lost", case=case["name"], status=status, title=last["title"] if last else None, why=why, faulty=faulty)
            smaller = without(case, last, faulty)
            if smaller == case or not smaller["kernels"] or self.left() < case["seconds"]:
                break
            case = smaller
        if lost:
            self.write(kind="end", case=case["name"], status=status, why=why)
        self.outcomes.append((case["name"], status))
        print(f"[{time.monotonic() - self.begin:5.0f} s] {case['name']}: {status}{f': {why}' if why else ''} ({time.monotonic() - begin:.1f} s)", flush=True)

    def all(self):
        """The exit status."""
        index = read_index()
        self.write(kind="run", case="", about=index["about"], device=self.options.device, budget=self.options.budget,
                   date=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), command=" ".join(sys.argv), machine=machine(self.options.device))
        for file in self.options.after:
            self.take_earlier(file)
        for case in aims.Plan(index, self.options.device, self.state).cases():
            if not self.options.only.search(case["name"]):
                continue
            if self.left() < case["seconds"]:
                self.write(kind="end", case=case["name"], status="left out", why="the budget was spent")
                print(f"{case['name']}: left out, {self.left():.0f} s are left and it takes about {case['seconds']:.0f}", flush=True)
                continue
            self.run(case)
        report = aims_report.report(aims_report.read(self.results))
        (self.out / "report.txt").write_text(report, encoding="utf-8")
        print(report)
        bad = [name for name, status in self.outcomes if status not in ("ok", "skipped")]
        ran = [name for name, status in self.outcomes if status != "skipped"]
        print(f"{len(self.outcomes)} cases ran in {time.monotonic() - self.begin:.0f} s" + (f"; not right: {'; '.join(bad)}" if bad else ""))
        return 1 if bad else 0 if ran else 2


def without(case, last, faulty):
    """The case without the contender that its process began last: one of our kernels, or an opponent."""
    if last is None or "kernels" not in case:
        return case
    smaller = {**case, "kernels": [k for k in case["kernels"] if [k["variant"], k["artifact"]] not in faulty]}
    if "opponents" in case:
        left = [[title for title in titles if title != last["title"]] for titles in case["opponents"]]
        smaller["opponents"] = [titles for titles in left if titles]
    return smaller


def machine(device):
    """The GPU by nvidia-smi: this process has no torch."""
    if device != "cuda":
        return device
    import subprocess

    try:
        asked = ["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,temperature.gpu", "--format=csv,noheader"]
        return subprocess.run(asked, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def show_plan(options):
    """The cases in their order, by their guessed times, and where the budget ends."""
    spent, out, state = 0.0, [], aims.State()
    for case in aims.Plan(read_index(), options.device, state).cases():
        state.done.add(case["name"])
        if spent + case["seconds"] > options.budget - MARGIN:
            out.append(case["name"])
            continue
        spent += case["seconds"]
        counts = [f"{len(case[what])} {what}" for what in ("kernels", "opponents") if what in case]
        print(f"{spent:6.0f} s  {case['name']}" + (f" ({', '.join(counts)})" if counts else ""))
    print(f"left out with --budget={options.budget:g}: " + ("; ".join(out) or "nothing"))
    return 0


def parse():
    import re

    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack", help="make the folder, in the repository", add_help=False)
    packing.add_argument("words", nargs=argparse.REMAINDER)
    for name, text in (("plan", "say what a run would do, and do nothing"), ("run", "check and time, on the GPU's machine")):
        command = commands.add_parser(name, help=text)
        command.add_argument("--budget", type=float, default=540, metavar="SECONDS", help="seconds that the whole run may take (default: 540)")
        command.add_argument("--device", choices=("cuda", "ptx", "cpu"), default="cuda",
                             help="a GPU (default); the interpreter of PTX, which checks and does not time; or the processor, whose times only show that the program runs")
        if name == "run":
            command.add_argument("--out", type=pathlib.Path, default=pathlib.Path("experiments-out"), help="folder for what it finds (default: experiments-out)")
            command.add_argument("--after", type=pathlib.Path, action="append", default=[], metavar="RESULTS",
                                 help="results.jsonl of an earlier run: its cases are not run again (repeatable)")
            command.add_argument("--only", default="", metavar="REGEX", help="cases to run, by name (default: all)")
    reporting = commands.add_parser("report", help="write the report of results.jsonl as Markdown")
    reporting.add_argument("results", type=pathlib.Path, nargs="+")
    if len(sys.argv) > 1 and sys.argv[1] == "pack":  # its options are those of experiments_pack.py
        return argparse.Namespace(command="pack", words=sys.argv[2:])
    options = parser.parse_args()
    if options.command == "run":
        try:
            options.only = re.compile(options.only)
        except re.error as error:
            parser.error(f"expected a regular expression in --only, but got '{options.only}': {error}")
        for file in options.after:
            if not file.is_file():
                parser.error(f"expected a file of results in --after, but '{file}' does not exist")
    return options


def main():
    options = parse()
    if options.command == "pack":
        import experiments_pack

        return experiments_pack.main(options.words)
    if options.command == "plan":
        return show_plan(options)
    if options.command == "run" and options.device == "cuda":
        try:
            require_gpu()
        except Unusable as unusable:
            failed(unusable)
    if options.command == "report":
        print(aims_report.report([line for file in options.results for line in aims_report.read(file)]))
        return 0
    return Run(options).all()


if __name__ == "__main__":
    sys.exit(main())
