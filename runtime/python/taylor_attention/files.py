# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where programs, the library and the specifications that ship are: in the wheel, or in a build tree.

Imports no torch.
"""
from __future__ import annotations

import difflib
import functools
import os
import pathlib
import re
import shutil

_PACKAGE = pathlib.Path(__file__).resolve().parent
_TREE = _PACKAGE.parents[2]  # of a source tree; of a wheel some folder of Python, where nothing is found
PROGRAMS = ("taylorc", "taylor-run")


def program(name: str) -> pathlib.Path:
    """The file of `taylorc` or `taylor-run`.

    $TAYLORC chooses the compiler, and the other one next to it; else it is the package's, the build tree's, the PATH's.
    FileNotFoundError where none of these has it.
    """
    if chosen := os.environ.get("TAYLORC"):
        file = pathlib.Path(chosen) if name == "taylorc" else pathlib.Path(chosen).resolve().with_name(name)
        if os.access(file, os.X_OK) and file.is_file():
            return file
        raise FileNotFoundError(f"expected an executable file at '{file}', as TAYLORC says, but it is not there")
    folders = [_PACKAGE / "bin", _TREE / "build" / "bin"]
    for folder in folders:
        if os.access(folder / name, os.X_OK):
            return folder / name
    # The package's own command is no program, but calls this function.
    for place in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which(name, path=place) if place else None
        if found and not _is_script(found):
            return pathlib.Path(found)
    raise FileNotFoundError(f"requires {name}, but it is neither in {' nor in '.join(map(str, folders))} nor in PATH; "
                            "set TAYLORC to taylorc's path")


def version() -> str:
    """The package's: of the wheel, or of the source tree that this is part of."""
    from importlib import metadata
    try:
        return metadata.version("taylor-attention")
    except metadata.PackageNotFoundError:
        pass
    found = re.search(r"project\(Taylor VERSION ([0-9.]+)", _text(_TREE / "CMakeLists.txt"))
    return f"{found[1]} (source tree)" if found else "unknown"


def _text(file: pathlib.Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def _is_script(file: str) -> bool:
    with open(file, "rb") as opened:
        return opened.read(2) == b"#!"


def library() -> pathlib.Path:
    """The file of `_taylor.so`: in the folder $TAYLOR_LIB and in no other; else the package's, the build tree's.

    ImportError where it is not there.
    """
    chosen = os.environ.get("TAYLOR_LIB")
    folders = [pathlib.Path(chosen)] if chosen else [_PACKAGE / "lib", _TREE / "build" / "lib"]
    for folder in folders:
        if (file := folder / "_taylor.so").exists():
            return file
    raise ImportError(f"expected _taylor.so in {' or '.join(map(str, folders))}, but it is not there; ./quickstart.sh "
                      "builds it, and TAYLOR_LIB=FOLDER names another place")


@functools.lru_cache(maxsize=None)
def specifications() -> dict[str, pathlib.Path]:
    """Those that ship with Taylor, by name: `softmax`, `beyond/alibi`."""
    for folder in (_PACKAGE / "specs", _TREE / "examples" / "specs"):
        if folder.is_dir():
            files = sorted(folder.rglob("*.mlir"))
            return {file.relative_to(folder).with_suffix("").as_posix(): file for file in files}
    return {}


def specification(name: str) -> pathlib.Path:
    """The file of a specification that ships with Taylor; its folder may be left out.

    ValueError, with names like it, where there is none.
    """
    known = specifications()
    if name in known:
        return known[name]
    for full, file in known.items():
        if full.rpartition("/")[2] == name:
            return file
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    raise ValueError("expected the path of a specification, its text, or the name of one that ships with Taylor, but "
                     f"got {name!r}; " + (f"did you mean {' or '.join(map(repr, near))}? " if near else "")
                     + f"ta.specifications() has all {len(known)}")
