"""same_losses.py RUN RUN: metrics of two runs are the same but for the time they took."""
import json
import sys


def read(folder):
    with open(folder + "/metrics.jsonl") as f:
        lines = [json.loads(line) for line in f]
    for line in lines:
        line.pop("tokens_per_second", None)
    return lines


first, second = map(read, sys.argv[1:])
assert len(first) > 3 and first == second, f"{first}\n{second}"
