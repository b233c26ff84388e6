#!/usr/bin/env python3
"""Stands for taylor-bench and for Python with flex.py: writes rows as they do, and measures nothing."""
import json
import sys

arguments = sys.argv[1:]
if arguments[0].endswith("flex.py"):
    print("causal 1,16,1024,64 f32 ours 1.00 ms flex 1.50 ms ratio 1.50 (1.40 to 1.60)")
    print("alibi 1,16,1024,64 f32 ours 1.00 ms flex 2.00 ms ratio 2.00 (1.90 to 2.10)")
    print("window 1,16,1024,64 f32 ours 1.00 ms flex 2.50 ms ratio 2.50 (2.40 to 2.60)")
    print("soft-cap 1,16,1024,64 f32 ours 1.00 ms flex 3.00 ms ratio 3.00 (2.90 to 3.10)")
    sys.exit()
if "decode" in arguments:
    rows = [{"bandwidth_fraction": 0.87}]
else:
    opponents = [a.split("=", 1)[-1] for a in arguments if a.startswith("--against=")]
    ratio = {name: 2.0 for text in opponents for name in text.split(",")} or {"softmax.so": 0.8}
    rows = [{"direction": direction, "ms": 1.0, "executed_fraction": 0.85, "ratio": ratio}
            for direction in ("forward", "backward", "both")]
with open(arguments[arguments.index("--json") + 1], "w") as file:
    json.dump(rows, file)
