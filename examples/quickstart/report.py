"""usage: report.py OUTPUT_FOLDER NAME=RUN_FOLDER ..: prints a table of several runs, and draws their loss curves to
OUTPUT_FOLDER/losses.png and losses.svg. A run folder is one that taylor-train writes: metrics.jsonl, and checkpoints in
safetensors."""
import glob
import json
import math
import os
import struct
import subprocess
import sys


def fail(message):
    sys.exit(f"error: {message}")


def read_metrics(folder):
    """Training lines and validation lines of metrics.jsonl, each a list of dictionaries in the order of steps."""
    path = os.path.join(folder, "metrics.jsonl")
    try:
        with open(path, encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
    except OSError as error:
        fail(f"cannot read '{path}': {error.strerror}")
    except ValueError as error:
        fail(f"expected JSON lines in '{path}', but got {error}")
    train = [line for line in lines if line.get("loss") is not None]
    validation = [line for line in lines if line.get("validation_loss") is not None]
    if not train or not validation:
        fail(f"expected training and validation losses in '{path}', but got {len(train)} and {len(validation)}")
    return train, validation


def count_parameters(folder):
    """The number of values in the run's newest model file, from its header: 8 bytes of length, then JSON."""
    files = glob.glob(os.path.join(folder, "**", "model.safetensors"), recursive=True)
    if not files:
        fail(f"expected a checkpoint (model.safetensors) in '{folder}', but got none")
    with open(max(files, key=os.path.getmtime), "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
    return sum(math.prod(entry["shape"]) for name, entry in header.items() if name != "__metadata__")


def centred_mean(values, i, reach):
    """Mean of the values at most `reach` places away from i, as many before as after: a mean of the past alone would lag behind the validation loss."""
    reach = min(reach, i, len(values) - 1 - i)
    part = values[i - reach : i + reach + 1]
    return sum(part) / len(part)


def write_points(path, points):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(f"{step} {loss:.6f}\n" for step, loss in points)


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("  " + "  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))))
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))


def main(output, runs):
    rows = [["variant", "parameters", "steps", "tokens/s", "train loss", "validation loss"]]
    curves = []
    for name, folder in runs:
        train, validation = read_metrics(folder)
        losses = [line["loss"] for line in train]
        window = max(1, min(50, len(train) // 10))
        last = losses[-window:]
        # The first steps pay for warm-up of caches and clocks; the median forgets them.
        speeds = sorted(line["tokens_per_second"] for line in train if line.get("tokens_per_second"))
        rows.append([name, f"{count_parameters(folder):,}", str(train[-1]["step"]), f"{speeds[len(speeds) // 2]:,.0f}" if speeds else "?",
                     f"{sum(last) / len(last):.3f}", f"{validation[-1]['validation_loss']:.3f}"])
        write_points(os.path.join(folder, "train.dat"), [(line["step"], centred_mean(losses, i, window // 4)) for i, line in enumerate(train)])
        write_points(os.path.join(folder, "validation.dat"), [(line["step"], line["validation_loss"]) for line in validation])
        curves += [name, folder]
    print_table(rows)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "losses.gp")
    for kind in ("png", "svg"):
        picture = os.path.join(output, f"losses.{kind}")
        made = subprocess.run(["gnuplot", "-c", script, picture] + curves, capture_output=True, text=True)
        if made.returncode != 0 or not os.path.exists(picture):
            fail(f"gnuplot could not draw {picture}:\n{made.stderr}")


if __name__ == "__main__":
    if len(sys.argv) < 3 or not all("=" in argument for argument in sys.argv[2:]):
        sys.exit(__doc__)
    main(sys.argv[1], [argument.split("=", 1) for argument in sys.argv[2:]])
