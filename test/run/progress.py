# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %bin_dir %spec_dir
"""On a terminal taylor-run shows what it does for longer than two seconds, in a line that is taken away at the end; in a log it shows nothing."""
import os
import pathlib
import pty
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Inputs"))
from pseudo_terminal import read_all

BIN, SPECS = sys.argv[1:3]
command = [f"{BIN}/taylor-run", f"{SPECS}/softmax.mlir", "--shape=1,1,3500,64", "--device=reference", "--grad", "--threads=1"]

mine, theirs = pty.openpty()
process = subprocess.Popen(command, stderr=theirs, stdout=subprocess.DEVNULL)
os.close(theirs)
shown = read_all(mine)
assert process.wait() == 0, shown
assert b"taylor-run: the reference and eager code, on the processor (2 s)" in shown, shown
assert shown.endswith(b"\r\x1b[K") and b"\n" not in shown, shown

log = subprocess.run([*command[:2], "--shape=1,1,1000,64", *command[3:]], capture_output=True, check=True)
assert log.stderr == b"", log.stderr
