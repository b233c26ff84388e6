"""same_losses.py RUN RUN [TOLERANCE]: metrics of two runs are the same but for the time and memory they took; with a tolerance, their losses alone, up
to that relative difference."""
import json
import math
import sys


def read(folder):
    with open(folder + "/metrics.jsonl") as f:
        lines = [json.loads(line) for line in f]
    for line in lines:
        for measured in ("tokens_per_second", "mfu", "data_wait", "memory_mb"):
            line.pop(measured, None)
    return lines


if __name__ == "__main__":
    first, second = map(read, sys.argv[1:3])
    assert len(first) > 3, first
    if len(sys.argv) == 3:
        assert first == second, f"{first}\n{second}"
    else:
        tolerance = float(sys.argv[3])
        for a, b in zip(first, second, strict=True):
            assert a.keys() == b.keys() and a["step"] == b["step"], f"{a}\n{b}"
            for key in ("loss", "validation_loss"):
                assert key not in a or math.isclose(a[key], b[key], rel_tol=tolerance), f"{a}\n{b}"
