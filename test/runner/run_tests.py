# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: run_tests.py LIT FOLDER [--quick] [OPTION OF LIT ..]: runs the tests of a build folder with lit, and says how
far they are.

Prints the tests that are done, the time that is left, and one line for each test that fails: the command that runs it
alone, and the file with its output. The output of lit goes to FOLDER/test-log.txt, its results to
FOLDER/test-results.json. Exits as lit does.

  --quick   run what the author of a pass runs: the short tests of dialects, passes, code generators and tools"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time

from shares import read_recorded, read_times, report

SECONDS_BETWEEN_LINES = 20  # of progress, where it is not a terminal
RESULT = re.compile(r"^(?P<code>[A-Z]+): (?P<name>.+) \((?P<number>\d+) of (?P<count>\d+)\)$")
FAILURES = {"FAIL", "XPASS", "UNRESOLVED", "TIMEOUT"}
QUICK = re.compile(r"Taylor :: (dialect|passes|tile|reference|codegen|run|driver)/|"
                   r"Taylor-Unit :: \./(PassesTest|TileTest|ReferenceTest|VectorMathTest|SimtKernelTest|TileEmulationTest|PtxTest)/")
QUICK_SECONDS = 5  # of a processor, as recorded


def is_quick(name, recorded):
    return bool(QUICK.match(name)) and recorded.get(name, 0) <= QUICK_SECONDS


def alone(name, folder, lit):
    """The command that runs a test by itself."""
    suite, _, path = name.partition(" :: ")
    if suite != "Taylor-Unit":
        return shlex.join([*lit, "-v", f"{folder}/test", f"--filter={re.escape(name)}$"])
    program, *rest = path.removeprefix("./").split("/")
    if len(rest) == 2 and rest[0].isdigit():
        return f"GTEST_SHARD_INDEX={rest[0]} GTEST_TOTAL_SHARDS={rest[1]} {folder}/unittests/{program}"
    return f"{folder}/unittests/{program} --gtest_filter={'/'.join(rest).replace('/', '.', 1)}"


class Progress:
    """How much is done, by the recorded seconds of each test; one without a record counts as much as they do on average."""

    def __init__(self, names, recorded):
        known = [recorded[name] for name in names if name in recorded]
        usual = sum(known) / len(known) if known else 1.0
        self.cost = {name: recorded.get(name, usual) for name in names}
        self.total, self.done, self.failed, self.count = sum(self.cost.values()) or 1.0, 0.0, 0, len(names)
        self.finished, self.start, self.printed = 0, time.monotonic(), time.monotonic()
        self.terminal = sys.stdout.isatty()

    def finish(self, name, failed):
        self.finished += 1
        self.failed += failed
        self.done += self.cost.get(name, 0)

    def line(self):
        elapsed, share = time.monotonic() - self.start, min(1.0, self.done / self.total)
        left = f"about {elapsed * (1 - share) / share / 60:.0f} min left" if share > 0.02 and elapsed > 10 else "estimating"
        return f"tests: {self.finished} of {self.count}, {self.failed} failed, {elapsed / 60:.0f} min, {left}"

    def show(self):
        now = time.monotonic()
        if self.terminal:
            print(f"\r\033[K{self.line()}", end="", flush=True)
        elif now >= self.printed + SECONDS_BETWEEN_LINES:
            self.printed = now
            print(self.line(), flush=True)

    def say(self, text):
        print(("\r\033[K" if self.terminal else "") + text, flush=True)


def list_tests(lit, options, places):
    """Names of the tests that lit would run; its --show-tests lists those that a filter leaves out too."""
    listed = subprocess.run([*lit, "--show-tests", *options, *places], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, stdin=subprocess.DEVNULL)
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for option, variable, default in (("--filter", "LIT_FILTER", ""), ("--filter-out", "LIT_FILTER_OUT", "^$")):
        parser.add_argument(option, type=lambda text: re.compile(text, re.IGNORECASE), default=os.environ.get(variable, default))
    wanted = parser.parse_known_args(options)[0]
    names = [line.strip() for line in listed.stdout.splitlines() if " :: " in line]
    return [name for name in names if wanted.filter.search(name) and not wanted.filter_out.search(name)]


def run(lit, folder, options, quick):
    """lit's exit status."""
    recorded = read_recorded()
    places = [f"{folder}/test", f"{folder}/unittests"]
    names = list_tests(lit, options, places)
    if quick:
        names = [name for name in names if is_quick(name, recorded)]
        options = [*options, "--filter=^(" + "|".join(map(re.escape, names)) + ")$"]
    times, failures = os.path.join(folder, "test-times.jsonl"), os.path.join(folder, "test-failures")
    if os.path.exists(times):
        os.remove(times)
    os.makedirs(failures, exist_ok=True)
    for file in os.listdir(failures):
        os.remove(os.path.join(failures, file))
    progress, current = Progress(names, recorded), None
    command = [*lit, "-v", "--no-progress-bar", *options, "--output", os.path.join(folder, "test-results.json"), *places]
    with open(os.path.join(folder, "test-log.txt"), "w", encoding="utf-8") as log:
        done = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        for line in done.stdout:
            log.write(line)
            log.flush()
            found = RESULT.match(line.rstrip("\n"))
            if found:
                failed = found["code"] in FAILURES
                progress.finish(found["name"], failed)
                current = None
                if failed:
                    current = os.path.join(failures, re.sub(r"[^\w.]+", "-", found["name"]) + ".log")
                    progress.say(f"{found['code']}: {found['name']}; alone: {alone(found['name'], folder, lit)}; it printed {current}")
                progress.show()
            elif current:
                with open(current, "a", encoding="utf-8") as f:
                    f.write(line)
        status = done.wait()
    progress.say(progress.line())
    report(read_times(times), recorded, progress.say)
    return status


def main(arguments):
    if len(arguments) < 2 or arguments[0].startswith("-"):
        sys.exit(__doc__)
    lit, folder, *options = arguments
    quick = "--quick" in options
    return run([sys.executable, lit], folder, [option for option in options if option != "--quick"], quick)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
