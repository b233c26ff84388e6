# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Wherever a run is killed or told to end while it writes, or its disk becomes full, every folder that is called a checkpoint is whole, and the run
# that is resumed is the one that nothing happened to, bit for bit. Every call by which the run changes a file is such an instant (Inputs/fault.c);
# some of them are tried, over ten times as many under ./test.sh --full.
# RUN: %cc -shared -fPIC -O1 -Wall -Werror %S/Inputs/fault.c -o %t.so -ldl
# RUN: env TAYLORC=%fixture/fixture.py CC=%cc %python %s %t.so %tiny %fixture/gated.mlir %full %t
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from same_losses import read

library, config, spec, full, out = sys.argv[1:]
out = pathlib.Path(out)
shutil.rmtree(out, ignore_errors=True)
out.mkdir()
run, log = out / "run", out / "calls.txt"


def train(*more, at=None, kind=None, keep=1, environment={}):
    log.unlink(missing_ok=True)
    fault = {"LD_PRELOAD": library, "FAULT_FOLDER": str(run) + "/", "FAULT_LOG": str(log)} | ({"FAULT_AT": str(at), "FAULT_KIND": kind} if at else {})
    fault |= environment
    command = ["taylor-train", "--config", config, "--attention", spec, "--out", run, "--set", "checkpoint.every=2", "--set", f"checkpoint.keep={keep}",
               "--set", "run.threads=1", *more]
    return subprocess.run(command, env=dict(os.environ, **fault), stderr=subprocess.PIPE, text=True)


def contents(checkpoint):
    """All bytes but those of a setting that the runs here do not share."""
    files = {path.name: path.read_bytes() for path in checkpoint.iterdir()}
    settings = files.pop("config.toml").decode().splitlines()
    return files | {"config.toml": [line for line in settings if not line.startswith("keep = ")]}


def check_checkpoints():
    found = [path for path in (run / "checkpoints").glob("*") if not path.name.startswith(".")]
    for path in found:
        assert contents(path) == want[path.name], (path, "is not whole")
    return len(found)


def check_end():
    assert contents(run / "checkpoints/step-000006") == want["step-000006"]
    assert check_checkpoints() == 1
    assert sorted(path.name for path in run.iterdir() if not path.name.startswith("events.")) == names, sorted(run.iterdir())
    assert not [path for path in (run / "checkpoints").iterdir() if path.name.startswith(".")]
    assert read(str(run)) == metrics and len((run / "metrics.csv").read_text().splitlines()) == rows


# The run that nothing happens to.
assert train(keep=0).returncode == 0
want = {path.name: contents(path) for path in (run / "checkpoints").iterdir()}
assert sorted(want) == ["step-000002", "step-000004", "step-000006"]
metrics, rows = read(str(run)), len((run / "metrics.csv").read_text().splitlines())
shutil.rmtree(run)
assert train().returncode == 0
calls = log.read_text().splitlines()
names = sorted(path.name for path in run.iterdir() if not path.name.startswith("events."))
check_end()
counts = {name: sum(f" {name} " in call for call in calls) for name in ("write", "fsync", "renameat2", "rename", "open", "unlinkat")}
assert counts["fsync"] > 40 and counts["rename"] >= 8 and counts["unlinkat"] > 20 and counts["write"] > 60, counts

# Around each rename, where names change; and others.
random.seed(1)
everywhere = list(range(1, len(calls) + 1))
chosen = [i + step for i in everywhere if " rename" in calls[i - 1] and "checkpoints" in calls[i - 1] for step in (0, 1)]
def some(count, under_full):
    return random.sample(everywhere, under_full if full == "1" else count)


instants = sorted(set(chosen) | set(some(6, 80)))
resumed = 0
for at in instants:
    shutil.rmtree(run)
    result = train(at=at, kind="kill")
    assert result.returncode == -signal.SIGKILL, (calls[at - 1], result)
    resumed += check_checkpoints() > 0 if run.exists() else 0
    if at % 3 == 0:  # and once more while it goes on; a run that had all but its last words makes fewer calls
        again = train("--resume", at=random.randint(1, 60), kind="kill")
        assert again.returncode in (0, -signal.SIGKILL), again
        check_checkpoints()
    result = train("--resume")
    assert result.returncode == 0, (calls[at - 1], result.stderr)
    check_end()
