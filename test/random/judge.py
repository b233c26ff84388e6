# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs taylor-run on a case and says what came of it."""
import dataclasses
import itertools
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Inputs"))
from cases import REFUSED, run_cases

# Of a processor, for each program that a run starts: other work on the machine does not count. What sleeps is ended later.
SECONDS, SECONDS_ASLEEP = 120, 1800
# Where what is allowed is a multiple of eager code's error, both errors are chance: of the thousands of results of an hour a few pass it by a little. So a
# result that is less than this many times what is allowed is compared again, for so many other draws of the inputs.
MOST_BY_CHANCE, OTHER_DRAWS = 1.5, 8


class Verdict(NamedTuple):
    kind: str      # passed, over by chance, refused, failed
    reason: str    # of a failure the same for the same cause: numbers and names are taken out
    output: str


def normal(message):
    """A message without what differs from case to case."""
    message = re.sub(r"^.*?error: |'/[^']*\.so' ", "", message)
    message = re.sub(r"0x[0-9a-f]+|\d[\d.e+-]*", "N", message)
    message = re.sub(r"!taylor\.array<[^>]*>", "ARRAY", message)
    return re.sub(r"%\w+|'[\w.]*_[\w.]*'", "X", message)[:160]


def judge(status, output):
    failed = [line for line in output.splitlines() if "FAILED" in line]
    if status == 0 and not failed:
        return Verdict("passed", "", output)
    errors = [line for line in output.splitlines() if "error: " in line] or \
        [line for line in output.splitlines() if line.startswith("taylor-run: ")]
    if status in (None, -signal.SIGXCPU) or f"ended by signal {signal.SIGXCPU:d} " in output:
        return Verdict("failed", f"takes more than {SECONDS} s", output)
    if status < 0 or status >= 128 or "Stack dump" in output or "ended by signal" in output:
        where = re.findall(r"Assertion .*|Running pass \"[\w-]+", output)
        return Verdict("failed", "crash: " + (normal(where[-1]) if where else "a signal"), output)
    if failed:
        bad = [re.split(r"\s{2,}", line.strip()) for line in failed]
        unreal = any(re.search(r"nan|inf", " ".join(columns[1:])) for columns in bad)
        return Verdict("failed", "not finite" if unreal else "wrong", output)
    message = errors[0] if errors else output.strip().splitlines()[-1] if output.strip() else f"status {status}"
    if status == REFUSED:
        return Verdict("refused", normal(message), output)
    return Verdict("failed", normal(message), output)


MOST_OF_EAGER = 2.01  # the contract's multiples are 1.1 and 2; where more is allowed, it is a part of the reference, or a floor


def excess(output, verdicts="FAILED"):
    """The largest error by what is allowed, among the results with one of the verdicts; infinite where anything else fails, and where what is allowed is no
    multiple of eager code's error."""
    most = 0.0
    for line in output.splitlines():
        compared = re.fullmatch(rf".*?\s{{2,}}(\d\.\d+e[+-]\d+)\s+(\d\.\d+e[+-]\d+)\s+\S+\s+(\d\.\d+e[+-]\d+)\s+({verdicts})", line.rstrip())
        error, allowed, eager = map(float, compared.groups()[:3]) if compared else (0, 0, 0)
        if "FAILED" in line and not 0 < allowed <= MOST_OF_EAGER * eager:
            return math.inf
        most = max(most, error / allowed if allowed else 0)
    return most


def limited(runs, *command):
    return ["sh", "-c", f'ulimit -S -t {SECONDS * runs}; exec "$0" "$@"', *command]


class Judge:
    def __init__(self, bin_dir, folder):
        self.program = os.path.join(bin_dir, "taylor-run")
        self.folder, self.numbers = folder, itertools.count()
        # The interpreter reads the PTX text: no cubin.
        self.environment = os.environ | {"TAYLOR_PTXAS": "", "XDG_CACHE_HOME": os.path.join(folder, "cache")}

    def run_all(self, case, runs):
        """A verdict for each of the runs, in their order. All in one process, whose cases share kernels and the reference; those that do not pass are run
        again, each by itself."""
        path = os.path.join(self.folder, f"{next(self.numbers)}.mlir")
        with open(path, "w", encoding="utf-8") as out:
            out.write(case.text)
        lines = [" ".join(case.runs[run]) for run in runs]
        try:
            results = run_cases(limited(len(runs), self.program, path), lines, env=self.environment, timeout=SECONDS_ASLEEP)
            output = [result.output.replace(path, "FILE") for result in results]
            verdicts = [judge(0, text) if result.passed else self.run(case, run) for run, result, text in zip(runs, results, output)]
        except subprocess.TimeoutExpired:
            verdicts = [self.run(case, run) for run in runs]
        finally:
            os.remove(path)
        return [self.judge_again(case, run, verdict) for run, verdict in zip(runs, verdicts)]

    def judge_again(self, case, run, verdict):
        """The verdict; `over by chance` where a result is a little more off than allowed, and for no other draw of the inputs."""
        if verdict.kind != "failed" or verdict.reason != "wrong" or (over := excess(verdict.output)) >= MOST_BY_CHANCE:
            return verdict
        seeds, largest = [a for a in case.runs[run] if a.startswith("--seed=")], 0.0
        for draw in range(1, OTHER_DRAWS + 1):
            redrawn = [*case.runs[run], *(f"{seed}{draw:03}" for seed in seeds)]  # the last one counts
            other = self.run(dataclasses.replace(case, runs={run: redrawn}), run)
            if other.kind != "passed":
                return verdict
            largest = max(largest, excess(other.output, "ok"))
        return Verdict("over by chance", f"{over:.2f} times what is allowed; {OTHER_DRAWS} other draws of the inputs pass, with {largest:.2f} at most", verdict.output)

    def run(self, case, run):
        path = os.path.join(self.folder, f"{next(self.numbers)}.mlir")
        with open(path, "w", encoding="utf-8") as out:
            out.write(case.text)
        try:
            done = subprocess.run(limited(1, self.program, path, *case.runs[run]), capture_output=True, text=True, errors="replace", env=self.environment, timeout=SECONDS_ASLEEP)
            return judge(done.returncode, (done.stdout + done.stderr).replace(path, "FILE"))
        except subprocess.TimeoutExpired:
            return judge(None, "")
        finally:
            os.remove(path)
