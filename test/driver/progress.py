# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: taylorc
# RUN: rm -rf %t && mkdir %t && %python %s %bin_dir %spec_dir %t
"""What takes more than two seconds is said on stderr: plain lines in a log, one line that is redrawn and taken away on a terminal, nothing with --quiet."""
import os
import pathlib
import pty
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Inputs"))
from pseudo_terminal import read_all

BIN, SPECS, FOLDER = map(pathlib.Path, sys.argv[1:4])
PHASE = r"taylorc: phase (\d+) of 8, (sm_80: )?[\w ]+ \((\d+) s\)"


def compile(seconds, stderr, *options):
    """taylorc with a ptxas that takes so long and then fails."""
    ptxas = FOLDER / "ptxas"
    ptxas.write_text(f"#!/bin/sh\nsleep {seconds}\nexit 1\n")
    ptxas.chmod(0o755)
    command = [BIN / "taylorc", SPECS / "softmax.mlir", "--target=sm_80", "--dtype=bf16", "-o", FOLDER / "a.so", *options]
    return subprocess.Popen(command, env={**os.environ, "TAYLOR_PTXAS": str(ptxas)}, stderr=stderr)


process = compile(8, subprocess.PIPE)
log = process.communicate()[1].decode()
assert process.returncode == 1 and "\r" not in log and "\x1b" not in log, log
lines = log.splitlines()
shown = [match for match in (re.fullmatch(PHASE, line) for line in lines) if match]
assert len(shown) >= 2 and int(shown[0][3]) >= 2, log
assert int(shown[-1][1]) == 7, log  # ptxas; linking would be 8
assert "refused the code" in lines[len(shown)], log  # the message has a line of its own

process = compile(4, subprocess.PIPE, "--quiet")
log = process.communicate()[1].decode()
assert process.returncode == 1 and "phase" not in log and "refused the code" in log, log

reader, writer = pty.openpty()
process = compile(4, writer)
os.close(writer)
screen = read_all(reader).decode()
assert process.wait() == 1
drawings = re.split(r"\r\x1b\[K", screen)
assert len([text for text in drawings if re.fullmatch(PHASE, text)]) >= 2, screen
assert "refused the code" in drawings[-1] or drawings[-1] == "" and "refused the code" in drawings[-2], screen

# Within two seconds nothing is said.
result = subprocess.run([BIN / "taylorc", SPECS / "softmax.mlir", "--emit=pairwise", "-o", FOLDER / "a.mlir"], stderr=subprocess.PIPE)
assert result.returncode == 0 and result.stderr == b"", result.stderr