assert resumed > len(instants) / 4, resumed

# SIGTERM during any call: the run ends behind the step that it is in, or, in its last words, as if nothing had come. Between the last two steps it
# ends without its last evaluation, which --resume makes up for.
logged = [i for i in everywhere if re.search(r" writev? metrics\.jsonl$", calls[i - 1])]
last_step = range(logged[-3], logged[-2])  # behind the last line is that of the evaluation
assert len(last_step) > 2, calls[logged[-3] - 1:]
for at in sorted(set(some(4, 48)) | set(last_step)):
    shutil.rmtree(run)
    result = train(at=at, kind="term")
    assert result.returncode in (0, 128 + signal.SIGTERM, -signal.SIGTERM), (calls[at - 1], result)
    if result.returncode == 128 + signal.SIGTERM:
        step = int(next(iter((run / "checkpoints").iterdir())).name.removeprefix("step-"))
        assert f"stopped by signal 15 after step {step}; saved" in result.stderr and len(list((run / "checkpoints").iterdir())) == 1, result.stderr
    assert (result.returncode == 128 + signal.SIGTERM and step == 6) or at not in last_step, (calls[at - 1], result)
    # The last checkpoint is then saved again, also where a file system cannot exchange two folders.
    assert train("--resume", environment={"FAULT_PLAIN": "1"} if at % 2 else {}).returncode == 0
    check_end()

# An old checkpoint that cannot be removed stays, which is said; the run goes on, and removes it when it can.
shutil.rmtree(run)
result = train(environment={"FAULT_REFUSE": ".old"})
old = run / "checkpoints/step-000002"
assert result.returncode == 0 and f"warning: cannot remove the old checkpoint '{old}': Permission denied; the next checkpoint tries again" in result.stderr, result.stderr
assert check_checkpoints() == 3
(run / "summary.json").unlink()
shutil.rmtree(run / "checkpoints/step-000006")
assert train("--resume").returncode == 0
check_end()

# A full disk: one message, the older checkpoints stay and are whole, nothing hidden is left of the new one, and the run goes on where there is room.
for at in some(5, 64):
    shutil.rmtree(run)
    result = train(at=at, kind="full")
    if result.returncode == 0:  # nothing was added any more
        assert all(" unlink" in call or " rename" in call or " remove" in call or " rmdir" in call for call in calls[at - 1:]), (calls[at - 1:], result.stderr)
        continue
    errors = [line for line in result.stderr.splitlines() if "error" in line]
    assert result.returncode == 1 and len(errors) == 1 and "No space left on device" in errors[0] and str(run) in errors[0], (calls[at - 1], result.stderr)
    if check_checkpoints() if (run / "checkpoints").exists() else 0:
        assert "checkpoints" not in errors[0] or "' is whole, and --resume goes on from there" in errors[0], errors
    assert not list((run / "checkpoints").glob(".step-*")), list((run / "checkpoints").iterdir())
    assert train("--resume").returncode == 0
    check_end()

# Where older checkpoints take the room, the message says so, and what it says helps.
shutil.rmtree(run)
assert train(keep=0).returncode == 0
last = max(i for i, call in enumerate(log.read_text().splitlines(), 1) if " write " in call and "model.safetensors" in call)
shutil.rmtree(run)
result = train(at=last, kind="full", keep=0)
assert result.returncode == 1 and f"'{run}/checkpoints/step-000004' is whole, and --resume goes on from there, with --set checkpoint.keep=1 in less room; on a full disk remove '{run}/checkpoints/step-000002' first\n" in result.stderr, result.stderr
assert check_checkpoints() == 2
assert train("--resume").returncode == 0
check_end()
