# RUN: %python %s %source_dir %build_dir %t %python
# REQUIRES: compiler, torch
# UNSUPPORTED: sanitizer
"""The commands and the Python code of README.md and of the guide run as they stand there, in a folder that has build/ and examples/; trainings only for a
few steps."""
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
pages = [source / "README.md", *sorted((source / "examples" / "guide").glob("*.md"))]
# Text to train on; the machine's LLVM headers take a minute to read.
(folder / "text").mkdir()
for i in range(40):
    (folder / "text" / f"{i}.txt").write_text("".join(f"operation {i} of {j} takes {i * j} arrays and gives {i + j}.\n" for j in range(60)))


def run(command, **variables):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, **variables})
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def blocks(kind):
    return [block for page in pages for block in re.findall(rf"^```{kind}\n(.*?)```", page.read_text(encoding="utf-8"), re.S | re.M)]


# A command that several pages have runs once.
commands = dict.fromkeys(tuple(shlex.split(line, comments=True)) for block in blocks("sh") for line in block.replace("\\\n", " ").splitlines())
assert len(commands) >= 14, commands
for command in map(list, commands):
    if command[0].endswith("taylor-train"):
        command += ["--data", "text", "--overwrite"]
        for setting in ("train.steps=2", "train.batch=2", "train.context=32", "data.vocabulary=300", "evaluation.sequences=2",
                        "model.hidden=32", "model.intermediate=64", "model.heads=2", "model.layers=1"):
            command += ["--set", setting]
    run(command)
for file in ("norm.so", "norm.json", "series.so", "packed.so"):
    assert (folder / file).stat().st_size > 0, file
programs = blocks("python")
assert len(programs) == 2, programs
for code in programs:
    # The package as the wheel has it.
    package = {"PYTHONPATH": str(source / "runtime" / "python"), "TAYLOR_LIB": str(build / "lib"), "TAYLORC": str(build / "bin" / "taylorc")}
    printed = run([sys.argv[4], "-c", code + "\nassert o.shape == q.shape and all(x.grad.abs().sum() > 0 for x in (q, k, v))"], **package)
    assert "@ta.spec" not in code or "taylor.spec @softmax_norm_l2(" in printed, printed
