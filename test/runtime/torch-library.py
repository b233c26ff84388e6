# RUN: %python %s %source_dir %t
# REQUIRES: torch
# UNSUPPORTED: sanitizer
"""Without the operator library the import says where it looked, and how to get it."""
import os
import pathlib
import subprocess
import sys

source, folder = (pathlib.Path(a).resolve() for a in sys.argv[1:])
folder.mkdir(parents=True, exist_ok=True)


def message(library, python):
    environment = dict(os.environ, PYTHONPATH=str(python), TAYLOR_LIB=str(library) if library else "")
    done = subprocess.run([sys.executable, "-c", "import taylor_attention"], env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done
    return done.stderr.strip().splitlines()[-1]


way_out = "but it is not there; ./quickstart.sh builds it, and TAYLOR_LIB=FOLDER names another place"
expected = f"ImportError: expected libtaylor_torch.so in {folder}, {way_out}"
assert message(folder, source / "examples/python") == expected, message(folder, source / "examples/python")

# A copy of the tree that was never built.
python = folder / "tree" / "examples" / "python"
python.mkdir(parents=True, exist_ok=True)
(python / "taylor_attention.py").write_text((source / "examples/python/taylor_attention.py").read_text(encoding="utf-8"))
expected = f"ImportError: expected libtaylor_torch.so in {folder}/tree/build/lib or {folder}/lib, {way_out}"
assert message(None, python) == expected, message(None, python)
