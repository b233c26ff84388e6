#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times the attention kernels of this folder. Needs a driver, Python 3.9 or newer, and torch. Nothing of
ours is compiled here, and nothing outside the folder is read. README.md says what the numbers mean.

Exit status: 0; 1 if a result is wrong; 2 if nothing could be checked. Times never fail it."""
import argparse
import datetime
import os
import pathlib
import platform
import re
import shlex
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from driver import require_gpu
from errors import Unusable, run
from folder import Folder
from progress import Progress


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--device", choices=("cuda", "ptx", "cpu"), default="cuda",
                        help="device: a GPU (default), the interpreter of PTX, or the processor if packed for it")
    parser.add_argument("--quick", action="store_true",
                        help="check the smallest case of each kernel, and time one length")
    parser.add_argument("--only", metavar="REGEX", default="", help="cases to check, by name (default: all)")
    parser.add_argument("--rows", metavar="REGEX", default="",
                        help="rows to time, by name, next to SDPA; the compiler's forms are not timed then (default: all)")
    parser.add_argument("--lengths", metavar="T,..", help="tokens of a sequence to time, by comma (default: 512 to 16384)")
    parser.add_argument("--no-times", action="store_true", help="check only; the default on a device other than cuda")
    parser.add_argument("--times", action="store_true",
                        help="time on the processor too, which only shows that the program runs")
    parser.add_argument("--minutes", type=float, default=9, metavar="N",
                        help="minutes after which the rest is not timed (default: 9)")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "results.json", metavar="FILE",
                        help="file for the results (default: results.json in this folder)")
    options = parser.parse_args()
    for name in ("only", "rows"):
        try:
            setattr(options, name, re.compile(getattr(options, name)))
        except re.error as error:
            parser.error(f"expected a regular expression in --{name}, but got '{getattr(options, name)}': {error}")
    words = [] if options.lengths is None else options.lengths.split(",")
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        parser.error(f"expected whole numbers of at least 1, by comma, in --lengths, but got '{options.lengths}'")
    options.lengths = [int(word) for word in words]
    if options.times and options.device == "ptx":
        parser.error("unsupported --times with --device=ptx: the interpreter has no times")
    return options


def require_code(folder, load, device):
    """The folder has code for this kind of device."""
    name = next(iter(folder.index["artifacts"]))
    kind = "cpu" if device.name == "cpu" else "ptx"
    if all(target["kind"] != kind for target in load(name).manifest["targets"]):
        example = "native" if kind == "cpu" else "sm_80,sm_90"
        raise Unusable(f"expected a folder with code for --device={device.name}, but it was packed for {', '.join(folder.index['about']['targets'])}; "
                       f"./gpu-check.sh --targets={example} makes one")


def require_rows(folder, wanted):
    """Titles of the rows to time."""
    from times import titles

    every = titles(folder)
    chosen = [title for title in every if wanted.search(title)]
    if not chosen:
        raise Unusable(f"expected a row that matches --rows={wanted.pattern}, but got none of {len(every)}: {'; '.join(every)}")
    return chosen


def check_integers(device, progress):
    """Products of integers on the GPU, or on a driver that stands for one in the interpreter."""
    from products import check_products, skipped

    if device.name == "cuda" or (device.name == "ptx" and os.environ.get("TAYLOR_CUDA_DRIVER")):
        return check_products(progress)
    return skipped(progress, "they need a GPU, or --device=ptx and a driver with the interpreter that TAYLOR_CUDA_DRIVER names")


def check_cases(folder, kernels, device, options, progress):
    """Rows of all results of all cases, and the cases that features are tried on."""
    from cases import Case, Steps

    entries = [e for e in folder.index["cases"] if options.only.search(e["name"]) and (e["quick"] or not options.quick)]
    if not entries:
        raise Unusable(f"expected a case that matches --only={options.only.pattern}, but got none of {len(folder.index['cases'])}")
    rows, kept = [], []
    for number, entry in enumerate(entries):
        progress.step(f"case {number + 1} of {len(entries)}: {entry['name']} ...")
        try:
            case = (Steps if folder.index["artifacts"][entry["artifact"]]["decode"] else Case)(folder, entry, kernels(entry["artifact"]), device)
            case.run()
            rows += case.judge()
        except RuntimeError as error:
            rows += [{"case": entry["name"], "slot": "-", "error": float("nan"), "allowed": 0.0, "verdict": f"WRONG: {error}"}]
            continue
        if len(kept) < 2 and type(case) is Case and folder.index["artifacts"][entry["artifact"]]["mode"] == "deterministic":
            kept.append(case)
    return rows, kept


def main():
    options = parse()
    progress = Progress(options.minutes)
    folder = Folder(HERE)
    if options.device == "cuda":
        require_gpu()
    progress.say("loading torch ...")
    try:
        import torch
    except ImportError as error:
        raise Unusable(f"requires torch, but {sys.executable} has none ({error}); use a Python that has it, or: python3 -m pip install torch") from None
    from device import open_device
    from features import check_features
    from library import Library
    import report

    device = open_device(options.device)
    library = Library(HERE / "libtaylor.so")
    about = device.describe()
    progress.say(f"{about['name']}, torch {torch.__version__}, Taylor {library.version()} for {', '.join(folder.index['about']['targets'])}")
    loaded = {}

    def load(name):
        if name not in loaded:
            loaded[name] = library.load(folder.artifact(name))
        return loaded[name]

    require_code(folder, load, device)
    chosen = require_rows(folder, options.rows)
    products = check_integers(device, progress)
    checks, cases = check_cases(folder, load, device, options, progress)
    print(report.check_table(checks), flush=True)
    for name, why in folder.index["refused"].items():
        print(f"not compiled: {name}: {why}")
    features = check_features(cases, folder, device, progress) if len(cases) == 2 else []
    if not features:
        progress.say("features: skipped, since they need two cases that run")
    def write(times, forms, skipped):
        report.write(options.out, {
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "machine": about, "torch": torch.__version__,
            "cuda": torch.version.cuda, "python": platform.python_version(), "command": shlex.join(sys.argv), "folder": folder.index["about"],
            "taylor": library.version(), "passed": not wrong, "seconds": round(progress.elapsed()), "products": products, "checks": checks, "features": features,
            "refused": folder.index["refused"], "times": times, "forms": forms, "skipped": skipped})

    wrong = [row for row in products["wrong"] + checks + features if row["verdict"].startswith("WRONG")]
    times, forms, skipped = [], [], []
    write(times, forms, skipped)  # what is checked stands, whatever comes of the times
    if not options.no_times and (device.name == "cuda" or options.times):
        from forms import FormTimer
        from times import Timer

        timer = Timer(folder, load, device, progress, options.quick, chosen, options.lengths, bool(options.rows.pattern or options.lengths))
        with_forms = not options.quick and not options.rows.pattern
        forms, not_formed = FormTimer(folder, load, device, progress, timer.clock).run() if with_forms else ([], [])
        times, skipped = timer.run()
        skipped += not_formed
        print(report.form_table(forms) + report.time_table(times, skipped), flush=True)

    write(times, forms, skipped)
    names = len({row["case"] for row in checks})
    print(f"\n{names} cases, {len(checks)} results, {len(wrong)} wrong; {progress.elapsed():.0f} s; {options.out}")
    return 1 if wrong else 0


if __name__ == "__main__":
    run(main)
