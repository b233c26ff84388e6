#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: measure_specs.py [--check] [--forms] [--bin=build/bin] [--only=REGEX]: asks the compiler in which forms each
specification of specs/ and specs/beyond/ can be computed, and times forward plus backward next to torch's
scaled_dot_product_attention. Writes measured.json, which list_specs.py reads.

Timed: 1,4,1024,64, f32, the mask as written, two threads, interleaved. --forms keeps the times. --check writes nothing:
it says whether the forms are those."""
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SHAPE, THREADS = "1,4,1024,64", 2
# Of taylor-bench, without the specification.
COMMAND = ["attention", "--shape", SHAPE, "--direction", "both", "--against", "sdpa", "--seconds", "2", "--threads", str(THREADS)]


def forms(bin_dir, path, settings):
    """What has another form than the parallel one compiles in it."""
    found = ["parallel"]
    for form in ("chunked", "recurrent"):
        command = [str(bin_dir / "taylorc"), str(path), f"--form={form}", "--emit=manifest", "--target=x86-64-v3", "--quiet", *settings]
        if subprocess.run(command, capture_output=True).returncode == 0:
            found.append(form)
    return found


def time(bin_dir, path, settings):
    """Our time over that of torch's attention, by the median of both in turn."""
    with tempfile.NamedTemporaryFile(suffix=".json") as rows:
        command = [bin_dir / "taylor-bench", *COMMAND, "--spec", path, "--json", rows.name, *settings]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"error: could not time {path}: {done.stderr.strip()}")
        (row,) = json.load(open(rows.name, encoding="utf-8"))
    return round(1 / row["ratio"]["sdpa"], 2)


def processor():
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def commit():
    """Of the tree that is measured."""
    done = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def main(arguments):
    options = {"bin": "build/bin", "only": "", "check": False, "forms": False}
    for argument in arguments:
        name, equals, value = argument.removeprefix("--").partition("=")
        if not argument.startswith("--") or name not in options or isinstance(options[name], bool) == bool(equals):
            sys.exit(f"{__doc__}\n\nerror: unsupported option '{argument}'")
        options[name] = value if equals else True
    target = HERE / "measured.json"
    known = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {}
    bin_dir, wrong = pathlib.Path(options["bin"]), []
    for path in sorted(HERE.glob("specs/*.mlir")) + sorted(HERE.glob("specs/beyond/*.mlir")):
        name = str(path.relative_to(HERE / "specs").with_suffix(""))
        if not re.search(options["only"], name):
            continue
        # Series take an order; the paper's is 10, and few have states of that size.
        settings = ["--set", "order=2"] if re.search(r"parameters\(.*\border\b", path.read_text(encoding="utf-8")) else []
        found = forms(bin_dir, path, settings)
        if options["check"]:
            if known.get(name, {}).get("forms") != found:
                wrong.append(f"{name}: {', '.join(found)}")
            continue
        entry = known.setdefault(name, {})
        entry["forms"] = found
        if not options["forms"]:
            entry["time"] = time(bin_dir, path, settings)
            entry["measured"] = f"{datetime.date.today()}, {processor()}"
            entry["commit"] = commit()
        print(name, *found, entry.get("time", ""), flush=True)
        target.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    if wrong:
        sys.exit("error: other forms than in examples/measured.json: run examples/measure_specs.py --forms\n" + "\n".join(wrong))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
