# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One process at a time trains in a folder. A second one is refused before it touches anything; whoever is killed is no obstacle.
# RUN: %cc -shared -fPIC -O1 -Wall -Werror %S/Inputs/no_locks.c -o %t.so
# RUN: env TAYLORC=%fixture/fixture.py CC=%cc %python %s %t.so %tiny %fixture/gated.mlir %t
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

library, config, spec, out = sys.argv[1:]
out = pathlib.Path(out)
metrics = out / "metrics.jsonl"
refusal = f"error: expected a run folder of its own, but another process trains in '{out}'; wait until it has ended, or pass --out FOLDER\n"


def command(*more):
    return ["taylor-train", "--config", config, "--attention", spec, "--out", out, "--set", "train.steps=100000", "--set", "schedule.horizon=100000",
            "--set", "checkpoint.every=5", "--set", "evaluation.every=0", "--set", "run.threads=1", *more]


def start(*more):
    """A run, once it trains."""
    process = subprocess.Popen(command(*more), stderr=subprocess.PIPE, text=True)
    lines = [process.stderr.readline()]
    while not lines[-1].startswith("training"):
        assert lines[-1], lines
        lines.append(process.stderr.readline())
    return process


def end(process):
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM, process.stderr.read()
    process.stderr.close()


# Whatever the second one wants, and with several processes: one message.
shutil.rmtree(out, ignore_errors=True)
first = start()
for more in ([], ["--resume"], ["--overwrite"], ["--overwrite", "--processes", "2"]):
    second = subprocess.run(command(*more), stderr=subprocess.PIPE, text=True, timeout=120)
    assert (second.returncode, second.stderr) == (1, refusal), (more, second)
end(first)
steps = [json.loads(line)["step"] for line in metrics.read_text().splitlines()]
assert steps == list(range(1, len(steps) + 1)), "nobody else wrote here"

# Killed with SIGKILL; and of several processes the first has the folder.
first = start("--resume")
first.kill()
first.wait()
first.stderr.close()
first = start("--overwrite", "--processes", "2")
second = subprocess.run(command("--resume"), stderr=subprocess.PIPE, text=True, timeout=120)
assert (second.returncode, second.stderr) == (1, refusal), second
end(first)

# Where the file system has no locks, a run says so and goes on.
result = subprocess.run(command("--overwrite", "--set", "train.steps=1"), stderr=subprocess.PIPE, text=True, env=dict(os.environ, LD_PRELOAD=library))
warning = f"warning: the file system of '{out}' has no locks: nothing keeps a second process from training there\n"
assert result.returncode == 0 and result.stderr.count(warning) == 1, result
