# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A run that saves a checkpoint with each step and keeps one: taylor-generate, next to it, generates each time, though the checkpoint that it read is gone
# before it computes.
# WARM: taylor-generate
# RUN: env TAYLORC=%fixture/fixture.py CC=%cc %python %s %tiny %fixture/plain.mlir %t %bin_dir
import pathlib
import shutil
import subprocess
import sys
import time

config, spec, out, programs = sys.argv[1:]
out = pathlib.Path(out)
shutil.rmtree(out, ignore_errors=True)
settings = ["train.steps=1000000", "schedule.horizon=1000000", "checkpoint.every=1", "checkpoint.keep=1", "evaluation.every=0", "run.threads=1"]
run = subprocess.Popen([f"{programs}/taylor-train", "--config", config, "--attention", spec, "--out", str(out), *(x for y in settings for x in ("--set", y))],
                       stderr=subprocess.PIPE, text=True)
try:
    for line in run.stderr:
        if line.startswith("training"):
            break
    seen = set()
    for _ in range(5):
        while not (saved := {x.name for x in (out / "checkpoints").glob("step-*")}):
            time.sleep(0.01)
        seen |= saved
        done = subprocess.run(["taylor-generate", "--checkpoint", str(out), "--prompt", "You", "--tokens", "2"], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0 and done.stdout, done
    assert run.poll() is None and len(seen) > 1, seen
finally:
    run.kill()
    run.communicate()
