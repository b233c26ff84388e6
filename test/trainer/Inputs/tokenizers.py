# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tokenizers.py FEW MANY: SentencePiece models by hand: one without <s> and </s>, one of more pieces than 16 bits number."""
import struct
import sys

NORMAL, UNKNOWN, CONTROL = 1, 2, 3


def write(path, pieces):
    with open(path, "wb") as file:
        for text, kind in pieces:  # ModelProto.pieces: text, score, kind
            piece = b"\x0a" + bytes([len(text)]) + text.encode() + b"\x15" + struct.pack("<f", 0) + b"\x18" + bytes([kind])
            file.write(b"\x0a" + bytes([len(piece)]) + piece)


few, many = sys.argv[1:]
write(few, [("<unk>", UNKNOWN), ("a", NORMAL)])
write(many, [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL), *((f"p{i}", NORMAL) for i in range(65534))])
