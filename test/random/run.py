# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random specifications, compiled and checked, forward and backward, against the reference: in every form, on
processors, as tile programs, and as PTX in the interpreter. Failures are shrunk.

usage: run.py [--seed=N] [--count=N | --minutes=M] [options]

  --seed=N        seed of the first specification; those after it count up (default: 0)
  --count=N       specifications to check (default: 50)
  --minutes=M     minutes in which specifications start, instead of a count
  --runs=REGEX    runs of each specification: cpu-parallel, cpu-chunked, cpu-states, cpu-recurrent, cpu-cache,
                  cpu-unreal, tile-.., ptx-.. (default: all)
  --ptx-every=N   ptx runs of every Nth specification only (default: 1)
  --jobs=N        specifications at a time (default: 2)
  --share=I/N     every Nth specification of --count, from the Ith on (default: 0/1)
  --out=FOLDER    folder for shrunk failures (default: random-failures)
  --bin=FOLDER    folder of taylor-run (default: build/bin)
  --no-shrink     keep failures as they are
  --help          print this text
"""
import concurrent.futures
import os
import re
import sys
import tempfile
import threading
import time

from generate import generate
from judge import Judge
from shrink import shrink

SECONDS_BETWEEN_LINES = 20  # of progress
DEFAULTS = {"seed": "0", "count": "50", "minutes": None, "share": "0/1", "runs": "", "ptx-every": "1", "jobs": "2", "out": "random-failures",
            "bin": "build/bin"}


def parse(arguments):
    options = dict(DEFAULTS) | {"no-shrink": False}
    for argument in arguments:
        name, equals, value = argument.removeprefix("--").partition("=")
        if argument in ("-h", "--help"):
            sys.exit(print(__doc__))
        if argument == "--no-shrink":
            options["no-shrink"] = True
        elif argument.startswith("--") and equals and name in DEFAULTS:
            options[name] = value
        else:
            sys.exit(f"run.py: error: unsupported option '{argument}'\n{__doc__}")
    for name in ("seed", "count", "minutes", "ptx-every", "jobs"):
        if options[name] is not None:
            try:
                options[name] = float(options[name]) if name == "minutes" else int(options[name])
            except ValueError:
                sys.exit(f"run.py: error: expected a number for --{name}, but got '{options[name]}'")
    share, slash, shares = options["share"].partition("/")
    if not (share.isdigit() and shares.isdigit() and int(share) < int(shares)):
        sys.exit(f"run.py: error: expected --share=I/N with I below N, but got '{options['share']}'")
    options["share"] = int(share), int(shares)
    return options


class Session:
    def __init__(self, options, judge):
        self.options, self.judge = options, judge
        self.lock = threading.Lock()
        self.tally, self.refusals, self.failures, self.specifications = {}, {}, {}, 0

    def wanted(self, case):
        skip_ptx = case.seed % self.options["ptx-every"] != 0
        return [run for run in case.runs if re.search(self.options["runs"], run) and not (skip_ptx and run.startswith("ptx"))]

    def check(self, seed):
        case = generate(seed)
        wanted = self.wanted(case)
        for run, verdict in zip(wanted, self.judge.run_all(case, wanted)):
            with self.lock:
                counts = self.tally.setdefault(run, {"passed": 0, "over by chance": 0, "refused": 0, "failed": 0})
                counts[verdict.kind] += 1
                if verdict.kind == "refused":
                    self.refusals[verdict.reason] = self.refusals.get(verdict.reason, 0) + 1
            if verdict.kind == "failed":
                self.report(case, run, verdict)
            elif verdict.kind == "over by chance":
                print(f"over by chance: seed {case.seed}, {run}: {verdict.reason}", flush=True)
        with self.lock:
            self.specifications += 1

    def report(self, case, run, verdict):
        key = (run, verdict.reason)
        with self.lock:
            known = self.failures.setdefault(key, [])
            known.append(case.seed)
        print(f"FAILED: seed {case.seed}, {run}: {verdict.reason}", flush=True)
        if len(known) > 1:
            print(f"  as seed {known[0]}, not shrunk again", flush=True)
            return
        if not self.options["no-shrink"]:
            case, verdict = shrink(self.judge, case, run, verdict)
        os.makedirs(self.options["out"], exist_ok=True)
        path = os.path.join(self.options["out"], f"seed-{case.seed}-{run}.mlir")
        given = " ".join(f"{name}={index}" for name, index in case.choices.given.items())
        with open(path, "w", encoding="utf-8") as out:
            out.write(f"// {verdict.reason}\n// taylor-run {path} {' '.join(case.runs[run])}\n// generate.py {case.seed} {given}\n{case.text}")
        print(f"  {path}:\n{case.text}\n  taylor-run {path} {' '.join(case.runs[run])}\n{verdict.output}", flush=True)

    def seeds(self):
        first, minutes = self.options["seed"], self.options["minutes"]
        if minutes is None:
            share, shares = self.options["share"]
            yield from range(first + share, first + self.options["count"], shares)
            return
        end, seed = time.monotonic() + 60 * minutes, first
        while time.monotonic() < end:
            yield seed
            seed += 1

    def work(self):
        start = printed = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(self.options["jobs"]) as pool:
            pending = set()
            for seed in self.seeds():
                pending.add(pool.submit(self.check, seed))
                if len(pending) >= self.options["jobs"]:
                    done, pending = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
                    for future in done:
                        future.result()
                if time.monotonic() >= printed + SECONDS_BETWEEN_LINES:
                    printed = time.monotonic()
                    print(f"{self.specifications} specifications, {printed - start:.0f} s, {len(self.failures)} kinds of failures", flush=True)
            for future in pending:
                future.result()

    def summary(self):
        for run in sorted(self.tally):
            print(f"{run}: " + ", ".join(f"{n} {kind}" for kind, n in self.tally[run].items()))
        for reason, count in sorted(self.refusals.items(), key=lambda item: -item[1]):
            print(f"refused {count} times: {reason}")
        for (run, reason), seeds in self.failures.items():
            print(f"{run} failed: {reason}: seeds {' '.join(map(str, seeds))}")
        total = {kind: sum(counts[kind] for counts in self.tally.values()) for kind in ("passed", "over by chance", "refused", "failed")}
        runs = sum(total.values())
        share = 100 * total["refused"] / max(1, runs)
        print(f"{self.specifications} specifications from seed {self.options['seed']} on, {runs} runs: {total['passed']} passed, "
              f"{total['over by chance']} over by chance, {total['refused']} refused ({share:.0f} %), {total['failed']} failed")
        return total


def main():
    options = parse(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        session = Session(options, Judge(os.path.abspath(options["bin"]), folder))
        session.work()
        total = session.summary()
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
