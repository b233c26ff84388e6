"""parquet_strings.py FOLDER TOKENIZER: strings of every kind that Parquet files have are read as those of the plain kind; what cannot be is told."""
import pathlib
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq

folder, tokenizer = pathlib.Path(sys.argv[1]), sys.argv[2]
texts = ["one", "two", None, "three", "one", "grün"] * 200


def prepare(table, field="text", **options):
    pq.write_table(table, folder / "x.parquet", row_group_size=500, **options)
    command = ["taylor-train", "prepare", folder / "x.parquet", "--tokenizer", tokenizer, "--out", folder / "strings", "--overwrite", "--validation-fraction", "0",
               "--max-bad", "1000", "--field", field]
    result = subprocess.run(command, capture_output=True, text=True)
    made = folder / "strings/training-00000.tokens"
    return result.stderr, made.read_bytes() if result.returncode == 0 else None


_, want = prepare(pa.table({"text": pa.array(texts)}))
assert want
arrays = {
    "large": pa.array(texts, pa.large_string()), "dictionary": pa.array(texts).dictionary_encode(), "view": pa.array(texts, pa.string_view()), "binary": pa.array(texts, pa.binary()),
    "large binary": pa.array(texts, pa.large_binary()), "binary view": pa.array([text and text.encode() for text in texts], pa.binary_view()),
    "dictionary of large": pa.array(texts, pa.large_string()).dictionary_encode()}
for name, array in arrays.items():
    said, got = prepare(pa.table({"text": array, "other": pa.array(range(len(texts)))}))
    assert got == want, (name, said)
struct = pa.array([{"n": i, "text": text, "more": {"text": text}} if text else (None if i % 2 else {"n": i, "text": None, "more": None}) for i, text in enumerate(texts)])
for name in ("data.text", "data.more.text"):
    said, got = prepare(pa.table({"data": struct, "number": pa.array(range(len(texts)))}), name)
    assert got == want, (name, said)
said, got = prepare(pa.table({"data": struct, "data.text": pa.array(texts)}), "data.text")  # a column of that very name comes first
assert got == want, said
for table, field, message in (
        (pa.table({"data": struct, "number": pa.array(range(len(texts)))}), "data", "expected strings in the column 'data' of '{}', but it has fields: n, text, more; name one of them, as --field data.n"),
        (pa.table({"data": struct, "number": pa.array(range(len(texts)))}), "data.body", "expected a column 'data.body' in '{}', but it has: data, number; name one with --field"),
        (pa.table({"data": struct}), "data.n", "expected strings in the column 'data.n' of '{}', but it has values of type int64; name another column with --field (there are: data)"),
        (pa.table({"data": struct}), "data.text.x", "expected a column 'data.text.x' in '{}', but it has: data; name one with --field"),
        (pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"]), "text",
         "requires one column 'text' in '{}', but it has several of that name: text, text; write it anew with names of their own")):
    said, got = prepare(table, field)
    assert got is None and said == f"error: {message.format(folder / 'x.parquet')}\n", (field, said)
said, got = prepare(pa.table({"text": pa.array([b"\xff", b"sound"], pa.binary())}))
assert got and "row 1: not UTF-8" in said, said
