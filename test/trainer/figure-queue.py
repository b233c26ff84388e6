# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Queues of runs that share a folder, and signals to them.
# RUN: env TAYLORC=%fixture/fixture.py CC=%cc %python %s %tiny %fixture/gated.mlir %source_dir %t
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

tiny, spec, source, out = sys.argv[1:]
out = pathlib.Path(out)
shutil.rmtree(out, ignore_errors=True)
for name in ("figures", "scales", "configs"):
    (out / name).mkdir(parents=True)
shutil.copy(tiny, out / "configs/tiny.toml")
(out / "configs/base.toml").write_text(f"""base = "tiny.toml"
[attention]
specification = "{spec}"
[data]
path = "{source}/LICENSE"
[log]
tensorboard = false
[run]
threads = 1
""")
for name in "abc":
    (out / f"configs/{name}.toml").write_text(f'base = "base.toml"\n[optimizer]\nweight_decay = 0.{ord(name)}\n')
for figure, names in {"1": "abc", "2": "ab"}.items():
    runs = ", ".join(f'{{ label = "{name}", config = "../configs/{name}.toml" }}' for name in names)
    (out / f"figures/figure-{figure}.toml").write_text(f'title = "t"\n[[panel]]\ntitle = "p"\nruns = [{runs}]\n')
(out / "scales/tiny.toml").write_text("[train]\nsteps = 400\n[schedule]\nhorizon = 400\n[evaluation]\nevery = 200\n[checkpoint]\nevery = 100\n")
LATER = "  (another process trains it: later)"


def figure(name, folder, *more):
    command = ["taylor-train", "figure", name, "--experiments", out, "--out", out / folder, "--no-plots", *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def train(name, folder, *more):
    return subprocess.Popen(["taylor-train", "--config", out / f"configs/{name}.toml", "--config", out / "scales/tiny.toml", "--set", "run.seed=1", "--out",
                             out / folder / f"{name}-seed1", *more], stderr=subprocess.PIPE, text=True)


def wait_for_lines(folder, process, count=20):
    metrics = out / folder / "metrics.jsonl"
    while not metrics.exists() or len(metrics.read_text().splitlines()) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def begun(errors):
    """Which runs a queue has begun itself."""
    return re.findall(r"^run \d of \d  ([a-c]), seed 1$", errors, re.M)


def check_run(folder, steps):
    losses = [line["step"] for line in map(json.loads, (out / folder / "metrics.jsonl").read_text().splitlines()) if "loss" in line]
    assert losses == list(range(1, steps + 1)), (folder, losses)
    assert (out / folder / "summary.json").exists(), folder


# Two queues, begun at the same time: each run is made once, by one of them, and both draw.
queues = [figure("1", "shared"), figure("2", "shared")]
results = [queue.communicate(timeout=300) for queue in queues]
assert [queue.returncode for queue in queues] == [0, 0], results
assert all("error" not in errors for _, errors in results), results
assert sorted(begun(results[0][1]) + begun(results[1][1])) == ["a", "b", "c"], results
assert any(LATER in errors and "(done by another process)" in errors for _, errors in results), results
assert all("| b |" in table for table, _ in results), results
for name in "abc":
    check_run(f"shared/{name}-seed1", 400)

# A run that somebody else trains comes last; its lock goes with its process, and the queue goes on from the checkpoint.
other = train("a", "waits", "--set", "checkpoint.keep=1")
wait_for_lines("waits/a-seed1", other)
os.kill(other.pid, signal.SIGSTOP)  # however long it takes
queue = figure("2", "waits")
lines = []
while not lines or not lines[-1].startswith("waiting"):
    lines.append(queue.stderr.readline())
    assert lines[-1], lines
assert lines[0] == f"run 1 of 2  a, seed 1{LATER}\n" and lines[1] == "run 2 of 2  b, seed 1\n", lines
assert lines[-1] == "waiting    for what other processes train, 1 of 2 runs\n", lines
check_run("waits/b-seed1", 400)
other.kill()
other.wait()
other.stderr.close()
_, errors = queue.communicate(timeout=120)
assert queue.returncode == 0 and begun(errors) == ["a"], errors
check_run("waits/a-seed1", 400)

# A signal ends the run, which saves itself, and the queue, within seconds; the same command goes on.
for number in (signal.SIGTERM, signal.SIGINT):
    folder = f"signal-{number}"
    long = ["--set", "train.steps=20000", "--set", "schedule.horizon=20000", "--set", "checkpoint.every=0", "--set", "evaluation.every=0"]
    queue = figure("2", folder, *long)
    wait_for_lines(f"{folder}/a-seed1", queue)
    queue.send_signal(number)
    start = time.monotonic()
    _, errors = queue.communicate(timeout=60)
    assert queue.returncode == 128 + number and time.monotonic() - start < 20, (queue.returncode, errors)
    last = json.loads((out / folder / "a-seed1/metrics.jsonl").read_text().splitlines()[-1])["step"]
    checkpoint = f"{folder}/a-seed1/checkpoints/step-{last:06}"
    assert (out / checkpoint).is_dir() and last < 20000 and not (out / folder / "b-seed1").exists(), errors
    assert errors.endswith(f"stopped at a, seed 1 (exit status {128 + number}); the same command goes on from there\n"), errors
    queue = figure("2", folder, *long)
    while not (line := queue.stderr.readline()).startswith("resuming"):
        assert line, queue.wait()
    assert checkpoint in line, line
    queue.send_signal(signal.SIGTERM)
    queue.communicate(timeout=60)
    assert queue.returncode == 128 + signal.SIGTERM

# While it waits for another process, too.
other = train("a", "idle")
wait_for_lines("idle/a-seed1", other)
os.kill(other.pid, signal.SIGSTOP)
queue = figure("2", "idle", "--set", "train.steps=400")
while not (line := queue.stderr.readline()).startswith("waiting"):
    assert line, queue.wait()
queue.send_signal(signal.SIGTERM)
_, errors = queue.communicate(timeout=20)
assert queue.returncode == 128 + signal.SIGTERM, errors
assert errors == "stopped in front of a, seed 1 (exit status 143); the same command goes on from there\n", errors
other.kill()
other.wait()
other.stderr.close()
