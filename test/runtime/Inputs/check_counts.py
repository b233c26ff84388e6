# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the rows of `taylor-bench ptx` on the small kernel of ptx-plans against counts made by hand."""
import json
import sys

rows = json.load(open(sys.argv[1]))
assert [(row["variant"], row["spilled"]) for row in rows] == [("4 blocks", 65), ("5 blocks", 0)], rows
pairs = 32 * 33 // 2
for row, blocks in zip(rows, (4, 5)):
    counts = row["counts"]
    # A thread makes one of 16 channels: for each key it reads 16 elements of q and of k, and one of v.
    assert counts["global_read"] == 16 * (16 + 16 + 1) * 2, counts
    assert counts["global_written"] == (32 * 16 * 2 + 32 * 4) / pairs, counts
    # A warp has rows 2r and 2r + 1, whose lanes walk over 2r + 2 keys together.
    keys = 32 * sum(2 * r + 2 for r in range(16))
    assert counts["classes"]["special"] * pairs == keys + 32 * 16, counts  # ex2; one div
    assert abs(sum(counts["classes"].values()) - counts["instructions"]) < 1e-9, counts
    assert counts["mma_share"] == counts["bank_conflicts"] == counts["barriers"] == 0, counts
    assert 0 < row["errors"]["o"] < 4 / 256 and list(row["errors"]) == ["o"], row
# The fifth block's 4 warps issue what comes before the first ret, and that.
before = 3 + 1 + 1 + 1 + 1 + 1
assert round((rows[1]["counts"]["instructions"] - rows[0]["counts"]["instructions"]) * pairs) == 32 * 4 * before, rows
