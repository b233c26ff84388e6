# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# On a terminal progress is a bar that is drawn over itself, never wider than the terminal.
# RUN: env TAYLORC=%fixture/fixture.py CC=%cc %python %s %tiny %fixture/gated.mlir %t
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Inputs"))
from pseudo_terminal import read_all

config, spec, out = sys.argv[1:]
for columns in (120, 40):
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(["taylor-train", "--config", config, "--attention", spec, "--out", out, "--overwrite"], stderr=writer)
    os.close(writer)
    output = read_all(reader)
    os.close(reader)
    assert process.wait() == 0, output
    drawings = [line for line in re.split(r"\r\x1b\[K|\r\n", output.decode()) if line.startswith("training ")]
    assert len(drawings) >= 2 and drawings[-1].startswith("training 100%"), output
    assert all(len(line) < columns for line in drawings), drawings
    if columns == 120:
        assert re.fullmatch(r"training 100% \[#+\]  step 6/6  loss 5\.\d+  validation 5\.\d+  \d+ tokens/s(  \d+ % waiting for data)?  \d+:\d\d", drawings[-1]), drawings[-1]
        assert re.search(r"\[#+-+\]", drawings[0]), drawings[0]
