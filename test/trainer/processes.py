# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Several processes train as one does: the same losses, within rounding, for any number of them, and whatever shares or recomputes; stopped and resumed.
# RUN: env TAYLORC=%fixture/fixture.py CC=%cc %python %s %tiny %fixture/gated.mlir %full %t
import filecmp
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

config, spec, full, out = sys.argv[1:]
same_losses = pathlib.Path(__file__).parent / "Inputs" / "same_losses.py"


def command(name, processes, *settings):
    options = [word for setting in settings for word in ("--set", setting)]
    return ["taylor-train", "--config", config, "--attention", spec, "--out", f"{out}.{name}", "--processes", str(processes), "--set", "train.batch=4",
            "--set", "evaluation.sequences=5", "--set", "schedule.horizon=1000", *options]


def train(name, processes, *settings, existing="--overwrite"):
    result = subprocess.run([*command(name, processes, *settings), existing], stderr=subprocess.PIPE, text=True)
    assert result.returncode == 0, result.stderr
    return result.stderr


def require_same_losses(*names, tolerance="2e-6"):
    subprocess.run([sys.executable, same_losses, *(f"{out}.{name}" for name in names), *([tolerance] if tolerance else [])], check=True)


def require_same_bits(*names):
    for file in ("model.safetensors", "optimizer.safetensors", "state.json"):
        first, second = (pathlib.Path(f"{out}.{name}", "checkpoints", "step-000006", file) for name in names)
        assert filecmp.cmp(first, second, shallow=False), (first, second)


# Each of the things that a share of a batch could break: micro-batches, recomputation, weights by groups, clipping. Each with one number of processes,
# and each number of processes with one of them; all under ./test.sh --full.
MORE = {"plain": (2, 4), "micro": (4,), "recomputed": (2,), "documents": (4,)}
for name, settings in {"plain": (), "micro": ("train.micro_batch=1",), "recomputed": ("train.activation_checkpointing=true",),
                       "documents": ("data.sampler=documents", "data.groups=2", "optimizer.clip=0")}.items():
    for processes in (1, 2, 4) if full == "1" else (1, *MORE[name]):
        log = train(f"{name}{processes}", processes, *settings)
        assert processes == 1 or f"{processes} processes, each" in log, log
        if processes > 1:
            require_same_losses(f"{name}1", f"{name}{processes}")
require_same_losses("plain1", "micro4")

# Shared moments are the same moments, also where they are saved and read again, by another number of processes.
train("shared2", 2, "optimizer.shard=true")
require_same_bits("plain2", "shared2")
train("parts", 2, "optimizer.shard=true", "train.steps=3")
train("parts", 2, "optimizer.shard=true", existing="--resume")
require_same_bits("plain2", "parts")
train("grown", 2, "optimizer.shard=true", "train.steps=3")
log = train("grown", 4, "optimizer.shard=true", existing="--resume")
assert "step-000003" in log, log
require_same_losses("plain1", "grown")
train("shrunk", 4, "optimizer.shard=true", "train.steps=3")
train("shrunk", 1, existing="--resume")
require_same_losses("plain1", "shrunk")

# Settings that differ are named, the first of them; where files are, may differ.
shutil.copy(spec, f"{out}.elsewhere.mlir")
with socket.create_server(("127.0.0.1", 0)) as server:
    port = server.getsockname()[1]
for differing, status in (("optimizer.clip=2", 1), ("run.threads=1", 0)):
    running = []
    for rank in range(2):
        variables = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        own = ["--set", differing, "--attention", f"{out}.elsewhere.mlir", "--out", f"{out}.nowhere"] if rank else []
        words = ["taylor-train", "--config", config, "--attention", spec, "--out", f"{out}.apart", "--overwrite", *own]
        running.append(subprocess.Popen(words, env={**os.environ, **variables}, stderr=subprocess.PIPE, text=True))
    errors = [process.communicate(timeout=120)[1] for process in running]
    assert [process.returncode for process in running] == [status, status], errors
    assert status == 0 or "error: requires the same optimizer.clip in every process, but that of process 1 (" in errors[0], errors
    assert status == 0 or "; start all with the same --config, --set and other flags" in errors[0], errors

# A signal to one process ends all after the same step; resumed, it is the run that nobody interrupted.
for name in ("stopped", "whole"):
    shutil.rmtree(f"{out}.{name}", ignore_errors=True)
settings = ("train.steps=100000", "schedule.horizon=100000", "evaluation.every=0", "checkpoint.every=0")
process = subprocess.Popen(command("stopped", 2, *settings), stderr=subprocess.PIPE, text=True)
metrics = pathlib.Path(f"{out}.stopped", "metrics.jsonl")
while not metrics.exists() or metrics.stat().st_size < 500:
    assert process.poll() is None, process.stderr.read()
    time.sleep(0.05)
children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout.split()
assert len(children) == 2, children
subprocess.run(["kill", "-TERM", children[1]], check=True)
_, errors = process.communicate(timeout=60)
assert process.returncode == 128 + signal.SIGTERM, (process.returncode, errors)
assert errors.count("stopped by signal 15 after step") == 1, errors
(checkpoint,) = pathlib.Path(f"{out}.stopped", "checkpoints").iterdir()
steps = int(checkpoint.name.removeprefix("step-")) + 3
settings = (f"train.steps={steps}", *settings[1:])
train("stopped", 2, *settings, existing="--resume")
train("whole", 2, *settings)
name = f"checkpoints/step-{steps:06}/model.safetensors"
assert filecmp.cmp(f"{out}.stopped/{name}", f"{out}.whole/{name}", shallow=False)
