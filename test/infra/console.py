# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %source_dir %build_dir %t %python
# REQUIRES: compiler
# UNSUPPORTED: sanitizer
"""Each command in a `console` block of ARCHITECTURE.md, codegen/Targets/TARGET.md and the guide prints the lines that stand below it, and every path in
ARCHITECTURE.md's table of changes exists. In such a block a line of `...` stands for any lines, `...` within a line for any text, and any number for
any other one."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?", re.I)


def plain(line):
    return NUMBER.sub("#", " ".join(line.split()))


def commands(text):
    """Commands of a page's console blocks, each with the lines that it shall print."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.S | re.M):
        assert block.startswith("$ "), block
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            lines, command = part.splitlines(), []
            while lines:
                command.append(lines.pop(0))
                if not command[-1].endswith("\\"):
                    break
            found.append(("\n".join(command), lines))
    return found


def first_missing(expected, printed):
    """None, or the first run of expected lines that was not printed where it should be."""
    printed, gap, at = [plain(line) for line in printed], False, 0
    runs = [[]]
    for line in expected:
        if line.strip() == "...":
            runs.append(None)
            runs.append([])
        else:
            runs[-1].append(line)
    for place, run in enumerate(runs):
        if run is None:
            gap = True
        elif run:
            patterns = [re.compile(".*".join(re.escape(plain(piece)) for piece in line.split("...")).replace(".*", r"\s*.*\s*")) for line in run]
            last = place == len(runs) - 1
            starts = range(len(printed) - len(run), len(printed)) if last and gap else range(at, len(printed)) if gap else range(at, at + 1)
            for start in starts:
                if start >= at and len(printed) - start >= len(run) and all(p.fullmatch(line) for p, line in zip(patterns, printed[start:])):
                    at, gap = start + len(run), False
                    break
            else:
                return run
    return None if gap or at == len(printed) else ["(nothing more)"]


# What the comparison takes and what it refuses.
assert first_missing(["a 1", "...", "c ... d"], ["a 2", "b", "c x d"]) is None
assert first_missing(["...", "b"], ["a", "b"]) is None and first_missing(["a", "..."], ["a", "b"]) is None
assert first_missing(["a"], ["a", "b"]) == ["(nothing more)"] and first_missing([], ["a"]) == ["(nothing more)"]
assert first_missing(["...", "a"], ["a", "b"]) == ["a"] and first_missing(["b"], ["a", "b"]) == ["b"]
assert first_missing(["a", "c"], ["a", "b", "c"]) == ["a", "c"] and first_missing(["a", "...", "a"], ["a"]) == ["a"]
assert first_missing(["1.5e-18 ok"], ["2.0e+01 FAILED"]) == ["1.5e-18 ok"]
assert commands("```console\n$ a \\\n  b\nc\n$ d\n```\n") == [("a \\\n  b", ["c"]), ("d", [])]

source, build, folder = map(pathlib.Path, sys.argv[1:4])
shutil.rmtree(folder, ignore_errors=True)
(folder / "tools").mkdir(parents=True)
(folder / "tools" / "python3").symlink_to(sys.argv[4])
environment = {**os.environ, "PATH": os.pathsep.join([str(folder / "tools"), os.environ["PATH"]]), "LC_ALL": "C"}

count, faults = 0, []
for page in [source / "ARCHITECTURE.md", source / "codegen" / "Targets" / "TARGET.md", *sorted((source / "examples" / "guide").glob("*.md"))]:
    place = folder / page.stem
    place.mkdir()
    for name in ["codegen", "dialect", "examples", "passes", "runtime", "test", "trainer"]:
        (place / name).symlink_to(source / name)
    (place / "build").symlink_to(build)
    (place / "runs").mkdir()
    for command, expected in commands(page.read_text(encoding="utf-8")):
        # A shell for each: nothing but files goes from one command to the next. A page says whether one shall fail by `|| ..`.
        done = subprocess.run(["bash", "-c", "export PATH=$PWD/build/bin:$PATH; set -o pipefail\n" + command], cwd=place, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        what = f"{page.relative_to(source)}: $ {command}\n"
        # Progress of what takes longer than usual.
        printed = [line for line in done.stdout.splitlines() if not re.match(r"taylorc?: (compil|phase )", line)]
        missing = first_missing(expected, printed)
        # A check that fails and a comparison that finds something end with 1.
        if done.returncode not in ([0, 1] if command.startswith("diff ") or any("FAILED" in line for line in expected) else [0]):
            faults.append(f"{what}expected status 0, but got {done.returncode}:\n{done.stdout[:2000]}")
        elif missing is not None:
            file = folder / f"printed-{count}.txt"
            file.write_text(done.stdout, encoding="utf-8")
            faults.append(f"{what}expected\n" + "\n".join(missing) + f"\nbut got what is in {file}:\n{done.stdout[:2000]}")
        count += 1
assert not faults, "\n\n".join(faults)
assert count >= 20, count


def folders_left(commands_of_walk):
    """Folders to which a walk comes back after it left them."""
    folders, again = [], []
    for command, _ in commands_of_walk:
        for folder in [os.path.dirname(path) for path in re.findall(r"\b[a-z]+/[\w/]*\w+\.(?:cpp|h)\b", command)]:
            again += [folder] if folder in folders[:-1] else []
            folders += [folder] if folders[-1:] != [folder] else []
    return again


assert folders_left([("grep a b/x.cpp", []), ("grep c b/y.cpp", []), ("grep d e/f/z.h", [])]) == []
assert folders_left([("grep a b/x.cpp", []), ("grep d e/z.h", []), ("grep c b/y.cpp", [])]) == ["b"]
walks = re.split(r"^## ", (source / "examples" / "guide" / "walks.md").read_text(encoding="utf-8"), flags=re.M)[1:]
assert len(walks) == 3, len(walks)
for walk in walks:
    steps = commands("\n" + walk[walk.index("```console"):])
    assert len(steps) >= 5 and not folders_left(steps), (walk.splitlines()[0], folders_left(steps))

# Where to change what: files and tests in the last two columns.
text = (source / "ARCHITECTURE.md").read_text(encoding="utf-8")
assert len(text.splitlines()) <= 155, len(text.splitlines())
table = re.search(r"^\| to change \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.M)[1]
rows = [[re.findall(r"`([^`]+)`", cell) for cell in line.strip("|").split("|")[1:]] for line in table.splitlines()]
assert len(rows) >= 11, rows
for row in rows:
    assert len(row) == 2 and all(row), row
    for path in sum(row, []):
        assert (source / path).exists(), f"ARCHITECTURE.md: expected a path of this tree, but got `{path}`"
print(f"{count} commands, {len(rows)} rows")
