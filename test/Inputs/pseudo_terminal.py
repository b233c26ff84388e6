# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program writes to a terminal."""
import os


def read_all(descriptor):
    """Of a pseudo-terminal, from its own end, until the other one is closed; bytes."""
    text = b""
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # the other end is closed
            return text
        if not piece:
            return text
        text += piece
