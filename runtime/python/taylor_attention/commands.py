# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package's commands `taylorc` and `taylor-run`: each becomes the program of its name. A specification that ships may
be given by its name: `taylor-run softmax --shape=1,2,16,8`."""
from __future__ import annotations

import os
import sys

from . import files


def _run(name: str) -> None:
    try:
        program = files.program(name)
    except FileNotFoundError as error:
        sys.exit(f"{name}: error: {error}")
    os.execv(program, [name, *_with_paths(sys.argv[1:])])


def _with_paths(arguments: list[str]) -> list[str]:
    """The arguments, with the file of a specification that ships in place of its name, where there is no such file."""
    shipped = files.specifications()
    return [str(shipped[x]) if x in shipped and not os.path.exists(x) else x for x in arguments]


def taylorc() -> None:
    """The compiler: `taylorc SPEC.mlir -o NAME.so`."""
    _run("taylorc")


def taylor_run() -> None:
    """The reference, and kernels that are compared with it: `taylor-run SPEC.mlir --check --device=cpu ..`."""
    _run("taylor-run")
