# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which files of examples/specs a test takes that costs seconds per file: a few that differ in what the compiler does for them, and under
./test.sh --full all, in folders below too. (test/endtoend/catalogue-*.test and beyond-*.test take every file always.)"""
import pathlib

DIFFERENT = ["softmax", "softmax-norm-l2", "softmax-count-gate", "softmax-count-layernorm", "linear-relu", "decay-gates", "softmax-taylor"]


def select(folder, full):
    """Paths of specifications, sorted; `full` is lit's %full, "0" or "1"."""
    paths = sorted(pathlib.Path(folder).rglob("*.mlir"))
    chosen = [path for path in paths if full == "1" or path.stem in DIFFERENT]
    assert len(chosen) >= len(DIFFERENT), f"expected {DIFFERENT} in {folder}, but got {[path.stem for path in chosen]}"
    return chosen
