"""check_orders.py CHECKPOINT TOKENS CSV VARIANT ORDERS: what `taylor-train orders` measured, against NumPy in fp64 from the weights in the checkpoint
and the formulas in the variant's comment below alone. TOKENS is what taylor-generate --json says of the text; CSV is orders.csv."""
import csv
import json
import math
import os
import sys

import numpy as np
from safetensors.numpy import load_file

TOLERANCE = 2e-4  # relative: the model itself runs in fp32, up to the attention's inputs
ROUNDING = 1e-9  # absolute, of errors alone: below this they are rounding of the sums in either program

folder, tokens_file, csv_file, variant, orders = sys.argv[1:5] + [int(sys.argv[5])]
with open(os.path.join(folder, "config.json")) as f:
    config = json.load(f)
with open(tokens_file) as f:
    tokens = json.load(f)["prompt_tokens"] + [2]  # </s>
with open(csv_file) as f:
    measured = {(int(r["layer"]), int(r["head"]), int(r["order"])): r for r in csv.DictReader(f)}
weights = {name: array.astype(np.float64) for name, array in load_file(os.path.join(folder, "model.safetensors")).items()}
heads, groups, d = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
layers, context = config["num_hidden_layers"], config["max_position_embeddings"]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def norm(x, name):
    return x / np.sqrt(np.square(x).mean(-1, keepdims=True) + config["rms_norm_eps"]) * weights[name]


def rotate(x):
    angles = np.outer(np.arange(x.shape[1]), 10000.0 ** (-np.arange(0, d, 2) / d))
    cos, sin = (np.concatenate([f(angles)] * 2, -1) for f in (np.cos, np.sin))
    return x * cos + np.concatenate([-x[..., d // 2 :], x[..., : d // 2]], -1) * sin


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)


class Statistics:
    """Sums over sequences, of one layer: arrays over orders and heads."""

    def __init__(self):
        self.pairs = 0
        self.magnitude, self.weight_error, self.output_error = (np.zeros((orders + 1, heads)) for _ in range(3))
        self.weight, self.output = np.zeros(heads), np.zeros(heads)


def attend(x, prefix, statistics):
    """softmax: e^s, N / Z.   norm-l2: e^s, N / |N|.   decayed: e^s e^(L[t] - L[u]), L = cumulative sum of -softplus, N / n.
    cosine N: sum over n <= N of s^n / n! of unit vectors without scale, N / n^sigmoid(power)."""
    T = len(x)

    def project(name, count):
        return (x @ weights[f"{prefix}{name}_proj.weight"].T).reshape(T, count, -1).swapaxes(0, 1)

    q, k, v = rotate(project("q", heads)), rotate(project("k", groups)), project("v", groups)
    k, v = (y.repeat(heads // groups, 0) for y in (k, v))
    last = math.inf
    if variant.startswith("cosine"):
        s = unit(q) @ unit(k).swapaxes(1, 2)
        last = int(variant.split("-")[1])
    else:
        s = q @ k.swapaxes(1, 2) / math.sqrt(d)
    visible = np.tril(np.ones((T, T)))
    factor = np.broadcast_to(visible, s.shape)
    if variant == "decayed":
        logits = x @ weights[prefix + "decay_gate_proj.weight"].T + weights[prefix + "decay_gate_proj.bias"]
        L = np.cumsum(-np.log1p(np.exp(logits)), 0).T.repeat(heads // groups, 0)
        factor = visible * np.exp(np.where(visible > 0, L[:, :, None] - L[:, None, :], 0))

    def finish(w):
        n = w @ v
        if variant == "softmax":
            return n / w.sum(-1, keepdims=True)
        if variant == "norm-l2":
            return unit(n)
        count = visible.sum(-1)[None, :, None]
        return n / count ** sigmoid(weights[prefix + "power"])[:, None, None] if variant.startswith("cosine") else n / count

    def term(n):
        return s**n / math.factorial(n) * factor if n <= last else 0 * s

    whole = np.exp(s) * factor if last == math.inf else sum(term(n) for n in range(last + 1))
    o = finish(whole)
    statistics.pairs += visible.sum()
    statistics.weight += np.abs(whole).sum((1, 2))
    statistics.output += np.square(o).sum((1, 2))
    truncated = 0
    for n in range(orders + 1):
        statistics.magnitude[n] += np.abs(term(n)).sum((1, 2))
        truncated = truncated + term(n)
        statistics.weight_error[n] += np.abs(truncated - whole).sum((1, 2))
        statistics.output_error[n] += np.square(finish(truncated) - o).sum((1, 2))
    return o.swapaxes(0, 1).reshape(T, -1) @ weights[prefix + "o_proj.weight"].T


def run(sequence, statistics):
    x = weights["model.embed_tokens.weight"][sequence]
    for i in range(layers):
        prefix = f"model.layers.{i}."
        x = x + attend(norm(x, prefix + "input_layernorm.weight"), prefix + "self_attn.", statistics[i])
        y = norm(x, prefix + "post_attention_layernorm.weight")
        gate = y @ weights[prefix + "mlp.gate_proj.weight"].T
        x = x + (gate * sigmoid(gate) * (y @ weights[prefix + "mlp.up_proj.weight"].T)) @ weights[prefix + "mlp.down_proj.weight"].T


statistics = [Statistics() for _ in range(layers)]
length = min(context, len(tokens))
for begin in range(0, len(tokens) - length + 1, length):
    run(tokens[begin : begin + length], statistics)

assert len(measured) == layers * heads * (orders + 1), len(measured)
for (layer, head, n), row in measured.items():
    s = statistics[layer]
    expected = {
        "mean_magnitude": s.magnitude[n, head] / s.pairs,
        "weight_error": s.weight_error[n, head] / s.weight[head],
        "output_error": math.sqrt(s.output_error[n, head] / s.output[head]),
    }
    for name, value in expected.items():
        got = float(row[name])
        tolerance = TOLERANCE * (n + 1) * value  # s^n has n + 1 times the relative error of s
        if name != "mean_magnitude":  # a mass that nearly vanishes makes an error as uncertain as it is large
            tolerance = tolerance * max(1, value) + ROUNDING
        assert abs(got - value) <= tolerance, f"layer {layer}, head {head}, order {n}: expected {name} {value}, but got {got}"

# What is true of any model: with all the orders that matter (the tests ask for so many) the series is the weights; an order that a series does not have is 0, and its error too.
last = int(variant.split("-")[1]) if variant.startswith("cosine") else math.inf
for (layer, head, n), row in measured.items():
    if n == 0 and variant in ("softmax", "norm-l2"):
        assert float(row["mean_magnitude"]) == 1
    if n >= min(last, orders):
        assert float(row["weight_error"]) < 1e-7 and float(row["output_error"]) < 1e-7, row
    if n > last:
        assert float(row["mean_magnitude"]) == 0, row
print(f"{variant}: {len(measured)} rows, {int(statistics[0].pairs)} pairs")
