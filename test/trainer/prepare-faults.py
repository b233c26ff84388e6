# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Wherever a preparation finds no room on the disk, for one call or for good, is killed or told to end, the same command goes on, and the tokens are
# those of a preparation that nothing happened to. Every call by which it changes a file is such an instant (Inputs/fault.c); some are tried, twelve
# times as many under ./test.sh --full.
# RUN: %cc -shared -fPIC -O1 -Wall -Werror %S/Inputs/fault.c -o %t.so -ldl
# RUN: %python %s %t.so %full %t
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys

library, full, root = sys.argv[1:]
root = pathlib.Path(root)
shutil.rmtree(root, ignore_errors=True)
root.mkdir()
random.seed(1)
out, log = root / "out", root / "calls.txt"
words = [f"word{i}" for i in range(300)]
texts = [" ".join(random.choices(words, k=random.randint(1, 300))) for _ in range(700)]
# Several blocks of 1 MB, so that there is something to go on from; what fills them is not tokenized.
(root / "text.jsonl").write_text("".join(json.dumps({"text": text, "about": "x" * 5000}) + "\n" for text in texts))


def prepare(*options, at=None, kind=None):
    log.unlink(missing_ok=True)
    fault = {"LD_PRELOAD": library, "FAULT_FOLDER": str(out) + "/", "FAULT_LOG": str(log)} | ({"FAULT_AT": str(at), "FAULT_KIND": kind} if at else {})
    command = ["taylor-train", "prepare", "--out", out, "--threads=1", "--validation-fraction=0.3", *options]
    return subprocess.run(command, env=dict(os.environ, **fault), stderr=subprocess.PIPE, text=True)


def contents():
    return {path.name: path.read_bytes() for path in out.iterdir()}


assert prepare(root / "text.jsonl", "--train-tokenizer=500").returncode == 0
shutil.copy(out / "tokenizer.model", root)
# Shards that end in the middle of a block.
command = (root / "text.jsonl", f"--tokenizer={root}/tokenizer.model", "--shard-tokens=20000")
shutil.rmtree(out)
assert prepare(*command).returncode == 0
calls, want = log.read_text().splitlines(), contents()
writes = [i for i, call in enumerate(calls, 1) if " write " in call and ".tokens" in call]
everywhere = list(range(1, len(calls) + 1))
assert len(writes) >= 12, calls


def some(calls, count, under_full):
    return random.sample(calls, min(len(calls), under_full if full == "1" else count))


instants = [("once", at) for at in some(writes, 5, 64) + some(everywhere, 3, 40)]
instants += [(kind, at) for kind in ("full", "kill", "term") for at in some(everywhere, 2, 24)]
tried = {"once": 0, "full": 0}
for kind, at in instants:
    shutil.rmtree(out)
    result = prepare(*command, at=at, kind=kind)
    if kind in tried and result.returncode:
        errors = [line for line in result.stderr.splitlines() if "error" in line]
        assert result.returncode == 1 and len(errors) == 1 and "No space left on device" in errors[0] and str(out) in errors[0], (kind, calls[at - 1], result)
        tried[kind] += 1
    elif kind == "kill":
        assert result.returncode == -signal.SIGKILL, result
    elif kind == "term":
        assert result.returncode in (0, 128 + signal.SIGTERM, -signal.SIGTERM), result
    result = prepare(*command)
    assert result.returncode == 0, (kind, calls[at - 1], result.stderr)
    assert contents() == want, (kind, calls[at - 1], "is not as without it")
assert tried["once"] >= 5 and tried["full"] >= 1, tried
