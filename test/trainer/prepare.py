# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The same records in every format give the same tokens, on any number of threads, and after any number of kills.
# REQUIRES: arrow
# WARM: taylor-train
# RUN: %python %s %t %bin_dir
import gzip
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import pyarrow
import pyarrow.parquet

root = pathlib.Path(sys.argv[1])
PROGRAM = os.path.join(sys.argv[2], "taylor-train")  # as it is, where its process is looked at
shutil.rmtree(root, ignore_errors=True)
root.mkdir()
random.seed(1)
words = [f"word{i}" for i in range(300)] + ["\n", "é", "😀"]
texts = [" ".join(random.choices(words, k=random.randint(1, 300))) for _ in range(2500)]
texts[5] = ""  # no document


def prepare(out, *inputs, check=True, program="taylor-train", **options):
    options = {"tokenizer": root / "tokenizer.model", "threads": 1} | options
    flags = [f"--{key.replace('_', '-')}" + ("" if value is True else f"={value}") for key, value in options.items() if value is not None]
    result = subprocess.run([program, "prepare", *map(str, inputs), "--out", str(out), *flags], stderr=subprocess.PIPE, text=True)
    assert not check or result.returncode == 0, result.stderr
    return result


# Which files there were is told apart by the description; all else is the same.
def contents(folder):
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    description = json.loads(found.pop("description.json"))
    del description["title"], description["prepared"]
    return found | {"description": description}


def lines(texts):
    return "".join(json.dumps({"id": 1, "body": {"text": "no"}, "text": text}) + "\n" for text in texts)


# Tokenizer trained on one file, then used for all.
(root / "all.jsonl").write_text(lines(texts))
prepare(root / "trained", root / "all.jsonl", tokenizer=None, train_tokenizer=500, shard_tokens=50000)
shutil.copy(root / "trained/tokenizer.model", root)
want = contents(root / "trained")
counts = want["description"]["training"]["documents"], want["description"]["validation"]["documents"]
assert sum(counts) == 2499 and 10 <= counts[1] <= 45, counts
assert want["description"]["left_out"] == {"empty": 1}
assert sum(name.startswith("training-") for name in want) >= 6, want.keys()
assert not (root / "trained/.progress.json").exists()

# Every format; in three files by a glob, a folder, or by name.
for kind in ("jsonl", "gz", "zst", "parquet", "large"):
    folder = root / kind
    folder.mkdir()
    for name in ("README.md", "dataset_infos.json", ".hidden.jsonl"):
        (folder / name).write_text("not text to train on\n")
    for part in range(3):
        piece = texts[part * 900:(part + 1) * 900]
        if kind == "jsonl":
            (folder / f"{part}.jsonl").write_text(lines(piece))
        elif kind == "gz":
            (folder / f"{part}.jsonl.gz").write_bytes(gzip.compress(lines(piece).encode()))
        elif kind == "zst":
            with pyarrow.CompressedOutputStream(str(folder / f"{part}.jsonl.zst"), "zstd") as stream:
                stream.write(lines(piece).encode())
        else:
            column = pyarrow.array(piece, pyarrow.large_string() if kind == "large" else pyarrow.string())
            nested = pyarrow.array([{"a": 1, "b": "x"}] * len(piece))  # leaves in front of the column
            pyarrow.parquet.write_table(pyarrow.table({"meta": nested, "content": column}), folder / f"{part}.parquet", row_group_size=400,
                                        compression="snappy" if kind == "large" else "zstd")
    inputs = {"jsonl": [folder / "*.jsonl"], "gz": [folder], "zst": [folder / "0.jsonl.zst", folder / "{0,1}.*", folder]}
    prepare(root / f"{kind}.out", *inputs.get(kind, [folder]), threads=3, shard_tokens=50000, field="content" if kind in ("parquet", "large") else "text")
    assert contents(root / f"{kind}.out") == want, kind

