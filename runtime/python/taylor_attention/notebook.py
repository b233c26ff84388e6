# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`%%taylor`, after `%load_ext taylor_attention`: a cell of a notebook that is the dialect's text. Imports no torch, and
of IPython nothing: it needs a shell's `register_magic_function` and `user_ns`."""
from __future__ import annotations

import json
import keyword
import pathlib
import re
import shlex
import tempfile
import types
from typing import Any

from .pages import compile_text
from .read import Written

_NAME = "cell"  # in messages


class CellError(RuntimeError):
    """What the compiler says of a cell; a notebook shows it without a traceback of Python."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


class Magic:
    """`%%taylor [VARIABLE] [OPTION ..]`: compiles a cell.

    It becomes the value of VARIABLE, by default the specification's name: `ta.attention(q, k, v, spec=VARIABLE)`. The value
    is a Spec, with `explain`, `weights` and `plot`, and a string, the text.
    Options are taylorc's, for this compilation alone: `--set order=4`, `--target=sm_90`. What says what is computed, a call
    needs again, in its `options=`, and the cell prints so. A fault raises CellError, with its line of the cell (the first is `%%taylor`) and a
    caret. A variable that is a module, a class or a function is not overwritten.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def __call__(self, line: str, cell: str) -> None:
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise CellError(f"expected %%taylor [VARIABLE] [OPTION ..], but got '{line}': {error}") from None
        variable = words.pop(0) if words and not words[0].startswith("-") else None
        if variable is not None and (not variable.isidentifier() or keyword.iskeyword(variable)):
            raise CellError(f"expected %%taylor [VARIABLE] [OPTION ..], but got '{variable}', which is no name of a variable")
        if any(word == "-o" or word.startswith("--output") for word in words):
            raise CellError("unsupported option -o in a cell: its kernels are kept nowhere; write the text to a file, for taylorc")
        if variable is not None:
            self._require_free(variable)
        with tempfile.TemporaryDirectory(prefix="taylor-") as folder:
            artifact = pathlib.Path(folder, "cell.so")
            try:
                # Lines are the cell's, as a notebook counts them: that of %%taylor is the first.
                said = compile_text("\n" + cell, ["-o", str(artifact), *words], _NAME)
            except RuntimeError as error:
                raise CellError(str(error)) from None
            manifest = json.loads(artifact.with_suffix(".json").read_text(encoding="utf-8"))
        if variable is None:
            variable = re.sub(r"\W", "_", manifest["spec"])
            self._require_free(variable)
        self._shell.user_ns[variable] = Written(cell, manifest["spec"])
        print(said + f"{variable}: {_shown(manifest, 'inputs')} -> {_shown(manifest, 'outputs')}")
        if given := _of_calls(words):
            print(f"{variable} is the text alone; a call with these options is "
                  f"ta.attention(.., spec={variable}, options={shlex.join(given)!r})")

    def _require_free(self, variable: str) -> None:
        taken = self._shell.user_ns.get(variable)
        if isinstance(taken, (types.ModuleType, type)) or callable(taken):
            raise CellError(f"expected a variable for the text, but got '{variable}', which is a {type(taken).__name__} "
                            "here; name another: %%taylor VARIABLE")


# Options that decide what a call computes, and with which rounding. Its tensors say the machine, the type and the channels; which functions
# there are, a call does not ask. test/infra/options.py compares the list with the compiler's table.
_OF_CALLS = ("--set", "--mask", "--documents", "--form", "--chunk", "--spec", "--f32-products", "--bf16-products", "--row-sums")


def _of_calls(words: list[str]) -> list[str]:
    """Of taylorc's options those that a call needs too."""
    kept, rest = [], list(words)
    while rest:
        word = rest.pop(0)
        name, equals, _ = word.partition("=")
        value = [rest.pop(0)] if not equals and rest and not rest[0].startswith("-") else []
        if name in _OF_CALLS:
            kept += [word, *value]
    return kept


def _shown(manifest: dict[str, Any], kind: str) -> str:
    return ", ".join(f"{tensor['name']} [{', '.join(tensor['axes'])}]" for tensor in manifest["tensors"][kind])


def load(shell: Any) -> None:
    """What `%load_ext taylor_attention` does."""
    shell.register_magic_function(Magic(shell), "cell", "taylor")
