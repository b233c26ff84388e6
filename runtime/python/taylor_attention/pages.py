# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler as a program: its --explain page of a specification. Imports no torch."""
from __future__ import annotations

import html
import os
import pathlib
import shlex
import subprocess
import tempfile
from typing import TYPE_CHECKING

from . import files
from .messages import at_python

if TYPE_CHECKING:
    from .spec import Spec

_NAME = "specification text"  # in messages, as the operators call it


class Page:
    """A page of HTML in a file. A notebook shows it; nothing opens a browser but `open()`."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path

    def open(self) -> bool:
        """Opens the page in a browser; False where there is none."""
        import webbrowser

        return webbrowser.open(self.path.resolve().as_uri())

    def _repr_html_(self) -> str:
        page = html.escape(self.path.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 1px solid #ccc"></iframe>'

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"<page {self.path}>"


def explain(spec: Spec, path: str | os.PathLike[str] | None, options: str) -> Page:
    """`Spec.explain`."""
    is_temporary = path is None
    if path is None:
        descriptor, path = tempfile.mkstemp(prefix=f"taylor-{spec.name}-", suffix=".html")
        os.close(descriptor)
    page = pathlib.Path(path)
    try:
        compile_text(spec.mlir, [f"--explain={page}", *shlex.split(options)])
    except RuntimeError:
        if is_temporary:
            page.unlink()
        raise
    return Page(page)


def compile_text(text: str, arguments: list[str], name: str = _NAME) -> str:
    """Compiles a specification, which messages call by `name`; gives warnings. RuntimeError with the message where
    taylorc refuses, at the lines of Python where `@ta.spec` wrote the text."""
    with tempfile.TemporaryDirectory(prefix="taylor-") as folder:
        file = pathlib.Path(folder, "specification.mlir")
        file.write_text(text, encoding="utf-8")
        done = subprocess.run([files.program("taylorc"), "--quiet", file, *arguments], capture_output=True, text=True)
    said = at_python(done.stderr.replace(str(file), name), text)
    if done.returncode:
        raise RuntimeError(f"taylor: taylorc could not compile {name}\n{said.rstrip()}")
    return said
