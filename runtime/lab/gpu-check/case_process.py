# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process of one case of experiments.py. Each finding is a line of JSON, appended when it is there: a process that
is ended loses what it had not finished. torch comes with row_cases.py, which the process that this one is forked from
has loaded."""
import ctypes
import json
import os
import signal
import sys
import traceback

from errors import reason
from report import finite


def append(path, line):
    """Adds a line of JSON; also after one that a process could not end."""
    with open(path, "ab+") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 1, 0))
        torn = file.read(1) not in (b"", b"\n")
        file.write((b"\n" if torn else b"") + json.dumps(finite(line)).encode() + b"\n")


class Lines:
    """The file of results, which the parent and later processes have too."""

    def __init__(self, path, case):
        self.path, self.case = path, case

    def add(self, kind, **more):
        append(self.path, {"kind": kind, "case": self.case["name"], **more})


def main(case, device, results, log):
    """A group of its own, so that whoever ends it ends what it began. Where the run ends, so does the process that this
    one is forked from, and with it this one."""
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)
    print(f"---- {case['name']}", flush=True)
    lines = Lines(results, case)
    artifact = [[case["variant"], case["artifact"]]] if case["kind"] == "check" else []
    try:
        from row_cases import Worker

        status = getattr(Worker(case, device, lines), case["kind"])()
    except Exception as error:  # whatever it is, the parent goes on with the next case
        traceback.print_exc()
        lines.add("end", status="failed", why=reason(error), faulty=artifact)
        sys.exit(1)
    lines.add("end", status=status, faulty=artifact if status == "wrong" else [])
