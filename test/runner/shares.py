# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: shares.py --update [FOLDER ..]: writes seconds.txt anew from runs of the tests in build folders (default:
build).

seconds.txt has the seconds of a processor that each test took when it was last recorded. A run of the tests is compared
with it by shares: on another machine all tests take longer by the same factor, so one that takes over three times its
share has grown. A test that did not run keeps its row; if tests are gone, delete the file first."""
import json
import os
import sys

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "seconds.txt")
GROWN, LEAST = 3, 5  # times its share, and seconds of a processor below which a test is not held against its share
SLOWEST = 20


def read_times(path):
    """Seconds by name; of a test that ran several times, the least."""
    times = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for row in map(json.loads, f):
                if row.get("code") != "UNSUPPORTED":
                    times[row["name"]] = min(row["seconds"], times.get(row["name"], row["seconds"]))
    return times


def read_recorded(path=RECORDED):
    recorded = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                if not line.startswith("#"):
                    seconds, _, name = line.strip().partition(" ")
                    recorded[name] = float(seconds)
    return recorded


def find_grown(times, recorded):
    """Name, seconds, and how many times its share, of each test that has grown."""
    both = [name for name in times if name in recorded]
    now, then = sum(times[name] for name in both), sum(recorded[name] for name in both)
    if not now or not then:
        return []
    # A test that has grown must not raise what is expected of the others, itself among them.
    factors = {name: (times[name] * (then - recorded[name])) / max(1e-9, recorded[name] * (now - times[name])) for name in both if now > times[name]}
    return [(name, times[name], factor) for name, factor in factors.items() if factor > GROWN and times[name] > LEAST]


def report(times, recorded, say=print):
    if not times:
        return
    say(f"{sum(times.values()) / 60:.1f} minutes of a processor; the slowest tests, in seconds of it:")
    for name in sorted(times, key=times.get, reverse=True)[:SLOWEST]:
        say(f"{times[name]:8.1f}  {name}")
    for name, seconds, factor in find_grown(times, recorded):
        say(f"grown: {name} takes {seconds:.1f} s of a processor, {factor:.1f} times its recorded share ({recorded[name]:.1f} s); "
            "make it faster, or record it: python3 test/runner/shares.py --update")


def update(folders, path=RECORDED):
    recorded = read_recorded(path)
    for folder in folders:
        times = read_times(os.path.join(folder, "test-times.jsonl"))
        if not times:
            sys.exit(f"error: requires a run of the tests in {folder}, but it has no test-times.jsonl; run ./test.sh")
        recorded |= times
    with open(path, "w", encoding="utf-8") as f:
        f.write("# Seconds of a processor that each test took when it was recorded (test/runner/shares.py).\n")
        for name in sorted(recorded):
            f.write(f"{recorded[name]:.2f} {name}\n")
    print(f"{path}: {len(recorded)} tests")


def main(arguments):
    if arguments[:1] != ["--update"]:
        sys.exit(__doc__)
    update(arguments[1:] or ["build"])


if __name__ == "__main__":
    main(sys.argv[1:])
