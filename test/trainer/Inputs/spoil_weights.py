"""spoil_weights.py FILE: sets every bit of every tensor of a .safetensors file, which is NaN in each float type."""
import struct
import sys

with open(sys.argv[1], "r+b") as file:
    data = file.read()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    file.seek(begin)
    file.write(b"\xff" * (len(data) - begin))
