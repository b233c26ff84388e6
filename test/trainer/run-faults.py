# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What happens to a run, or to another program, from outside: closed standard streams, readers that go, files that may not grow, a folder that is removed.
# Nothing is lost without a word.
# RUN: env TAYLORC=%fixture/fixture.py CC=%cc %python %s %tiny %fixture/gated.mlir %source_dir/LICENSE %t
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

config, spec, text, out = sys.argv[1:]
out = pathlib.Path(out)
shutil.rmtree(out, ignore_errors=True)
out.mkdir()


def train(folder, *more):
    return ["taylor-train", "--config", config, "--attention", spec, "--out", str(folder), "--set", "run.threads=1", *more]


def shell(command, redirections, before=""):
    return subprocess.run(["bash", "-c", f'{before} "$@" {redirections}', "bash", *map(str, command)], capture_output=True, text=True, timeout=120)


# Closed streams are not taken by the run's files.
whole = out / "whole"
assert subprocess.run(train(whole), stderr=subprocess.DEVNULL).returncode == 0
for closed in ("0<&- 1>&- 2>&-", "1>&- 2>&-", "2>&-"):
    run = out / "closed"
    result = shell(train(run, "--overwrite"), closed)
    assert result.returncode == 0, (closed, result)
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert len(lines) == len((whole / "metrics.jsonl").read_text().splitlines()) and (run / ".lock").stat().st_size == 0, (closed, lines)
    for name in ("model.safetensors", "optimizer.safetensors"):
        assert (run / "checkpoints/step-000006" / name).read_bytes() == (whole / "checkpoints/step-000006" / name).read_bytes(), closed
# What cannot be shown is no success.
result = shell(["taylor-generate", "--checkpoint", whole, "--tokens", "2"], "1>&-")
assert result.returncode == 1 and result.stderr.endswith("error: cannot write to standard output: Bad file descriptor\n"), result
result = shell(["taylor-train", "prepare", text, "--train-tokenizer", "384", "--validation-fraction", "0.1", "--out", out / "tokens"], "0<&- 1>&- 2>&-")
assert result.returncode == 0 and subprocess.run(["taylor-train", "prepare", "--verify", out / "tokens"], stderr=subprocess.DEVNULL).returncode == 0, result

# A reader that goes ends the run behind a step, with a checkpoint; resumed, it is the run that nothing happened to.
steps = ("--set", "train.steps=100000", "--set", "schedule.horizon=100000", "--set", "checkpoint.every=0", "--set", "evaluation.every=0")
piped = out / "piped"
process = subprocess.Popen(train(piped, *steps), stderr=subprocess.PIPE, text=True)
for line in process.stderr:
    if line.startswith("training"):
        break
process.stderr.close()
assert process.wait(60) == 128 + signal.SIGPIPE, process.returncode
step = int(next((piped / "checkpoints").iterdir()).name.removeprefix("step-"))
last = [json.loads(line)["step"] for line in (piped / "metrics.jsonl").read_text().splitlines()][-1]
assert step == last, (step, last)
more = ("--set", f"train.steps={step + 2}", "--set", "schedule.horizon=100000", "--set", "checkpoint.every=0", "--set", "evaluation.every=0")
assert subprocess.run(train(piped, *more, "--resume"), stderr=subprocess.DEVNULL).returncode == 0
assert subprocess.run(train(out / "straight", *more), stderr=subprocess.DEVNULL).returncode == 0
name = f"checkpoints/step-{step + 2:06}/model.safetensors"
assert (piped / name).read_bytes() == (out / "straight" / name).read_bytes()

# A file that may not grow as large: a message that names it.
limited = out / "limited"
result = shell(train(limited), "", "ulimit -f 100;")
assert result.returncode == 1 and [line for line in result.stderr.splitlines() if line.startswith("error: cannot write '") and "model.safetensors': File too large" in line], result

# The run's folder goes while it trains, or another takes its place.
for replaces in (False, True):
    gone = out / "gone"
    shutil.rmtree(gone, ignore_errors=True)
    process = subprocess.Popen(train(gone, *steps), stderr=subprocess.PIPE, text=True)
    while not (gone / "metrics.jsonl").exists() or (gone / "metrics.jsonl").stat().st_size < 300:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    gone.rename(out / "moved")
    if replaces:
        shutil.copytree(out / "moved", gone)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and errors.splitlines()[-1] == (
        f"error: requires the folder that the run began in, but '{gone}' was removed or replaced meanwhile, with its checkpoints and metrics; "
        "the run ends here, and nothing of it is kept"), errors
    shutil.rmtree(out / "moved")
    assert replaces or not gone.exists()

# More threads than cores are used, with a word.
cores = len(os.sched_getaffinity(0))
wanted = f" = {cores + 1} on {cores} core{'s' if cores > 1 else ''}: more threads than cores take turns, which is slower than fewer"
result = subprocess.run(train(out / "crowded", "--set", "train.steps=1", "--set", f"run.threads={cores + 1}"), stderr=subprocess.PIPE, text=True)
assert result.returncode == 0 and [line for line in result.stderr.splitlines() if "threads" in line and "warning" in line] == ["warning: run.threads" + wanted], result
result = subprocess.run(["taylor-generate", "--checkpoint", whole, "--tokens", "1", "--threads", str(cores + 1)], capture_output=True, text=True)
assert result.returncode == 0 and [line for line in result.stderr.splitlines() if "threads" in line] == ["warning: --threads" + wanted], result

# --overwrite with tokens that are none leaves the old run as it is.
spoilt = out / "spoilt"
shutil.copytree(out / "tokens", spoilt)
tokens = spoilt / "training-00000.tokens"
contents = bytearray(tokens.read_bytes())
contents[-2:] = b"\xff\xff"
tokens.write_bytes(contents)
before = {path: path.read_bytes() for path in whole.rglob("*") if path.is_file()}
result = subprocess.run(train(whole, "--overwrite", "--data", str(spoilt)), stderr=subprocess.PIPE, text=True)
assert result.returncode == 1 and result.stderr == (
    f"error: expected tokens below 384, the number of the tokenizer's pieces, but '{tokens}' is damaged: token {len(contents) // 2 - 1} is 65535; "
    f"taylor-train prepare --verify '{spoilt}' checks all files\n"), result
assert before == {path: path.read_bytes() for path in whole.rglob("*") if path.is_file()}
