# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The trainer's Llama in PyTorch, for taylor-bench train: as a researcher writes it who changes the attention. No Taylor in it.

Standard input: a JSON object of sizes, then a line for each piece of work; standard output: a JSON object for each. `step` is a training step
(forward, backward, clipping, AdamW), `rest` the same without its attention, `attention` that of one layer, forward and backward. Run with python -c: it
is part of the program."""
import json
import math
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


def rotate(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return x * cos.to(x.dtype) + torch.cat((-second, first), dim=-1) * sin.to(x.dtype)


def sdpa(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def scores(q, k):
    return q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])


def hidden_keys(q):
    return torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool, device=q.device).triu(1)


def norm(q, k, v):
    """exp(s) v, divided by its own length."""
    weights = torch.exp(scores(q, k).masked_fill(hidden_keys(q), -math.inf))
    return F.normalize(weights @ v, dim=-1)


def series(q, k, v, order=10):
    """The sum over n <= order of s^n / n! in place of exp(s), over its own mass."""
    s = scores(q, k)
    term = torch.ones_like(s)
    weights = term
    for n in range(1, order + 1):
        term = term * s / n
        weights = weights + term
    weights = weights.masked_fill(hidden_keys(q), 0)
    return (weights @ v) / weights.sum(-1, keepdim=True)


ATTENTIONS = {"sdpa": sdpa, "norm": norm, "series": series}


def rotated(attention):
    return lambda q, k, v, cos, sin: attention(rotate(q, cos, sin), rotate(k, cos, sin), v)


def without(q, k, v, cos, sin):
    """In place of attention: nearly nothing, but every projection has its gradient."""
    return q + k + v


class RMSNorm(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.weight, self.epsilon = nn.Parameter(torch.ones(width)), epsilon

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon))


class Layer(nn.Module):
    def __init__(self, c, attention):
        super().__init__()
        self.heads, self.attention = c["heads"], attention
        width, wide = c["hidden"], c["heads"] * c["head_dim"]
        linear = lambda a, b: nn.Linear(a, b, bias=False)
        self.q, self.k, self.v, self.o = linear(width, wide), linear(width, wide), linear(width, wide), linear(wide, width)
        self.gate, self.up, self.down = linear(width, c["intermediate"]), linear(width, c["intermediate"]), linear(c["intermediate"], width)
        self.before, self.after = RMSNorm(width, c["norm_epsilon"]), RMSNorm(width, c["norm_epsilon"])

    def forward(self, x, cos, sin):
        batch, length, _ = x.shape
        y = self.before(x)
        q, k, v = (project(y).view(batch, length, self.heads, -1).transpose(1, 2) for project in (self.q, self.k, self.v))
        o = self.attention(q, k, v, cos, sin)
        x = x + self.o(o.transpose(1, 2).reshape(batch, length, -1))
        y = self.after(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, c, attention):
        super().__init__()
        self.checkpointing = c["checkpointing"]
        self.embedding = nn.Embedding(c["vocabulary"], c["hidden"])
        self.layers = nn.ModuleList(Layer(c, attention) for _ in range(c["layers"]))
        self.norm, self.head = RMSNorm(c["hidden"], c["norm_epsilon"]), nn.Linear(c["hidden"], c["vocabulary"], bias=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens, cos, sin):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = checkpoint(layer, x, cos, sin, use_reentrant=False) if self.checkpointing else layer(x, cos, sin)
        return self.head(self.norm(x))


def angles(length, width):
    frequencies = 1.0 / 10000 ** (torch.arange(0, width, 2) / width)
    table = torch.outer(torch.arange(length), frequencies).repeat(1, 2)
    return table.cos(), table.sin()


def main():
    c = json.loads(sys.stdin.readline())
    torch.set_num_threads(c["threads"])
    torch.manual_seed(1)
    attend = rotated(ATTENTIONS[c["attention"]])
    device, bf16 = c["device"], c["precision"] == "bf16"
    model = Llama(c, attend).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=c["learning_rate"], betas=(c["beta1"], c["beta2"]), eps=c["epsilon"], weight_decay=c["weight_decay"])
    cos, sin = (table.to(device) for table in angles(c["context"], c["head_dim"]))

    def step():
        tokens = torch.randint(c["vocabulary"], (c["batch"], c["context"] + 1)).to(device)
        with torch.autocast(device, torch.bfloat16, enabled=bf16):
            loss = F.cross_entropy(model(tokens[:, :-1], cos, sin).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if c["clip"] > 0:
            nn.utils.clip_grad_norm_(model.parameters(), c["clip"])
        optimizer.step()
        return loss.item()

    def rest():
        for layer in model.layers:
            layer.attention = without
        loss = step()
        for layer in model.layers:
            layer.attention = attend
        return loss

    inputs = []

    def attention():
        if not inputs:  # laid out as projections are
            shape = c["batch"], c["context"], c["heads"], c["head_dim"]
            inputs.extend(torch.randn(shape, device=device).to(torch.bfloat16 if bf16 else torch.float32).transpose(1, 2).requires_grad_() for _ in range(3))
        q, k, v = inputs
        with torch.autocast(device, torch.bfloat16, enabled=bf16):
            o = checkpoint(attend, q, k, v, cos, sin, use_reentrant=False) if c["checkpointing"] else attend(q, k, v, cos, sin)
        torch.autograd.grad(o, (q, k, v), torch.ones_like(o))
        return 0.0

    print(json.dumps({"parameters": sum(p.numel() for p in model.parameters())}), flush=True)
    for line in sys.stdin:
        begin = time.perf_counter()
        loss = {"step": step, "rest": rest, "attention": attention}[line.strip()]()
        memory = 0  # a processor's is the process's, which who asks knows
        if device == "cuda":
            torch.cuda.synchronize()
            memory = torch.cuda.max_memory_reserved()
        print(json.dumps({"seconds": time.perf_counter() - begin, "loss": loss, "memory": memory}), flush=True)


main()
