"""train_all.py CONFIG SPECIFICATIONS FOLDER: trains each specification of a folder for six steps, with nothing said about any of them; the loss falls
and every tensor has moved."""
import glob
import json
import os
import subprocess
import sys

from safetensors.torch import load_file

config, specifications, out = sys.argv[1:]
paths = sorted(glob.glob(os.path.join(specifications, "*.mlir")))
assert len(paths) >= 7, paths
for path in paths:
    folder = os.path.join(out, os.path.basename(path).removesuffix(".mlir"))
    subprocess.run(["taylor-train", "--config", config, "--attention", path, "--out", folder, "--overwrite", "--set", "checkpoint.every=1", "--set", "checkpoint.keep=0",
                    "--set", "optimizer.learning_rate=0.01", "--set", "train.batch=8"], check=True)
    with open(os.path.join(folder, "metrics.jsonl")) as f:
        losses = [line["loss"] for line in map(json.loads, f) if "loss" in line]
    assert len(losses) == 6 and losses[-1] < losses[0] - 0.1, (path, losses)
    first, last = (load_file(os.path.join(folder, f"checkpoints/step-{step:06}/model.safetensors")) for step in (1, 6))
    unmoved = [name for name in first if first[name].equal(last[name])]
    assert not unmoved, (path, unmoved)
