"""plain_model.py CHECKPOINT OUTPUT [llama|linear|whole|whole-states]: the likeliest continuation by a Llama in plain PyTorch, written from the names and shapes in
the checkpoint alone, equals what taylor-generate --temperature 0 --json gave. The attention is Llama's, or linear-relu.mlir's, which sees the whole text, or the
hand-written one of test/runtime/artifact-fixture: softmax without rotation, times a gate and a learned weight. Or it is the checkpoint's specification, compiled
without steps and called with the whole text (whole; whole-states: it goes on from states, and so sees all of it)."""
import json
import os
import subprocess
import sys

import torch
import torch.nn.functional as F
from safetensors.torch import load_file

folder, output = sys.argv[1:3]
kind = "".join(sys.argv[3:])
with open(os.path.join(folder, "config.json")) as f:
    config = json.load(f)
with open(output) as f:
    result = json.load(f)
weights = load_file(os.path.join(folder, "model.safetensors"))
if kind.startswith("whole"):
    import taylor_operator  # loads the operator

    specification = os.path.join(folder, config["taylor"]["specification"])
    compiler = [os.environ["TAYLORC"], specification, "--emit=manifest", f"--head-dim={config['head_dim']}", f"--value-dim={config['head_dim']}"]
    manifest = json.loads(subprocess.run(compiler, check=True, capture_output=True, text=True).stdout)
heads, groups, d = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]


def norm(x, name):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + config["rms_norm_eps"]) * weights[name]


def rotate(x):
    angles = torch.outer(torch.arange(x.shape[1]).double(), 10000.0 ** (-torch.arange(0, d, 2).double() / d)).float()
    cos, sin = (torch.cat([f(angles)] * 2, -1) for f in (torch.cos, torch.sin))
    return x * cos + torch.cat([-x[..., d // 2 :], x[..., : d // 2]], -1) * sin


def call_whole(x, prefix):
    """The specification's own operator on inputs as the manifest describes them."""
    inputs, sizes = [], {"h": heads, "g": groups, **manifest["sizes"]}
    for array in manifest["tensors"]["inputs"]:
        if array["source"]["kind"] == "parameter":
            inputs.append(weights[prefix + array["name"]])
            continue
        token = next(i for i, axis in enumerate(array["axes"]) if axis in "tu") - 1
        y = x @ weights[f"{prefix}{array['name']}_proj.weight"].T
        if array["source"]["bias"]:
            y = y + weights[f"{prefix}{array['name']}_proj.bias"]
        inputs.append(y.view(len(x), *(sizes[axis] for axis in array["axes"] if axis not in "btu")).movedim(0, token)[None])
    return torch.ops.taylor.attention(inputs, specification, "", None)[0][0]


def attend(x, prefix):
    if kind.startswith("whole"):
        return call_whole(x, prefix).transpose(0, 1).reshape(len(x), -1) @ weights[prefix + "o_proj.weight"].T

    def project(name, count):
        return (x @ weights[f"{prefix}{name}_proj.weight"].T).view(len(x), count, d).transpose(0, 1)

    q, k, v = project("q", heads), project("k", groups), project("v", groups)
    if kind:
        q, k = rotate(q), rotate(k)
    k, v = (y.repeat_interleave(heads // groups, 0) for y in (k, v))
    if kind == "linear":
        w = (F.relu(q) @ F.relu(k).transpose(1, 2)).tril()
        o = w @ v / (w.sum(-1, keepdim=True) + 1e-8)
    else:
        o = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
    if not kind:
        gate = torch.sigmoid(x @ weights[prefix + "out_gate_proj.weight"].T + weights[prefix + "out_gate_proj.bias"])
        o = o * gate.T[..., None] * weights[prefix + "norm_weight"]
    return o.transpose(0, 1).reshape(len(x), heads * d) @ weights[prefix + "o_proj.weight"].T


def logits(tokens):
    x = weights["model.embed_tokens.weight"][tokens]
    for i in range(config["num_hidden_layers"]):
        prefix = f"model.layers.{i}."
        x = x + attend(norm(x, prefix + "input_layernorm.weight"), prefix + "self_attn.")
        y = norm(x, prefix + "post_attention_layernorm.weight")
        inner = F.silu(y @ weights[prefix + "mlp.gate_proj.weight"].T) * (y @ weights[prefix + "mlp.up_proj.weight"].T)
        x = x + inner @ weights[prefix + "mlp.down_proj.weight"].T
    return norm(x[-1], "model.norm.weight") @ weights["lm_head.weight"].T


tokens, context = result["prompt_tokens"], config["max_position_embeddings"]
begin = max(len(tokens) - context, 0)
for number, token in enumerate(result["tokens"]):
    if kind not in ("linear", "whole-states") and len(tokens) - begin > context:  # begun again from the newest half
        begin = len(tokens) - context // 2
    scores = logits(tokens[begin:])
    # Rounding may choose between two that are as good as equal.
    assert scores.max() - scores[token] < 1e-4, f"token {number}: expected {scores.argmax()}, but got {token}"
    tokens = tokens + [token]
assert len(result["tokens"]) > 5
