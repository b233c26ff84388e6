# RUN: %python %s %source_dir %build_dir %t %python
# REQUIRES: compiler, torch
# UNSUPPORTED: sanitizer
"""The commands and the Python code of README.md run as they stand there, in a folder that has build/ and examples/; trainings only for a few steps."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

source, build, folder = map(pathlib.Path, sys.argv[1:4])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
(folder / "build").symlink_to(build)
(folder / "examples").symlink_to(source / "examples")
text = (source / "README.md").read_text(encoding="utf-8")
# Text to train on; the machine's LLVM headers take a minute to read.
(folder / "text").mkdir()
for i in range(40):
    (folder / "text" / f"{i}.txt").write_text("".join(f"operation {i} of {j} takes {i * j} arrays and gives {i + j}.\n" for j in range(60)))


def run(command):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


commands = [line for block in re.findall(r"^```sh\n(.*?)```", text, re.S | re.M) for line in block.splitlines()]
assert len(commands) >= 4, commands
for line in commands:
    command = shlex.split(line, comments=True)
    if command[0].endswith("taylor-train"):
        command += ["--data", "text"]
        for setting in ("train.steps=2", "train.batch=2", "train.context=32", "data.vocabulary=300", "evaluation.sequences=2",
                        "model.hidden=32", "model.intermediate=64", "model.heads=2", "model.layers=1"):
            command += ["--set", setting]
    run(command)
for file in ("norm.so", "norm.json"):
    assert (folder / file).stat().st_size > 0, file
blocks = re.findall(r"^```python\n(.*?)```", text, re.S | re.M)
assert blocks
for code in blocks:
    run([sys.argv[4], "-c", code + "\nassert o.shape == q.shape and all(x.grad.abs().sum() > 0 for x in (q, k, v))"])
