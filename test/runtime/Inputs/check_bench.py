# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the fields of taylor-bench's rows, and the arithmetic between them."""
import json
import sys

rows = json.load(open(sys.argv[1]))
assert [r["direction"] for r in rows] == ["forward", "backward", "both"] * 2, rows
for row in rows:
    b, h, t, d, e = (1, 2, 64, 16, 16) if row["shape"] == "1,2,64,16" else (2, 4, 9, 8, 4)
    pairs = b * h * t * (t + 1) // 2
    work = {"forward": 2 * d + 2 * e, "backward": 6 * d + 4 * e, "both": 8 * d + 6 * e}[row["direction"]]
    gflops = pairs * work / row["ms"] * 1e-6
    assert abs(row["gflops"] - gflops) < 1e-3, (row, gflops)
    assert abs(row["peak_fraction"] - gflops / row["peak_gflops"]) < 1e-3, row
    assert row["dtype"] == "f32" and row["spec"].endswith("gated.mlir") and row["rounds"] >= 3
    assert row["ratio"]["sdpa"] > 0 and row["opponents"]["sdpa"]["ms"] > 0
    assert 0 <= row["memory_mb"] < 1, row  # O(T): no score matrix
