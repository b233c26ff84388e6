# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: slowest_objects.py [FOLDER] [--count=N]: lists what a build took longest for, from ninja's log in FOLDER
(default: build). --count: rows to print (default: 20).

Each object, generated file and program has a row, longest first, with its seconds by the clock and its share of all;
the folders of sources follow. An object that ccache had counts with the time that ccache took: to time the compiler,
build into an empty folder with CCACHE_DISABLE=1. On a machine that does other work too, read the shares."""
import collections
import os
import re
import sys


def read(folder):
    """Seconds by output, of its last build; one row for what one command made."""
    path = os.path.join(folder, ".ninja_log")
    try:
        with open(path, encoding="utf-8") as f:
            lines = f.read().splitlines()
    except OSError:
        sys.exit(f"error: requires a build of ninja in {folder}, but it has no .ninja_log; run ./quickstart.sh or ./test.sh")
    if not lines or not re.fullmatch(r"# ninja log v[5-9]", lines[0]):
        sys.exit(f"error: expected a log of ninja, version 5 or later, in {path}, but got '{lines[0] if lines else ''}'")
    last = {}
    for line in lines[1:]:
        start, end, _, output, command = line.split("\t")
        last[output] = (int(start), int(end), command)
    commands = {}
    for output, (start, end, command) in last.items():
        commands.setdefault((start, end, command), output)
    return {output: (end - start) / 1000 for (start, end, _), output in commands.items()}


def name(output, folder):
    """`passes/CMakeFiles/TaylorPasses.dir/States/SplitSums.cpp.o` -> `passes/States/SplitSums.cpp`."""
    if os.path.isabs(output):
        output = os.path.relpath(output, os.path.abspath(folder))
    return re.sub(r"CMakeFiles/[^/]*\.dir/", "", output).removesuffix(".o")


def main(arguments):
    count, folders = 20, []
    for argument in arguments:
        if argument in ("-h", "--help"):
            sys.exit(print(__doc__))
        if argument.startswith("--count=") and argument[8:].isdigit():
            count = int(argument[8:])
        elif argument.startswith("-") or folders:
            sys.exit(f"error: unsupported argument '{argument}'\n{__doc__}")
        else:
            folders.append(argument)
    folder = folders[0] if folders else "build"
    seconds = read(folder)
    total = sum(seconds.values())
    if not total:
        sys.exit(f"error: expected something that was built in {folder}, but its log is empty")
    print(f"{len(seconds)} commands, {total:.0f} s of them all")
    for output in sorted(seconds, key=seconds.get, reverse=True)[:count]:
        print(f"{seconds[output]:8.1f} s {100 * seconds[output] / total:5.1f} %  {name(output, folder)}")
    by_folder = collections.Counter()
    for output, spent in seconds.items():
        by_folder[os.path.dirname(name(output, folder)) or "."] += spent
    print("by folder:")
    for place, spent in by_folder.most_common(count):
        print(f"{spent:8.1f} s {100 * spent / total:5.1f} %  {place}")


if __name__ == "__main__":
    main(sys.argv[1:])
