# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The trailer of an artifact (runtime/artifact.h). As a program: seal.py SHARED-OBJECT appends it to the file."""
import pathlib
import struct
import sys

MAGIC = 0x31524C5941540A7F
ABI = 2


def checksum(data):
    value = 0xCBF29CE484222325
    padded = data + b"\0" * (-len(data) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        value = (value ^ word) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def trailer(data, abi=ABI):
    return struct.pack("<QQQQ", MAGIC, abi, len(data), checksum(data))


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    contents = path.read_bytes()
    path.write_bytes(contents + trailer(contents))
