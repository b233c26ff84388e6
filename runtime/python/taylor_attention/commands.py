# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package's commands `taylorc` and `taylor-run`: each becomes the program of its name. A specification that ships may
be given by its name, as the first argument: `taylor-run softmax --shape=1,2,16,8`."""
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
    """The arguments; a first one that is the name of a specification that ships, and no file, is that file's path."""
    shipped = files.specifications()
    if arguments and arguments[0] in shipped and not os.path.isfile(arguments[0]):
        return [str(shipped[arguments[0]]), *arguments[1:]]
    return arguments


def taylorc() -> None:
    """The compiler: `taylorc SPEC.mlir -o NAME.so`."""
    _run("taylorc")


def taylor_run() -> None:
    """The reference, and kernels that are compared with it: `taylor-run SPEC.mlir --check --device=cpu ..`."""
    _run("taylor-run")
