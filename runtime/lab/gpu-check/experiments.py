#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code generation that no GPU has judged yet (codegen/Targets/NVPTX/HOPPER.md, "an experiment") next to the default: is it right,
and is it faster? One script for the few minutes that a GPU can be had.

    python runtime/lab/gpu-check/experiments.py pack                     # in the repository after a build: build/experiments, 5 minutes
    python build/experiments/experiments.py run --out OUT            # on the GPU's machine, at most 12 minutes

`pack` makes a folder of gpu-check for each target: sm_90a, and sm_90a with +roles, +early, +roles+overlap, +roles+persistent
and all four. `run` checks each experiment's results and times its kernels next to those of sm_90a, in one process and in
turn; the most important first, each step in a process of its own with a time limit, so that a kernel that hangs costs its
own step alone. OUT gets a text for each step and against.py's JSON. Exit status: 0; 1 where a result was wrong or a step did
not end; 2 where nothing could be run."""
import argparse
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
PLAIN, EXPERIMENTS = "sm_90a", ["sm_90a+roles", "sm_90a+early", "sm_90a+roles+overlap", "sm_90a+roles+persistent",
                                "sm_90a+roles+overlap+persistent+early"]
SPECS = "softmax,softmax-norm-l2,softmax-count-gate,softmax-taylor,linear-relu"


def pack(options):
    source = HERE.parents[2]
    folder = options.folder or source / "build" / "experiments"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(HERE / "experiments.py", folder)
    for target in [PLAIN, *options.experiments.split(",")]:
        command = [sys.executable, HERE / "pack.py", f"--targets={target}", "--types=bf16", f"--specs={options.specs}",
                   "--folder", folder / target, "--bin", options.bin, "--lib", options.lib, *["--small"] * options.small]
        if code := subprocess.run(command, check=False).returncode:
            sys.exit(f"experiments.py: error: '{' '.join(map(str, command))}' ended with {code}")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{folder}: {size / 1e6:.0f} MB; on the GPU's machine: python3 experiments.py run")


def steps(device, experiments):
    """Names, programs and their limits in seconds, the most important first."""
    check = ["check.py", "--quick", "--no-times", f"--device={device}"]
    for target in experiments:
        yield f"{target}-check", target, check, 120 if device == "cuda" else 1200
    if device != "cuda":
        return
    for length in (16384, 1024, 512):
        for target in experiments:
            yield (f"{target}-{length}", target,
                   ["against.py", HERE / PLAIN, f"--lengths={length}", "--seconds=0.4", "--minutes=1.2"], 90)


def run_steps(options):
    experiments = sorted((path.parent.name for path in HERE.glob(f"{PLAIN}+*/check.py")), key=len)
    if not experiments or not (HERE / PLAIN / "check.py").exists():
        sys.exit(f"experiments.py: error: expected folders {PLAIN} and {PLAIN}+.. in {HERE}, as 'pack' makes them, but got none")
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    begin, wrong, ran = time.monotonic(), [], 0
    for name, target, (program, *arguments), limit in steps(options.device, experiments):
        left = 60 * options.minutes - (time.monotonic() - begin)
        if left < 20:
            print(f"{name}: left out, the time was up", flush=True)
            continue
        command = [sys.executable, program, *arguments, "--out", out / f"{name}.json"]
        print(f"{name} ...", flush=True)
        with open(out / f"{name}.txt", "w", encoding="utf-8") as text:
            try:
                code = subprocess.run([str(part) for part in command], cwd=HERE / target, stdout=text, stderr=subprocess.STDOUT,
                                      timeout=min(limit, left), check=False).returncode
            except subprocess.TimeoutExpired:
                code = "no end"
        lines = (out / f"{name}.txt").read_text(encoding="utf-8", errors="replace").splitlines()
        print(*lines[-12:], f"{name}: {code}", sep="\n", flush=True)
        ran += code in (0, 1)
        if code in (1, "no end"):
            wrong.append(name)
    print(f"{ran} steps ran" + (f"; wrong: {', '.join(wrong)}" if wrong else ""))
    return 1 if wrong else 0 if ran else 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack", help="make the folder, in the repository")
    packing.add_argument("--folder", type=pathlib.Path, help="folder to make (default: build/experiments)")
    packing.add_argument("--experiments", default=",".join(EXPERIMENTS), help="targets (default: %(default)s)")
    packing.add_argument("--specs", default=SPECS, help="specifications of examples/specs (default: %(default)s)")
    packing.add_argument("--bin", type=pathlib.Path, default=HERE.parents[2] / "build" / "bin",
                         help="folder of taylorc and taylor-run (default: build/bin)")
    packing.add_argument("--lib", type=pathlib.Path, default=HERE.parents[2] / "build" / "lib",
                         help="folder of libtaylor.so and libtaylor_torch.so (default: build/lib)")
    packing.add_argument("--small", action="store_true", help="few shapes, for tests of the folder itself")
    running = commands.add_parser("run", help="check and time, on the GPU's machine")
    running.add_argument("--out", type=pathlib.Path, default=pathlib.Path("experiments-out"), help="folder for what it finds")
    running.add_argument("--device", choices=("cuda", "ptx"), default="cuda",
                         help="a GPU, or the interpreter of PTX, which checks and does not time (default: cuda)")
    running.add_argument("--minutes", type=float, default=12, help="minutes after which nothing is begun (default: 12)")
    options = parser.parse_args()
    return pack(options) if options.command == "pack" else run_steps(options)


if __name__ == "__main__":
    sys.exit(main())
