"""train_all.py CONFIG SPECIFICATIONS FULL FOLDER: trains specifications of a folder (FULL=1: all) for six steps, with nothing said about any of them; the loss falls
and every tensor has moved."""
import json
import os
import pathlib
import subprocess
import sys

from safetensors.torch import load_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from specifications import select

config, specifications, full, out = sys.argv[1:]
for path in select(specifications, full):
    folder = os.path.join(out, path.stem)
    # A specification that sees later tokens is trained with the mask of a language model.
    operations = [line for line in path.read_text().splitlines() if not line.startswith("//")]
    mask = ["--set", "attention.mask=causal"] if any("bidirectional" in line for line in operations) else []
    subprocess.run(["taylor-train", "--config", config, "--attention", path, "--out", folder, "--overwrite", "--set", "checkpoint.every=1", "--set", "checkpoint.keep=0",
                    "--set", "optimizer.learning_rate=0.01", "--set", "train.batch=8", *mask], check=True)
    with open(os.path.join(folder, "metrics.jsonl")) as f:
        losses = [line["loss"] for line in map(json.loads, f) if "loss" in line]
    assert len(losses) == 6 and losses[-1] < losses[0] - 0.1, (path, losses)
    first, last = (load_file(os.path.join(folder, f"checkpoints/step-{step:06}/model.safetensors")) for step in (1, 6))
    unmoved = [name for name in first if first[name].equal(last[name])]
    assert not unmoved, (path, unmoved)
