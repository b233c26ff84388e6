# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package's commands `taylorc` and `taylor-run`: each becomes the program of its name."""
from __future__ import annotations

import os
import sys

from . import files


def _run(name: str) -> None:
    try:
        program = files.program(name)
    except FileNotFoundError as error:
        sys.exit(f"{name}: error: {error}")
    os.execv(program, [name, *sys.argv[1:]])


def taylorc() -> None:
    """The compiler: `taylorc SPEC.mlir -o NAME.so`."""
    _run("taylorc")


def taylor_run() -> None:
    """The reference, and kernels that are compared with it: `taylor-run SPEC.mlir --check --device=cpu ..`."""
    _run("taylor-run")
