# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The event files hold what metrics.jsonl holds: read record by record here, and by TensorBoard itself.
# RUN: %train --out %t --overwrite
# RUN: %train --out %t --resume --set train.steps=7
# RUN: %python %s %t
import glob
import json
import struct
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

folder = sys.argv[1]
expected = {}
with open(folder + "/metrics.jsonl") as f:
    for line in map(json.loads, f):
        step = line.pop("step")
        for name, value in line.items():
            tag = name.replace("_", "/", 1) if name.startswith("validation_") else "train/" + name
            expected.setdefault(tag, {})[step] = struct.unpack("f", struct.pack("f", value))[0]
assert set(expected) == {"train/loss", "train/lr", "train/grad_norm", "train/tokens_per_second", "train/mfu", "train/data_wait", "train/memory_mb",
                         "validation/loss", "validation/accuracy"}, set(expected)
assert sorted(expected["train/loss"]) == list(range(1, 8))


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """A protobuf message as {field number: value}."""
    at, result = 0, {}
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            result[key >> 3], at = varint(data, at)
            continue
        size = {1: 8, 5: 4}.get(key & 7)
        if size is None:
            assert key & 7 == 2
            size, at = varint(data, at)
        result[key >> 3], at = data[at : at + size], at + size
    return result


files = glob.glob(folder + "/events.out.tfevents.*")
assert len(files) == 1, files
with open(files[0], "rb") as f:
    data = f.read()
found, at, count = {}, 0, 0
while at < len(data):
    (length,) = struct.unpack_from("<Q", data, at)
    event = data[at + 12 : at + 12 + length]
    assert struct.unpack_from("<I", data, at + 8)[0] == masked_crc(data[at : at + 8])
    assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked_crc(event)
    at, count = at + length + 16, count + 1
    message = fields(event)
    assert struct.unpack("<d", message[1])[0] > 1e9
    if count == 1:
        assert message[3] == b"brain.Event:2"
        continue
    value = fields(fields(message[5])[1])
    found.setdefault(value[1].decode(), {})[message[2]] = struct.unpack("<f", value[2])[0]
assert found == expected

events = EventAccumulator(folder)
events.Reload()
assert {tag: {event.step: event.value for event in events.Scalars(tag)} for tag in events.Tags()["scalars"]} == expected