# Killed again and again: the same command goes on, and nothing tells.
for number, kind in ((signal.SIGKILL, "jsonl"), (signal.SIGTERM, "parquet")):
    big = root / f"killed-{number}.{kind}"
    copies, seconds = 6, 0
    while seconds < 2.6:  # so much text that this machine commits twice, once a second, each time with more than a kill's delay to go
        copies = copies if seconds == 0 else int(copies * 3 / seconds) + 1
        if kind == "jsonl":
            big.write_text(lines(texts * copies))
        else:
            pyarrow.parquet.write_table(pyarrow.table({"text": texts * copies}), big, row_group_size=1700)
        before, clock = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.monotonic()
        prepare(root / "whole", big, program=PROGRAM, shard_tokens=100000, overwrite=True, threads=1)
        # Of a processor, which is no less on a machine that is busy, and by the clock, since reading has a thread of its own.
        seconds = min(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, time.monotonic() - clock)
    out, kills, resumed = root / f"killed-{number}", 0, 0

    def offset():
        try:
            return json.loads((out / ".progress.json").read_text())["offset"]
        except FileNotFoundError:
            return 0

    while True:
        before = offset()
        process = subprocess.Popen([PROGRAM, "prepare", str(big), "--out", str(out), "--tokenizer", str(root / "tokenizer.model"), "--threads", "1",
                                    "--shard-tokens", "100000"], stderr=subprocess.PIPE, text=True)
        while process.poll() is None and kills < 4:
            if offset() > before:
                time.sleep(random.random() * 0.2)  # some way between two commits
                process.send_signal(number)
                break
            time.sleep(0.01)
        _, errors = process.communicate(timeout=120)
        if process.returncode == 0:
            break
        resumed += "resuming" in errors
        kills += 1
        assert process.returncode == (-9 if number == signal.SIGKILL else 128 + number), errors
        if number == signal.SIGTERM:
            assert "stopped by signal 15; the same command goes on from here" in errors, errors
    assert kills >= 2 and resumed >= 1, (kills, resumed)
    whole, killed = contents(root / "whole"), contents(out)
    assert whole == killed, [name for name in whole if whole[name] != killed.get(name)]

# A file of text is one document, or several; by names some files validate.
folder = root / "text"
folder.mkdir()
for i in range(12):
    (folder / f"{i:02}.txt").write_text("".join(f"line {line} of {i}\n" for line in range(60)))
prepare(root / "text.out", folder, validation_files="1?.txt", max_document_tokens=100, validation_fraction=None)
description = json.loads((root / "text.out/description.json").read_text())
assert description["training"]["documents"] == 10 and description["validation"]["documents"] == 2
assert description["training"]["tokens"] == 1000, description

# An interrupted preparation goes on with the same files and options alone.
bad = lines(texts) + lines(texts[:3]) + "no json\n" + lines(texts[:2]) + "[]\n{}\n" + lines(texts[6:100])
source, out = root / "bad.jsonl", root / "bad"
source.write_text(bad)
result = prepare(out, source, check=False, max_bad=2)
assert result.returncode == 1
assert "left out" not in result.stderr  # all of a block or nothing
assert re.search(r"error: expected at most 2 bad records, but this is one more: \S*bad.jsonl:2508: no field 'text' \(--field names another\); what is done stays: "
                 r"mend the file and pass --overwrite, or pass a larger --max-bad to go on\n$", result.stderr), result.stderr
for changed, message in (({"field": "body"}, "same --field"), ({"max_document_tokens": 7}, "same --max-document-tokens"),
                         ({"validation_fraction": 0.5}, "same --validation-fraction"), ({"shard_tokens": 7}, "same --shard-tokens"),
                         ({"validation_files": "x"}, "expected --validation-files to match some of the 1 files, but 'x' matches none"),
                         ({"tokenizer": None, "train_tokenizer": 500}, "same --train-tokenizer")):
    result = prepare(out, source, check=False, **changed)
    assert result.returncode == 1 and message in result.stderr, (changed, result.stderr)
    assert message.startswith("expected") or "to go on with the unfinished preparation in" in result.stderr, result.stderr
