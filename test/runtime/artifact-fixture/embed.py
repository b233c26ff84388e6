# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes of a file as numbers of C, as #embed gives them: GCC has that from version 15 on. As a program: embed.py FILE.. OUTPUT-FOLDER writes
FILE.inc there."""
import pathlib
import sys


def numbers(data):
    return ",".join(map(str, data)) + "\n"


if __name__ == "__main__":
    *files, folder = map(pathlib.Path, sys.argv[1:])
    for file in files:
        (folder / (file.name + ".inc")).write_text(numbers(file.read_bytes()))
