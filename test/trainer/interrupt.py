# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A signal ends the run after a whole step, with a checkpoint; resumed, it is the run that nobody interrupted.
# RUN: env TAYLORC=%fixture/fixture.py CC=%cc %python %s %tiny %fixture/gated.mlir %t
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time

config, spec, out = sys.argv[1:]


def train(folder, steps, *more):
    return ["taylor-train", "--config", config, "--attention", spec, "--out", folder, "--set", f"train.steps={steps}", "--set", "schedule.horizon=100000",
            "--set", "checkpoint.every=0", "--set", "run.threads=1", *more]


for number in (signal.SIGTERM, signal.SIGINT):
    shutil.rmtree(out, ignore_errors=True)
    process = subprocess.Popen(train(out, 100000), stderr=subprocess.PIPE, text=True)
    metrics = pathlib.Path(out, "metrics.jsonl")
    while not metrics.exists() or metrics.stat().st_size < 500:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number, (process.returncode, errors)
    last = json.loads(metrics.read_text().splitlines()[-1])["step"]
    checkpoint = pathlib.Path(out, "checkpoints", f"step-{last:06}")
    assert f"stopped by signal {int(number)} after step {last}; saved '{checkpoint}', and --resume goes on from there" in errors, errors
    assert not pathlib.Path(out, "summary.json").exists()

steps = last + 3
subprocess.run(train(out, steps, "--resume"), check=True, stderr=subprocess.DEVNULL)
subprocess.run(train(out + ".whole", steps, "--overwrite"), check=True, stderr=subprocess.DEVNULL)
name = f"checkpoints/step-{steps:06}/model.safetensors"
assert pathlib.Path(out, name).read_bytes() == pathlib.Path(out + ".whole", name).read_bytes()
