# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env TAYLOR_LIB=%lib_dir CC=%cc %python %s %S %t
# REQUIRES: full, torch, packaging
# UNSUPPORTED: sanitizer
"""The tests of the operators under other versions of torch, with the same _taylor.so: the oldest that it is for and the newest on the package index. One
environment at a time, removed afterwards. The suite itself runs them under the project's version."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

TESTS, FOLDER = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
OLDEST = "2.10.0"


def run(*command, **options):
    done = subprocess.run([str(x) for x in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}"
    return done.stdout


def newest():
    return re.search(r"torch \(([0-9.]+)\)", run(sys.executable, "-m", "pip", "index", "versions", "torch", "--disable-pip-version-check"))[1]


def test(version):
    """The operators' tests under this version, in an environment of its own."""
    venv = FOLDER / f"torch-{version}"
    python = venv / "bin/python"
    shutil.rmtree(venv, ignore_errors=True)
    try:
        run(sys.executable, "-m", "venv", venv)
        (venv / "tmp").mkdir()
        run(python, "-m", "pip", "install", "--disable-pip-version-check", "--no-cache-dir", f"torch=={version}", "numpy",
            env={**os.environ, "TMPDIR": str(venv / "tmp")})
        found = run(python, "-c", "import torch; print(torch.__version__)").strip()
        assert found.split("+")[0] == version, found
        fixture = TESTS.parent / "artifact-fixture/fixture.py"
        print(f"torch {version}: {run(python, TESTS / 'operators.py', env={**os.environ, 'TAYLORC': str(fixture)}).strip().splitlines()[-1]}", flush=True)
    finally:
        shutil.rmtree(venv, ignore_errors=True)


FOLDER.mkdir(parents=True, exist_ok=True)
for wanted in dict.fromkeys((OLDEST, newest())):
    test(wanted)
