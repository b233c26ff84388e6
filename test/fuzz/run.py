# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the fuzzers, one after the other, and keeps the inputs that crashed, hung or took too much memory.

usage: run.py [--minutes=M | --replay] [options]

  --minutes=M     minutes for each fuzzer (default: 10)
  --replay        run every seed once and fuzz nothing, also with programs that are built without libFuzzer
  --only=NAME     fuzzers to run, by comma or repeated (default: all that are in --bin)
  --bin=FOLDER    folder of the fuzzers (default: build-fuzz/fuzz)
  --out=FOLDER    folder for corpora and findings (default: fuzz-found)
"""
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
MODULES = re.compile(r"^// -----.*$", re.M)
CONTAINERS = re.compile(r"^(?=(?:taylor|tile)\.\w+ @)", re.M)
COMMENTS = re.compile(r"^ *//.*\n", re.M)

# Name: seeds beside corpus/NAME, the longest input in bytes, the dictionary.
FUZZERS = {
    "specification": (["examples/specs/**/*.mlir", "test/dialect/*.mlir", "test/passes/*.mlir", "test/**/Inputs/*.mlir"], 3000, "specification"),
    "tile": (["test/tile/*.mlir", "test/passes/LowerToTile/*.mlir", "test/codegen/**/*.mlir"], 3000, "tile"),
    "manifest": (["test/runtime/device-fixture/*.json"], 6000, "manifest"),
    "artifact": ([], 6000, "manifest"),
    "ptx": (["test/runtime/**/*.ptx"], 3000, "ptx"),
    "npy": ([], 512, "npy"),
    "safetensors": ([], 1024, "safetensors"),
}
SECONDS_PER_INPUT, MEGABYTES = 20, 2000
# libMLIR and libLLVM are not instrumented (test/lit.cfg.py).
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0:allocator_may_return_null=1",
               "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}


def fail(message):
    sys.exit(f"run.py: error: {message}")


def parse(arguments):
    options = {"minutes": "10", "only": [], "bin": "build-fuzz/fuzz", "out": "fuzz-found", "replay": False}
    for argument in arguments:
        name, equals, value = argument.removeprefix("--").partition("=")
        if argument == "--replay":
            options["replay"] = True
        elif argument.startswith("--") and equals and name in ("minutes", "bin", "out"):
            options[name] = value
        elif argument.startswith("--only="):
            options["only"] += value.split(",")
        else:
            fail(f"unsupported option '{argument}'\n{__doc__}")
    for name in options["only"]:
        if name not in FUZZERS:
            fail(f"expected --only to name one of {', '.join(FUZZERS)}, but got '{name}'")
    try:
        options["seconds"] = int(60 * float(options["minutes"]))
    except ValueError:
        fail(f"expected a number for --minutes, but got '{options['minutes']}'")
    return options


def split(text):
    """Small seeds are changed in more places that matter: each container of a file of MLIR, behind the file's aliases, without comments."""
    for module in MODULES.split(text):
        head, *containers = CONTAINERS.split(module)
        for container in containers or [""]:
            yield COMMENTS.sub("", head + container)


def collect_seeds(name, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for pattern in FUZZERS[name][0]:
        for path in sorted(SOURCE.glob(pattern)):
            label = str(path.relative_to(SOURCE)).replace("/", "-")
            for number, piece in enumerate(split(path.read_text())):
                (folder / f"{label}-{number}").write_text(piece)
    for path in sorted((HERE / "corpus" / name).glob("*")):
        (folder / path.name).write_bytes(path.read_bytes())
    return sorted(folder.iterdir())


def start(program, arguments):
    environment = {**ENVIRONMENT, **os.environ}
    return subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True,
                            errors="replace")


def replay(name, program, out):
    """Whether the reader takes every seed."""
    seeds = collect_seeds(name, out / name / "seeds")
    process = start(program, seeds)
    output, _ = process.communicate()
    if process.returncode == 0:
        print(f"{name}: {len(seeds)} inputs", flush=True)
        return True
    # Both programs say which input they are about to read.
    current = re.findall(r"^Running: (.*)$", output, re.M)
    print(f"{name}: FAILED with {process.returncode} on {current[-1] if current else 'its start'}")
    print("\n".join(output.splitlines()[-40:]), flush=True)
    return False


def fuzz(name, program, out, seconds):
    """Whether nothing was found."""
    if "libFuzzer" not in subprocess.run([program, "-help=1"], capture_output=True, text=True).stderr:
        fail(f"requires '{program}' built with libFuzzer; run: cmake --preset fuzz && cmake --build --preset fuzz")
    folder = out / name
    collect_seeds(name, folder / "seeds")
    (folder / "corpus").mkdir(exist_ok=True)
    before = set(folder.glob("found-*"))
    _, length, dictionary = FUZZERS[name]
    begin = shown = time.monotonic()
    runs = edges = 0
    with open(folder / "log", "w") as log:
        # What crashes ends the process: another one takes the corpus up.
        while (left := int(seconds - (time.monotonic() - begin))) > 0:
            process = start(program, [
                folder / "corpus", folder / "seeds", f"-max_total_time={left}", f"-timeout={SECONDS_PER_INPUT}", f"-rss_limit_mb={MEGABYTES}",
                f"-max_len={length}", f"-dict={HERE / 'dictionaries' / dictionary}.dict", f"-artifact_prefix={folder}/found-"])
            of_process = 0
            for line in process.stdout:
                log.write(line)
                if match := re.match(r"#(\d+)\s.* cov: (\d+)", line):
                    of_process, edges = int(match[1]), max(edges, int(match[2]))
                if time.monotonic() - shown > 30:
                    shown = time.monotonic()
                    found = len(set(folder.glob("found-*")) - before)
                    print(f"{name}: {shown - begin:.0f} s, {runs + of_process} runs, {edges} edges, {found} found", flush=True)
            runs += of_process
            if process.wait() != 0 and of_process == 0:
                break
    found = sorted(set(folder.glob("found-*")) - before)
    print(f"{name}: {(time.monotonic() - begin) / 60:.1f} minutes, {runs} runs, {edges} edges, {len(found)} found", flush=True)
    for path in found:
        print(f"  {path}")
    if process.returncode != 0 and of_process == 0:
        print(f"  ended before its first run: {folder / 'log'}")
    return not found and process.returncode == 0


def main(arguments):
    options = parse(arguments)
    programs = {name: f"{options['bin']}/{name}" for name in FUZZERS if os.path.exists(f"{options['bin']}/{name}")}
    for name in options["only"]:
        if name not in programs:
            fail(f"requires '{options['bin']}/{name}'; run: cmake --preset fuzz && cmake --build --preset fuzz")
    if not programs:
        fail(f"expected fuzzers in '{options['bin']}', but found none; run: cmake --preset fuzz && cmake --build --preset fuzz")
    chosen = options["only"] or list(programs)
    out = Path(options["out"]).resolve()
    good = [name for name in chosen
            if (replay(name, programs[name], out) if options["replay"] else fuzz(name, programs[name], out, options["seconds"]))]
    print(f"{len(chosen)} fuzzers, {len(chosen) - len(good)} failed")
    return 0 if len(good) == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