# Fewer bad records than were left out before: nothing is read, and what is done stays. (The second block has the third bad record.)
big, few = root / "more.jsonl", root / "few"
big.write_text("no json\n[]\n" + lines(texts * 2) + "{}\n")
result = prepare(few, big, check=False, max_bad=2)
assert result.returncode == 1 and "expected at most 2 bad records" in result.stderr, result.stderr
result = prepare(few, big, check=False, max_bad=1)
assert result.returncode == 1 and result.stderr.endswith(f"error: expected --max-bad of at least 2, since so many bad records were left out in '{few}' before, but got 1; "
                                                         "or pass --overwrite to begin anew\n"), result.stderr
prepare(few, big, max_bad=3)
result = prepare(out, source, max_bad=3, threads=2)
for line in (f"left out   {source}:2504: not JSON", f"left out   {source}:2507: an array (a record is a line: jq -c '.[]' FILE writes them so)", f"left out   {source}:2508: no field 'text' (--field names another)", "left out   1: not JSON"):
    assert line + "\n" in result.stderr, result.stderr
assert json.loads((out / "description.json").read_text())["left_out"] == {"empty": 1, "not JSON": 1, "an array": 1, "no field 'text'": 1}
assert "was prepared before, from the same files with the same options" in prepare(out, source).stderr
result = prepare(out, source, check=False, field="body")
assert result.returncode == 1 and "has other; pass --overwrite to prepare anew, or --out FOLDER" in result.stderr
source.write_text(bad + "\n")
prepare(out, source, overwrite=True)

# No room on the disk: one message, and on it goes once there is.
result = subprocess.run(["taylor-train", "prepare", str(root / "all.jsonl"), "--out", str(root / "full"), "--tokenizer", str(root / "tokenizer.model"),
                         "--shard-tokens", "50000"], stderr=subprocess.PIPE, text=True, restore_signals=False,
                        preexec_fn=lambda: __import__("resource").setrlimit(__import__("resource").RLIMIT_FSIZE, (60000, 60000)))
assert result.returncode == 1, result
assert re.search(r"^error: cannot write '\S*full/.training-0000\d.tokens': File too large", result.stderr, re.M), result.stderr
prepare(root / "full", root / "all.jsonl", shard_tokens=50000)
assert contents(root / "full") == want

# A window of 2 GB, as zstd --long=31 makes, where there is no room for it: a frame's header, and one block as it is.
record = lines([f"line {i} of a window" for i in range(100)]).encode()
(root / "window.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd\x00" + bytes([31 - 10 << 3]) + (len(record) << 3 | 1).to_bytes(3, "little") + record)
result = subprocess.run([PROGRAM, "prepare", str(root / "window.jsonl.zst"), "--out", str(root / "window"), "--tokenizer", str(root / "tokenizer.model")],
                        stderr=subprocess.PIPE, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, 1_500_000_000)))
assert result.returncode == 1 and result.stderr.endswith(
    f"error: out of memory while reading '{root}/window.jsonl.zst': decompressing it needs a window of up to 2 GB, which zstd --long made; 'zstd -d FILE' and "
    "'zstd' without --long write it anew\n"), result
prepare(root / "window", root / "window.jsonl.zst", overwrite=True)

# Memory does not grow with the text: six times as much takes little more.
def peak(path):
    process = subprocess.Popen([PROGRAM, "prepare", str(path), "--out", str(root / "memory"), "--tokenizer", str(root / "tokenizer.model"), "--threads", "1",
                                "--overwrite", "--shard-tokens", "100000"], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    return usage.ru_maxrss / 1024


(root / "small.jsonl").write_text(lines(texts * 2))
(root / "large.jsonl").write_text(lines(texts * 12))
small, large = peak(root / "small.jsonl"), peak(root / "large.jsonl")
print(f"peak {small:.0f} MB, {large:.0f} MB")
assert large < small + 15, (small, large)
# A long record takes a few times its own size: 8 MB of one letter, in which no place to cut is found, took 0.9 GB.
(root / "long.jsonl").write_text(lines(["a" * 8_000_000, *texts]))
long = peak(root / "long.jsonl")
print(f"a record of 8 MB: peak {long:.0f} MB")
assert long < small + 350, (small, long)
