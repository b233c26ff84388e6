# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# On a terminal progress is a bar that is drawn over itself, never wider than the terminal.
# RUN: env TAYLORC=%fixture/fixture.py CC=%cc %python %s %tiny %fixture/gated.mlir %source_dir/LICENSE %t
import fcntl
import os
import pathlib
import pty
import re
import resource
import struct
import subprocess
import sys
import termios

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Inputs"))
from pseudo_terminal import read_all

config, spec, text, out = sys.argv[1:]


def drawings_of(label, columns, *command):
    """The lines that begin with the label and that a terminal of so many columns shows one over the other."""
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(["taylor-train", *command], stderr=writer)
    os.close(writer)
    output = read_all(reader)
    os.close(reader)
    assert process.wait() == 0, output
    drawings = [line for line in re.split(r"\r\x1b\[K|\r\n", output.decode()) if line.startswith(label + " ")]
    assert len(drawings) >= 2 and drawings[-1].startswith(label + " 100%"), output
    assert all(len(line) < columns for line in drawings), drawings
    return drawings


for columns in (120, 40):
    drawings = drawings_of("training", columns, "--config", config, "--attention", spec, "--out", out, "--overwrite")
    if columns == 120:
        assert re.fullmatch(r"training 100% \[#+\]  step 6/6  loss 5\.\d+  validation 5\.\d+  \d+ tokens/s(  \d+ % waiting for data)?  \d+:\d\d", drawings[-1]), drawings[-1]
        assert re.search(r"\[#+-+\]", drawings[0]), drawings[0]

# Text that takes seconds, on a machine of any speed.
large = pathlib.Path(out + ".txt")
prepare = ["prepare", large, "--train-tokenizer", "384", "--threads", "1", "--validation-fraction", "0.5", "--out", out + ".tokens", "--overwrite"]
copy = pathlib.Path(text).read_text()
size, seconds = 1 << 22, 0
while seconds < 4:
    large.write_text("".join(f"{number}\n{copy}" for number in range(size // len(copy))))  # no two documents are the same
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(["taylor-train", *prepare], check=True, stderr=subprocess.DEVNULL)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before  # of a processor: no less on a machine that is busy
    size = int(size * max(1.5, 4.5 / seconds))
drawings = drawings_of("preparing", 120, *prepare)
assert any(re.fullmatch(r"preparing \d+% \[#+-+\]  \d+k tokens  \d+ tokens/s  \d+:\d\d left", line) for line in drawings), drawings
