# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Under torchrun a killed process costs the steps since the last checkpoint: torchrun starts all again, which go on from there to the weights of a run
# that nobody disturbed. Under srun's variables, stood in for by two processes, the same weights.
# RUN: env TAYLORC=%fixture/fixture.py CC=%cc %python %s %tiny %fixture/gated.mlir %t
import filecmp
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

config, spec, out = sys.argv[1:]
STEPS = 500


def command(name):
    return ["taylor-train", "--config", config, "--attention", spec, "--out", f"{out}.{name}", "--set", f"train.steps={STEPS}", "--set", "evaluation.every=0",
            "--set", "checkpoint.every=50", "--set", "log.every=10", "--set", "run.threads=1"]


for name in ("torchrun", "whole", "slurm"):
    shutil.rmtree(f"{out}.{name}", ignore_errors=True)
subprocess.run([*command("whole"), "--processes", "2"], check=True, stderr=subprocess.DEVNULL)

environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--max-restarts=1", "--monitor-interval=0.1", "--master-port=0",
            "--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0", "--no-python"]
process = subprocess.Popen([*launcher, *command("torchrun")], env=environment, stderr=subprocess.PIPE, text=True)
checkpoints = pathlib.Path(f"{out}.torchrun", "checkpoints")
while not list(checkpoints.glob("step-*")):
    assert process.poll() is None, process.stderr.read()
    time.sleep(0.02)
workers = subprocess.run(["pgrep", "-f", f"^taylor-train .*{out}.torchrun"], capture_output=True, text=True).stdout.split()
assert len(workers) == 2, workers
os.kill(int(workers[1]), signal.SIGKILL)
_, errors = process.communicate(timeout=240)
assert process.returncode == 0, errors
assert errors.count("resuming   ") == 1, errors
name = f"checkpoints/step-{STEPS:06}/model.safetensors"
assert filecmp.cmp(f"{out}.torchrun/{name}", f"{out}.whole/{name}", shallow=False)

tasks = []
for rank in range(2):
    variables = {"SLURM_NTASKS": "2", "SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank), "SLURM_STEP_ID": "0", "SLURM_JOB_ID": str(os.getpid()),
                 "SLURM_JOB_NODELIST": "localhost"}
    tasks.append(subprocess.Popen(command("slurm"), env={**os.environ, **variables}, stderr=subprocess.DEVNULL))
assert [task.wait() for task in tasks] == [0, 0]
assert filecmp.cmp(f"{out}.slurm/{name}", f"{out}.whole/{name}", shallow=False)
